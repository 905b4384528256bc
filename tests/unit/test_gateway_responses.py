"""The errors that API Gateway answers without calling a function, as the template defines them."""

import json
from typing import Any

import pytest
from samtranslator.model import apigateway

from shared.http.envelope import SECURITY_HEADERS
from shared.integration.imports.models import MAX_REQUEST_FILE_BYTES, megabytes
from shared.kernel.errors import CODES
from tests.cases import each_case
from tests.expanded_template import expanded_of
from tests.template import Template
from tools import expanded_template

_DOCS_BASE = "https://docs.example.com"

_CODE_OF_TYPE = {
    "UNAUTHORIZED": "unauthenticated",
    "ACCESS_DENIED": "unauthenticated",
    "EXPIRED_TOKEN": "unauthenticated",
    "INVALID_SIGNATURE": "unauthenticated",
    "MISSING_AUTHENTICATION_TOKEN": "method_not_allowed",
    "RESOURCE_NOT_FOUND": "not_found",
    "INVALID_API_KEY": "forbidden",
    "WAF_FILTERED": "forbidden",
    "REQUEST_TOO_LARGE": "payload_too_large",
    "THROTTLED": "rate_limited",
    "QUOTA_EXCEEDED": "rate_limited",
    "DEFAULT_4XX": "bad_request",
    "BAD_REQUEST_BODY": "bad_request",
    "BAD_REQUEST_PARAMETERS": "bad_request",
    "UNSUPPORTED_MEDIA_TYPE": "bad_request",
    "AUTHORIZER_FAILURE": "service_unavailable",
    "AUTHORIZER_CONFIGURATION_ERROR": "service_unavailable",
    "INTEGRATION_FAILURE": "service_unavailable",
    "INTEGRATION_TIMEOUT": "service_unavailable",
    "API_CONFIGURATION_ERROR": "service_unavailable",
    "DEFAULT_5XX": "service_unavailable",
}

_MESSAGE_OF_CODE = {
    "not_found": "The route does not exist.",
    "method_not_allowed": "No route allows this method.",
    "forbidden": "The request is not allowed.",
    "payload_too_large": (
        f"The request is too large; send files above {megabytes(MAX_REQUEST_FILE_BYTES)} with"
        " POST /imports/uploads, or drop them into the import bucket."
    ),
    "rate_limited": "Too many requests; wait the seconds in Retry-After.",
    "bad_request": "The request cannot be interpreted.",
    "service_unavailable": "The service is busy; try again.",
}

_METHODS = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"

_NO_TOKEN = "Send an access token in the header Authorization, after the word Bearer."
_MESSAGE_OF_TYPE = {
    "UNAUTHORIZED": _NO_TOKEN,
    "INVALID_SIGNATURE": _NO_TOKEN,
    "ACCESS_DENIED": "$context.authorizer.refusal",
    "EXPIRED_TOKEN": _NO_TOKEN,
}
"""Messages of 401, which say whether a token was sent."""

_CHALLENGE_OF_TYPE = {
    "UNAUTHORIZED": "Bearer",
    "INVALID_SIGNATURE": "Bearer",
    "ACCESS_DENIED": 'Bearer error="invalid_token"',
    "EXPIRED_TOKEN": "Bearer",
}

_RETRY_AFTER_OF_TYPE = {"THROTTLED": "1", "QUOTA_EXCEEDED": "60"} | {
    kind: "1" for kind, code in _CODE_OF_TYPE.items() if code == "service_unavailable"
}


@pytest.fixture(scope="module")
def template() -> Template:
    """The template, with a documentation address that is not the default one."""
    return Template({"DocsBase": _DOCS_BASE})


def test_every_response_type_of_the_template_has_an_expected_code(template: Template) -> None:
    assert template.gateway_response_types() == _CODE_OF_TYPE.keys()


@each_case(("response_type", "code"), _CODE_OF_TYPE.items())
def test_response_type_carries_the_error_envelope_with_its_own_code(
    template: Template, response_type: str, code: str
) -> None:
    response = template.gateway_response(response_type)
    message = _MESSAGE_OF_TYPE.get(response_type) or _MESSAGE_OF_CODE[code]

    assert response.status == CODES[code].status
    assert json.loads(response.body) == {
        "error": {
            "code": code,
            "message": message,
            "doc_url": f"{_DOCS_BASE}/errors#{code}",
            "request_id": "$context.requestId",
        },
        "errors": [],
        "message": message,
    }


@each_case("response_type", _CODE_OF_TYPE)
def test_response_type_carries_the_headers_of_every_error(
    template: Template, response_type: str
) -> None:
    headers = dict(template.gateway_response(response_type).headers)

    assert headers.pop("Retry-After", None) == _RETRY_AFTER_OF_TYPE.get(response_type)
    assert headers.pop("WWW-Authenticate", None) == _CHALLENGE_OF_TYPE.get(response_type)
    is_405 = _CODE_OF_TYPE[response_type] == "method_not_allowed"
    assert headers.pop("Allow", None) == (_METHODS if is_405 else None)
    assert headers == {
        "X-Request-Id": "$context.requestId",
        "Cache-Control": "no-store",
        **SECURITY_HEADERS,
    }


def _deployment(monkeypatch: pytest.MonkeyPatch, seconds: int) -> tuple[str, Any]:
    """Return the name of the deployment that SAM makes at a time, and what the stage deploys."""
    monkeypatch.setattr(apigateway.time, "time", lambda: seconds)
    resources = expanded_template.expanded()
    (name,) = (
        name for name, one in resources.items() if one["Type"] == "AWS::ApiGateway::Deployment"
    )
    (stage,) = (one for one in resources.values() if one["Type"] == "AWS::ApiGateway::Stage")
    return name, stage["Properties"]["DeploymentId"]


def test_each_update_of_the_stack_deploys_the_gateway_responses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also when only a parameter changed: SAM does not see the values of parameters."""
    first, deployed_first = _deployment(monkeypatch, 1_800_000_000)
    second, deployed_second = _deployment(monkeypatch, 1_800_000_060)
    assert first != second
    assert (deployed_first, deployed_second) == ({"Ref": first}, {"Ref": second})


def test_gateway_responses_are_part_of_the_deployed_definition() -> None:
    """Of separate resources CloudFormation might deploy the state before their change."""
    (api,) = expanded_of("AWS::ApiGateway::RestApi").values()
    responses = api["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    assert responses.keys() == _CODE_OF_TYPE.keys()
    assert not expanded_of("AWS::ApiGateway::GatewayResponse")

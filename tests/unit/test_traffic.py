"""The template: limits of traffic that needs no token, access logs, and what notices throttling."""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from functions.console.content import compressed, read
from shared.identity.auth import issuance_limits
from shared.identity.auth.attempt_limits import LONG_WINDOW
from shared.identity.tenancy.tenant import PLANS, TOTAL_REQUESTS
from shared.kernel.caller import Caller
from tests.cases import each_case
from tests.expanded_template import expanded, expanded_of
from tests.template import PATH, Template

TEMPLATE = Template({})
TOKEN_ROUTES = "/v1/oauth/{proxy+}"
CONSOLE = PATH.parent / "console"
METHODS = {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

LOG_VARIABLES = {
    "requestId", "extendedRequestId", "identity.sourceIp", "domainName",
    "authorizer.tenant", "authorizer.kind", "authorizer.subject", "authorizer.client",
    "httpMethod", "resourcePath", "status", "error.responseType", "responseLength",
    "responseLatency", "authorizer.latency", "authorizer.integrationStatus", "authorizer.error",
    "integration.latency", "integration.integrationStatus", "integration.error",
    "wafResponseCode",
}  # fmt: skip
"""What API Gateway may log. Path, query, headers and bodies are not among it, nor is the token."""


def _only(kind: str) -> Mapping[str, Any]:
    (resource,) = expanded_of(kind).values()
    return resource


def _stage() -> Mapping[str, Any]:
    stage: Mapping[str, Any] = _only("AWS::ApiGateway::Stage")["Properties"]
    return stage


# Limits of the stage


def _throttling() -> Mapping[tuple[str, str], tuple[Any, Any]]:
    """Return path and method → rate and burst, as the stage of the API gets them."""
    return {
        (one["ResourcePath"], one["HttpMethod"]): (
            one["ThrottlingRateLimit"],
            one["ThrottlingBurstLimit"],
        )
        for one in _stage()["MethodSettings"]
    }


def test_every_route_is_limited() -> None:
    assert _throttling()["/*", "*"] == ({"Ref": "RequestRateLimit"}, {"Ref": "RequestBurstLimit"})


def _limits_of(resource: str) -> Mapping[str, tuple[Any, Any]]:
    """Return method → rate and burst of one resource."""
    path = "/" + resource.replace("/", "~1")
    return {method: limit for (at, method), limit in _throttling().items() if at == path}


def test_token_routes_have_a_limit_for_each_method() -> None:
    """The stage has no method ANY, and a wildcard is possible for all routes together only."""
    limit = ({"Ref": "TokenRateLimit"}, {"Ref": "TokenBurstLimit"})
    assert _limits_of(TOKEN_ROUTES) == dict.fromkeys(METHODS, limit)
    (event,) = [one for one in TEMPLATE.events() if one.resource == TOKEN_ROUTES]
    assert event.methods == METHODS


FILES = {
    "ReferenceFunction": ("/v1/openapi.json", "/v1/docs", "/v1/docs/{proxy+}"),
    "ConsoleFunction": ("/v1/console", "/v1/console/{proxy+}"),
}


@pytest.mark.parametrize(
    ("function", "rate", "burst"), [("ReferenceFunction", 10, 40), ("ConsoleFunction", 100, 500)]
)
def test_files_that_need_no_token_have_a_limit(function: str, rate: int, burst: int) -> None:
    """The document and the page are large, and everyone can request them."""
    resources = [one.resource for one in TEMPLATE.events() if one.function == function]
    assert tuple(resources) == FILES[function]
    for resource in resources:
        limits = _limits_of(resource)
        assert limits.keys() == {"GET", "HEAD"}, resource
        assert {*limits.values()} == {(rate, burst)}


def test_no_other_route_has_a_limit_of_its_own() -> None:
    known = {TOKEN_ROUTES, *(path for paths in FILES.values() for path in paths)}
    paths = {path for path, _ in _throttling()} - {"/*"}
    assert paths == {"/" + one.replace("/", "~1") for one in known}


def test_responses_are_compressed_and_all_media_types_are_binary() -> None:
    """What a caller gets then is in tests/integration/http/test_compression.py."""
    api = _only("AWS::ApiGateway::RestApi")["Properties"]
    assert api["MinimumCompressionSize"] == TEMPLATE.minimum_compression_size() == 1024
    assert api["Body"]["x-amazon-apigateway-binary-media-types"] == ["*/*"]


def test_the_costs_of_a_flood_are_computed() -> None:
    """The page gives the USD of an hour; a grown document must not make them wrong."""
    page = (PATH.parent / "docs/operating/deploy.md").read_text()
    document = (PATH.parent / "docs/reference/openapi.json").read_bytes()
    bundle = PATH.parent / "functions/reference/page/swagger-ui-bundle.js.gz"
    console = read(CONSOLE)
    largest = max(len(compressed(CONSOLE, name)) for name in console.files)
    of_document, of_console = (
        _limits_of(one)["GET"][0] for one in ("/v1/openapi.json", "/v1/console/{proxy+}")
    )
    for row, rate, size in (
        ("refusing compression", of_document, len(document)),
        ("the same, compressed", of_document, len(gzip.compress(document))),
        ("swagger-ui-bundle.js", of_document, bundle.stat().st_size),
        ("largest file of the console", of_console, largest),
    ):
        (shown,) = re.findall(
            rf"^\|[^|]*{row}[^|]*\| {rate} \|[^|]*\| ([0-9.]+) \|", page, re.MULTILINE
        )
        hour = rate * 3_600 * (size * 0.09e-9 + 3.70e-6)
        assert float(shown) == pytest.approx(hour, rel=0.1), row


def _default(parameter: str) -> int:
    return int(TEMPLATE.text({"Ref": parameter}))


def test_limits_of_the_token_routes_are_stricter() -> None:
    assert _default("TokenRateLimit") < _default("RequestRateLimit") <= 10_000
    assert _default("TokenBurstLimit") < _default("RequestBurstLimit") <= 5_000


# Web ACL


def _rules() -> Mapping[str, Mapping[str, Any]]:
    return {rule["Name"]: rule for rule in _only("AWS::WAFv2::WebACL")["Properties"]["Rules"]}


def _limits_per_address() -> list[Mapping[str, Any]]:
    """Return the limit of the token routes, and that of all requests."""
    names = ("token-requests-per-address", "requests-per-address")
    return [_rules()[name]["Statement"]["RateBasedStatement"] for name in names]


def test_stack_has_no_web_acl_unless_asked() -> None:
    """It costs money, and a company may have its own."""
    assert TEMPLATE.text({"Ref": "WebAcl"}) == ""
    assert _only("AWS::WAFv2::WebACL")["Condition"] == "HasManagedWebAcl"
    assert _only("AWS::WAFv2::WebACLAssociation")["Condition"] == "HasWebAcl"


@each_case(
    ("value", "is_accepted"),
    [
        ("", True),
        ("managed", True),
        ("arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/own/6ad12d2b-3b0f-4c53-9b8e", True),
        ("none", False),
        ("arn:aws:wafv2:us-east-1:123456789012:global/webacl/own/6ad12d2b-3b0f-4c53-9b8e", False),
        ("arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/own/1", False),
    ],
)
def test_web_acl_is_managed_or_a_regional_one(value: str, *, is_accepted: bool) -> None:
    pattern = TEMPLATE.parameter("WebAcl")["AllowedPattern"]
    assert bool(re.fullmatch(pattern, value)) is is_accepted


def test_web_acl_is_associated_with_the_stage() -> None:
    association = _only("AWS::WAFv2::WebACLAssociation")["Properties"]
    (stage,) = expanded_of("AWS::ApiGateway::Stage")
    assert association["ResourceArn"] == {
        "Fn::Sub": "arn:${AWS::Partition}:apigateway:${AWS::Region}::/restapis/${Api}/stages/"
        f"${{{stage}}}"
    }
    assert association["WebACLArn"] == {
        "Fn::If": [
            "HasManagedWebAcl",
            {"Fn::GetAtt": ["ManagedWebAcl", "Arn"]},
            {"Ref": "WebAcl"},
        ]
    }
    assert _only("AWS::WAFv2::WebACL")["Properties"]["Scope"] == "REGIONAL"


def test_web_acl_limits_each_address_and_the_token_routes_more_strictly() -> None:
    tokens, requests = _limits_per_address()
    assert tokens["AggregateKeyType"] == requests["AggregateKeyType"] == "IP"
    scope = tokens["ScopeDownStatement"]["ByteMatchStatement"]
    assert scope["FieldToMatch"] == {"UriPath": {}}
    assert scope["SearchString"] == TOKEN_ROUTES.removesuffix("{proxy+}")
    assert [one["Type"] for one in scope["TextTransformations"]] == ["URL_DECODE", "NORMALIZE_PATH"]
    assert "ScopeDownStatement" not in requests
    assert tokens["Limit"] < requests["Limit"]


def test_web_acl_admits_what_the_largest_plan_allows_from_one_address() -> None:
    tokens, requests = _limits_per_address()
    per_minute = max(plan.limits["requests_per_minute"] for plan in PLANS.values())
    minutes = requests["EvaluationWindowSec"] // 60
    assert requests["Limit"] >= 2 * minutes * TOTAL_REQUESTS * per_minute
    assert tokens["EvaluationWindowSec"] <= LONG_WINDOW
    assert tokens["Limit"] > issuance_limits.LONG_WINDOW_MINUTES * per_minute * 11 // 10


def test_blocked_requests_get_the_gateway_response() -> None:
    """A custom response would replace it, and cannot contain the id of the request."""
    for name, rule in _rules().items():
        action = rule.get("Action") or rule["OverrideAction"]
        assert action in ({"Block": {}}, {"None": {}}), name


def test_web_acl_keeps_no_samples_of_requests() -> None:
    """A sample shows the headers of a request, and the Authorization header is one."""
    acl = _only("AWS::WAFv2::WebACL")["Properties"]
    for one in (acl, *acl["Rules"]):
        assert one["VisibilityConfig"]["SampledRequestsEnabled"] is False


# Concurrent executions


@pytest.mark.parametrize("function", ["Authorizer", "Fallback"])
def test_concurrency_is_reserved_on_request_only(function: str) -> None:
    """A new account may have ten concurrent executions, none of which can be reserved."""
    parameter, condition = f"{function}Concurrency", f"Has{function}Concurrency"
    properties = expanded()[f"{function}Function"]["Properties"]
    assert properties["ReservedConcurrentExecutions"] == {
        "Fn::If": [condition, {"Ref": parameter}, {"Ref": "AWS::NoValue"}]
    }
    assert TEMPLATE.condition(condition) == {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, 0]}]}
    assert _default(parameter) == 0


def test_other_functions_reserve_no_concurrency() -> None:
    reserved = {
        name
        for name, one in expanded_of("AWS::Lambda::Function").items()
        if "ReservedConcurrentExecutions" in one["Properties"]
    }
    assert reserved == {"AuthorizerFunction", "FallbackFunction"}


# Access logs


def _log_format() -> Mapping[str, str]:
    condition, setting, otherwise = _stage()["AccessLogSetting"]["Fn::If"]
    assert (condition, otherwise) == ("HasAccessLogs", {"Ref": "AWS::NoValue"})
    assert setting["DestinationArn"] == {"Fn::GetAtt": ["ApiAccessLogs", "Arn"]}
    entry: Mapping[str, str] = json.loads(setting["Format"])
    return entry


def _variables() -> Iterator[str]:
    for name, value in _log_format().items():
        assert value.startswith("$context."), name
        yield value.removeprefix("$context.")


def test_access_log_has_caller_route_status_and_latency_and_no_secrets() -> None:
    assert set(_variables()) == LOG_VARIABLES


def test_access_log_is_one_line() -> None:
    """API Gateway writes the format as it is, and a line break would end the entry."""
    _, setting, _ = _stage()["AccessLogSetting"]["Fn::If"]
    assert "\n" not in setting["Format"]
    assert len(setting["Format"]) <= 3_000


def test_access_log_names_the_caller_as_the_authorizer_does() -> None:
    of_gateway = {"latency", "error", "integrationStatus"}
    named = {
        variable.partition(".")[2] for variable in _variables() if variable.startswith("authorizer")
    }
    context = Caller.from_context(
        {"tenant": "", "subject": "", "kind": "", "second_factor": "", "jti": "", "exp": "0"}
    ).to_context()
    assert named - of_gateway <= context.keys()
    assert not named & {"jti", "session"}


def test_access_logs_are_off_by_default_and_expire() -> None:
    """A stage with access logs cannot be created in an account without the role for logs."""
    assert TEMPLATE.text({"Ref": "AccessLogs"}) == "false"
    group = expanded()["ApiAccessLogs"]
    assert group["Condition"] == "HasAccessLogs"
    assert group["Properties"] == {"RetentionInDays": {"Ref": "LogRetentionDays"}}


def test_stack_does_not_set_the_role_of_the_account() -> None:
    """All APIs of the account and Region use it, and it must outlive this stack."""
    assert "AWS::ApiGateway::Account" not in PATH.read_text()

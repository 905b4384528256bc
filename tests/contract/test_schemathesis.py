"""Every operation of the OpenAPI document, called with requests that schemathesis generates.

No response is 5xx. Status, content type, body and headers are as declared. Invalid requests are
refused. Undeclared methods answer 405 with `Allow`. Requests without a token are refused.
"""

import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import schemathesis
from werkzeug import Request
from werkzeug import Response as Answer

from tests.fuzzing import (
    coverable,
    date_filters,
    headers,
    operation_ids,
    schema,
    seed_in_failure,
)
from tests.gateway import Gateway
from tests.sampling import is_complete, sampled
from tests.stack import deployed
from tests.webhook_scenario import resolve

BASE_PATH = "/api"


class Application:
    """The test double of the gateway as a WSGI application."""

    gateway: Gateway

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        request = Request(environ)
        path = environ["REQUEST_URI"].partition("?")[0].removeprefix(BASE_PATH)
        answer = self.gateway.request(
            request.method,
            f"{path}?{environ['QUERY_STRING']}",
            headers=dict(request.headers),
            body=request.get_data() or None,
        )
        return Answer(answer.text, answer.status, answer.headers)(environ, start_response)


# `make test` generates two requests, valid or invalid, for every sixth operation.
covered = sampled("bounds", coverable(), every=40)
called = {*sampled("operations", operation_ids(), every=6), *covered}
document = schema(examples=40 if is_complete() else 2, covered=covered).exclude(
    lambda context: context.operation.definition.raw["operationId"] not in called
)
dates = schema(examples=500 if is_complete() else 8, document=date_filters())
document.app = dates.app = application = Application()


@pytest.fixture(scope="module")
def token() -> Iterator[str]:
    """The token of an ERP with every scope, in one stack for the module."""
    with pytest.MonkeyPatch.context() as patch, deployed(patch) as stack:
        # Every generated host name resolves to a public address.
        patch.setattr(socket, "getaddrinfo", resolve)
        application.gateway = stack.gateway
        yield stack.token()


@document.parametrize()
def test_service_conforms_to_the_openapi_document(case: schemathesis.Case[Any], token: str) -> None:
    with seed_in_failure():
        case.call_and_validate(headers=headers(case, token))


@dates.parametrize()
def test_no_combination_of_date_filters_is_an_error(
    case: schemathesis.Case[Any], token: str
) -> None:
    with seed_in_failure():
        case.call_and_validate(headers=headers(case, token))

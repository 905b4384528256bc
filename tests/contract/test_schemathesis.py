"""Every operation of the OpenAPI document, called with what schemathesis makes up.

No 5xx; status, content type, body and headers as declared; wrong requests refused; 405 with
`Allow` for methods that are not declared; nothing answered without a token.
"""

import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import schemathesis
from werkzeug import Request
from werkzeug import Response as Answer

from tests.fuzzing import headers, schema, told_the_seed
from tests.gateway import Gateway
from tests.stack import deployed
from tests.webhook_scenario import resolve

BASE_PATH = "/api"


class Application:
    """The double of the gateway as a WSGI application."""

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


document = schema(examples=4, coverage=True)
document.app = application = Application()


@pytest.fixture(scope="module")
def token() -> Iterator[str]:
    """The token of an ERP with every scope; the stack lives as long as the module."""
    with pytest.MonkeyPatch.context() as patch, deployed(patch) as stack:
        # Whatever name is made up, it leads to the public internet.
        patch.setattr(socket, "getaddrinfo", resolve)
        application.gateway = stack.gateway
        yield stack.token()


@document.parametrize()
def test_the_service_keeps_to_the_document(case: schemathesis.Case[Any], token: str) -> None:
    with told_the_seed():
        case.call_and_validate(headers=headers(case, token))

"""Every path that no other function serves: 404 in the error envelope.

The gateway calls this function without its authorizer, which would answer a request without a token
with 401. A request with a token passes the checks of every other request: it is counted by the rate
limit, and its response has the headers of the limit.
"""

from collections.abc import Mapping
from typing import Any

from shared.http.api_handler import ApiHandler
from shared.http.envelope import path_of
from shared.http.request import headers_of
from shared.identity.auth.bearer import authenticate, bearer_token
from shared.identity.auth.tokens import InvalidToken
from shared.kernel.caller import Caller
from shared.kernel.errors import NotFound, Unauthenticated


def _identify(event: Mapping[str, Any]) -> Caller:
    headers = headers_of(event)
    token = bearer_token(headers.get("authorization", ""))
    if token is None:
        raise NotFound(f"The path {path_of(event)}")
    try:
        return authenticate(token, headers.get("host", ""))
    except InvalidToken as error:
        raise Unauthenticated(error.message) from None


lambda_handler = ApiHandler(identify=_identify)

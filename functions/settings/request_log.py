"""Route of the request log."""

from urllib.parse import urlencode

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes
from shared.identity.auth.scopes import Scope
from shared.identity.request_log import service
from shared.identity.request_log.models import (
    LoggedRequest,
    RequestLogFrame,
    RequestLogLinks,
    RequestLogParameters,
)
from shared.identity.request_log.repository import LogFilter
from shared.kernel.caller import Caller
from shared.kernel.clock import now_ms
from shared.kernel.db.store import Store
from shared.kernel.errors import MissingScope, Problem, ValidationFailed

routes = Routes()

_OTHERS: Scope = "settings:manage"
"""Scope with which an integration client reads the requests of others."""


@routes.read(
    "/request-log",
    "List the request log",
    scope=None,
    permission="users.manage",
    response=LoggedRequest,
    responds_with_list=True,
    beside=RequestLogFrame,
    parameters=RequestLogParameters,
    errors=("missing_scope",),
    description="The requests of one API client in the last 7 days, the latest first, while the"
    " setting `request_log` is on. Integration clients read their own with any token. `links.next`"
    " leads on, and is null at the end; a page may be empty although others follow. Refused tokens,"
    " and requests of users without a mobile application, are not logged. Entries are written"
    " after the response, and some may be missing.",
)
def list_request_log(
    store: Store, request: Request[None, RequestLogParameters]
) -> ResourceResponse:
    """List requests of an API client."""
    asked = request.parameters
    page = service.list_requests(
        store,
        _client_of(request.caller, asked.client),
        now_ms=now_ms(),
        since=asked.since,
        until=asked.until,
        before=asked.cursor,
        wanted=LogFilter(asked.status, asked.path),
        most=asked.per_page,
    )
    following = None
    if page.next_before:
        query = asked.model_dump(by_alias=True, exclude_none=True) | {"cursor": page.next_before}
        following = f"{request.tenant.base_url}{request.path}?{urlencode(query)}"
    return ResourceResponse(
        page.entries, beside=RequestLogFrame(links=RequestLogLinks(next=following))
    )


def _client_of(caller: Caller, named: str | None) -> str:
    """Return the client whose requests are listed.

    Raises:
        MissingScope: An integration client names another one.
        ValidationFailed: A user names none.
    """
    if caller.kind == "client":
        if named not in {None, caller.subject} and _OTHERS not in caller.scopes:
            raise MissingScope(_OTHERS)
        return named or caller.subject
    if named is None:
        raise ValidationFailed([Problem("client", "is required")])
    return named

"""The feed of changes: what was committed, in one order per company without gaps."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import OperationOptions, ResourceResponse, Routes
from shared.integration.changes import service
from shared.integration.changes.listed_objects import Reader
from shared.integration.changes.models import (
    ChangesFrame,
    ChangesParameters,
    FeedTransaction,
    LatestPosition,
)
from shared.kernel.db.store import Store

routes = Routes()

_READ: OperationOptions = {"scope": "changes:read", "errors": ("gone",)}


@routes.read(
    "/changes",
    "List changes",
    _READ,
    response=FeedTransaction,
    responds_with_list=True,
    beside=ChangesFrame,
    parameters=ChangesParameters,
    description="Each transaction of the company has a position: 1, 2, 3 and so on, without gaps."
    " It is listed at the latest seconds after its commit, in the order of version for each"
    " resource, and its entry never changes. `links.next` leads to what follows `meta.last`, also"
    " when nothing follows yet: then `meta.last` is `meta.latest`. Objects that the token may not"
    " read are left out; so positions may have gaps. Entries are kept for 92 days. An older"
    " `after`, or another `epoch`, is 410 with `error.latest`: start again from a snapshot.",
)
def list_changes(store: Store, request: Request[None, ChangesParameters]) -> ResourceResponse:
    """Return what was committed behind a position."""
    reader = Reader(store, request.tenant, request.caller)
    page = service.list_changes(reader, request.parameters)
    return ResourceResponse(page.transactions, beside=page.frame)


@routes.read(
    "/changes/latest",
    "Get the latest position",
    scope="changes:read",
    response=LatestPosition,
    description="`sum` is the sum, modulo 2^64, of the first 8 bytes (big-endian) of the SHA-256 of"
    " `OBJECT:ID:VERSION`, such as `product:12:3`, over the resources that exist at this position."
    " A copy with the same count and sum has the same versions of the same resources.",
)
def latest_position(store: Store, request: Request) -> ResourceResponse:
    """Return the latest position of the feed, with checksums."""
    reader = Reader(store, request.tenant, request.caller)
    return ResourceResponse(service.latest_position(reader))


lambda_handler = ApiHandler(routes)

"""Holds: goods that nobody else can sell until a moment."""

from shared.http.request import Request
from shared.http.results import created_resource
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.clock import now_ms
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.holds import service, views
from shared.warehouse.holds.models import (
    MAX_DAYS,
    Hold,
    HoldDetail,
    HoldDraft,
    HoldExpiry,
    HoldParameters,
    StoredHold,
    hold_code,
)

routes = Routes()

_READ: OperationOptions = {"scope": "stocks:read", "response": HoldDetail}
_WRITE: OperationOptions = {
    "scope": "stocks:write",
    "permission": "exits.manage",
    "response": HoldDetail,
}
_ACT: OperationOptions = {**_WRITE, "errors": ("stale_state",)}


@routes.read(
    "/holds",
    "List holds",
    _READ,
    response=Hold,
    parameters=HoldParameters,
    description="An active hold counts as expired from `expires_at` on, in filters and totals, too."
    " `from` and `to` are days of creation.",
)
def list_holds(store: Store, request: Request[None, HoldParameters]) -> ListResponse[StoredHold]:
    """Return a page of holds."""
    now = now_ms()
    page = service.list_holds(store, request.parameters, now)
    return ListResponse(page, views.hold_at(now))


@routes.write(
    "POST",
    "/holds",
    "Hold goods",
    _WRITE,
    body=HoldDraft,
    statuses=(200, 201),
    errors=("rule_blocked",),
    may_warn=True,
    finds_existing=True,
    description="The goods count as held in the stock level until the hold expires, is released or"
    " is used by an exit document that names it. All lines are held, or none: `rule_blocked` names"
    " each line of a product of which less can be sold, with what can be sold. When a hold with the"
    " reference exists, it is returned with 200, unchanged, whatever its status. If the request"
    " differs from it, other than in when it expires, `warning` names the fields. A client without"
    " the scope to read the hold gets its id only, and a `warning` without the fields.",
)
def create_hold(tx: Transaction, request: Request[Checked[HoldDraft]]) -> ResourceResponse:
    """Hold goods, once per reference."""
    created = service.create_hold(tx, request.body)
    view = views.hold_in_detail(created.record, tx.now_ms)
    what = f"Hold {view.external_ref or hold_code(view.id)}"
    return created_resource(created, what, view, "/holds")


@routes.read("/holds/{id}", "Get a hold", _READ)
def get_hold(store: Store, request: Request) -> ResourceResponse:
    """Return one hold."""
    record = service.get_hold(store, request.id)
    return ResourceResponse(views.hold_in_detail(record, now_ms()))


@routes.write(
    "POST",
    "/holds/{id}/extend",
    "Extend a hold",
    _ACT,
    body=HoldExpiry,
    description=f"The goods are held until another moment, at most {MAX_DAYS} days ahead; it may"
    " also be earlier than before.",
)
def extend_hold(tx: Transaction, request: Request[Checked[HoldExpiry]]) -> ResourceResponse:
    """Change until when goods are held."""
    record = service.extend_hold(tx, request.id, request.body)
    return ResourceResponse(views.hold_in_detail(record, tx.now_ms))


@routes.write(
    "POST",
    "/holds/{id}/release",
    "Release a hold",
    _ACT,
    description="Its goods can be sold again.",
)
def release_hold(tx: Transaction, request: Request) -> ResourceResponse:
    """End a hold."""
    record = service.release_hold(tx, request.id)
    return ResourceResponse(views.hold_in_detail(record, tx.now_ms))

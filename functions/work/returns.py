"""Routes of returns."""

from shared.http.request import Request
from shared.http.results import created_resource
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.returns import dispositions, service, views
from shared.warehouse.returns import undo_arrival as undo_arrivals
from shared.warehouse.returns.models import (
    DispositionsDraft,
    Return,
    ReturnArrival,
    ReturnDetail,
    ReturnDraft,
    ReturnParameters,
    StoredReturn,
)

routes = Routes()


@routes.read(
    "/returns",
    "List returns",
    scope="receipts:read",
    response=Return,
    parameters=ReturnParameters,
)
def list_returns(
    store: Store, request: Request[None, ReturnParameters]
) -> ListResponse[StoredReturn]:
    """Return a page of returns."""
    page = service.list_returns(store, request.parameters)
    return ListResponse(page, views.in_list)


@routes.read("/returns/{id}", "Get a return", scope="receipts:read", response=ReturnDetail)
def get_return(store: Store, request: Request) -> ResourceResponse:
    """Return one return with its lines."""
    return _shown(service.get_return(store, request.id))


_WRITE: OperationOptions = {
    "scope": "receipts:write",
    "permission": "entries.manage",
    "response": ReturnDetail,
}
_ACT: OperationOptions = {**_WRITE, "errors": ("conflict", "stale_state")}


@routes.write(
    "POST",
    "/returns",
    "Create a return",
    _WRITE,
    body=ReturnDraft,
    statuses=(200, 201),
    errors=("rule_blocked",),
    description="Reserves the announced goods: at most what was dispatched with the exit document"
    " less what other returns have taken, else `rule_blocked`. Batch and serials are optional here,"
    " and must have left with it. A line with the reason wrong_item may name another product. When"
    " a return with the reference exists, it is returned with 200, unchanged. If the request"
    " differs from it, `warning` names the fields. A client without the scope to read the return"
    " gets its id only, and a `warning` without the fields.",
    may_warn=True,
    finds_existing=True,
)
def create_return(tx: Transaction, request: Request[Checked[ReturnDraft]]) -> ResourceResponse:
    """Create a return, once per reference."""
    created = service.create_return(tx, request.body)
    view = views.in_detail(created.record)
    return created_resource(created, f"Return {view.external_ref}", view, "/returns")


@routes.write(
    "POST",
    "/returns/{id}/lines",
    "Receive goods of a return",
    _ACT,
    body=ReturnArrival,
    description="The goods are in stock at once, with the"
    " `inventory_status` quarantine, also past their expiry date. More than announced is received"
    " while it is within what was dispatched, else `rule_blocked`, as is more than fits with the"
    " setting `capacity` at `enforce`. All lines or none. At most 8 lines per request, or one line"
    " of 20 serials.",
    errors=("conflict", "stale_state", "rule_blocked"),
)
def receive_goods(tx: Transaction, request: Request[Checked[ReturnArrival]]) -> ResourceResponse:
    """Receive goods into stock."""
    return _shown(service.receive_goods(tx, request.id, request.body))


@routes.write(
    "POST",
    "/returns/{id}/lines/undo",
    "Undo received goods of a return",
    _ACT,
    body=ReturnArrival,
    description="Takes the body of the goods. They leave the stock;"
    " without any goods, the return is expected again. More than was received at the position is"
    " refused; `conflict` when the goods are no longer in quarantine there. All lines or none."
    " `expiry_date` does not matter.",
)
def undo_arrival(tx: Transaction, request: Request[Checked[ReturnArrival]]) -> ResourceResponse:
    """Take received goods out of the stock."""
    return _shown(undo_arrivals.undo_arrival(tx, request.id, request.body))


@routes.write(
    "POST",
    "/returns/{id}/finish",
    "Finish receiving a return",
    _ACT,
    description="What was announced and did not arrive is no longer reserved.",
)
def finish_return(tx: Transaction, request: Request) -> ResourceResponse:
    """End the receiving of a return."""
    return _shown(service.finish_return(tx, request.id))


@routes.write(
    "POST",
    "/returns/{id}/dispositions",
    "Decide what happens to returned goods",
    _ACT,
    body=DispositionsDraft,
    description="The return is `dispositioned` once all received goods have a disposition. restock"
    " makes them available, quarantine keeps them where they are, scrap takes them out of the"
    " stock, lost those of them that are still there. return_to_provider creates an exit document"
    " of that type, with a picking that exactly these goods are allocated to; its `external_ref` is"
    " RT-, the id of the return, a slash and a number. `conflict` when the goods are no longer in"
    " quarantine where they were received; `rule_blocked` when more is put at a position than fits,"
    " with the setting `capacity` at `enforce`. All lines or none. At most 6 lines per request, or"
    " one line of 20 serials.",
    errors=("conflict", "stale_state", "rule_blocked"),
)
def decide(tx: Transaction, request: Request[Checked[DispositionsDraft]]) -> ResourceResponse:
    """Decide what happens to received goods."""
    return _shown(dispositions.decide(tx, request.id, request.body))


@routes.write(
    "POST",
    "/returns/{id}/cancel",
    "Cancel a return",
    _ACT,
    description="Its goods are no longer reserved.",
)
def cancel_return(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel a return of which nothing has arrived."""
    return _shown(service.cancel_return(tx, request.id))


def _shown(record: Record[StoredReturn]) -> ResourceResponse:
    return ResourceResponse(views.in_detail(record))

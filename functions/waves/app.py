"""Handler and routes of waves."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.waves import creating, service, views
from shared.warehouse.waves.models import StoredWave, Wave, WaveDetail, WaveDraft, WaveParameters
from shared.warehouse.waves.service import WaveWithOrders

routes = Routes()

_READ: OperationOptions = {
    "scope": "pickings:read",
    "permission": "exits.manage",
    "module": "waves",
}
_WRITE: OperationOptions = {
    "scope": "pickings:write",
    "permission": "exits.manage",
    "module": "waves",
    "response": WaveDetail,
    "errors": ("conflict",),
}


@routes.read(
    "/waves",
    "List waves",
    _READ,
    response=Wave,
    parameters=WaveParameters,
    description="`warehouse` is a warehouse code.",
)
def list_waves(store: Store, request: Request[None, WaveParameters]) -> ListResponse[StoredWave]:
    """Return a page of waves."""
    page = service.list_waves(store, request.parameters)
    return ListResponse(page, views.in_list)


@routes.read("/waves/{id}", "Get a wave", _READ, response=WaveDetail)
def get_wave(store: Store, request: Request) -> ResourceResponse:
    """Return one wave with its pickings."""
    return _shown(service.get_wave(store, request.id))


@routes.write(
    "POST",
    "/waves",
    "Create a wave",
    _WRITE,
    body=WaveDraft,
    statuses=(201,),
    description="Creates a draft of the pickings in `picking_ids`, or of those that `rule` finds:"
    " pending pickings of the warehouse that are in no other wave, the most urgent first, then the"
    " oldest. A picking is in one active wave at most.",
    errors=("conflict", "order_in_wave", "stale_state"),
)
def create_wave(tx: Transaction, request: Request[Checked[WaveDraft]]) -> ResourceResponse:
    """Create a draft wave."""
    created = creating.create_wave(tx, request.body)
    view = views.in_detail(created.record, created.orders)
    return ResourceResponse(view, 201, f"/waves/{created.record.id}")


@routes.write("POST", "/waves/{id}/plan", "Plan a wave", _WRITE)
def plan_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Plan a draft wave."""
    return _shown(service.plan_wave(tx, request.id))


@routes.write(
    "POST",
    "/waves/{id}/release",
    "Release a wave",
    _WRITE,
    description="Allocates the available stock to the lines that lack some; `allocated_units` and"
    " `short_units` of `metrics` are the result. From then on the status follows the pickings:"
    " in_progress when one is started, picked when all have ended.",
)
def release_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Release a planned wave."""
    return _shown(service.release_wave(tx, request.id))


@routes.write(
    "POST",
    "/waves/{id}/cancel",
    "Cancel a wave",
    _WRITE,
    description="The pickings keep their stock, free for another wave.",
)
def cancel_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel a wave."""
    return _shown(service.cancel_wave(tx, request.id))


@routes.write("POST", "/waves/{id}/complete", "Complete a picked wave", _WRITE)
def complete_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Complete a picked wave."""
    return _shown(service.complete_wave(tx, request.id))


@routes.write("POST", "/waves/{id}/close", "Close a completed wave", _WRITE)
def close_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Close a completed wave."""
    return _shown(service.close_wave(tx, request.id))


def _shown(found: WaveWithOrders) -> ResourceResponse:
    return ResourceResponse(views.in_detail(found.record, found.orders))


lambda_handler = ApiHandler(routes)

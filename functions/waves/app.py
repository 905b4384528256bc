"""Waves."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.waves import creating, releasing, service, views
from shared.warehouse.waves.creating import Company
from shared.warehouse.waves.models import StoredWave, Wave, WaveDetail, WaveDraft, WaveParameters
from shared.warehouse.waves.service import Opened

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


@routes.declare(
    "GET",
    "/waves",
    "List waves",
    _READ,
    response=Wave,
    parameters=WaveParameters,
    description="`warehouse` is a warehouse code.",
)
def list_waves(store: Store, request: Request[None, WaveParameters]) -> ListResponse[StoredWave]:
    """Page through the waves."""
    page = service.list_waves(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.in_list)


@routes.declare("GET", "/waves/{id}", "Get a wave", _READ, response=WaveDetail)
def get_wave(store: Store, request: Request) -> ResourceResponse:
    """Read one wave with its pickings."""
    return _shown(service.get_wave(store, request.id))


@routes.declare(
    "POST",
    "/waves",
    "Create a wave",
    _WRITE,
    body=WaveDraft,
    collects_problems=True,
    statuses=(201,),
    description="A draft of the pickings named, or of those that a rule finds: pending pickings"
    " of the warehouse that are in no other wave, the most urgent first, then the oldest. A"
    " picking is in one active wave at most.",
    errors=("conflict", "order_in_wave"),
)
def create_wave(tx: Transaction, request: Request[WaveDraft]) -> ResourceResponse:
    """Create a draft."""
    company = Company(request.tenant.settings, request.tenant.timezone)
    created = creating.create_wave(tx, request.body, company, request.problems)
    view = views.in_detail(created.record, created.orders)
    return ResourceResponse(view, 201, f"/waves/{created.record.id}")


@routes.declare("POST", "/waves/{id}/plan", "Plan a wave", _WRITE)
def plan_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Settle a draft."""
    return _shown(service.plan_wave(tx, request.id))


@routes.declare(
    "POST",
    "/waves/{id}/release",
    "Release a wave",
    _WRITE,
    description="Stock is allocated to what its pickings lack, as far as there is any: `metrics`"
    " tells `allocated_units` and `short_units`. From then on the wave follows its pickings: it is"
    " in_progress once one was started and picked once all have ended.",
)
def release_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Send a wave to the floor."""
    return _shown(releasing.release_wave(tx, request.id))


@routes.declare(
    "POST",
    "/waves/{id}/cancel",
    "Cancel a wave",
    _WRITE,
    description="Before it is picked. Its pickings stay as they are, free for another wave.",
)
def cancel_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Give a wave up."""
    return _shown(service.cancel_wave(tx, request.id))


@routes.declare("POST", "/waves/{id}/complete", "Complete a picked wave", _WRITE)
def complete_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Note that a picked wave is done."""
    return _shown(service.complete_wave(tx, request.id))


@routes.declare("POST", "/waves/{id}/close", "Close a completed wave", _WRITE)
def close_wave(tx: Transaction, request: Request) -> ResourceResponse:
    """Put a completed wave away."""
    return _shown(service.close_wave(tx, request.id))


def _shown(found: Opened) -> ResourceResponse:
    return ResourceResponse(views.in_detail(found.record, found.orders))


lambda_handler = ApiHandler(routes)

"""The work of picking."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking import picks, service, views
from shared.warehouse.picking.models import (
    PickDraft,
    Picking,
    PickingDetail,
    PickingDraft,
    PickingEnd,
    PickingParameters,
    StoredPicking,
)
from shared.warehouse.waves.progress import tell_wave

routes = Routes()


@routes.declare(
    "GET",
    "/pickings",
    "List pickings",
    scope="pickings:read",
    response=Picking,
    parameters=PickingParameters,
    description="`external_ref` is the reference of the exit document; of a picking that serves"
    " several, that of the first, which `document` shows. A lower priority goes first.",
)
def list_pickings(
    store: Store, request: Request[None, PickingParameters]
) -> ListResponse[StoredPicking]:
    """Page through the pickings."""
    page = service.list_pickings(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.picking_in_list)


@routes.declare(
    "GET", "/pickings/{id}", "Get a picking", scope="pickings:read", response=PickingDetail
)
def get_picking(store: Store, request: Request) -> ResourceResponse:
    """Read one picking with its lines."""
    return ResourceResponse(views.picking_in_detail(service.get_picking(store, request.id)))


_WRITE: OperationOptions = {
    "scope": "pickings:write",
    "permission": "exits.manage",
    "response": PickingDetail,
    "errors": ("conflict",),
}


@routes.declare(
    "POST",
    "/pickings",
    "Create a picking",
    _WRITE,
    body=PickingDraft,
    statuses=(201,),
    description="Picks what is open on one exit document or on several of one warehouse. Stock is"
    " allocated at once unless `allocate` is false: first expired, then pick faces, then first"
    " received.",
)
def create_picking(tx: Transaction, request: Request[PickingDraft]) -> ResourceResponse:
    """Create a picking."""
    record = service.create_picking(tx, request.body)
    return ResourceResponse(views.picking_in_detail(record), 201, f"/pickings/{record.id}")


@routes.declare("POST", "/pickings/{id}/start", "Start a picking", _WRITE)
def start_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Begin to pick."""
    return ResourceResponse(
        views.picking_in_detail(service.start_picking(tx, request.id, tell_wave))
    )


@routes.declare(
    "POST",
    "/pickings/{id}/allocate",
    "Allocate stock to a picking",
    _WRITE,
    description="Promises stock to what has none yet, as far as there is any.",
)
def allocate_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Promise stock to what has none yet."""
    return ResourceResponse(views.picking_in_detail(service.allocate_picking(tx, request.id)))


@routes.declare(
    "POST",
    "/pickings/{id}/picks",
    "Pick",
    _WRITE,
    body=PickDraft,
    description="What was taken becomes staged. Another position or batch than allocated is"
    " refused, unless the company's setting `pick_substitution` allows it; another serial of the"
    " same position and batch may always be taken.",
)
def pick(tx: Transaction, request: Request[PickDraft]) -> ResourceResponse:
    """Note what was taken from a position."""
    substitution = request.tenant.settings.pick_substitution
    record = picks.pick(tx, request.id, request.body, substitution)
    return ResourceResponse(views.picking_in_detail(record))


@routes.declare(
    "POST",
    "/pickings/{id}/finalize",
    "Finalize a picking",
    _WRITE,
    body=PickingEnd,
    description="What was not picked is released and needs a reason.",
)
def finalize_picking(tx: Transaction, request: Request[PickingEnd]) -> ResourceResponse:
    """End a picking."""
    record = service.finalize_picking(tx, request.id, request.body, tell_wave)
    return ResourceResponse(views.picking_in_detail(record))


@routes.declare(
    "POST",
    "/pickings/{id}/cancel",
    "Cancel a picking",
    _WRITE,
    description="Its stock is released; what was picked is available on its shelf again.",
)
def cancel_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Give a picking up."""
    return ResourceResponse(
        views.picking_in_detail(service.cancel_picking(tx, request.id, tell_wave))
    )


@routes.declare(
    "POST",
    "/pickings/{id}/revert",
    "Revert a picking",
    _WRITE,
    description="Only while none of its goods have been dispatched.",
)
def revert_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Take a finished picking back."""
    return ResourceResponse(views.picking_in_detail(service.revert_picking(tx, request.id)))


@routes.declare("POST", "/pickings/{id}/synchronize", "Note that the ERP has a picking", _WRITE)
def synchronize_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Note that the ERP knows of it."""
    return ResourceResponse(views.picking_in_detail(service.synchronize_picking(tx, request.id)))

"""Routes of pickings."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.catalog.several_lines import UnappliedLines
from shared.warehouse.picking import picks, service, undo_picks, views
from shared.warehouse.picking.models import (
    PickDraft,
    Picking,
    PickingDetail,
    PickingDraft,
    PickingEnd,
    PickingGoods,
    PickingParameters,
    PicksDraft,
    StoredPicking,
)
from shared.warehouse.scanning.models import GOODS_TEXT
from shared.warehouse.scanning.service import goods_of
from shared.warehouse.settings.values import settings_of
from shared.warehouse.waves.picking_status import record_in_wave

routes = Routes()


@routes.read(
    "/pickings",
    "List pickings",
    scope="pickings:read",
    response=Picking,
    parameters=PickingParameters,
    description="`external_ref` and `document_id` are the reference and the id of an exit document;"
    " they find a picking by each of its documents. `document` shows the first one. A lower"
    " priority is more urgent.",
)
def list_pickings(
    store: Store, request: Request[None, PickingParameters]
) -> ListResponse[StoredPicking]:
    """Return a page of pickings."""
    page = service.list_pickings(store, request.parameters)
    return ListResponse(page, views.picking_in_list)


@routes.read("/pickings/{id}", "Get a picking", scope="pickings:read", response=PickingDetail)
def get_picking(store: Store, request: Request) -> ResourceResponse:
    """Return one picking with its lines."""
    return ResourceResponse(views.picking_in_detail(service.get_picking(store, request.id)))


@routes.read(
    "/pickings/{id}/goods",
    "Get the goods of a picking",
    scope="pickings:read",
    response=PickingGoods,
    description=f"{GOODS_TEXT} `pick_substitution` is the setting of the company.",
)
def get_picking_goods(store: Store, request: Request) -> ResourceResponse:
    """Return what names the goods of one picking on labels, and what may be picked instead."""
    record = service.get_picking(store, request.id)
    lines = views.picking_in_detail(record).lines
    products = (line["product_id"] for line in lines)
    bins = (line["bin_code"] for line in lines)
    goods = goods_of(store, products, record.entity.whs_code, bins)
    setting = settings_of(store.company).pick_substitution
    return ResourceResponse(PickingGoods(**dict(goods), pick_substitution=setting))


_WRITE: OperationOptions = {
    "scope": "pickings:write",
    "permission": "exits.manage",
    "response": PickingDetail,
    "errors": ("conflict", "stale_state"),
}


@routes.write(
    "POST",
    "/pickings",
    "Create a picking",
    _WRITE,
    body=PickingDraft,
    statuses=(201,),
    description="Picks every open quantity of one exit document, or of several of one warehouse."
    " Stock is allocated at once unless `allocate` is false: first expired, then pick faces, then"
    " first received.",
)
def create_picking(tx: Transaction, request: Request[Checked[PickingDraft]]) -> ResourceResponse:
    """Create a picking."""
    record = service.create_picking(tx, request.body)
    return ResourceResponse(views.picking_in_detail(record), 201, f"/pickings/{record.id}")


@routes.write("POST", "/pickings/{id}/start", "Start a picking", _WRITE)
def start_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Start a picking."""
    record = service.start_picking(tx, request.id, record_in_wave)
    return ResourceResponse(views.picking_in_detail(record))


@routes.write(
    "POST",
    "/pickings/{id}/allocate",
    "Allocate stock to a picking",
    _WRITE,
    description="Allocates the available stock to the lines that lack some. Allocated goods that"
    " may not be picked any more, because they have expired, are replaced.",
)
def allocate_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Allocate stock to the lines that lack some."""
    return ResourceResponse(views.picking_in_detail(service.allocate_picking(tx, request.id)))


@routes.write(
    "POST",
    "/pickings/{id}/picks",
    "Pick",
    _WRITE,
    body=PicksDraft,
    beside=UnappliedLines,
    description="The picked goods become staged stock. Another position or batch than allocated is"
    " refused, unless the company's setting `pick_substitution` allows it; another serial of the"
    " same position and batch may be taken where the order names no serials. If another picking has"
    " allocated it, the two exchange their allocations; a serial that the order of the other"
    " picking names is refused. Other serials, another batch or another expiry date than the order"
    " names need the setting `any`. Expired goods are refused, and goods with fewer days left than"
    " their product requires for sale, unless the setting `expired_stock` allows them."
    f" {views.SEVERAL_PICKS}",
)
def pick(tx: Transaction, request: Request[Checked[PicksDraft]]) -> ResourceResponse:
    """Pick goods at a position, or at several."""
    record, refused = picks.pick(tx, request.id, request.body)
    beside = views.unapplied_picks(request.body, refused)
    return ResourceResponse(views.picking_in_detail(record), beside=beside)


@routes.write(
    "POST",
    "/pickings/{id}/picks/undo",
    "Undo a pick",
    _WRITE,
    body=PickDraft,
    description="Takes the body of a pick. The goods return to the position that they were picked"
    " at, and are allocated to the picking again. More than was picked there is refused.",
)
def undo_pick(tx: Transaction, request: Request[Checked[PickDraft]]) -> ResourceResponse:
    """Undo a pick."""
    record = undo_picks.undo_pick(tx, request.id, request.body)
    return ResourceResponse(views.picking_in_detail(record))


@routes.write(
    "POST",
    "/pickings/{id}/finalize",
    "Finalize a picking",
    _WRITE,
    body=PickingEnd,
    description="Releases the remaining allocations. A shortage needs a reason. If more than"
    " `approval_shortage_percent` of the quantity was not picked, it is refused with"
    " `approval_required`.",
    errors=("conflict", "approval_required"),
)
def finalize_picking(tx: Transaction, request: Request[Checked[PickingEnd]]) -> ResourceResponse:
    """Finalize a picking."""
    record = service.finalize_picking(tx, request.id, request.body, record_in_wave)
    return ResourceResponse(views.picking_in_detail(record))


@routes.write(
    "POST",
    "/pickings/{id}/cancel",
    "Cancel a picking",
    _WRITE,
    description="Allocations are released; picked goods are available at their position again. The"
    " picking leaves the metrics of its wave.",
)
def cancel_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel a picking."""
    record = service.cancel_picking(tx, request.id, record_in_wave)
    return ResourceResponse(views.picking_in_detail(record))


@routes.write(
    "POST",
    "/pickings/{id}/revert",
    "Revert a picking",
    _WRITE,
    description="Its staged goods are available at their positions again. If goods of some of its"
    " documents were dispatched, `lines` show only what left; if all were, it is refused with"
    " `conflict`.",
)
def revert_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Revert a finalized picking."""
    return ResourceResponse(views.picking_in_detail(service.revert_picking(tx, request.id)))


@routes.write(
    "POST",
    "/pickings/{id}/synchronize",
    "Synchronize a picking",
    _WRITE,
    description="The ERP has booked the picking.",
)
def synchronize_picking(tx: Transaction, request: Request) -> ResourceResponse:
    """Record that the ERP has booked a picking."""
    return ResourceResponse(views.picking_in_detail(service.synchronize_picking(tx, request.id)))

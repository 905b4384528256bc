"""Routes of packing orders and handling units."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.packing import reading, service, units, views
from shared.warehouse.packing.models import (
    ContentsDraft,
    HandlingUnit,
    HandlingUnitDetail,
    PackingEnd,
    PackingOrder,
    PackingOrderDetail,
    PackingOrderDraft,
    PackingOrderParameters,
    StoredPackingOrder,
    StoredUnit,
    UnitClosing,
    UnitDraft,
    UnitParameters,
)
from shared.warehouse.scanning.models import GOODS_TEXT, WorkGoods
from shared.warehouse.scanning.service import goods_of

routes = Routes()

_READ: OperationOptions = {"scope": "pickings:read"}
_WRITE: OperationOptions = {
    "scope": "pickings:write",
    "permission": "exits.manage",
    "errors": ("conflict",),
}
_ORDER: OperationOptions = {**_WRITE, "response": PackingOrderDetail}
_UNIT: OperationOptions = {
    **_WRITE,
    "response": HandlingUnitDetail,
    "errors": ("conflict", "gone"),
}
_GOODS: OperationOptions = {**_UNIT, "errors": ("conflict", "gone", "rule_blocked")}


@routes.read(
    "/packing-orders",
    "List packing orders",
    _READ,
    response=PackingOrder,
    parameters=PackingOrderParameters,
    description="`warehouse` is a warehouse code.",
)
def list_packing_orders(
    store: Store, request: Request[None, PackingOrderParameters]
) -> ListResponse[StoredPackingOrder]:
    """Return a page of packing orders."""
    page = service.list_packing_orders(store, request.parameters)
    return ListResponse(page, views.order_in_list)


@routes.read("/packing-orders/{id}", "Get a packing order", _READ, response=PackingOrderDetail)
def get_packing_order(store: Store, request: Request) -> ResourceResponse:
    """Return one packing order with its lines and handling units."""
    return _shown(service.get_packing_order(store, request.id))


@routes.read(
    "/packing-orders/{id}/goods",
    "Get the goods of a packing order",
    _READ,
    response=WorkGoods,
    description=GOODS_TEXT,
)
def get_packing_order_goods(store: Store, request: Request) -> ResourceResponse:
    """Return what names the goods of one packing order on labels."""
    order = service.get_packing_order(store, request.id).record.entity
    return ResourceResponse(goods_of(store, (line.product_id for line in order.lines)))


@routes.write(
    "POST",
    "/packing-orders",
    "Create a packing order",
    _ORDER,
    body=PackingOrderDraft,
    statuses=(201,),
    description="For the staged goods of one exit document: of all its finalized pickings, or of"
    " those in `picking_ids`. A picking has at most one active packing order for each of its exit"
    " documents (`conflict`), and the goods of an active one cannot be reverted.",
)
def create_packing_order(
    tx: Transaction, request: Request[Checked[PackingOrderDraft]]
) -> ResourceResponse:
    """Create a packing order."""
    created = service.create_packing_order(tx, request.body)
    view = views.order_in_detail(created)
    return ResourceResponse(view, 201, f"/packing-orders/{created.record.id}")


@routes.write(
    "POST",
    "/packing-orders/{id}/complete",
    "Complete a packing order",
    _ORDER,
    body=PackingEnd,
    description="All goods must be in closed handling units"
    " (`conflict` names what is not), unless `short` is true, with a `reason`: the dispatch then"
    " ships the rest unpacked. Open units in which nothing is are deleted. With the company's"
    " setting `rfid_required`, the packing order must have passed an RFID validation since its"
    " last change (`conflict`).",
)
def complete_packing_order(
    tx: Transaction, request: Request[Checked[PackingEnd]]
) -> ResourceResponse:
    """Complete a packing order."""
    return _shown(service.complete_packing_order(tx, request.id, request.body))


@routes.write(
    "POST",
    "/packing-orders/{id}/cancel",
    "Cancel a packing order",
    _ORDER,
    description="The goods stay staged, and its handling units are deleted.",
)
def cancel_packing_order(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel a packing order."""
    return _shown(service.cancel_packing_order(tx, request.id))


@routes.write(
    "POST",
    "/packing-orders/{id}/handling-units",
    "Create a handling unit",
    _WRITE,
    body=UnitDraft,
    response=HandlingUnitDetail,
    statuses=(201,),
    errors=("conflict",),
    description="Units stand in units on at most 3 levels. With the company's setting"
    " `gs1_company_prefix`, the unit has an SSCC that no other unit ever has. At most 200 units per"
    " packing order (`conflict`).",
)
def create_handling_unit(tx: Transaction, request: Request[Checked[UnitDraft]]) -> ResourceResponse:
    """Create an empty handling unit."""
    created = units.create_unit(tx, request.id, request.body)
    path = f"/handling-units/{created.record.id}"
    return ResourceResponse(views.unit_in_detail(created), 201, path)


@routes.read(
    "/handling-units",
    "List handling units",
    _READ,
    response=HandlingUnit,
    parameters=UnitParameters,
)
def list_handling_units(
    store: Store, request: Request[None, UnitParameters]
) -> ListResponse[StoredUnit]:
    """Return a page of handling units."""
    return ListResponse(units.list_units(store, request.parameters), views.unit_shown)


@routes.read(
    "/handling-units/{id}",
    "Get a handling unit",
    _READ,
    response=HandlingUnitDetail,
    errors=("gone",),
)
def get_handling_unit(store: Store, request: Request) -> ResourceResponse:
    """Return one handling unit with its contents."""
    return _unit(units.get_unit(store, request.id))


@routes.write(
    "POST",
    "/handling-units/{id}/contents",
    "Put goods into a handling unit",
    _GOODS,
    body=ContentsDraft,
    description="Goods that are staged for the pickings of the packing order and not packed yet;"
    " more is refused with `rule_blocked`. The first goods make the packing order in_progress. At"
    " most 100 contents and 1,000 serials per unit, and 2,000 contents per packing order.",
)
def put_in(tx: Transaction, request: Request[Checked[ContentsDraft]]) -> ResourceResponse:
    """Put goods into a handling unit."""
    return _unit(units.put_in(tx, request.id, request.body))


@routes.write(
    "POST",
    "/handling-units/{id}/contents/remove",
    "Take goods out of a handling unit",
    _GOODS,
    body=ContentsDraft,
    description="The goods stay staged and can be packed again.",
)
def take_out(tx: Transaction, request: Request[Checked[ContentsDraft]]) -> ResourceResponse:
    """Take goods out of a handling unit."""
    return _unit(units.take_out(tx, request.id, request.body))


@routes.write(
    "POST",
    "/handling-units/{id}/close",
    "Close a handling unit",
    _UNIT,
    body=UnitClosing,
    description="Units that stand in it must be closed before. A closed unit"
    " takes no goods and gives none.",
)
def close_handling_unit(
    tx: Transaction, request: Request[Checked[UnitClosing]]
) -> ResourceResponse:
    """Close a handling unit."""
    return _unit(units.close_unit(tx, request.id, request.body))


@routes.write(
    "POST",
    "/handling-units/{id}/reopen",
    "Reopen a handling unit",
    _UNIT,
    description="The weight is unknown again; `conflict` once the packing order is packed.",
)
def reopen_handling_unit(tx: Transaction, request: Request) -> ResourceResponse:
    """Reopen a closed handling unit."""
    return _unit(units.reopen_unit(tx, request.id))


@routes.write(
    "DELETE",
    "/handling-units/{id}",
    "Delete a handling unit",
    _UNIT,
    description="Only while nothing is in it. Its SSCC is not given to another unit.",
)
def delete_handling_unit(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete an empty handling unit, and return its last state."""
    return _unit(units.delete_unit(tx, request.id))


def _shown(found: reading.OrderWithUnits) -> ResourceResponse:
    return ResourceResponse(views.order_in_detail(found))


def _unit(found: reading.UnitInOrder) -> ResourceResponse:
    return ResourceResponse(views.unit_in_detail(found))

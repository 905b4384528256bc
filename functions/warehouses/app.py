"""Warehouses and positions. Maps and pick faces are in `layout` and `pick_faces`."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import (
    DeferredRoutes,
    ListResponse,
    OperationOptions,
    ResourceResponse,
    Routes,
)
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.warehouses import bulk, service
from shared.warehouse.warehouses.models import (
    Position,
    PositionBulk,
    PositionChange,
    PositionCreate,
    PositionParameters,
    Warehouse,
    WarehouseChange,
    WarehouseCreate,
    WarehouseDetail,
    WarehouseParameters,
)

routes = Routes()

_READ: OperationOptions = {"scope": "warehouses:read"}
_WRITE: OperationOptions = {"scope": "warehouses:write", "permission": "inventory.manage"}


@routes.read(
    "/warehouses",
    "List warehouses",
    _READ,
    response=Warehouse,
    parameters=WarehouseParameters,
)
def list_warehouses(
    store: Store, request: Request[None, WarehouseParameters]
) -> ListResponse[Warehouse]:
    """Return a page of warehouses."""
    return ListResponse(service.list_warehouses(store, request.parameters))


@routes.write(
    "POST",
    "/warehouses",
    "Create a warehouse",
    _WRITE,
    response=Warehouse,
    body=WarehouseCreate,
    statuses=(201,),
)
def create_warehouse(
    tx: Transaction, request: Request[Checked[WarehouseCreate]]
) -> ResourceResponse:
    """Create a warehouse."""
    record = service.create_warehouse(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/warehouses/{record.id}")


@routes.read(
    "/warehouses/{id}",
    "Get a warehouse with its positions",
    _READ,
    response=WarehouseDetail,
    errors=("gone",),
    description="The response has the first 2000 positions by bin_code. List all positions with "
    "GET /warehouse-positions?warehouse_id=.",
)
def get_warehouse(store: Store, request: Request) -> ResourceResponse:
    """Return a warehouse and its positions."""
    return ResourceResponse(service.get_warehouse(store, request.id).entity)


def change_warehouse(
    tx: Transaction, number: int, change: Checked[WarehouseChange]
) -> Record[Warehouse]:
    """Change a warehouse, also in its stock."""
    # Imported here because it takes 14 ms, and reads do not need it.
    from shared.warehouse.stock import renames  # noqa: PLC0415

    return renames.change_warehouse(tx, number, change)


def delete_warehouse(tx: Transaction, number: int) -> Record[WarehouseDetail]:
    """Delete a warehouse with its map."""
    # Imported here: the models of a map take long to import.
    from shared.warehouse.layout import service as layout  # noqa: PLC0415

    return layout.delete_warehouse(tx, number)


routes.declare_change_and_delete(
    "/warehouses/{id}",
    "a warehouse",
    _WRITE,
    change=change_warehouse,
    delete=delete_warehouse,
    response=Warehouse,
    body=WarehouseChange,
    errors=("conflict", "gone"),
    delete_description="Delete a warehouse that has no positions and that nothing refers to, and "
    "return its last state.",
)


@routes.read(
    "/warehouse-positions",
    "List positions",
    _READ,
    response=Position,
    parameters=PositionParameters,
)
def list_positions(
    store: Store, request: Request[None, PositionParameters]
) -> ListResponse[Position]:
    """Return a page of positions."""
    return ListResponse(service.list_positions(store, request.parameters))


@routes.write(
    "POST",
    "/warehouse-positions",
    "Create a position",
    _WRITE,
    response=Position,
    body=PositionCreate,
    statuses=(201,),
)
def create_position(tx: Transaction, request: Request[Checked[PositionCreate]]) -> ResourceResponse:
    """Create a position."""
    record = service.create_position(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/warehouse-positions/{record.id}")


@routes.write(
    "POST",
    "/warehouse-positions/bulk",
    "Create positions by naming mask",
    _WRITE,
    response=Position,
    body=PositionBulk,
    responds_with_list=True,
    statuses=(201,),
    errors=("conflict",),
    description="Returns all positions that the naming mask names, in naming order. Existing "
    "positions are not changed. To complete an interrupted request, send it again.",
)
def create_positions(tx: Transaction, request: Request[Checked[PositionBulk]]) -> ResourceResponse:
    """Create the positions that a naming mask names and that do not exist yet."""
    warehouse, records = bulk.create_positions(tx, request.body)
    positions = [record.entity for record in records]
    return ResourceResponse(positions, 201, f"/warehouse-positions?warehouse_id={warehouse.id}")


@routes.read(
    "/warehouse-positions/{id}",
    "Get a position",
    _READ,
    response=Position,
    errors=("gone",),
)
def get_position(store: Store, request: Request) -> ResourceResponse:
    """Return a position."""
    return ResourceResponse(service.get_position(store, request.id).entity)


def change_position(
    tx: Transaction, number: int, change: Checked[PositionChange]
) -> Record[Position]:
    """Change a position, also in its stock."""
    from shared.warehouse.stock import renames  # noqa: PLC0415 - as above

    return renames.change_position(tx, number, change)


routes.declare_change_and_delete(
    "/warehouse-positions/{id}",
    "a position",
    _WRITE,
    change=change_position,
    delete=service.delete_position,
    response=Position,
    body=PositionChange,
    errors=("conflict", "gone"),
    delete_description="Delete a position that nothing refers to, and return its last state.",
)


lambda_handler = ApiHandler(
    routes,
    DeferredRoutes(
        "functions.warehouses.layout", ("/warehouses/{id}/layout", "/warehouses/{id}/layout.svg")
    ),
    DeferredRoutes("functions.warehouses.pick_faces", ("/pick-faces",)),
)

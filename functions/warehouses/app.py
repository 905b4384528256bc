"""Warehouses and their positions; their maps: `layout`; `pick_faces`."""

from functions.warehouses import layout, pick_faces
from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, Method, ResourceResponse, Routes
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
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

routes = Routes("warehouses")

_CHANGES: tuple[Method, ...] = ("PUT", "PATCH")

_READ = {"scope": "warehouses:read"}
_WRITE = {"scope": "warehouses:write", "permission": "inventory.manage"}


def _view[E](record: Record[E]) -> E:
    return record.entity


@routes.declare(
    "GET",
    "/warehouses",
    "List warehouses",
    response=Warehouse,
    parameters=WarehouseParameters,
    **_READ,
)
def list_warehouses(store: Store, request: Request) -> ListResponse[Warehouse]:
    """Page through the warehouses."""
    return ListResponse(service.list_warehouses(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/warehouses",
    "Create a warehouse",
    response=Warehouse,
    body=WarehouseCreate,
    collects_problems=True,
    statuses=(201,),
    **_WRITE,
)
def create_warehouse(tx: Transaction, request: Request) -> ResourceResponse:
    """Create a warehouse."""
    record = service.create_warehouse(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/warehouses/{record.id}")


@routes.declare(
    "GET",
    "/warehouses/{id}",
    "Get a warehouse with its positions",
    response=WarehouseDetail,
    errors=("gone",),
    description="The first 2000 positions by bin_code; page through more with "
    "GET /warehouse-positions?warehouse_id=.",
    **_READ,
)
def get_warehouse(store: Store, request: Request) -> ResourceResponse:
    """Read one warehouse and its positions."""
    return ResourceResponse(service.get_warehouse(store, request.id).entity)


def _change_warehouse(tx: Transaction, request: Request) -> ResourceResponse:
    record = service.change_warehouse(tx, request.id, request.body)
    return ResourceResponse(record.entity)


for _method in _CHANGES:
    routes.declare(
        _method,
        "/warehouses/{id}",
        "Change a warehouse",
        response=Warehouse,
        body=WarehouseChange,
        collects_problems=True,
        errors=("conflict", "gone"),
        description="Only the fields sent change; PUT and PATCH are the same.",
        **_WRITE,
    )(_change_warehouse)


@routes.declare(
    "DELETE",
    "/warehouses/{id}",
    "Delete a warehouse",
    response=Warehouse,
    errors=("conflict", "gone"),
    **_WRITE,
)
def delete_warehouse(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a warehouse without positions that nothing refers to; answers it as it was."""
    return ResourceResponse(service.delete_warehouse(tx, request.id).entity)


@routes.declare(
    "GET",
    "/warehouse-positions",
    "List positions",
    response=Position,
    parameters=PositionParameters,
    **_READ,
)
def list_positions(store: Store, request: Request) -> ListResponse[Position]:
    """Page through the positions."""
    return ListResponse(service.list_positions(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/warehouse-positions",
    "Create a position",
    response=Position,
    body=PositionCreate,
    collects_problems=True,
    statuses=(201,),
    **_WRITE,
)
def create_position(tx: Transaction, request: Request) -> ResourceResponse:
    """Create a position."""
    record = service.create_position(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/warehouse-positions/{record.id}")


@routes.declare(
    "POST",
    "/warehouse-positions/bulk",
    "Create positions by naming mask",
    response=Position,
    body=PositionBulk,
    responds_with_list=True,
    collects_problems=True,
    statuses=(201,),
    errors=("conflict",),
    description="Answers the list of all positions named, in naming order. Those that exist "
    "stay as they are, so a request that was interrupted is completed by sending it again.",
    **_WRITE,
)
def create_positions(tx: Transaction, request: Request) -> ResourceResponse:
    """Create the positions that a naming mask names and that do not exist yet."""
    warehouse, records = bulk.create_positions(tx, request.body)
    positions = [record.entity for record in records]
    return ResourceResponse(positions, 201, f"/warehouse-positions?warehouse_id={warehouse.id}")


@routes.declare(
    "GET",
    "/warehouse-positions/{id}",
    "Get a position",
    response=Position,
    errors=("gone",),
    **_READ,
)
def get_position(store: Store, request: Request) -> ResourceResponse:
    """Read one position."""
    return ResourceResponse(service.get_position(store, request.id).entity)


def _change_position(tx: Transaction, request: Request) -> ResourceResponse:
    record = service.change_position(tx, request.id, request.body)
    return ResourceResponse(record.entity)


for _method in _CHANGES:
    routes.declare(
        _method,
        "/warehouse-positions/{id}",
        "Change a position",
        response=Position,
        body=PositionChange,
        collects_problems=True,
        errors=("conflict", "gone"),
        description="Only the fields sent change; PUT and PATCH are the same.",
        **_WRITE,
    )(_change_position)


@routes.declare(
    "DELETE",
    "/warehouse-positions/{id}",
    "Delete a position",
    response=Position,
    errors=("conflict", "gone"),
    **_WRITE,
)
def delete_position(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a position that nothing refers to; answers it as it was."""
    return ResourceResponse(service.delete_position(tx, request.id).entity)


lambda_handler = ApiHandler(routes, layout.routes, pick_faces.routes)

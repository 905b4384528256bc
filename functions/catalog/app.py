"""Products and product categories."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, Method, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog import service
from shared.warehouse.catalog.models import (
    Category,
    CategoryChange,
    CategoryCreate,
    CategoryParameters,
    Product,
    ProductChange,
    ProductCreate,
    ProductParameters,
)

routes = Routes()

_CHANGES: tuple[Method, ...] = ("PUT", "PATCH")

_READ: OperationOptions = {"scope": "products:read"}
_WRITE: OperationOptions = {"scope": "products:write", "permission": "inventory.manage"}


def _view[E](record: Record[E]) -> E:
    return record.entity


@routes.declare(
    "GET",
    "/products",
    "List products",
    _READ,
    response=Product,
    parameters=ProductParameters,
    allows_mobile=True,
)
def list_products(store: Store, request: Request[None, ProductParameters]) -> ListResponse[Product]:
    """Page through the catalog."""
    return ListResponse(service.list_products(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/products",
    "Create a product",
    _WRITE,
    response=Product,
    body=ProductCreate,
    collects_problems=True,
    statuses=(201,),
)
def create_product(tx: Transaction, request: Request[ProductCreate]) -> ResourceResponse:
    """Create a product."""
    record = service.create_product(tx, request.body, request.problems)
    return ResourceResponse(record.entity, 201, f"/products/{record.id}")


@routes.declare("GET", "/products/{id}", "Get a product", _READ, response=Product, errors=("gone",))
def get_product(store: Store, request: Request) -> ResourceResponse:
    """Read one product."""
    return ResourceResponse(service.get_product(store, request.id).entity)


def _change_product(tx: Transaction, request: Request[ProductChange]) -> ResourceResponse:
    record = service.change_product(tx, request.id, request.body, request.problems)
    return ResourceResponse(record.entity)


for _method in _CHANGES:
    routes.declare(
        _method,
        "/products/{id}",
        "Change a product",
        _WRITE,
        response=Product,
        body=ProductChange,
        collects_problems=True,
        errors=("conflict", "gone"),
        description="Only the fields sent change; PUT and PATCH are the same.",
    )(_change_product)


@routes.declare(
    "DELETE",
    "/products/{id}",
    "Delete a product",
    _WRITE,
    response=Product,
    errors=("conflict", "gone"),
)
def delete_product(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a product that nothing refers to; answers it as it was."""
    return ResourceResponse(service.delete_product(tx, request.id).entity)


@routes.declare(
    "GET",
    "/product-categories",
    "List product categories",
    _READ,
    response=Category,
    parameters=CategoryParameters,
)
def list_categories(
    store: Store, request: Request[None, CategoryParameters]
) -> ListResponse[Category]:
    """Page through the categories."""
    return ListResponse(service.list_categories(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/product-categories",
    "Create a product category",
    _WRITE,
    response=Category,
    body=CategoryCreate,
    statuses=(201,),
)
def create_category(tx: Transaction, request: Request[CategoryCreate]) -> ResourceResponse:
    """Create a category."""
    record = service.create_category(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/product-categories/{record.id}")


@routes.declare(
    "GET",
    "/product-categories/{id}",
    "Get a product category",
    _READ,
    response=Category,
    errors=("gone",),
)
def get_category(store: Store, request: Request) -> ResourceResponse:
    """Read one category."""
    return ResourceResponse(service.get_category(store, request.id).entity)


def _change_category(tx: Transaction, request: Request[CategoryChange]) -> ResourceResponse:
    return ResourceResponse(service.change_category(tx, request.id, request.body).entity)


for _method in _CHANGES:
    routes.declare(
        _method,
        "/product-categories/{id}",
        "Change a product category",
        _WRITE,
        response=Category,
        body=CategoryChange,
        errors=("gone",),
        description="Only the fields sent change; PUT and PATCH are the same.",
    )(_change_category)


@routes.declare(
    "DELETE",
    "/product-categories/{id}",
    "Delete a product category",
    _WRITE,
    response=Category,
    errors=("gone",),
)
def delete_category(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a category; answers it as it was."""
    return ResourceResponse(service.delete_category(tx, request.id).entity)


lambda_handler = ApiHandler(routes)

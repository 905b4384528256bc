"""Products and product categories."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.catalog import packaging, service, views
from shared.warehouse.catalog.models import (
    Category,
    CategoryChange,
    CategoryCreate,
    CategoryParameters,
    Packaging,
    PackagingChange,
    Product,
    ProductChange,
    ProductCreate,
    ProductParameters,
    StoredProduct,
)

routes = Routes()

_READ: OperationOptions = {"scope": "products:read"}
_WRITE: OperationOptions = {"scope": "products:write", "permission": "inventory.manage"}


@routes.read(
    "/products",
    "List products",
    _READ,
    response=Product,
    parameters=ProductParameters,
    allows_mobile=True,
)
def list_products(
    store: Store, request: Request[None, ProductParameters]
) -> ListResponse[StoredProduct]:
    """Return a page of products."""
    return ListResponse(service.list_products(store, request.parameters), views.product)


@routes.write(
    "POST",
    "/products",
    "Create a product",
    _WRITE,
    response=Product,
    body=ProductCreate,
    statuses=(201,),
)
def create_product(tx: Transaction, request: Request[Checked[ProductCreate]]) -> ResourceResponse:
    """Create a product."""
    record = service.create_product(tx, request.body)
    return ResourceResponse(views.product(record), 201, f"/products/{record.id}")


@routes.read("/products/{id}", "Get a product", _READ, response=Product, errors=("gone",))
def get_product(store: Store, request: Request) -> ResourceResponse:
    """Return a product."""
    return ResourceResponse(views.product(service.get_product(store, request.id)))


def change_product(
    tx: Transaction, number: int, change: Checked[ProductChange]
) -> Record[StoredProduct]:
    """Change a product, also in its stock."""
    # Imported here because it takes 17 ms, and reads do not need it.
    from shared.warehouse.stock import renames  # noqa: PLC0415

    return renames.change_product(tx, number, change)


routes.declare_change_and_delete(
    "/products/{id}",
    "a product",
    _WRITE,
    change=change_product,
    delete=service.delete_product,
    response=Product,
    body=ProductChange,
    errors=("conflict", "gone"),
    delete_description="Delete a product that nothing refers to, and return its last state.",
    view=views.product,
)


@routes.read(
    "/products/{id}/packaging",
    "Get the packaging of a product",
    _READ,
    response=Packaging,
    errors=("gone",),
)
def get_packaging(store: Store, request: Request) -> ResourceResponse:
    """Return the packaging of a product."""
    return ResourceResponse(views.packaging(service.get_product(store, request.id).entity))


@routes.write(
    "PUT",
    "/products/{id}/packaging",
    "Change the packaging of a product",
    _WRITE,
    response=Packaging,
    body=PackagingChange,
    errors=("gone",),
    description="Only the fields sent change; `gtins` and `units` are each replaced as a whole. A"
    " GTIN belongs to one product, whatever its leading zeros; a GTIN that is left out is free"
    " again. Documents keep their quantities when a unit changes.",
)
def change_packaging(
    tx: Transaction, request: Request[Checked[PackagingChange]]
) -> ResourceResponse:
    """Change the packaging of a product."""
    record = packaging.change_packaging(tx, request.id, request.body)
    return ResourceResponse(views.packaging(record.entity))


@routes.read(
    "/product-categories",
    "List product categories",
    _READ,
    response=Category,
    parameters=CategoryParameters,
)
def list_categories(
    store: Store, request: Request[None, CategoryParameters]
) -> ListResponse[Category]:
    """Return a page of product categories."""
    return ListResponse(service.list_categories(store, request.parameters))


@routes.write(
    "POST",
    "/product-categories",
    "Create a product category",
    _WRITE,
    response=Category,
    body=CategoryCreate,
    statuses=(201,),
)
def create_category(tx: Transaction, request: Request[Checked[CategoryCreate]]) -> ResourceResponse:
    """Create a product category."""
    record = service.create_category(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/product-categories/{record.id}")


@routes.read(
    "/product-categories/{id}",
    "Get a product category",
    _READ,
    response=Category,
    errors=("gone",),
)
def get_category(store: Store, request: Request) -> ResourceResponse:
    """Return a product category."""
    return ResourceResponse(service.get_category(store, request.id).entity)


routes.declare_change_and_delete(
    "/product-categories/{id}",
    "a product category",
    _WRITE,
    change=service.change_category,
    delete=service.delete_category,
    response=Category,
    body=CategoryChange,
    errors=("gone",),
    delete_description="Delete a product category and return its last state.",
)


lambda_handler = ApiHandler(routes)

"""Clients and providers."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, Method, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.partners import service
from shared.warehouse.partners.models import (
    Client,
    ClientChange,
    ClientCreate,
    ClientParameters,
    Provider,
    ProviderChange,
    ProviderCreate,
    ProviderParameters,
)

routes = Routes()

_CHANGES: tuple[Method, ...] = ("PUT", "PATCH")

_READ_CLIENTS: OperationOptions = {"scope": "clients:read"}
_WRITE_CLIENTS: OperationOptions = {"scope": "clients:write", "permission": "exits.manage"}
_READ_PROVIDERS: OperationOptions = {"scope": "providers:read"}
_WRITE_PROVIDERS: OperationOptions = {"scope": "providers:write", "permission": "entries.manage"}


def _view[E](record: Record[E]) -> E:
    return record.entity


@routes.declare(
    "GET",
    "/clients",
    "List clients",
    _READ_CLIENTS,
    response=Client,
    parameters=ClientParameters,
)
def list_clients(store: Store, request: Request[None, ClientParameters]) -> ListResponse[Client]:
    """Page through the clients."""
    return ListResponse(service.list_clients(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/clients",
    "Create a client",
    _WRITE_CLIENTS,
    response=Client,
    body=ClientCreate,
    collects_problems=True,
    statuses=(201,),
)
def create_client(tx: Transaction, request: Request[ClientCreate]) -> ResourceResponse:
    """Create a client."""
    record = service.create_client(tx, request.body, request.problems)
    return ResourceResponse(record.entity, 201, f"/clients/{record.id}")


@routes.declare(
    "GET", "/clients/{id}", "Get a client", _READ_CLIENTS, response=Client, errors=("gone",)
)
def get_client(store: Store, request: Request) -> ResourceResponse:
    """Read one client."""
    return ResourceResponse(service.get_client(store, request.id).entity)


def _change_client(tx: Transaction, request: Request[ClientChange]) -> ResourceResponse:
    record = service.change_client(tx, request.id, request.body, request.problems)
    return ResourceResponse(record.entity)


for _method in _CHANGES:
    routes.declare(
        _method,
        "/clients/{id}",
        "Change a client",
        _WRITE_CLIENTS,
        response=Client,
        body=ClientChange,
        collects_problems=True,
        errors=("gone",),
        description="Only the fields sent change; PUT and PATCH are the same.",
    )(_change_client)


@routes.declare(
    "DELETE",
    "/clients/{id}",
    "Delete a client",
    _WRITE_CLIENTS,
    response=Client,
    errors=("gone",),
    description="Documents keep the code and name of their client.",
)
def delete_client(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a client; answers it as it was."""
    return ResourceResponse(service.delete_client(tx, request.id).entity)


@routes.declare(
    "GET",
    "/providers",
    "List providers",
    _READ_PROVIDERS,
    response=Provider,
    parameters=ProviderParameters,
)
def list_providers(
    store: Store, request: Request[None, ProviderParameters]
) -> ListResponse[Provider]:
    """Page through the providers."""
    return ListResponse(service.list_providers(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/providers",
    "Create a provider",
    _WRITE_PROVIDERS,
    response=Provider,
    body=ProviderCreate,
    statuses=(201,),
)
def create_provider(tx: Transaction, request: Request[ProviderCreate]) -> ResourceResponse:
    """Create a provider."""
    record = service.create_provider(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/providers/{record.id}")


@routes.declare(
    "GET",
    "/providers/{id}",
    "Get a provider",
    _READ_PROVIDERS,
    response=Provider,
    errors=("gone",),
)
def get_provider(store: Store, request: Request) -> ResourceResponse:
    """Read one provider."""
    return ResourceResponse(service.get_provider(store, request.id).entity)


def _change_provider(tx: Transaction, request: Request[ProviderChange]) -> ResourceResponse:
    return ResourceResponse(service.change_provider(tx, request.id, request.body).entity)


for _method in _CHANGES:
    routes.declare(
        _method,
        "/providers/{id}",
        "Change a provider",
        _WRITE_PROVIDERS,
        response=Provider,
        body=ProviderChange,
        errors=("gone",),
        description="Only the fields sent change; PUT and PATCH are the same.",
    )(_change_provider)


@routes.declare(
    "DELETE",
    "/providers/{id}",
    "Delete a provider",
    _WRITE_PROVIDERS,
    response=Provider,
    errors=("gone",),
    description="Documents keep the code and name of their provider.",
)
def delete_provider(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a provider; answers it as it was."""
    return ResourceResponse(service.delete_provider(tx, request.id).entity)


lambda_handler = ApiHandler(routes)
"""Clients and providers."""

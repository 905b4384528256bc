"""Clients and providers."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
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

_READ_CLIENTS: OperationOptions = {"scope": "clients:read"}
_WRITE_CLIENTS: OperationOptions = {"scope": "clients:write", "permission": "exits.manage"}
_READ_PROVIDERS: OperationOptions = {"scope": "providers:read"}
_WRITE_PROVIDERS: OperationOptions = {"scope": "providers:write", "permission": "entries.manage"}


@routes.read(
    "/clients",
    "List clients",
    _READ_CLIENTS,
    response=Client,
    parameters=ClientParameters,
)
def list_clients(store: Store, request: Request[None, ClientParameters]) -> ListResponse[Client]:
    """Return a page of clients."""
    return ListResponse(service.list_clients(store, request.parameters))


@routes.write(
    "POST",
    "/clients",
    "Create a client",
    _WRITE_CLIENTS,
    response=Client,
    body=ClientCreate,
    statuses=(201,),
)
def create_client(tx: Transaction, request: Request[Checked[ClientCreate]]) -> ResourceResponse:
    """Create a client."""
    record = service.create_client(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/clients/{record.id}")


@routes.read("/clients/{id}", "Get a client", _READ_CLIENTS, response=Client, errors=("gone",))
def get_client(store: Store, request: Request) -> ResourceResponse:
    """Return a client."""
    return ResourceResponse(service.get_client(store, request.id).entity)


routes.declare_change_and_delete(
    "/clients/{id}",
    "a client",
    _WRITE_CLIENTS,
    change=service.change_client,
    delete=service.delete_client,
    response=Client,
    body=ClientChange,
    errors=("gone",),
    delete_description="Delete a client and return its last state.\n\n"
    "Documents keep the code and name of the client.",
)


@routes.read(
    "/providers",
    "List providers",
    _READ_PROVIDERS,
    response=Provider,
    parameters=ProviderParameters,
)
def list_providers(
    store: Store, request: Request[None, ProviderParameters]
) -> ListResponse[Provider]:
    """Return a page of providers."""
    return ListResponse(service.list_providers(store, request.parameters))


@routes.write(
    "POST",
    "/providers",
    "Create a provider",
    _WRITE_PROVIDERS,
    response=Provider,
    body=ProviderCreate,
    statuses=(201,),
)
def create_provider(tx: Transaction, request: Request[Checked[ProviderCreate]]) -> ResourceResponse:
    """Create a provider."""
    record = service.create_provider(tx, request.body)
    return ResourceResponse(record.entity, 201, f"/providers/{record.id}")


@routes.read(
    "/providers/{id}",
    "Get a provider",
    _READ_PROVIDERS,
    response=Provider,
    errors=("gone",),
)
def get_provider(store: Store, request: Request) -> ResourceResponse:
    """Return a provider."""
    return ResourceResponse(service.get_provider(store, request.id).entity)


routes.declare_change_and_delete(
    "/providers/{id}",
    "a provider",
    _WRITE_PROVIDERS,
    change=service.change_provider,
    delete=service.delete_provider,
    response=Provider,
    body=ProviderChange,
    errors=("gone",),
    delete_description="Delete a provider and return its last state.\n\n"
    "Documents keep the code and name of the provider.",
)


lambda_handler = ApiHandler(routes)

"""Credentials of ERPs, shops and mobile applications."""

from typing import Any

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.auth import client_changes, client_views
from shared.identity.auth.client_models import (
    ApiClient,
    ApiClientChange,
    ApiClientDraft,
    ApiClientParameters,
    ApiClientRotation,
    NewApiClient,
)
from shared.identity.auth.clients import Client
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

routes = Routes()

_ALL: OperationOptions = {"scope": "settings:manage", "permission": "users.manage"}
_ONE: OperationOptions = {**_ALL, "response": ApiClient, "errors": ("gone",)}


@routes.declare(
    "GET",
    "/api-clients",
    "List API clients",
    _ALL,
    response=ApiClient,
    parameters=ApiClientParameters,
    description="Integration clients and mobile applications that are not revoked.",
)
def list_api_clients(
    store: Store, request: Request[None, ApiClientParameters]
) -> ListResponse[Client]:
    """Page through the clients."""
    page = client_changes.list_clients(store, request.parameters)
    return ListResponse(page, lambda record: client_views.client(record.entity))


@routes.declare(
    "POST",
    "/api-clients",
    "Create an API client",
    _ALL,
    response=NewApiClient,
    body=ApiClientDraft,
    collects_problems=True,
    response_has_secret=True,
    statuses=(201,),
    errors=("limit_reached",),
    description="`client_secret` is shown this once. An integration client asks for tokens with it;"
    " a mobile application is public, and its users sign in by its id. The plan limits the number"
    " of integration clients; there are 10 mobile applications at most.",
)
def create_api_client(tx: Transaction, request: Request[ApiClientDraft]) -> ResourceResponse:
    """Create an integration client or a mobile application."""
    made, secret = client_changes.create_client(tx, request.body, request.problems)
    return ResourceResponse(
        client_views.new_client(made, secret), 201, f"/api-clients/{made.client_id}"
    )


@routes.declare("GET", "/api-clients/{id}", "Get an API client", _ONE)
def get_api_client(store: Store, request: Request) -> ResourceResponse:
    """Read one client."""
    return ResourceResponse(client_views.client(client_changes.get_client(store, _id(request))))


@routes.declare(
    "PATCH",
    "/api-clients/{id}",
    "Change an API client",
    _ONE,
    body=ApiClientChange,
    collects_problems=True,
    description="Only the fields sent change. A scope that is taken away ends the client's tokens"
    " within 10 s; it asks for new ones.",
)
def change_api_client(tx: Transaction, request: Request[ApiClientChange]) -> ResourceResponse:
    """Change the name or the scopes of a client."""
    changed = client_changes.change_client(tx, _id(request), request.body, request.problems)
    return ResourceResponse(client_views.client(changed))


@routes.declare(
    "DELETE",
    "/api-clients/{id}",
    "Revoke an API client",
    _ONE,
    description="For good: its secrets end at once, its tokens within 10 s.",
)
def revoke_api_client(tx: Transaction, request: Request) -> ResourceResponse:
    """Revoke a client; answers it as it was."""
    return ResourceResponse(client_views.client(client_changes.revoke_client(tx, _id(request))))


@routes.declare(
    "POST",
    "/api-clients/{id}/rotate-secret",
    "Rotate the secret",
    _ONE,
    body=ApiClientRotation,
    response_has_secret=True,
    description="The new secret is shown this once. The one before works, too, until the next"
    " rotation or until it is ended: only the newest two do. Send an Idempotency-Key; then a"
    " repetition gives the same secret. Without one it is another rotation. With `keep_previous`"
    " false the one before ends at once, and all tokens"
    " of the client within 10 s.",
    response=NewApiClient,
    errors=("gone", "conflict"),
)
def rotate_client_secret(tx: Transaction, request: Request[ApiClientRotation]) -> ResourceResponse:
    """Give a client a new secret."""
    keep = request.body.keep_previous
    changed, secret = client_changes.rotate_secret(tx, _id(request), keep_previous=keep)
    return ResourceResponse(client_views.new_client(changed, secret))


@routes.declare(
    "DELETE",
    "/api-clients/{id}/previous-secret",
    "End the previous secret",
    _ONE,
    description="Of a client that has changed over to its new one. Tokens stay valid.",
)
def end_previous_secret(tx: Transaction, request: Request) -> ResourceResponse:
    """End the secret that a rotation kept."""
    return ResourceResponse(
        client_views.client(client_changes.end_previous_secret(tx, _id(request)))
    )


def _id(request: Request[Any, Any]) -> str:
    return request.path_values["id"]

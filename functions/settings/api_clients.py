"""Routes of API clients: integration clients and mobile applications."""

from typing import Any

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.auth import client_service, client_views
from shared.identity.auth.client_models import (
    ApiClientChange,
    ApiClientDraft,
    ApiClientParameters,
    ApiClientRotation,
    NewApiClient,
    RegisteredClient,
)
from shared.identity.auth.clients import OAuthClient
from shared.integration.webhooks.ended_access import (
    AccessEnd,
    ChangedApiClient,
    RevokedApiClient,
    listed_webhooks,
    webhooks_of,
    webhooks_of_changed_client,
)
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked, ensure_valid

routes = Routes()

_ALL: OperationOptions = {"scope": "settings:manage", "permission": "users.manage"}
_ONE: OperationOptions = {**_ALL, "response": RegisteredClient, "errors": ("gone",)}


@routes.read(
    "/api-clients",
    "List API clients",
    _ALL,
    response=RegisteredClient,
    parameters=ApiClientParameters,
    description="Integration clients and mobile applications, without revoked ones.",
)
def list_api_clients(
    store: Store, request: Request[None, ApiClientParameters]
) -> ListResponse[OAuthClient]:
    """List API clients."""
    page = client_service.list_clients(store, request.parameters)
    return ListResponse(page, lambda record: client_views.client(record.entity))


@routes.write(
    "POST",
    "/api-clients",
    "Create an API client",
    _ALL,
    response=NewApiClient,
    body=ApiClientDraft,
    response_has_secret=True,
    statuses=(201,),
    errors=("limit_reached",),
    description="Only this response contains `client_secret`, with which an integration client"
    " requests tokens. A mobile application is a public client without a secret; its users sign in"
    " with its id. The plan limits the number of integration clients; the limit of mobile"
    " applications is 10.",
)
def create_api_client(
    tx: Transaction, request: Request[Checked[ApiClientDraft]]
) -> ResourceResponse:
    """Create an integration client or a mobile application."""
    client, secret = client_service.create_client(tx, request.body)
    return ResourceResponse(
        client_views.new_client(client, secret), 201, f"/api-clients/{client.client_id}"
    )


@routes.read("/api-clients/{id}", "Get an API client", _ONE)
def get_api_client(store: Store, request: Request) -> ResourceResponse:
    """Return an API client."""
    return ResourceResponse(client_views.client(client_service.get_client(store, _id(request))))


@routes.write(
    "PATCH",
    "/api-clients/{id}",
    "Change an API client",
    _ONE,
    response=ChangedApiClient,
    body=ApiClientChange,
    description="Fields that are not sent keep their values. Removing a scope revokes the client's"
    " tokens within 10 s; the client must request new ones. If `scopes` lack `webhooks:manage`, the"
    " response lists the webhook subscriptions that the client created, or whose address, secret or"
    " activation it set last. They continue to send events, unless the body also has"
    " `deactivate_webhooks: true`.",
)
def change_api_client(
    tx: Transaction, request: Request[Checked[ApiClientChange]]
) -> ResourceResponse:
    """Change the name or the scopes of an API client."""
    changed = client_service.change_client(tx, _id(request), request.body)
    webhooks = webhooks_of_changed_client(tx, changed, ensure_valid(request.body))
    return ResourceResponse(
        ChangedApiClient.from_stored(
            client_views.client(changed), webhooks=listed_webhooks(webhooks)
        )
    )


@routes.write(
    "DELETE",
    "/api-clients/{id}",
    "Revoke an API client",
    _ONE,
    response=RevokedApiClient,
    body=AccessEnd,
    description="This is permanent. Its secrets become invalid at once, its tokens within 10 s. The"
    " webhook subscriptions that it created, or whose address, secret or activation it set last,"
    ' continue to send events, unless the body is `{"deactivate_webhooks": true}`; the response'
    " lists them. The body is optional.",
)
def revoke_api_client(tx: Transaction, request: Request[Checked[AccessEnd]]) -> ResourceResponse:
    """Revoke an API client; return it as it was before, with its subscriptions."""
    client_service.get_client(tx.store, _id(request))
    end = ensure_valid(request.body)
    client = client_service.revoke_client(tx, _id(request))
    webhooks = webhooks_of(tx, "client", client.client_id, deactivate=end.deactivate_webhooks)
    return ResourceResponse(
        RevokedApiClient.from_stored(
            client_views.client(client), webhooks=listed_webhooks(webhooks)
        )
    )


@routes.write(
    "POST",
    "/api-clients/{id}/rotate-secret",
    "Rotate the secret",
    _ONE,
    body=ApiClientRotation,
    response_has_secret=True,
    description="Only this response contains the new secret. The previous secret stays valid until"
    " the next rotation or until it is deleted; older secrets become invalid. Send an"
    " Idempotency-Key, so that a retry returns the same secret; without it, a retry is another"
    " rotation. With `keep_previous: false` the previous secrets become invalid at once, and all"
    " tokens of the client are revoked within 10 s.",
    response=NewApiClient,
    errors=("gone", "conflict"),
)
def rotate_client_secret(
    tx: Transaction, request: Request[Checked[ApiClientRotation]]
) -> ResourceResponse:
    """Rotate the secret of an integration client."""
    changed, secret = client_service.rotate_secret(tx, _id(request), request.body)
    return ResourceResponse(client_views.new_client(changed, secret))


@routes.write(
    "DELETE",
    "/api-clients/{id}/previous-secret",
    "End the previous secret",
    _ONE,
    description="For a client that uses its new secret. Tokens stay valid.",
)
def end_previous_secret(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete the previous secret of an integration client."""
    return ResourceResponse(
        client_views.client(client_service.delete_previous_secret(tx, _id(request)))
    )


def _id(request: Request[Any, Any]) -> str:
    return request.path_values["id"]

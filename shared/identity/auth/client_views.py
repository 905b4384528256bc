"""API clients as the interface shows them."""

from shared.identity.auth.client_models import ApiClient, ApiClientSecret, NewApiClient
from shared.identity.auth.clients import Client


def client(one: Client) -> ApiClient:
    """Show a client."""
    return ApiClient.model_validate(_fields(one))


def new_client(one: Client, secret: str | None) -> NewApiClient:
    """Show a client with the secret that it has just got."""
    return NewApiClient.model_validate({**_fields(one), "client_secret": secret})


def _fields(one: Client) -> dict[str, object]:
    return {
        "id": one.client_id,
        "client_id": one.client_id,
        "kind": one.kind,
        "name": one.name,
        "scopes": sorted(one.scopes),
        "secrets": [ApiClientSecret(created_at=each.created_at) for each in one.secrets],
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }

"""Conversion of OAuth clients to the API clients of the interface."""

from shared.identity.auth.client_models import ApiClientSecret, NewApiClient, RegisteredClient
from shared.identity.auth.clients import OAuthClient


def client(one: OAuthClient) -> RegisteredClient:
    """Return the response model of a client."""
    return RegisteredClient.model_validate(
        {
            "id": one.client_id,
            "client_id": one.client_id,
            "kind": one.kind,
            "name": one.name,
            "scopes": sorted(one.scopes),
            "secrets": [ApiClientSecret(created_at=each.created_at) for each in one.secrets],
            "created_at": one.created_at,
            "updated_at": one.updated_at,
        }
    )


def new_client(one: OAuthClient, secret: str | None) -> NewApiClient:
    """Return the response model of a client with its new secret."""
    return NewApiClient.from_stored(client(one), client_secret=secret)

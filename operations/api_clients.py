"""API client management for operators; each call runs in its own transaction."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from operations.control_table import read_items_of_tenant
from operations.operator_identity import run_as_operator
from shared.identity.auth import client_service
from shared.identity.auth.client_models import ApiClientChange, ApiClientDraft, ApiClientRotation
from shared.identity.auth.clients import (
    ClientKind,
    OAuthClient,
    client_from_item,
    client_key,
    slug_of_client_id,
)
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.access import operator_store
from shared.integration.webhooks.ended_access import webhooks_of, webhooks_of_changed_client
from shared.integration.webhooks.models import StoredWebhook
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound
from shared.kernel.validation import check, ensure_valid


class Credentials(NamedTuple):
    """Credentials for the token route; only a hash of the secret is stored."""

    client_id: str
    client_secret: str


def create_client(tenant: str, name: str, scopes: Iterable[str] = SCOPES) -> Credentials:
    """Create an integration client.

    Raises:
        ServiceError: As `client_service.create_client`.
    """
    made, secret = _create(tenant, name, "integration", scopes)
    return Credentials(made.client_id, secret or "")


def create_mobile_client(tenant: str, name: str) -> OAuthClient:
    """Create the client of a mobile application.

    Raises:
        ServiceError: As `client_service.create_client`.
    """
    made, _ = _create(tenant, name, "mobile", ())
    return made


def _create(
    tenant: str, name: str, kind: ClientKind, scopes: Iterable[str]
) -> tuple[OAuthClient, str | None]:
    raw: dict[str, object] = {"name": name, "kind": kind}
    if kind == "integration":
        raw["scopes"] = list(scopes)
    draft = check(ApiClientDraft, raw)
    return run_as_operator(tenant, lambda tx: client_service.create_client(tx, draft))


def list_clients(tenant: str) -> list[OAuthClient]:
    """Return all clients of a tenant, including revoked ones, sorted by id."""
    return [client_from_item(item) for item in read_items_of_tenant(tenant, client_key(""))]


def show_client(client_id: str) -> OAuthClient:
    """Return a client.

    Raises:
        NotFound: There is no client with this id.
        Gone: The client was revoked.
    """
    return client_service.get_client(operator_store(_slug(client_id)), client_id)


def change_client(
    client_id: str,
    *,
    name: str | None = None,
    scopes: Iterable[str] | None = None,
    deactivate_webhooks: bool = False,
) -> tuple[OAuthClient, list[StoredWebhook] | None]:
    """Change the name and the scopes of a client; an argument of None leaves the value unchanged.

    Returns:
        The client, and its subscriptions if `scopes` do not allow it to manage subscriptions;
        `deactivate_webhooks` also deactivates these. The call can be repeated with it.

    Raises:
        ServiceError: As `client_service.change_client`.
    """
    raw: dict[str, object] = {"deactivate_webhooks": deactivate_webhooks}
    if name is not None:
        raw["name"] = name
    if scopes is not None:
        raw["scopes"] = list(scopes)
    change = ensure_valid(check(ApiClientChange, raw))

    def use_case(tx: Transaction) -> tuple[OAuthClient, list[StoredWebhook] | None]:
        changed = client_service.change_client(tx, client_id, change)
        return changed, webhooks_of_changed_client(tx, changed, change)

    return _perform(client_id, use_case)


def rotate_client(client_id: str, *, keep_previous: bool = True) -> Credentials:
    """Give a client a new secret; by default the previous one works until the next rotation.

    Raises:
        ServiceError: As `client_service.rotate_secret`.
    """
    rotation = ApiClientRotation(keep_previous=keep_previous)

    def rotate(tx: Transaction) -> Credentials:
        _, secret = client_service.rotate_secret(tx, client_id, rotation)
        return Credentials(client_id, secret)

    return _perform(client_id, rotate)


def revoke_client(client_id: str, *, deactivate_webhooks: bool = False) -> list[StoredWebhook]:
    """Revoke a client permanently; return its subscriptions. Safe to repeat.

    Args:
        client_id: The client.
        deactivate_webhooks: Also deactivate the subscriptions, even if the client was revoked
            before.

    Raises:
        NotFound: There is no client with this id.
    """

    def revoke(tx: Transaction) -> list[StoredWebhook]:
        with suppress(Gone):
            client_service.revoke_client(tx, client_id)
        return webhooks_of(tx, "client", client_id, deactivate=deactivate_webhooks)

    return _perform(client_id, revoke)


def _perform[R](client_id: str, use_case: Callable[[Transaction], R]) -> R:
    return run_as_operator(_slug(client_id), use_case)


def _slug(client_id: str) -> str:
    slug = slug_of_client_id(client_id)
    if slug is None:
        raise NotFound(f"The client {client_id}")
    return slug

"""API clients as operators manage them: each call is a transaction of its own."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple

from shared.identity.auth import client_changes
from shared.identity.auth.client_models import ApiClientChange, ApiClientDraft
from shared.identity.auth.clients import Client, ClientKind, client_key, client_of, slug_of
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import read_all_of
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Gone, NotFound
from shared.kernel.validation import check, ensure_valid


class Credentials(NamedTuple):
    """What an ERP needs for its tokens; the secret is shown once and stored nowhere."""

    client_id: str
    client_secret: str


def create_client(tenant: str, name: str, scopes: Iterable[str] = SCOPES) -> Credentials:
    """Create an integration client; raises as `client_changes.create_client` does."""
    made, secret = _create(tenant, name, "integration", scopes)
    return Credentials(made.client_id, secret or "")


def create_mobile_client(tenant: str, name: str) -> Client:
    """Create a mobile application; raises as `client_changes.create_client` does."""
    made, _ = _create(tenant, name, "mobile", ())
    return made


def _create(
    tenant: str, name: str, kind: ClientKind, scopes: Iterable[str]
) -> tuple[Client, str | None]:
    raw: dict[str, object] = {"name": name, "kind": kind}
    if kind == "integration":
        raw["scopes"] = list(scopes)
    draft = check(ApiClientDraft, raw)
    return run_transaction(store_for(tenant), lambda tx: client_changes.create_client(tx, draft))


def list_clients(tenant: str) -> list[Client]:
    """All clients of a tenant, the revoked ones too, by id."""
    return [client_of(item) for item in read_all_of(tenant, client_key(""))]


def show_client(client_id: str) -> Client:
    """Read a client; NotFound, Gone."""
    return client_changes.get_client(store_for(_slug(client_id)), client_id)


def change_client(
    client_id: str, *, name: str | None = None, scopes: Iterable[str] | None = None
) -> Client:
    """Change what is given; raises as `client_changes.change_client` does."""
    raw: dict[str, object] = {} if name is None else {"name": name}
    if scopes is not None:
        raw["scopes"] = list(scopes)
    change = ensure_valid(check(ApiClientChange, raw))
    return _perform(client_id, lambda tx: client_changes.change_client(tx, client_id, change))


def rotate_client(client_id: str, *, keep_previous: bool = True) -> Credentials:
    """Give a client a new secret; raises as `client_changes.rotate_secret` does."""

    def rotate(tx: Transaction) -> Credentials:
        _, secret = client_changes.rotate_secret(tx, client_id, keep_previous=keep_previous)
        return Credentials(client_id, secret)

    return _perform(client_id, rotate)


def revoke_client(client_id: str) -> None:
    """Revoke a client for good; one that is revoked already stays so. Raises NotFound."""
    with suppress(Gone):
        _perform(client_id, lambda tx: client_changes.revoke_client(tx, client_id))


def _perform[R](client_id: str, use_case: Callable[[Transaction], R]) -> R:
    return run_transaction(store_for(_slug(client_id)), use_case)


def _slug(client_id: str) -> str:
    slug = slug_of(client_id)
    if slug is None:
        raise NotFound(f"The client {client_id}")
    return slug

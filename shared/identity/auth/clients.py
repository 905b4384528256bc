"""OAuth clients: items `CLIENT#id` of the control table.

Integration clients (`stw_SLUG_…`) are confidential clients with a secret. Mobile applications
(`stm_SLUG_…`) are public clients with which users sign in. The slug of the tenant is part of the
id and of the key, so the session policy of a tenant can allow access to its own clients only.
Revoked clients stay in the table, in a separate partition of the index.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.identity.tenancy.directory import owner_of, read_item, revoked_partition
from shared.identity.tenancy.tenant import SLUG
from shared.kernel.clock import Instant
from shared.kernel.db.records import WRITTEN_BY
from shared.kernel.db.store import Store

type ClientKind = Literal["integration", "mobile"]

ID_PREFIXES: Mapping[ClientKind, str] = {"integration": "stw", "mobile": "stm"}
LISTED_AS = "api_client"
"""What the feed of changes calls a client."""
_OF_A_SECRET = frozenset({"hash", "created_at", "sealed"})
_ID = re.compile(rf"st[wm]_({SLUG})_[0-9a-f]{{24}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """A stored client secret."""

    hash: bytes
    """HMAC of the secret; see `shared.identity.auth.client_secrets`."""
    created_at: Instant
    sealed_digest: bytes | None = None
    """What the hash was made of, encrypted; None for a secret of version 1.0.0."""
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """Attributes that only another release knows, in DynamoDB's JSON."""


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """An OAuth client: an integration client or a mobile application."""

    client_id: str
    tenant: str
    kind: ClientKind
    name: str
    scopes: frozenset[str]
    """The scopes that its tokens may have; empty for a mobile application."""
    active: bool
    secrets: tuple[ClientSecret, ...]
    """Newest first; two during a rotation, none for a mobile application."""
    created_at: Instant
    updated_at: Instant
    version: int = 1
    """Incremented with every change."""
    tokens_from: int = 0
    """Earliest `iat` of its tokens, in seconds since the epoch."""
    written_by: bytes | None = field(default=None, compare=False, repr=False)
    """The attribute WRITTEN_BY of its item, as that of the heads of entities."""

    @property
    def secret_hashes(self) -> tuple[bytes, ...]:
        """Hashes of the active secrets, newest first."""
        return tuple(secret.hash for secret in self.secrets)


def client_key(client_id: str) -> str:
    """Return the key of a client in the control table."""
    return f"CLIENT#{client_id}"


def slug_of_client_id(client_id: str) -> str | None:
    """Return the slug of the tenant in a client id; None if it is not a valid client id."""
    match = _ID.fullmatch(client_id)
    return match[1] if match else None


def client_name(store: Store, client_id: str) -> str | None:
    """Return the name of a client, also of a revoked one; None if the tenant has no such client.

    Only the name is read: most functions may read no other attribute of a client.
    """
    if slug_of_client_id(client_id) != store.slug:
        return None
    key = client_key(client_id)
    item = store.get_cached(
        ("client_name", client_id), lambda: read_item(key, store.client, attribute="name")
    )
    return item["name"]["S"] if item else None


def client_from_item(item: Mapping[str, Any]) -> OAuthClient:
    """Parse a client's item, given in DynamoDB's JSON."""
    return OAuthClient(
        client_id=item["pk"]["S"].removeprefix(client_key("")),
        tenant=owner_of(item),
        kind=item["kind"]["S"],
        name=item["name"]["S"],
        scopes=frozenset(item["scopes"]["SS"]) if "scopes" in item else frozenset(),
        active=item["state"]["S"] == "active",
        secrets=tuple(_secret_from_attributes(each["M"]) for each in item["secrets"]["L"]),
        created_at=item["created_at"]["S"],
        updated_at=item["updated_at"]["S"],
        version=int(item["version"]["N"]),
        tokens_from=int(item["tokens_from"]["N"]),
        written_by=item[WRITTEN_BY]["B"] if WRITTEN_BY in item else None,
    )


def client_to_item(client: OAuthClient) -> dict[str, Any]:
    """Return a client's item in DynamoDB's JSON."""
    item: dict[str, Any] = {
        "pk": {"S": client_key(client.client_id)},
        "tenant": {"S": client.tenant if client.active else revoked_partition(client.tenant)},
        "kind": {"S": client.kind},
        "name": {"S": client.name},
        "state": {"S": "active" if client.active else "revoked"},
        "secrets": {
            "L": [{"M": secret_to_attributes(each)} for each in client.secrets],
        },
        "created_at": {"S": client.created_at},
        "updated_at": {"S": client.updated_at},
        "version": {"N": str(client.version)},
        "tokens_from": {"N": str(client.tokens_from)},
    }
    if client.written_by:
        item[WRITTEN_BY] = {"B": client.written_by}
    if client.scopes:  # DynamoDB has no empty sets
        item["scopes"] = {"SS": sorted(client.scopes)}
    return item


def _secret_from_attributes(found: Mapping[str, Any]) -> ClientSecret:
    sealed = found["sealed"]["B"] if "sealed" in found else None
    unknown = {name: value for name, value in found.items() if name not in _OF_A_SECRET}
    return ClientSecret(found["hash"]["B"], found["created_at"]["S"], sealed, unknown)


def secret_to_attributes(secret: ClientSecret) -> dict[str, Any]:
    """Return the attributes of a secret in its client's item, in DynamoDB's JSON."""
    sealed = {"sealed": {"B": secret.sealed_digest}} if secret.sealed_digest else {}
    known = {"hash": {"B": secret.hash}, "created_at": {"S": secret.created_at}, **sealed}
    return {**secret.unknown, **known}

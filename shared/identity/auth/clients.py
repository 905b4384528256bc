"""What may ask for tokens: items `CLIENT#id` of the control table.

Integration clients (`stw_SLUG_…`) have a secret; mobile applications (`stm_SLUG_…`) are public,
and users sign in by them. The tenant is part of the id, and so of the key, by which a session
is kept to the clients of one tenant. What is revoked stays, in a part of the index of its own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from shared.identity.tenancy.directory import holder_of, revoked_partition
from shared.identity.tenancy.tenant import SLUG
from shared.kernel.clock import Instant

type ClientKind = Literal["integration", "mobile"]

ID_PREFIXES: Mapping[ClientKind, str] = {"integration": "stw", "mobile": "stm"}
_ID = re.compile(rf"st[wm]_({SLUG})_[0-9a-f]{{24}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """What is kept of a secret."""

    hash: bytes
    """Keyed; see `shared.identity.auth.client_secrets`."""
    created_at: Instant


@dataclass(frozen=True, slots=True)
class Client:
    """An integration client or a mobile application."""

    client_id: str
    tenant: str
    kind: ClientKind
    name: str
    scopes: frozenset[str]
    """The most that its tokens may ask for; none of a mobile application."""
    active: bool
    secrets: tuple[ClientSecret, ...]
    """The newest first; two while a secret is being changed, none of a mobile application."""
    created_at: Instant
    updated_at: Instant
    version: int = 1
    """Rises with every change of it."""
    tokens_from: int = 0
    """Seconds since the epoch before which none of its tokens is issued."""

    @property
    def secret_hashes(self) -> tuple[bytes, ...]:
        """Hashes of the secrets that work, the newest first."""
        return tuple(secret.hash for secret in self.secrets)


def client_key(client_id: str) -> str:
    """Key of a client in the control table."""
    return f"CLIENT#{client_id}"


def slug_of(client_id: str) -> str | None:
    """Tenant that a client's id names; None when it is no such id."""
    form = _ID.fullmatch(client_id)
    return form[1] if form else None


def client_of(item: Mapping[str, Any]) -> Client:
    """Read a client's item, in DynamoDB's JSON."""
    return Client(
        client_id=item["pk"]["S"].removeprefix(client_key("")),
        tenant=holder_of(item),
        kind=item["kind"]["S"],
        name=item["name"]["S"],
        scopes=frozenset(item["scopes"]["SS"]) if "scopes" in item else frozenset(),
        active=item["state"]["S"] == "active",
        secrets=tuple(
            ClientSecret(each["M"]["hash"]["B"], each["M"]["created_at"]["S"])
            for each in item["secrets"]["L"]
        ),
        created_at=item["created_at"]["S"],
        updated_at=item["updated_at"]["S"],
        version=int(item["version"]["N"]),
        tokens_from=int(item["tokens_from"]["N"]),
    )


def client_to_item(client: Client) -> dict[str, Any]:
    """Write a client's item, in DynamoDB's JSON."""
    item: dict[str, Any] = {
        "pk": {"S": client_key(client.client_id)},
        "tenant": {"S": client.tenant if client.active else revoked_partition(client.tenant)},
        "kind": {"S": client.kind},
        "name": {"S": client.name},
        "state": {"S": "active" if client.active else "revoked"},
        "secrets": {
            "L": [
                {"M": {"hash": {"B": each.hash}, "created_at": {"S": each.created_at}}}
                for each in client.secrets
            ]
        },
        "created_at": {"S": client.created_at},
        "updated_at": {"S": client.updated_at},
        "version": {"N": str(client.version)},
        "tokens_from": {"N": str(client.tokens_from)},
    }
    if client.scopes:  # no set is empty in DynamoDB
        item["scopes"] = {"SS": sorted(client.scopes)}
    return item

"""How integration clients get and give back tokens (RFC 6749 section 4.4, RFC 7009)."""

import re
import time
from dataclasses import dataclass, field
from typing import Literal

from shared.auth import client_secrets, tokens
from shared.auth.clients import Client, client_key, client_of
from shared.auth.failures import Attempts
from shared.auth.scopes import SCOPES
from shared.tenancy import revocations
from shared.tenancy.directory import directory, read_many
from shared.tenancy.tenant import Tenant, ensure_open

type OAuthCode = Literal[
    "invalid_request",
    "invalid_client",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
]

_CLIENT_ID = re.compile(r"[a-z0-9_-]{1,64}", re.ASCII)
_NOBODY = "-"
"""Looked up in place of what cannot be a client id, so that every attempt costs the same."""
_NO_HASH = bytes(32)


class OAuthError(Exception):
    """A refusal in the form of RFC 6749, section 5.2: code, description, status."""

    def __init__(self, code: OAuthCode, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.status = status


@dataclass(frozen=True, slots=True)
class Presented:
    """What a caller says it is; anything at all may be in here."""

    client_id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from and where it was sent to."""

    host: str
    """Host name that it was sent to, lower case, without port."""
    address: str
    """Network address of the caller."""


@dataclass(frozen=True, slots=True)
class Granted:
    """A token that was issued."""

    access_token: str = field(repr=False)
    scopes: frozenset[str]


def authenticate(presented: Presented, origin: Origin) -> tuple[Client, Tenant]:
    """Find out which client presents itself.

    An unknown client, a revoked one, a wrong secret and the address of another tenant get one
    answer after the same calls of AWS, so neither tells which clients exist.

    Args:
        presented: Client id and secret.
        origin: Where the request came from.

    Raises:
        OAuthError: invalid_client.
        ServiceError: rate_limited, after too many failures.
    """
    now = time.time()
    attempts = Attempts.of(presented.client_id, origin.address, now)
    name = presented.client_id if _CLIENT_ID.fullmatch(presented.client_id) else _NOBODY
    items = read_many([client_key(name), attempts.client_key, attempts.address_key])
    attempts.ensure_allowed(items, now)
    known = client_of(items[client_key(name)]) if client_key(name) in items else None
    presented_hash = client_secrets.secret_hash(presented.client_id, presented.secret)
    owner = directory.tenant_for_host(origin.host)
    stored = known.secret_hashes if known and known.active else ()
    right = client_secrets.matches(presented_hash, stored or (_NO_HASH,))
    if right and known and owner in (None, known.tenant):
        tenant = directory.tenant(known.tenant)
        if tenant is not None:
            return known, tenant
    attempts.record_failure()
    raise OAuthError("invalid_client", "The client is unknown or its secret is wrong.", 401)


def client_credentials(presented: Presented, scope: str, origin: Origin) -> Granted:
    """Issue a token to an integration client.

    Args:
        presented: Client id and secret.
        scope: Scopes separated by spaces; empty: all that the client has.
        origin: Where the request came from.

    Raises:
        OAuthError: invalid_client or invalid_scope.
        ServiceError: The tenant is suspended, cancelled or moved; or rate_limited.
    """
    client, tenant = authenticate(presented, origin)
    ensure_open(tenant)
    wanted = frozenset(scope.split(" ")) - {""} or client.scopes
    if not wanted <= client.scopes & SCOPES.keys():
        raise OAuthError("invalid_scope", "The client does not have every scope asked for.")
    return Granted(tokens.issue(tenant, client.client_id, wanted), wanted)


def revoke_token(presented: Presented, token: str, origin: Origin) -> None:
    """Revoke a token of the client that presents itself; doors refuse it within 10 s.

    What is no valid token needs no revoking (RFC 7009, section 2.2).

    Raises:
        OAuthError: invalid_client, or unauthorized_client for another client's token.
        ServiceError: rate_limited, or service_unavailable: too many revocations at once.
    """
    client, tenant = authenticate(presented, origin)
    try:
        holder, _ = tokens.verify(token)
    except tokens.InvalidToken:
        return
    if (holder.tenant, holder.client_id) != (tenant.slug, client.client_id):
        raise OAuthError("unauthorized_client", "The token was issued to another client.")
    revocations.revoke(tenant.slug, f"token:{holder.token_id}", until=holder.expires_at)

"""How integration clients get and give back tokens (RFC 6749 section 4.4, RFC 7009)."""

import re
from dataclasses import dataclass, field
from typing import Literal

from shared.auth import client_secrets, tokens
from shared.auth.clients import Client, find_client
from shared.auth.scopes import SCOPES
from shared.tenancy import revocations
from shared.tenancy.directory import directory
from shared.tenancy.tenant import Tenant, ensure_open

type OAuthCode = Literal[
    "invalid_request",
    "invalid_client",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
]

_CLIENT_ID = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
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
class Granted:
    """A token that was issued."""

    access_token: str = field(repr=False)
    scopes: frozenset[str]


def authenticate(presented: Presented, host: str) -> tuple[Client, Tenant]:
    """Find out which client presents itself.

    An unknown client, a revoked one, a wrong secret and the address of another tenant get one
    answer after the same calls of AWS, so neither tells which clients exist.

    Args:
        presented: Client id and secret.
        host: Host name that the request was sent to.

    Raises:
        OAuthError: invalid_client.
    """
    known = find_client(
        presented.client_id if _CLIENT_ID.fullmatch(presented.client_id) else _NOBODY
    )
    presented_hash = client_secrets.secret_hash(presented.client_id, presented.secret)
    owner = directory.tenant_for_host(host)
    stored = known.secret_hashes if known and known.active else ()
    right = client_secrets.matches(presented_hash, stored or (_NO_HASH,))
    if right and known and owner in (None, known.tenant):
        tenant = directory.tenant(known.tenant)
        if tenant is not None:
            return known, tenant
    raise OAuthError("invalid_client", "The client is unknown or its secret is wrong.", 401)


def client_credentials(presented: Presented, scope: str, host: str) -> Granted:
    """Issue a token to an integration client.

    Args:
        presented: Client id and secret.
        scope: Scopes separated by spaces; empty: all that the client has.
        host: Host name that the request was sent to.

    Raises:
        OAuthError: invalid_client or invalid_scope.
        ServiceError: The tenant is suspended, cancelled or moved.
    """
    client, tenant = authenticate(presented, host)
    ensure_open(tenant)
    wanted = frozenset(scope.split(" ")) - {""} or client.scopes
    if not wanted <= client.scopes & SCOPES.keys():
        raise OAuthError("invalid_scope", "The client does not have every scope asked for.")
    return Granted(tokens.issue(tenant, client.client_id, wanted), wanted)


def revoke_token(presented: Presented, token: str, host: str) -> None:
    """Revoke a token of the client that presents itself; doors refuse it within 10 s.

    What is no valid token needs no revoking (RFC 7009, section 2.2).

    Raises:
        OAuthError: invalid_client, or unauthorized_client for another client's token.
        ServiceError: service_unavailable, too many revocations at once.
    """
    client, tenant = authenticate(presented, host)
    try:
        holder, _ = tokens.verify(token)
    except tokens.InvalidToken:
        return
    if (holder.tenant, holder.client_id) != (tenant.slug, client.client_id):
        raise OAuthError("unauthorized_client", "The token was issued to another client.")
    revocations.revoke(tenant.slug, f"token:{holder.token_id}", until=holder.expires_at)

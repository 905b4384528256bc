"""How clients get and give back tokens (RFC 6749 section 4.4, RFC 7009), and who they are."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.auth import client_secrets, tokens
from shared.auth.clients import Client, client_key, client_of
from shared.auth.failures import Attempts
from shared.auth.keys import KEYS, key_ring
from shared.auth.scopes import SCOPES
from shared.tenancy import revocations
from shared.tenancy.directory import directory, read_many
from shared.tenancy.tenant import Tenant, ensure_open

type OAuthCode = Literal[
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
]
type Items = Mapping[str, Mapping[str, Any]]
"""Items of the control table by key."""

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
    """Empty where none was sent, as public clients have none."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from and where it was sent to."""

    host: str
    """Host name that it was sent to, lower case, without port."""
    address: str
    """Network address of the caller."""

    def may_serve(self, tenant: str) -> bool:
        """Tell whether the host is not another tenant's own."""
        return directory.tenant_for_host(self.host) in {None, tenant}


@dataclass(frozen=True, slots=True)
class Granted:
    """A token that was issued."""

    access_token: str = field(repr=False)
    scopes: frozenset[str] = frozenset()
    """None of a user: what users may do comes from their roles."""
    refresh_token: str | None = field(default=None, repr=False)


def read_for_grant(keys: Sequence[str], now: float, *attempts: Attempts) -> Items:
    """Read what a grant needs of the control table, in one round trip, signing keys included.

    Args:
        keys: Keys of further items.
        now: Seconds since the epoch.
        attempts: Counters that may refuse the attempt.

    Raises:
        ServiceError: rate_limited, after too many failures.
    """
    counted = [key for each in attempts for key in each.keys]
    items = read_many(list(dict.fromkeys([KEYS, *keys, *counted])))
    key_ring.learn(items)
    for each in attempts:
        each.ensure_allowed(items, now)
    return items


def readable_key(client_id: str) -> str:
    """Key under which a client is looked for, whatever was presented as its id."""
    return client_key(client_id if _CLIENT_ID.fullmatch(client_id) else _NOBODY)


def authenticate(presented: Presented, origin: Origin) -> tuple[Client, Tenant]:
    """Find out which client with a secret presents itself.

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
    attempts = Attempts.of_client(presented.client_id, origin.address, now)
    key = readable_key(presented.client_id)
    items = read_for_grant([key], now, attempts)
    known = client_of(items[key]) if key in items else None
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


def ensure_public(presented: Presented | None, origin: Origin) -> None:
    """Refuse a client with a secret where only users have business.

    Raises:
        OAuthError: unauthorized_client, or invalid_client when the secret is wrong, too.
        ServiceError: rate_limited, after too many failures.
    """
    if presented and presented.secret:
        authenticate(presented, origin)
        raise OAuthError(
            "unauthorized_client", "This is for users; a client has its own credentials."
        )


def find_application(presented: Presented, tenant: str | None, items: Items) -> Client:
    """Find the mobile application that presents its id.

    Args:
        presented: Its id.
        tenant: Slug of the only tenant it may belong to; None: any.
        items: Items of the control table, its own among them.

    Raises:
        OAuthError: invalid_client: it is unknown, revoked, another tenant's, or has a secret.
    """
    key = readable_key(presented.client_id)
    known = client_of(items[key]) if key in items else None
    if known and known.active and known.kind == "mobile" and tenant in (None, known.tenant):
        return known
    raise OAuthError("invalid_client", "There is no such mobile application.", 401)


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
    now = time.time()
    client, tenant = authenticate(presented, origin)
    ensure_open(tenant)
    wanted = frozenset(scope.split(" ")) - {""} or client.scopes
    if not wanted <= client.scopes & SCOPES.keys():
        raise OAuthError("invalid_scope", "The client does not have every scope asked for.")
    issued_at = max(now, client.tokens_from)
    return Granted(tokens.issue(tenant, client.client_id, wanted, now=issued_at), wanted)


def revoke_token(presented: Presented, token: str, origin: Origin) -> None:
    """Revoke a token of the client that presents itself; doors refuse it within 10 s.

    What is no valid token needs no revoking (RFC 7009, section 2.2).

    Raises:
        OAuthError: invalid_client, or unauthorized_client for another client's token.
        ServiceError: rate_limited, or service_unavailable: others revoke all the time.
    """
    client, tenant = authenticate(presented, origin)
    try:
        holder, _ = tokens.verify(token)
    except tokens.InvalidToken:
        return
    if (holder.tenant, holder.client_id) != (tenant.slug, client.client_id):
        raise OAuthError("unauthorized_client", "The token was issued to another client.")
    revocations.revoke(
        tenant.slug,
        f"token:{holder.token_id}",
        crowded=f"client:{client.client_id}",
        until=holder.expires_at,
    )

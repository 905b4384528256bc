"""How clients get and give back tokens (RFC 6749 section 4.4, RFC 7009), and who they are."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.identity.auth import client_secrets, tokens
from shared.identity.auth.attempt_limits import Attempts
from shared.identity.auth.clients import Client, client_key, client_of, slug_of
from shared.identity.auth.key_ring import KEYS, key_ring
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy import revocations
from shared.identity.tenancy.directory import directory, read, read_many, tenant_key, tenant_of
from shared.identity.tenancy.tenant import Tenant, ensure_open, is_slug

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
"""Looked up in place of what cannot be a client id or a slug: every attempt costs the same."""
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


def read_for_user(
    presented: Presented | None, slug: str | None, origin: Origin, now: float, attempts: Attempts
) -> tuple[Tenant | None, Client | None]:
    """Read what a grant to a user needs of the control table, in one round trip.

    Args:
        presented: The mobile application that is used, if any.
        slug: Whatever was presented as the tenant's name; None: the application may be of any.
        origin: Where the request came from.
        now: Seconds since the epoch.
        attempts: The user's counters, which may refuse the attempt.

    Returns:
        The tenant with the marks of this moment, None also at the address of another one; and
        the application.

    Raises:
        OAuthError: invalid_client: there is no such application.
        ServiceError: rate_limited, after too many failures.
    """
    if presented is None:
        items = _read(slug, [], now, attempts)
        return _tenant_among(items, slug, origin), None
    by_client = Attempts.of_client(presented.client_id, origin.address, now)
    items = _read(slug, [_readable_key(presented.client_id)], now, attempts, by_client)
    tenant = _tenant_among(items, slug, origin)
    application = _client_among(items, presented)
    if application and tenant and application.tenant == tenant.slug:
        application = _as_of_marks(application, tenant, now)
    if application and application.kind == "mobile" and slug in {None, application.tenant}:
        return tenant, application
    by_client.record_failure()
    raise OAuthError("invalid_client", "There is no such mobile application.", 401)


def _read(slug: str | None, keys: Sequence[str], now: float, *attempts: Attempts) -> Items:
    """Read what a grant needs of the control table, in one round trip, signing keys included.

    Args:
        slug: Whatever was presented as the tenant's name.
        keys: Keys of further items.
        now: Seconds since the epoch.
        attempts: Counters that may refuse the attempt.

    Raises:
        ServiceError: rate_limited, after too many failures.
    """
    tenant = tenant_key(slug if slug and is_slug(slug) else _NOBODY)
    counted = [key for each in attempts for key in each.keys]
    items = read_many(list(dict.fromkeys([KEYS, tenant, *keys, *counted])))
    key_ring.learn(items)
    for each in attempts:
        each.ensure_allowed(items, now)
    return items


def _readable_key(client_id: str) -> str:
    """Key under which a client is looked for, whatever was presented as its id."""
    return client_key(client_id if _CLIENT_ID.fullmatch(client_id) else _NOBODY)


def _tenant_among(items: Items, slug: str | None, origin: Origin) -> Tenant | None:
    """Pick the tenant that somebody names; None also at the address of another one."""
    fits = origin.may_serve(slug or _NOBODY)
    item = items.get(tenant_key(slug or _NOBODY))
    return tenant_of(item) if fits and item else None


def _client_among(items: Items, presented: Presented) -> Client | None:
    """Pick the client that presents itself; None also when it is revoked."""
    return _working(items.get(_readable_key(presented.client_id)))


def _working(item: Mapping[str, Any] | None) -> Client | None:
    known = client_of(item) if item else None
    return known if known and known.active else None


def _as_of_marks(client: Client, tenant: Tenant, now: float) -> Client | None:
    """Return the client as it is where marks are that it may not know of; None: revoked.

    Items that are read together are not read at one moment. Were the client as before a change
    and the mark of that change there already, its token would count as issued after it.
    """
    marks = (revocations.EVERYBODY, f"client:{client.client_id}")
    if revocations.counts_from(tenant.revoked, marks) <= max(now, client.tokens_from):
        return client
    return _working(read(client_key(client.client_id)))


def authenticate(presented: Presented, origin: Origin) -> tuple[Client, Tenant]:
    """Find out which client with a secret presents itself, and its tenant as it is now.

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
    slug = slug_of(presented.client_id)
    items = _read(slug, [_readable_key(presented.client_id)], now, attempts)
    known = _client_among(items, presented)
    presented_hash = client_secrets.secret_hash(presented.client_id, presented.secret)
    tenant = _tenant_among(items, slug, origin)
    right = _is_right(presented_hash, known)
    if right and known and tenant:
        after = _as_of_marks(known, tenant, now)
        if after is known or (after and _is_right(presented_hash, after)):
            return after, tenant
    attempts.record_failure()
    raise OAuthError("invalid_client", "The client is unknown or its secret is wrong.", 401)


def _is_right(presented_hash: bytes, client: Client | None) -> bool:
    stored = client.secret_hashes if client else ()
    return client_secrets.matches(presented_hash, stored or (_NO_HASH,))


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

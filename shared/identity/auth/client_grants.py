"""How clients get and give back tokens (RFC 6749 section 4.4, RFC 7009), and who they are."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.identity.auth import client_secrets, tokens
from shared.identity.auth.attempt_limits import AttemptCounters
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
type ControlItems = Mapping[str, Mapping[str, Any]]
"""Items of the control table by key."""

_CLIENT_ID = re.compile(r"[a-z0-9_-]{1,64}", re.ASCII)
_NO_SUCH_ID = "-"
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
class ClientAuthentication:
    """What a caller says it is; anything at all may be in here."""

    client_id: str
    secret: str = field(repr=False)
    """Empty where none was sent, as public clients have none."""


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Where a request came from and where it was sent to."""

    host: str
    """Host name that it was sent to, lower case, without port."""
    address: str
    """Network address of the caller."""

    def serves_tenant(self, tenant: str) -> bool:
        """Tell whether the host is not another tenant's own."""
        return directory.tenant_for_host(self.host) in {None, tenant}


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """A token that was issued."""

    access_token: str = field(repr=False)
    scopes: frozenset[str] = frozenset()
    """None of a user: what users may do comes from their roles."""
    refresh_token: str | None = field(default=None, repr=False)


def read_tenant_and_application(
    client_auth: ClientAuthentication | None,
    slug: str | None,
    origin: RequestOrigin,
    now: float,
    user_attempts: AttemptCounters,
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
    if client_auth is None:
        items = _read_control_items(slug, [], now, user_attempts)
        return _pick_tenant(items, slug, origin), None
    by_client = AttemptCounters.for_client(client_auth.client_id, origin.address, now)
    items = _read_control_items(
        slug, [_lookup_key(client_auth.client_id)], now, user_attempts, by_client
    )
    tenant = _pick_tenant(items, slug, origin)
    application = _pick_client(items, client_auth)
    if application and tenant and application.tenant == tenant.slug:
        application = _recheck_client(application, tenant, now)
    if application and application.kind == "mobile" and slug in {None, application.tenant}:
        return tenant, application
    by_client.record_failure()
    raise OAuthError("invalid_client", "There is no such mobile application.", 401)


def _read_control_items(
    slug: str | None, keys: Sequence[str], now: float, *attempts: AttemptCounters
) -> ControlItems:
    """Read what a grant needs of the control table, in one round trip, signing keys included.

    Args:
        slug: Whatever was presented as the tenant's name.
        keys: Keys of further items.
        now: Seconds since the epoch.
        attempts: Counters that may refuse the attempt.

    Raises:
        ServiceError: rate_limited, after too many failures.
    """
    tenant = tenant_key(slug if slug and is_slug(slug) else _NO_SUCH_ID)
    counted = [key for each in attempts for key in each.keys]
    items = read_many(list(dict.fromkeys([KEYS, tenant, *keys, *counted])))
    key_ring.load(items)
    for each in attempts:
        each.ensure_allowed(items, now)
    return items


def _lookup_key(client_id: str) -> str:
    """Key under which a client is looked for, whatever was presented as its id."""
    return client_key(client_id if _CLIENT_ID.fullmatch(client_id) else _NO_SUCH_ID)


def _pick_tenant(items: ControlItems, slug: str | None, origin: RequestOrigin) -> Tenant | None:
    """Pick the tenant that somebody names; None also at the address of another one."""
    fits = origin.serves_tenant(slug or _NO_SUCH_ID)
    item = items.get(tenant_key(slug or _NO_SUCH_ID))
    return tenant_of(item) if fits and item else None


def _pick_client(items: ControlItems, client_auth: ClientAuthentication) -> Client | None:
    """Pick the client that presents itself; None also when it is revoked."""
    return _active_client(items.get(_lookup_key(client_auth.client_id)))


def _active_client(item: Mapping[str, Any] | None) -> Client | None:
    known = client_of(item) if item else None
    return known if known and known.active else None


def _recheck_client(client: Client, tenant: Tenant, now: float) -> Client | None:
    """Return the client as it is where marks are that it may not know of; None: revoked.

    Items that are read together are not read at one moment. Were the client as before a change
    and the mark of that change there already, its token would count as issued after it.
    """
    marks = (revocations.ALL_TOKENS, f"client:{client.client_id}")
    if revocations.earliest_valid_iat(tenant.revoked, marks) <= max(now, client.tokens_from):
        return client
    return _active_client(read(client_key(client.client_id)))


def authenticate_client(
    client_auth: ClientAuthentication, origin: RequestOrigin
) -> tuple[Client, Tenant]:
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
    attempts = AttemptCounters.for_client(client_auth.client_id, origin.address, now)
    slug = slug_of(client_auth.client_id)
    items = _read_control_items(slug, [_lookup_key(client_auth.client_id)], now, attempts)
    known = _pick_client(items, client_auth)
    presented_hash = client_secrets.secret_hash(client_auth.client_id, client_auth.secret)
    tenant = _pick_tenant(items, slug, origin)
    right = _secret_matches(presented_hash, known)
    if right and known and tenant:
        after = _recheck_client(known, tenant, now)
        if after is known or (after and _secret_matches(presented_hash, after)):
            return after, tenant
    attempts.record_failure()
    raise OAuthError("invalid_client", "The client is unknown or its secret is wrong.", 401)


def _secret_matches(presented_hash: bytes, client: Client | None) -> bool:
    stored = client.secret_hashes if client else ()
    return client_secrets.matches_any(presented_hash, stored or (_NO_HASH,))


def ensure_public_client(client_auth: ClientAuthentication | None, origin: RequestOrigin) -> None:
    """Refuse a client with a secret where only users have business.

    Raises:
        OAuthError: unauthorized_client, or invalid_client when the secret is wrong, too.
        ServiceError: rate_limited, after too many failures.
    """
    if client_auth and client_auth.secret:
        authenticate_client(client_auth, origin)
        raise OAuthError(
            "unauthorized_client", "This is for users; a client has its own credentials."
        )


def client_credentials_grant(
    client_auth: ClientAuthentication, scope: str, origin: RequestOrigin
) -> IssuedTokens:
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
    client, tenant = authenticate_client(client_auth, origin)
    ensure_open(tenant)
    wanted = frozenset(scope.split(" ")) - {""} or client.scopes
    if not wanted <= client.scopes & SCOPES.keys():
        raise OAuthError("invalid_scope", "The client does not have every scope asked for.")
    issued_at = max(now, client.tokens_from)
    return IssuedTokens(tokens.issue(tenant, client.client_id, wanted, now=issued_at), wanted)


def revoke_client_token(
    client_auth: ClientAuthentication, token: str, origin: RequestOrigin
) -> None:
    """Revoke a token of the client that presents itself; doors refuse it within 10 s.

    What is no valid token needs no revoking (RFC 7009, section 2.2).

    Raises:
        OAuthError: invalid_client, or unauthorized_client for another client's token.
        ServiceError: rate_limited, or service_unavailable: others revoke all the time.
    """
    client, tenant = authenticate_client(client_auth, origin)
    try:
        holder, _ = tokens.verify(token)
    except tokens.InvalidToken:
        return
    if (holder.tenant, holder.client_id) != (tenant.slug, client.client_id):
        raise OAuthError("unauthorized_client", "The token was issued to another client.")
    revocations.revoke(
        tenant.slug,
        f"token:{holder.token_id}",
        fallback=f"client:{client.client_id}",
        until=holder.expires_at,
    )

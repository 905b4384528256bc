"""Client authentication, the client credentials grant and token revocation by clients.

See RFC 6749, sections 2.3 and 4.4, and RFC 7009.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.identity.auth import client_secrets, tokens
from shared.identity.auth.attempt_limits import AttemptCounters
from shared.identity.auth.clients import (
    OAuthClient,
    client_from_item,
    client_key,
    slug_of_client_id,
)
from shared.identity.auth.issuance_limits import IssuanceCounter
from shared.identity.auth.key_ring import KEYS, key_ring
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy import revocations
from shared.identity.tenancy.directory import (
    directory,
    existing_tenant,
    read_item,
    read_items,
    tenant_key,
)
from shared.identity.tenancy.tenant import Tenant, ensure_active, is_slug
from shared.kernel.db.parallel import run_all
from shared.kernel.observability import add_to_log

type OAuthCode = Literal[
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
]
type ControlItems = Mapping[str, Mapping[str, Any]]
"""Key → item of the control table, in DynamoDB's JSON."""

_CLIENT_ID = re.compile(r"[a-z0-9_-]{1,64}", re.ASCII)
_NO_SUCH_ID = "-"
"""Id that is looked up instead of an invalid one, so that every attempt makes the same calls."""
_NO_HASH = bytes(32)


class OAuthError(Exception):
    """An error response of RFC 6749, section 5.2: code, description and HTTP status."""

    def __init__(self, code: OAuthCode, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.status = status


@dataclass(frozen=True, slots=True)
class ClientAuthentication:
    """The client id and secret that a caller presents; not validated."""

    client_id: str
    secret: str = field(repr=False)
    """Empty if none was sent: public clients have no secret."""


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The host that a request was sent to and the IP address that it came from."""

    host: str
    """Host name in lower case, without port."""
    address: str
    """IP address of the caller."""

    def serves_tenant(self, tenant: str) -> bool:
        """Return whether requests for this tenant may be sent to the host.

        That holds for the tenant's own host and for hosts that belong to no tenant.
        """
        return directory.tenant_for_host(self.host) in {None, tenant}


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The tokens that a grant issued."""

    access_token: str = field(repr=False)
    scopes: frozenset[str] = frozenset()
    """Empty for a user, whose rights are permissions of roles."""
    refresh_token: str | None = field(default=None, repr=False)
    timezone: str | None = None
    """The time zone of the company, for a user: only administrators can read the settings."""


def read_tenant_and_application(
    client_auth: ClientAuthentication | None,
    slug: str | None,
    origin: RequestOrigin,
    now: float,
    user_attempts: AttemptCounters,
) -> tuple[Tenant | None, OAuthClient | None]:
    """Read the tenant and the mobile application of a user's request, in one round trip.

    `client_auth` is the mobile application, if the request names one; `slug` is as presented, valid
    or not, and None if the request names no tenant. `now` is in seconds since the epoch.

    Returns:
        The tenant with its current revocation entries, None if it does not exist or the host
        belongs to another tenant; and the application, None without one.

    Raises:
        OAuthError: invalid_client, there is no such application.
        RateLimited: After too many failures.
    """
    if client_auth is None:
        items = _read_control_items(slug, [], now, user_attempts)
        return _tenant_from_items(items, slug, origin), None
    by_client = AttemptCounters.for_client(
        client_auth.client_id, slug, origin.address, now, credential="application"
    )
    items = _read_control_items(slug, [_lookup_key(client_auth)], now, user_attempts, by_client)
    tenant = _tenant_from_items(items, slug, origin)
    application = _client_from_items(items, client_auth)
    if application and tenant and application.tenant == tenant.slug:
        application = _recheck_client(application, tenant, now)
    if application and application.kind == "mobile" and slug in {None, application.tenant}:
        return tenant, application
    by_client.record_failure(now)
    raise OAuthError("invalid_client", "There is no such mobile application.", 401)


def _read_control_items(
    slug: str | None, keys: Sequence[str], now: float, *attempts: AttemptCounters
) -> ControlItems:
    """Read the tenant, the signing keys, the counters and further items in one round trip.

    The slug is as presented, valid or not; `keys` are those of further items, `attempts` the
    counters of the attempt. `now` is in seconds since the epoch.

    Raises:
        RateLimited: After too many failures.
    """
    tenant = tenant_key(slug if slug and is_slug(slug) else _NO_SUCH_ID)
    counter_keys = [key for counters in attempts for key in counters.keys]
    items = read_items(list(dict.fromkeys([KEYS, tenant, *keys, *counter_keys])))
    key_ring.load(items)
    for counters in attempts:
        counters.admit(items, now, tenant_exists=tenant in items)
    return items


def _valid_client_id(client_auth: ClientAuthentication) -> str:
    """Return the presented client id, or that of no client if it is not valid."""
    return client_auth.client_id if _CLIENT_ID.fullmatch(client_auth.client_id) else _NO_SUCH_ID


def _lookup_key(client_auth: ClientAuthentication) -> str:
    """Return the key to look up for a presented client id, valid or not."""
    return client_key(_valid_client_id(client_auth))


def _tenant_from_items(
    items: ControlItems, slug: str | None, origin: RequestOrigin
) -> Tenant | None:
    """Return the tenant with this slug; None also if the host belongs to another tenant."""
    is_served_here = origin.serves_tenant(slug or _NO_SUCH_ID)
    item = items.get(tenant_key(slug or _NO_SUCH_ID))
    tenant = existing_tenant(item) if is_served_here and item else None
    if tenant:
        add_to_log(tenant=tenant.slug)
    return tenant


def _client_from_items(
    items: ControlItems, client_auth: ClientAuthentication
) -> OAuthClient | None:
    """Return the client with the presented id; None also if it is revoked."""
    return _active_client(items.get(_lookup_key(client_auth)))


def _active_client(item: Mapping[str, Any] | None) -> OAuthClient | None:
    client = client_from_item(item) if item else None
    return client if client and client.active else None


def _recheck_client(client: OAuthClient, tenant: Tenant, now: float) -> OAuthClient | None:
    """Read the client again if a revocation entry may be newer than it; return None if revoked.

    Items of one BatchGetItem are not read at the same moment. If the client was read before a
    change and the tenant after it, a token with the old rights would get an `iat` that the
    revocation entry of the change does not cover.
    """
    keys = (revocations.ALL_TOKENS, f"client:{client.client_id}")
    if revocations.earliest_valid_iat(tenant.revoked, keys) <= max(now, client.tokens_from):
        return client
    return _active_client(read_item(client_key(client.client_id)))


def authenticate_client(
    client_auth: ClientAuthentication,
    origin: RequestOrigin,
    issuance: IssuanceCounter | None = None,
) -> tuple[OAuthClient, Tenant]:
    """Authenticate a client by its secret; return the client and its current tenant.

    An unknown client, a revoked client, a wrong secret and the host of another tenant lead to the
    same error after the same AWS calls, so that nobody can find out which clients exist. `issuance`
    is the counter of the client's tokens, if the request is for a token.

    Raises:
        OAuthError: invalid_client.
        RateLimited: After too many failures or, with `issuance`, too many tokens.
    """
    now = time.time()
    slug = slug_of_client_id(client_auth.client_id)
    attempts = AttemptCounters.for_client(
        client_auth.client_id, slug, origin.address, now, credential="secret"
    )
    keys = [_lookup_key(client_auth), *([issuance.key] if issuance else [])]
    items = _read_control_items(slug, keys, now, attempts)
    client = _client_from_items(items, client_auth)
    presented_hash = client_secrets.secret_hash(client_auth.client_id, client_auth.secret)
    tenant = _tenant_from_items(items, slug, origin)
    matches = _secret_matches(presented_hash, client)
    if matches and client and tenant:
        current = _recheck_client(client, tenant, now)
        if current is client or (current and _secret_matches(presented_hash, current)):
            if issuance:
                issuance.ensure_allowed(tenant, items.get(issuance.key))
            return current, tenant
    attempts.record_failure(now)
    raise OAuthError("invalid_client", "The client is unknown or its secret is wrong.", 401)


def _secret_matches(presented_hash: bytes, client: OAuthClient | None) -> bool:
    stored = client.secret_hashes if client else ()
    return client_secrets.matches_any(presented_hash, stored or (_NO_HASH,))


def ensure_public_client(client_auth: ClientAuthentication | None, origin: RequestOrigin) -> None:
    """Raise an error if the request for a user's tokens presents a client secret.

    Raises:
        OAuthError: unauthorized_client, or invalid_client if the secret is wrong.
        RateLimited: After too many failures.
    """
    if client_auth and client_auth.secret:
        authenticate_client(client_auth, origin)
        raise OAuthError(
            "unauthorized_client", "A client with a secret must use the client_credentials grant."
        )


def client_credentials_grant(
    client_auth: ClientAuthentication, scope: str, origin: RequestOrigin
) -> IssuedTokens:
    """Issue an access token to an integration client.

    The requested scopes are separated by spaces; empty for all scopes of the client.

    Raises:
        OAuthError: invalid_client or invalid_scope.
        RateLimited: After too many failures or tokens.
        ServiceError: The tenant is suspended, cancelled or moved.
    """
    now = time.time()
    issuance = IssuanceCounter.for_client(_valid_client_id(client_auth), now)
    client, tenant = authenticate_client(client_auth, origin, issuance)
    ensure_active(tenant)
    scopes = frozenset(scope.split(" ")) - {""} or client.scopes
    if not scopes <= client.scopes & SCOPES.keys():
        allowed = ", ".join(sorted(client.scopes))
        raise OAuthError("invalid_scope", f"The scopes of this client are: {allowed}.")
    issued_at = max(now, client.tokens_from)
    token, _ = run_all(
        lambda: tokens.issue_to_client(tenant, client.client_id, scopes, now=issued_at),
        lambda: issuance.count(tenant),
    )
    return IssuedTokens(token, scopes)


def revoke_client_token(
    client_auth: ClientAuthentication, token: str, origin: RequestOrigin
) -> None:
    """Revoke an access token of an integration client; the API rejects it within 10 s.

    An invalid token is ignored (RFC 7009, section 2.2).

    Raises:
        OAuthError: invalid_client, or unauthorized_client if it is another client's token.
        RateLimited: After too many failures.
        ServiceUnavailable: Concurrent revocations made every attempt fail.
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

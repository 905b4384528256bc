"""Authentication of a request by its bearer token (RFC 6750) and host.

A warm environment makes no AWS call: public keys, tenants and hosts are cached. Revocation is not
checked here but with each request, by the API handlers.
"""

from shared.identity.auth.tokens import InvalidToken, verify
from shared.identity.tenancy.directory import CACHE_SECONDS, directory, host_name
from shared.kernel.caller import Caller

_ADDRESS_CACHE_SECONDS = 300.0
"""Seconds that base URLs and hosts are cached; they rarely change."""


def bearer_token(authorization: str) -> str | None:
    """Return the token in an Authorization header; None for another scheme or an empty header."""
    scheme, _, token = authorization.partition(" ")
    return token if scheme.lower() == "bearer" else None


def authenticate(token: str, host: str) -> Caller:
    """Return the caller of a request.

    `host` is the header Host.

    Raises:
        InvalidToken: The token is not valid, was issued for another address of the tenant, or the
            host belongs to another tenant.
    """
    caller, issuer = verify(token)
    if issuer != _base_url(caller.tenant, _ADDRESS_CACHE_SECONDS) and issuer != _base_url(
        caller.tenant, CACHE_SECONDS
    ):
        raise InvalidToken("issuer")
    owner = directory.tenant_for_host(host_name(host), _ADDRESS_CACHE_SECONDS)
    if owner not in (None, caller.tenant):
        raise InvalidToken("host of another tenant")
    return caller


def _base_url(slug: str, max_age: float) -> str | None:
    tenant = directory.tenant(slug, max_age)
    return tenant.base_url if tenant else None

"""What a caller may do (Authentication, rules 3 to 6 of the interface)."""

import time

from shared.identity.tenancy.revocations import revocation_keys
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.errors import ClientNotAllowed, Forbidden, MissingScope, Unauthenticated


def ensure_not_revoked(tenant: Tenant, caller: Caller, *, now: float | None = None) -> None:
    """Refuse a token that has been revoked or has expired since the authorizer saw it.

    Args:
        tenant: The caller's tenant, at most seconds old.
        caller: The holder of the token.
        now: Seconds since the epoch; the clock's when left out.

    Raises:
        Unauthenticated: It has expired, or one of its marks was revoked after it was issued.
    """
    if (time.time() if now is None else now) >= caller.expires_at:
        raise Unauthenticated
    revoked = tenant.revoked
    if revoked and any(
        caller.expires_at <= revoked.get(mark, 0) for mark in revocation_keys(caller)
    ):
        raise Unauthenticated


def authorize(  # noqa: PLR0913 - the parts of one rule
    caller: Caller,
    *,
    scope: str | None,
    permission: str | None,
    write: bool,
    allows_mobile: bool,
    own: bool = False,
) -> None:
    """Refuse a caller that may not use a route.

    Args:
        caller: The holder of the token.
        scope: What an integration client needs; None: any valid token.
        permission: What a user needs; None: any valid token, reads only.
        write: The route changes something.
        allows_mobile: Also tokens of the mobile application, and of two-step users who did
            not give their second factor, may use it (GET /products).
        own: It is about the user who calls, who needs no permission for that.

    Raises:
        MissingScope: The integration client's token lacks the scope.
        ClientNotAllowed: The route is closed to this kind of token.
        Forbidden: The user lacks the permission.
        ValueError: A route that writes declares no scope or no permission.
    """
    if write and not (scope and permission):
        raise ValueError("A route that writes must declare a scope and a permission.")
    if caller.kind == "client":
        if scope and scope not in caller.scopes:
            raise MissingScope(scope)
        return
    if (caller.kind == "mobile" or not caller.second_factor) and not allows_mobile:
        raise ClientNotAllowed
    if permission and not own and permission not in caller.permissions:
        raise Forbidden(permission)

"""Authorization of callers; see docs/reference/access.md."""

import time
from collections.abc import Collection

from shared.identity.tenancy.revocations import revocation_keys
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.errors import ClientNotAllowed, Forbidden, MissingScope, Unauthenticated


def ensure_not_revoked(tenant: Tenant, caller: Caller) -> None:
    """Raise Unauthenticated if a token was revoked or expired after the authorizer accepted it.

    The tenant must have been read at most 10 s ago.
    """
    if time.time() >= caller.expires_at:
        raise Unauthenticated(Unauthenticated.expired)
    revoked = tenant.revoked
    if revoked and any(caller.expires_at <= revoked.get(key, 0) for key in revocation_keys(caller)):
        raise Unauthenticated("The access token was revoked.")


def ensure_unrestricted(caller: Caller) -> None:
    """Raise ClientNotAllowed for a token that only reaches what is open to mobile applications.

    It is of a mobile application, or of a user with two-step verification who gave no code.
    """
    if caller.kind == "mobile" or not caller.second_factor:
        raise ClientNotAllowed


def authorize(  # noqa: PLR0913 - the parts of one rule
    caller: Caller,
    *,
    scope: str | None,
    permission: str | None,
    other_permissions: Collection[str] = (),
    write: bool,
    allows_mobile: bool,
    own: bool = False,
) -> None:
    """Raise an error unless a caller may use a route.

    Args:
        caller: The caller, from the token.
        scope: The scope that an integration client needs; None if any valid token is enough.
        permission: The permission that a user needs; None if any valid token is enough.
        other_permissions: Permissions of which each is enough, too.
        write: Whether the route changes data. Such a route needs a scope and a permission.
        allows_mobile: Whether tokens of mobile applications, and of users with two-step
            verification who gave no code, may use the route (GET /products).
        own: Whether the request is about the calling user, who then needs no permission.

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
    if not allows_mobile:
        ensure_unrestricted(caller)
    if not permission or own:
        return
    if caller.permissions.isdisjoint((permission, *other_permissions)):
        raise Forbidden(permission)

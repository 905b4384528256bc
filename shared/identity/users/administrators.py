"""The rule that a tenant with administrators keeps one.

An administrator is an enabled user with the permission `users.manage`. Changes that take the
permission away are serialized by a fence, the item `administrators` / `FENCE`: each of them reads
it first and is conditioned on it. Of two such changes at once, one is retried and sees what the
other one has left. Changes that only add administrators need no fence.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import batched

from shared.identity.auth.scopes import Permission
from shared.identity.users.models import StoredRole, User
from shared.identity.users.repository import ROLES, USERS
from shared.kernel.db.items import Key
from shared.kernel.db.sequences import last_id, sequence_key
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict

PERMISSION: Permission = "users.manage"
LAST_USER: Key = sequence_key(USERS.kind)
"""Key of what `ensure_role_not_last` reads in addition to users and roles."""
_FENCE: Key = ("administrators", "FENCE")
_USERS_PER_READ = 100

type Fence = int | None
"""The value of the fence; None before its first change."""


def read_fence(store: Store, ahead: Iterable[Key]) -> Fence:
    """Return the fence; read the items with the keys `ahead` into the cache in the same call.

    Read it before every user and role except the one that is changed.
    """
    item = store.get_many([_FENCE, *ahead]).get(_FENCE)
    return int(item["epoch"]) if item else None


def ensure_user_not_last(tx: Transaction, fence: Fence, before: User, after: User | None) -> None:
    """Raise Conflict if the change of a user takes away the last administrator.

    The transaction then depends on the `fence`, the result of `read_fence`. `after` is None if the
    user is deleted.
    """
    if user_loses_permission(tx.store, before, after):
        _change_fence(tx, fence)


def user_loses_permission(store: Store, before: User, after: User | None) -> bool:
    """Return whether a change takes from a user the permission, or one of the roles that give it.

    A user who keeps another such role depends on the fence, too: that role may be changed now.

    Raises:
        Conflict: The user is the last administrator.
    """
    had, has = _sources(store, before), _sources(store, after)
    if had <= has:
        return False
    if not has and all(user.id == before.id for user in _administrators(store)):
        raise Conflict(
            f"The user {before.username} is the last enabled user with the permission"
            f" {PERMISSION}; give it to another user first."
        )
    return True


def ensure_role_not_last(
    tx: Transaction, fence: Fence, before: StoredRole, after: StoredRole
) -> None:
    """Raise Conflict if the change of a role takes away the last administrators.

    The transaction then depends on the `fence`, the result of `read_fence`.
    """
    if role_loses_permission(tx.store, before, after.permissions):
        _change_fence(tx, fence)


def role_loses_permission(store: Store, before: StoredRole, permissions: Collection[str]) -> bool:
    """Return whether a role has the permission, and has it not among its new permissions.

    Raises:
        Conflict: The last administrators have it from this role only.
    """
    if PERMISSION not in before.permissions or PERMISSION in permissions:
        return False
    remaining = _administrators(store, without_role=before.id)
    if not any(True for _ in remaining) and any(True for _ in _administrators(store)):
        raise Conflict(
            f"Only the role {before.name} gives enabled users the permission {PERMISSION};"
            " give them another role with it first."
        )
    return True


def are_administrative(store: Store, roles: Iterable[int]) -> bool:
    """Return whether one of the roles has the permission."""
    return bool(_roles_with_permission(store, roles))


def without_other_source(store: Store, users: Iterable[int], role: int) -> set[int]:
    """Return the ids of those users who have a role and no other role with the permission."""
    found = [record.entity for record in USERS.get_many(store, sorted(users))]
    holders = [user for user in found if role in user.roles]
    others = {one for user in holders for one in user.roles} - {role}
    sources = _roles_with_permission(store, others)
    return {user.id for user in holders if sources.isdisjoint(user.roles)}


def _sources(store: Store, user: User | None) -> set[int]:
    """Return the roles that make a user an administrator."""
    return _roles_with_permission(store, user.roles) if user and user.is_active else set()


def _administrators(store: Store, *, without_role: int | None = None) -> Iterator[User]:
    """Yield every administrator, also without counting what a role gives.

    It reads users by id, not through an index: an index may lag behind. The first users of a
    tenant usually include an administrator, so that one call is enough.
    """
    every_id = range(1, last_id(store, USERS.kind) + 1)
    for numbers in batched(every_id, _USERS_PER_READ, strict=False):
        users = [record.entity for record in USERS.get_many(store, numbers)]
        roles = _roles_with_permission(store, {role for user in users for role in user.roles})
        roles.discard(without_role or 0)
        yield from (user for user in users if user.is_active and not roles.isdisjoint(user.roles))


def _roles_with_permission(store: Store, numbers: Iterable[int]) -> set[int]:
    records = ROLES.get_many(store, numbers)
    return {record.id for record in records if PERMISSION in record.entity.permissions}


def _change_fence(tx: Transaction, seen: Fence) -> None:
    tx.update(
        _FENCE,
        "ADD #epoch :one",
        names={"#epoch": "epoch"},
        condition=f"attribute_not_exists({PARTITION_KEY})" if seen is None else "#epoch = :seen",
        values={":one": 1} if seen is None else {":one": 1, ":seen": seen},
    )

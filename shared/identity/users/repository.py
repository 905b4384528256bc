"""The items of users and roles. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.identity.names import USER_KIND
from shared.identity.users import logins
from shared.identity.users.logins import Login, login_from_items, login_key
from shared.identity.users.models import (
    StoredRole,
    User,
    UserParameters,
    is_username,
    normalize_username,
)
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import SEPARATOR, Facets, flag_text, fold, id_text, searchable
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.items import Item, Key, alias_key, item_at
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction

_NO_SUCH_NAME = "-"
"""Name that is looked up instead of an invalid one; no user name begins with a hyphen."""


def _user_facets(user: User) -> Facets:
    return {
        "id": id_text(user.id),
        "username": user.username,
        "name": fold(user.name),
        # the separator prevents a match across the user name and the name
        "search": f"{user.username}{SEPARATOR}{searchable(user.name)}",
        "email": _email_text(user.email),
        "roles": f",{','.join(map(str, user.roles))},",
        "is_active": flag_text(user.is_active),
        "two_step": flag_text(user.two_step),
        "created_at": user.created_at,
        "updated_at": user.updated_at,
    }


def _email_text(email: str | None) -> str | None:
    """Return an e-mail address in lower case, because the filter ignores case."""
    return email.lower() if email else None


USERS = Collection(
    kind=USER_KIND,
    noun="User",
    listed_as="user",
    model=User,
    facets=_user_facets,
    sorts={"id": 1, "updated_at": 2, "username": 3, "name": 4, "created_at": 5},
    partitions={"is_active": Partition({"id": 7}), "two_step": Partition({"id": 8})},
    lookups={"email": Lookup(6)},
    volatile=frozenset({"name", "search", "roles", "is_active", "two_step"}),
    searched=frozenset({"username", "name", "created_at"}),
)


def _role_facets(role: StoredRole) -> Facets:
    return {
        "id": id_text(role.id),
        "name": fold(role.name),
        "search": searchable(role.name),
        "created_at": role.created_at,
        "updated_at": role.updated_at,
    }


ROLES = Collection(
    kind="role",
    noun="Role",
    listed_as="role",
    model=StoredRole,
    facets=_role_facets,
    sorts={"id": 1, "updated_at": 2, "name": 3, "created_at": 4},
    volatile=frozenset({"name", "search"}),
    searched=frozenset({"name", "created_at"}),
)


def list_users(store: Store, parameters: UserParameters) -> Page[User]:
    """Read a page of users."""
    role = parameters.role
    query = parameters.list_query(
        equal={
            "username": parameters.username,
            "email": _email_text(parameters.email),
            "is_active": flag_text(parameters.is_active),
            "two_step": flag_text(parameters.two_step),
        },
        contains={
            "roles": None if role is None else f",{role},",
        },
        search=parameters.search,
    )
    return read_page(store, USERS, query)


def count_users(store: Store) -> int:
    """Return how many users a tenant has, including disabled ones."""
    return USERS.totals(store).of(None)


# Users and their logins


@dataclass(frozen=True, slots=True)
class UserAccount:
    """A user and the user's login, read together."""

    record: Record[User]
    login: Login


def find_account(store: Store, username: str) -> UserAccount | None:
    """Return the account with a user name, even if it is disabled, or None.

    The number of calls is the same for a name that nobody has. The user name is as presented, valid
    or not; case does not matter.
    """
    name = normalize_username(username)
    number = find_alias(store, username_key(name if is_username(name) else _NO_SUCH_NAME))
    return read_account(store, number or 0)


def account_keys(user_id: int) -> list[Key]:
    """Return the keys of a user and their login."""
    return [USERS.key(user_id), login_key(user_id)]


def read_account(store: Store, user_id: int) -> UserAccount | None:
    """Read a user and their login in one call; return None if the user does not exist."""
    found = store.get_many(account_keys(user_id))
    return account_from_items(found, user_id)


def account_from_items(found: Mapping[Key, Item], user_id: int) -> UserAccount | None:
    """Return a user and their login from items that were read together; None without the user."""
    record, login = USERS.from_items(found, user_id), login_from_items(found, user_id)
    return UserAccount(record, login) if record and login else None


def bind_sign_in(tx: Transaction, account: UserAccount, after: Login) -> None:
    """Add the conditions of a sign-in: the user and the login are unchanged since they were read.

    A concurrent change that disables the user, removes a role or ends all sessions then makes the
    commit raise StaleRead. `after` is the login to store, equal to `account.login` if nothing
    changes.
    """
    user = account.record
    tx.check(USERS.key(user.id), version=user.version)
    if after == account.login:
        logins.check_unchanged(tx, account.login)
    else:
        logins.save(tx, account.login, after)


def username_key(username: str) -> Key:
    """Return the key of the alias of the user with a user name."""
    return alias_key("username", username)


def find_alias(store: Store, key: Key) -> int | None:
    """Return the id of the user or role to whose name an alias leads; None if the name is free."""
    alias = store.get(key)
    return alias["id"] if alias else None


def insert_alias(tx: Transaction, key: Key, number: int) -> None:
    """Add the alias of a name, on the condition that the name is free."""
    tx.insert(item_at(key, id=number))


# Roles


@dataclass(frozen=True, slots=True)
class RolePermissions:
    """The permissions of several roles; `tokens_from` is the earliest `iat` of tokens with them."""

    permissions: frozenset[str]
    tokens_from: int


def read_role_permissions(store: Store, roles: Iterable[int]) -> RolePermissions:
    """Read the permissions of roles; deleted roles have none."""
    found = [record.entity for record in ROLES.get_many(store, roles)]
    return RolePermissions(
        permissions=frozenset(permission for role in found for permission in role.permissions),
        tokens_from=max((role.tokens_from for role in found), default=0),
    )


def role_name_key(name: str) -> Key:
    """Return the key of the alias of the role with a name; case and accents do not matter."""
    return alias_key("role_name", fold(name))


def create_role_count(tx: Transaction, role: int) -> None:
    """Add the counter of a new role's users, which starts at 0."""
    tx.insert(item_at(role_count_key(role), holders=0))


def change_role_count(tx: Transaction, role: int, difference: int) -> None:
    """Add a change of a role's user counter, on the condition that the role is not deleted."""
    tx.update(
        role_count_key(role),
        "ADD holders :difference",
        condition=f"attribute_exists({PARTITION_KEY})",
        values={":difference": difference},
    )


def count_users_with_role(store: Store, role: int) -> int:
    """Return how many users have a role."""
    item = store.get(role_count_key(role))
    return int(item["holders"]) if item else 0


def delete_role_count(tx: Transaction, role: int) -> None:
    """Add the deletion of a role's user counter, on the condition that it is 0."""
    tx.delete(role_count_key(role), condition="holders = :none", values={":none": 0})


def role_count_key(role: int) -> Key:
    """Return the key of the item with the number of users who have a role."""
    return (f"role_users#{id_text(role)}", "COUNT")

"""The items of users and roles. Keys and indexes: see docs/storage.md."""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.identity.users import logins
from shared.identity.users.logins import Login, login_key, pick_login
from shared.identity.users.models import (
    RoleParameters,
    StoredRole,
    User,
    UserParameters,
    folded_username,
    is_username,
)
from shared.kernel.db.collection import Collection, Record
from shared.kernel.db.facets import SEPARATOR, Facets, flag_text, fold, id_text, searchable
from shared.kernel.db.items import Key, encode
from shared.kernel.db.listing import Page, read_page
from shared.kernel.db.references import alias_key
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction

_NO_SUCH_NAME = "-"
"""Looked up in place of what cannot be a user name; no name begins like this."""


def _user_facets(user: User) -> Facets:
    return {
        "id": id_text(user.id),
        "username": user.username,
        "name": fold(user.name),
        # The separator, so that no search matches the end of one and the beginning of the other.
        "search": f"{user.username}{SEPARATOR}{searchable(user.name)}",
        "email": _email_text(user.email),
        "roles": f",{','.join(map(str, user.roles))},",
        "is_active": flag_text(user.is_active),
        "two_step": flag_text(user.two_step),
        "created_at": user.created_at,
        "updated_at": user.updated_at,
    }


def _email_text(email: str | None) -> str | None:
    """E-mail addresses are found without regard to case."""
    return email.lower() if email else None


USERS = Collection(
    kind="user",
    noun="User",
    model=User,
    facets=_user_facets,
    sorts={"id": 1, "username": 2, "name": 3, "created_at": 4, "updated_at": 5},
    lookup_indexes={"email": 6},
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
    model=StoredRole,
    facets=_role_facets,
    sorts={"id": 1, "name": 2, "created_at": 3, "updated_at": 4},
)


def list_users(store: Store, parameters: UserParameters) -> Page[User]:
    """Read a page of users."""
    active, two_step, role = parameters.is_active, parameters.two_step, parameters.role
    query = parameters.list_query(
        equal={
            "username": parameters.username,
            "email": _email_text(parameters.email),
            "is_active": None if active is None else flag_text(active),
            "two_step": None if two_step is None else flag_text(two_step),
        },
        contains={
            "search": parameters.search,
            "roles": None if role is None else f",{role},",
        },
    )
    return read_page(store, USERS, query)


def list_roles(store: Store, parameters: RoleParameters) -> Page[StoredRole]:
    """Read a page of roles."""
    return read_page(store, ROLES, parameters.list_query(contains={"search": parameters.search}))


# Users by name


@dataclass(frozen=True, slots=True)
class UserAccount:
    """A user and how they log in, read at one moment."""

    record: Record[User]
    login: Login


def find_by_name(store: Store, username: str) -> UserAccount | None:
    """Find a user by name, also a disabled one; as many calls for a name that nobody has.

    Args:
        store: Of the tenant.
        username: Anything that a caller sent; case does not matter.
    """
    folded = folded_username(username)
    alias = store.get(_username_key(folded if is_username(folded) else _NO_SUCH_NAME))
    return read_account(store, alias["id"] if alias else 0)


def read_account(store: Store, user_id: int) -> UserAccount | None:
    """Read a user with their login in one call; None when there is no such user (any more)."""
    found = store.get_many([USERS.key(user_id), login_key(user_id)])
    record, login = USERS.pick_from(found, user_id), pick_login(found, user_id)
    return UserAccount(record, login) if record and login else None


def bind_sign_in(tx: Transaction, account: UserAccount, after: Login) -> None:
    """Bind a sign-in to the account as it was read, and stage its login as it is from now on.

    StaleRead when either part has changed: what disables a user, takes a role away or ends all
    sessions at that very moment is not missed.
    """
    user = account.record
    tx.add_action(
        "ConditionCheck",
        {
            "TableName": tx.store.table,
            "Key": key_attributes(USERS.key(user.id)),
            "ConditionExpression": "version = :seen",
            "ExpressionAttributeValues": {":seen": encode(user.version)},
        },
    )
    if after == account.login:
        logins.check_unchanged(tx, account.login)
    else:
        logins.save(tx, account.login, after)


def _username_key(username: str) -> Key:
    return alias_key("username", username)


def username_taken(store: Store, username: str) -> bool:
    """Tell whether somebody has the name."""
    return store.get(_username_key(username)) is not None


def insert_username(tx: Transaction, user: User) -> None:
    """Stage the alias of a new user, whose name must be free."""
    _insert_alias(tx, _username_key(user.username), user.id)


def delete_username(tx: Transaction, user: User) -> None:
    """Stage that a user's name is free again."""
    tx.delete(_username_key(user.username))


def _insert_alias(tx: Transaction, key: Key, record_id: int) -> None:
    tx.insert({PARTITION_KEY: key[0], SORT_KEY: key[1], "id": record_id})


# Roles


@dataclass(frozen=True, slots=True)
class RolePermissions:
    """What roles allow together; `tokens_from`: first second of which tokens may bear them."""

    permissions: frozenset[str]
    tokens_from: int


def read_role_permissions(store: Store, roles: Iterable[int]) -> RolePermissions:
    """Read what roles allow; those that are gone allow nothing."""
    found = [record.entity for record in ROLES.get_many(store, roles)]
    return RolePermissions(
        permissions=frozenset(one for role in found for one in role.permissions),
        tokens_from=max((role.tokens_from for role in found), default=0),
    )


def _role_name_key(name: str) -> Key:
    return alias_key("role_name", fold(name))


def find_role_id(store: Store, name: str) -> int | None:
    """Id of the role with the name, without regard to case and accents."""
    alias = store.get(_role_name_key(name))
    return alias["id"] if alias else None


def insert_role_name(tx: Transaction, role: StoredRole) -> None:
    """Stage the alias of a role, whose name must be free."""
    _insert_alias(tx, _role_name_key(role.name), role.id)


def delete_role_name(tx: Transaction, role: StoredRole) -> None:
    """Stage that a role's name is free again."""
    tx.delete(_role_name_key(role.name))


def same_role_name(one: str, other: str) -> bool:
    """Tell whether two names are the same one."""
    return _role_name_key(one) == _role_name_key(other)


def create_role_count(tx: Transaction, role: int) -> None:
    """Stage the count of the users who have a new role."""
    partition, sort = _role_count_key(role)
    tx.insert({PARTITION_KEY: partition, SORT_KEY: sort, "holders": 0})


def change_role_count(tx: Transaction, role: int, difference: int) -> None:
    """Stage that so many more (or fewer) users have a role; overtaken when it is gone."""
    tx.update(
        _role_count_key(role),
        "ADD holders :difference",
        condition=f"attribute_exists({PARTITION_KEY})",
        values={":difference": difference},
    )


def count_users_with_role(store: Store, role: int) -> int:
    """How many users have a role."""
    item = store.get(_role_count_key(role))
    return int(item["holders"]) if item else 0


def delete_role_count(tx: Transaction, role: int) -> None:
    """Stage the end of a role's count; overtaken when a user has the role after all."""
    tx.delete(_role_count_key(role), condition="holders = :none", values={":none": 0})


def _role_count_key(role: int) -> Key:
    return (f"role_users#{id_text(role)}", "COUNT")

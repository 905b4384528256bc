"""`stowage user …` and `stowage role …`: people, and what they may do."""

from collections.abc import Callable
from typing import Any

import click
from pydantic import BaseModel

from cli.operator import Operator, command
from shared.auth.scopes import PERMISSIONS
from shared.db.listing import Page
from shared.db.store import Store
from shared.db.transaction import Transaction
from shared.db.unit_of_work import perform
from shared.tenancy.access import store_for
from shared.tenancy.provisioning import show_tenant
from shared.users import credentials, roles, service, views
from shared.users.models import (
    PasswordReset,
    RoleChange,
    RoleCreate,
    RoleParameters,
    StoredRole,
    User,
    UserChange,
    UserCreate,
    UserParameters,
)
from shared.validation import check, what_is_valid

_USER_COLUMNS = ("username", "id", "name", "email", "roles", "is_active", "two_step")
_ROLE_COLUMNS = ("name", "id", "permissions", "description")


def _store(tenant: str) -> Store:
    """Open the table of a tenant; NotFound when there is no such tenant."""
    return store_for(show_tenant(tenant).slug)


def _all[E: BaseModel](read: Callable[[int], Page[E]]) -> list[E]:
    """Read a list from its first page to its last."""
    found: list[E] = []
    page = 0
    while True:
        page += 1
        part = read(page)
        found += [record.entity for record in part.records]
        if not part.records or len(found) >= part.total:
            return found


def _all_roles(store: Store) -> list[StoredRole]:
    return _all(lambda page: roles.list_roles(store, RoleParameters(page=page, per_page=100)))


def _ids_of(store: Store, names: tuple[str, ...]) -> list[int]:
    return [roles.named_role(store, name).id for name in dict.fromkeys(names)]


def _user_row(store: Store, user: User) -> dict[str, Any]:
    """Show a user with the names of the roles."""
    known = {role.id: role.name for role in _all_roles(store)} if user.roles else {}
    return user.model_dump() | {"roles": [known.get(one, str(one)) for one in user.roles]}


def _show_password(operator: Operator, user: User, password: str | None) -> None:
    operator.output.one({"username": user.username, "id": user.id, "password": password})
    if password:
        operator.output.say("Hand the password on now: it is stored nowhere and not shown again.")


def _given_password(*, ask: bool) -> str | None:
    """Read a password from the terminal: on the command line others could see it."""
    if not ask:
        return None
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


_ROLE_OPTION = click.option(
    "--role", "names", multiple=True, metavar="ROLE", help="Name of a role; may be repeated."
)
_ASK_OPTION = click.option(
    "--ask-password", "ask", is_flag=True, help="Ask for the password instead of making one."
)


@click.group()
def user() -> None:
    """People who use a tenant's instance. USER is their user name."""


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@click.option("--name", required=True, help="For people, such as 'Ana Ruiz'.")
@click.option("--email", help="E-mail address.")
@_ROLE_OPTION
@_ASK_OPTION
@command
def create(
    operator: Operator, *, tenant: str, names: tuple[str, ...], ask: bool, **body: Any
) -> None:
    """Create USER of TENANT and show the password, once. They log in as USER@TENANT.

    \b
    Examples:
      stowage user create acme ana.ruiz --name "Ana Ruiz" --role Packers
      stowage user create acme ana.ruiz --name "Ana Ruiz" --ask-password
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    raw = body | {"roles": _ids_of(store, names), "password": _given_password(ask=ask)}
    draft, problems = check(UserCreate, raw)
    wanted = draft or what_is_valid(UserCreate, raw)
    record, made = perform(store, lambda tx: service.create_user(tx, wanted, problems))
    _show_password(operator, record.entity, made)


@user.command("list")
@click.argument("tenant")
@command
def list_(operator: Operator, *, tenant: str) -> None:
    """List the users of TENANT.

    \b
    Example:
      stowage user list acme
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    found = _all(lambda page: service.list_users(store, UserParameters(page=page, per_page=100)))
    known = {role.id: role.name for role in _all_roles(store)}
    rows = [
        one.model_dump() | {"roles": [known.get(role, str(role)) for role in one.roles]}
        for one in found
    ]
    operator.output.many(rows, _USER_COLUMNS)


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def show(operator: Operator, *, tenant: str, username: str) -> None:
    """Show USER of TENANT.

    \b
    Example:
      stowage user show acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    operator.output.one(_user_row(store, service.named_user(store, username).entity))


@user.command("roles")
@click.argument("tenant")
@click.argument("username", metavar="USER")
@_ROLE_OPTION
@command
def roles_(operator: Operator, *, tenant: str, username: str, names: tuple[str, ...]) -> None:
    """Give USER of TENANT these roles, and no others; without --role, none.

    A role that is taken away ends the user's tokens within 10 s.

    \b
    Example:
      stowage user roles acme ana.ruiz --role Packers --role Receiving
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    _change(operator, store, username, {"roles": _ids_of(store, names)})


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def disable(operator: Operator, *, tenant: str, username: str) -> None:
    """Disable USER of TENANT: tokens and sessions end within 10 s, and there are no new ones.

    \b
    Example:
      stowage user disable acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    _change(operator, _store(tenant), username, {"is_active": False})


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def enable(operator: Operator, *, tenant: str, username: str) -> None:
    """Enable USER of TENANT again.

    \b
    Example:
      stowage user enable acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    _change(operator, _store(tenant), username, {"is_active": True})


def _change(operator: Operator, store: Store, username: str, raw: dict[str, Any]) -> None:
    change, problems = check(UserChange, raw)
    wanted = change or what_is_valid(UserChange, raw)

    def use_case(tx: Transaction) -> User:
        number = service.named_user(tx.store, username).id
        return service.change_user(tx, number, wanted, problems).entity

    operator.output.one(_user_row(store, perform(store, use_case)))


@user.command("reset-password")
@click.argument("tenant")
@click.argument("username", metavar="USER")
@_ASK_OPTION
@command
def reset_password(operator: Operator, *, tenant: str, username: str, ask: bool) -> None:
    """Give USER of TENANT a new password and show it, once; tokens and sessions end within 10 s.

    \b
    Example:
      stowage user reset-password acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    raw = {"password": _given_password(ask=ask)}
    wish, problems = check(PasswordReset, raw)
    wanted = wish or what_is_valid(PasswordReset, raw)

    def use_case(tx: Transaction) -> tuple[User, str | None]:
        number = service.named_user(tx.store, username).id
        record, made = service.reset_password(tx, number, wanted, problems)
        return record.entity, made

    _show_password(operator, *perform(store, use_case))


@user.command("remove-second-factor")
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def remove_second_factor(operator: Operator, *, tenant: str, username: str) -> None:
    """Switch two-step verification of USER off, as when telephone and recovery codes are lost.

    \b
    Example:
      stowage user remove-second-factor acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)

    def use_case(tx: Transaction) -> User:
        return credentials.remove_totp(tx, service.named_user(tx.store, username).id).entity

    operator.output.one(_user_row(store, perform(store, use_case)))


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def delete(operator: Operator, *, tenant: str, username: str, yes: bool) -> None:
    """Delete USER of TENANT; tokens and sessions end within 10 s, and the name is free again.

    \b
    Example:
      stowage user delete acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    found = service.named_user(store, username).entity
    if not yes:
        click.confirm(f"Delete the user {found.username} of {tenant}?", abort=True, err=True)
    perform(store, lambda tx: service.delete_user(tx, found.id))
    operator.output.say(f"{found.username} is deleted.")


_PERMISSION_OPTION = click.option(
    "--permission", "permissions", multiple=True, type=click.Choice(list(PERMISSIONS)),
    metavar="PERMISSION", help="What it allows; may be repeated.",
)  # fmt: skip


@click.group()
def role() -> None:
    """Named sets of permissions that users have. ROLE is the name of one."""


@role.command("create")
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@click.option("--description", help="For people.")
@_PERMISSION_OPTION
@command
def create_role(
    operator: Operator, *, tenant: str, permissions: tuple[str, ...], **body: Any
) -> None:
    """Create ROLE of TENANT; without --permission, its users may read.

    \b
    Example:
      stowage role create acme Packers --permission exits.manage --permission inventory.manage
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    raw = body | {"permissions": list(dict.fromkeys(permissions))}
    draft, problems = check(RoleCreate, raw)
    wanted = draft or what_is_valid(RoleCreate, raw)
    record = perform(store, lambda tx: roles.create_role(tx, wanted, problems))
    operator.output.one(_role_row(record.entity))


@role.command("list")
@click.argument("tenant")
@command
def list_roles(operator: Operator, *, tenant: str) -> None:
    """List the roles of TENANT.

    \b
    Example:
      stowage role list acme
    """  # noqa: D301  click reads the backspace
    rows = [_role_row(one) for one in _all_roles(_store(tenant))]
    operator.output.many(rows, _ROLE_COLUMNS)


@role.command("change")
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@click.option("--name", "new_name", help="Another name.")
@click.option("--description", help="For people.")
@_PERMISSION_OPTION
@click.option("--no-permissions", is_flag=True, help="Take every permission away.")
@command
def change_role(  # noqa: PLR0913  the options of the command
    operator: Operator,
    *,
    tenant: str,
    name: str,
    new_name: str | None,
    description: str | None,
    permissions: tuple[str, ...],
    no_permissions: bool,
) -> None:
    """Change ROLE of TENANT; --permission names all that it then allows.

    A permission that is taken away ends the tokens of all who have the role, within 10 s.

    \b
    Examples:
      stowage role change acme Packers --permission exits.manage
      stowage role change acme Packers --name Pickers
    """  # noqa: D301  click reads the backspace
    if permissions and no_permissions:
        raise click.UsageError("name permissions, or take all of them away")
    store = _store(tenant)
    raw: dict[str, Any] = {"name": new_name, "description": description}
    raw = {field: value for field, value in raw.items() if value is not None}
    if permissions or no_permissions:
        raw["permissions"] = list(dict.fromkeys(permissions))
    change, problems = check(RoleChange, raw)
    wanted = change or what_is_valid(RoleChange, raw)

    def use_case(tx: Transaction) -> StoredRole:
        number = roles.named_role(tx.store, name).id
        return roles.change_role(tx, number, wanted, problems).entity

    operator.output.one(_role_row(perform(store, use_case)))


@role.command("delete")
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@command
def delete_role(operator: Operator, *, tenant: str, name: str) -> None:
    """Delete ROLE of TENANT, which no user may have.

    \b
    Example:
      stowage role delete acme Packers
    """  # noqa: D301  click reads the backspace
    store = _store(tenant)
    perform(store, lambda tx: roles.delete_role(tx, roles.named_role(tx.store, name).id))
    operator.output.say(f"{name} is deleted.")


def _role_row(one: StoredRole) -> dict[str, Any]:
    return views.role(one).model_dump()

"""`stowage role …`: what people may do."""

from typing import Any

import click

from cli.lookups import (all_roles, deleted_before, store_of)
from cli.operator import Operator, command
from shared.identity.auth.scopes import PERMISSIONS
from shared.identity.users import repository, roles, views
from shared.identity.users.models import RoleChange, RoleCreate, StoredRole
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Gone, NotFound, ValidationFailed
from shared.kernel.validation import check, what_is_valid

_COLUMNS = ("name", "id", "permissions", "description")

_PERMISSION_OPTION = click.option(
    "--permission", "permissions", multiple=True, type=click.Choice(list(PERMISSIONS)),
    metavar="PERMISSION", help="What it allows; may be repeated.",
)  # fmt: skip


@click.group()
def role() -> None:
    """Named sets of permissions that users have. ROLE is the name of one."""


@role.command()
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@click.option("--description", help="For people.")
@_PERMISSION_OPTION
@command
def create(operator: Operator, *, tenant: str, permissions: tuple[str, ...], **body: Any) -> None:
    """Create ROLE of TENANT; without --permission, its users may read.

    \b
    Example:
      stowage role create acme Packers --permission exits.manage --permission inventory.manage
    """  # noqa: D301  click reads the backspace
    store = store_of(tenant)
    raw = body | {"permissions": list(dict.fromkeys(permissions))}
    draft, problems = check(RoleCreate, raw)
    wanted = draft or what_is_valid(RoleCreate, raw)
    try:
        made = run_transaction(store, lambda tx: roles.create_role(tx, wanted, problems)).entity
    except ValidationFailed:
        there = _as_wanted(store, draft) if draft else None
        if there is None:
            raise
        made = there
        operator.output.say(f"{made.name} was there before.")
    operator.output.one(_row(made))


def _as_wanted(store: Store, draft: RoleCreate) -> StoredRole | None:
    """Find the role that is to be made, if there is one and it is the same in everything."""
    try:
        found = roles.named_role(store, draft.name).entity
    except (NotFound, Gone):
        return None
    same = (found.name, found.description, set(found.permissions)) == (
        draft.name, draft.description, set(draft.permissions),
    )  # fmt: skip
    return found if same else None


@role.command("list")
@click.argument("tenant")
@command
def list_(operator: Operator, *, tenant: str) -> None:
    """List the roles of TENANT.

    \b
    Example:
      stowage role list acme
    """  # noqa: D301  click reads the backspace
    rows = [_row(one) for one in all_roles(store_of(tenant))]
    operator.output.many(rows, _COLUMNS)


@role.command()
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@click.option("--name", "new_name", help="Another name.")
@click.option("--description", help="For people.")
@_PERMISSION_OPTION
@click.option("--no-permissions", is_flag=True, help="Take every permission away.")
@command
def change(  # noqa: PLR0913  the options of the command
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
    store = store_of(tenant)
    raw: dict[str, Any] = {"name": new_name, "description": description}
    raw = {field: value for field, value in raw.items() if value is not None}
    if permissions or no_permissions:
        raw["permissions"] = list(dict.fromkeys(permissions))
    changed, problems = check(RoleChange, raw)
    wanted = changed or what_is_valid(RoleChange, raw)

    def use_case(tx: Transaction) -> StoredRole:
        number = roles.named_role(tx.store, name).id
        return roles.change_role(tx, number, wanted, problems).entity

    operator.output.one(_row(run_transaction(store, use_case)))


@role.command()
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@command
def delete(operator: Operator, *, tenant: str, name: str) -> None:
    """Delete ROLE of TENANT, which no user may have.

    \b
    Example:
      stowage role delete acme Packers
    """  # noqa: D301  click reads the backspace
    store = store_of(tenant)

    def use_case(tx: Transaction) -> StoredRole:
        number = roles.named_role(tx.store, name).id
        return roles.delete_role(tx, number).entity

    try:
        deleted = run_transaction(store, use_case)
    except (NotFound, Gone):
        number = deleted_before(
            store, "role.deleted", lambda told: repository.same_role_name(told["name"], name)
        )
        if number is None:
            raise
        operator.output.say(f"{name} was deleted before.")
    else:
        number = deleted.id
        operator.output.say(f"{name} is deleted.")
    operator.output.one({"name": name, "id": number, "state": "deleted"})


def _row(one: StoredRole) -> dict[str, Any]:
    return views.role(one).model_dump()

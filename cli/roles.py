"""`stowage role …`: named sets of permissions."""

from contextlib import suppress
from typing import Any

import click

from cli.confirmation import confirm, yes_option
from cli.lookups import find_deleted_id, list_all_roles, open_store
from cli.operator import CommandContext, command
from cli.output import as_text
from cli.webhooks import deactivate_option, describe_webhooks, show_with_webhooks
from operations.operator_identity import run_as_operator
from shared.identity.auth.scopes import PERMISSIONS
from shared.identity.users import administrators, repository, roles
from shared.identity.users.models import Role, RoleChange, RoleCreate, StoredRole
from shared.integration.webhooks.ended_access import webhooks_of_changed_role
from shared.integration.webhooks.models import StoredWebhook
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound, ValidationFailed
from shared.kernel.validation import InvalidBody, check, ensure_valid

_COLUMNS = ("name", "id", "permissions", "description")

_WIDTH = max(map(len, PERMISSIONS))
_PERMISSIONS = "\n".join(f"  {name:{_WIDTH}}  {gives}" for name, gives in PERMISSIONS.items())
_PERMISSIONS_HELP = f"\b\nPermissions:\n{_PERMISSIONS}"

_PERMISSION_OPTION = click.option(
    "--permission", "permissions", multiple=True, type=click.Choice(list(PERMISSIONS)),
    metavar="PERMISSION", help="Permission of the role; may be repeated.",
)  # fmt: skip


@click.group()
def role() -> None:
    """Manage roles: named sets of permissions for users. ROLE is the name of a role."""


@role.command(epilog=_PERMISSIONS_HELP)
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@click.option("--description", help="Description of the role.")
@_PERMISSION_OPTION
@command
def create(
    operator: CommandContext, *, tenant: str, permissions: tuple[str, ...], **body: Any
) -> None:
    """Create ROLE of TENANT. Without --permission, users with the role may only read.

    \b
    Example:
      stowage role create acme Packers --permission exits.manage --permission inventory.manage
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    draft = check(RoleCreate, body | {"permissions": list(dict.fromkeys(permissions))})
    try:
        made = run_as_operator(store.slug, lambda tx: roles.create_role(tx, draft)).entity
    except ValidationFailed:
        there = None if isinstance(draft, InvalidBody) else _find_equal_role(store, draft)
        if there is None:
            raise
        made = there
        operator.output.say(f"The role {made.name} already exists.")
    operator.output.one(_row(made))


def _find_equal_role(store: Store, draft: RoleCreate) -> StoredRole | None:
    """Return the existing role with the name of `draft` if it is equal in every field."""
    try:
        found = roles.get_role_by_name(store, draft.name).entity
    except (NotFound, Gone):
        return None
    same = (found.name, found.description, set(found.permissions)) == (
        draft.name, draft.description, set(draft.permissions),
    )  # fmt: skip
    return found if same else None


@role.command("list")
@click.argument("tenant")
@command
def list_(operator: CommandContext, *, tenant: str) -> None:
    """List the roles of TENANT.

    \b
    Example:
      stowage role list acme
    """  # noqa: D301  click reads the backspace
    rows = [_row(one) for one in list_all_roles(open_store(tenant))]
    operator.output.many(rows, _COLUMNS)


@role.command(epilog=_PERMISSIONS_HELP)
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@click.option("--name", "new_name", help="New name.")
@click.option("--description", help="New description.")
@_PERMISSION_OPTION
@click.option("--no-permissions", is_flag=True, help="Remove all permissions.")
@deactivate_option
@yes_option
@command
def change(  # noqa: PLR0913  the options of the command
    operator: CommandContext,
    *,
    tenant: str,
    name: str,
    new_name: str | None,
    description: str | None,
    permissions: tuple[str, ...],
    no_permissions: bool,
    deactivate_webhooks: bool,
    yes: bool,
) -> None:
    """Change ROLE of TENANT. The permissions given replace all others.

    When a permission is removed, the tokens of all users with the role stop working within 10 s;
    the command asks for confirmation before.

    Without the permission users.manage, the webhook subscriptions that users of the role created,
    or whose address, secret or activation they set last, are listed, unless another role gives them
    the permission. They continue to send events, unless --deactivate-webhooks is given; the command
    can be repeated with it.

    \b
    Examples:
      stowage role change acme Packers --permission exits.manage
      stowage role change acme Packers --name Pickers
    """  # noqa: D301  click reads the backspace
    if permissions and no_permissions:
        raise click.UsageError("--permission cannot be used with --no-permissions.")
    store = open_store(tenant)
    raw: dict[str, Any] = {"name": new_name, "description": description}
    raw = {field: value for field, value in raw.items() if value is not None}
    if permissions or no_permissions:
        raw["permissions"] = list(dict.fromkeys(permissions))
    change = check(RoleChange, {**raw, "deactivate_webhooks": deactivate_webhooks})
    if "permissions" in raw:
        known = roles.get_role_by_name(store, name).entity
        if removed := sorted({*known.permissions} - {*permissions}):
            ensure_valid(change, roles.name_taken(store, change.name, known.id))
            administrators.role_loses_permission(store, known, permissions)
            narrowing = RoleChange.model_validate({"permissions": raw["permissions"]})
            after = known.model_copy(update={"permissions": raw["permissions"]})
            webhooks = describe_webhooks(
                store,
                lambda tx: webhooks_of_changed_role(tx, after, narrowing),
                deactivate=deactivate_webhooks,
            )
            confirm(
                operator,
                f"The role {known.name} of {tenant} loses {', '.join(removed)}. "
                f"{_holders(store, known)}; their tokens stop working within 10 s.{webhooks}",
                yes=yes,
            )

    def use_case(tx: Transaction) -> tuple[StoredRole, list[StoredWebhook] | None]:
        number = roles.get_role_by_name(tx.store, name).id
        changed = roles.change_role(tx, number, change).entity
        return changed, webhooks_of_changed_role(tx, changed, ensure_valid(change))

    changed, found = run_as_operator(store.slug, use_case)
    show_with_webhooks(operator, _row(changed), found)


@role.command()
@click.argument("tenant")
@click.argument("name", metavar="ROLE")
@yes_option
@command
def delete(operator: CommandContext, *, tenant: str, name: str, yes: bool) -> None:
    """Delete ROLE of TENANT. Refused while a user has the role. The command asks for confirmation.

    \b
    Examples:
      stowage role delete acme Packers
      stowage role delete acme Packers --yes
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    with suppress(NotFound, Gone):  # Then it may have been deleted by this command before.
        known = roles.get_role_by_name(store, name).entity
        roles.ensure_unused(store, known)
        confirm(
            operator,
            f"This deletes the role {known.name} of {tenant} with the permissions "
            f"{as_text(known.permissions)}. No user has it.",
            yes=yes,
        )

    def use_case(tx: Transaction) -> StoredRole:
        number = roles.get_role_by_name(tx.store, name).id
        return roles.delete_role(tx, number).entity

    try:
        deleted = run_as_operator(store.slug, use_case)
    except (NotFound, Gone):
        key = repository.role_name_key(name)
        number = find_deleted_id(
            store, "role.deleted", lambda details: repository.role_name_key(details["name"]) == key
        )
        if number is None:
            raise
        operator.output.say(f"The role {name} was already deleted.")
    else:
        number = deleted.id
        operator.output.say(f"The role {name} is deleted.")
    operator.output.one({"name": name, "id": number, "state": "deleted"})


def _holders(store: Store, role: StoredRole) -> str:
    number = repository.count_users_with_role(store, role.id)
    return "1 user has the role" if number == 1 else f"{number} users have the role"


def _row(one: StoredRole) -> dict[str, Any]:
    return Role.from_stored(one).model_dump()

"""`stowage user …`: users of a tenant."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import click

from cli.confirmation import confirm, yes_option
from cli.lookups import find_deleted_id, list_all_roles, open_store
from cli.operator import CommandContext, command
from cli.output import as_text
from cli.webhooks import deactivate_option, describe_webhooks, show_with_webhooks
from operations.list_pages import read_all_pages
from operations.operator_identity import run_as_operator
from operations.user_unlock import unlock_user
from shared.identity.users import (
    administrators,
    credentials,
    passwords,
    repository,
    roles,
    service,
)
from shared.identity.users.models import (
    PasswordReset,
    User,
    UserChange,
    UserCreate,
    UserParameters,
    normalize_username,
)
from shared.integration.webhooks.ended_access import webhooks_of, webhooks_of_changed_user
from shared.integration.webhooks.models import StoredWebhook
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound, ValidationFailed
from shared.kernel.validation import InvalidBody, check, ensure_valid

_COLUMNS = ("username", "id", "name", "email", "roles", "is_active", "two_step")


def _ids_of(store: Store, names: tuple[str, ...]) -> list[int]:
    # Two spellings may name one role: case and accents do not matter.
    return list(dict.fromkeys(roles.get_role_by_name(store, name).id for name in names))


def _user_row(store: Store, user: User) -> dict[str, Any]:
    """Return the fields of a user, with the names of the roles instead of their ids."""
    known = {role.id: role.name for role in list_all_roles(store)} if user.roles else {}
    return user.model_dump() | {"roles": [known.get(one, str(one)) for one in user.roles]}


def _described(tenant: str, user: User) -> str:
    return f"The user {user.username} ({user.name}) of {tenant}"


def _show_password(operator: CommandContext, user: User, password: str | None) -> None:
    operator.output.one({"username": user.username, "id": user.id, "password": password})
    if password:
        operator.output.say("Pass the password on now: it cannot be shown again.")


def _given_password(*, ask: bool) -> str | None:
    """Read a password from the terminal; as an argument it would be visible to other users."""
    if not ask:
        return None
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


_ROLE_OPTION = click.option(
    "--role", "names", multiple=True, metavar="ROLE", help="Name of a role; may be repeated."
)
_ASK_OPTION = click.option(
    "--ask-password", "ask", is_flag=True, help="Prompt for the password instead of generating it."
)


@click.group()
def user() -> None:
    """Manage the users of a tenant. USER is a user name."""


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@click.option("--name", required=True, help="Full name, such as 'Ana Ruiz'.")
@click.option("--email", help="E-mail address.")
@_ROLE_OPTION
@_ASK_OPTION
@command
def create(
    operator: CommandContext, *, tenant: str, names: tuple[str, ...], ask: bool, **body: Any
) -> None:
    """Create USER of TENANT, and show the password once. The login is USER@TENANT.

    \b
    Examples:
      stowage user create acme ana.ruiz --name "Ana Ruiz" --role Packers
      stowage user create acme ana.ruiz --name "Ana Ruiz" --ask-password
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    raw = body | {"roles": _ids_of(store, names), "password": _given_password(ask=ask)}
    draft = check(UserCreate, raw)
    try:
        record, made = run_as_operator(store.slug, lambda tx: service.create_user(tx, draft))
    except ValidationFailed:
        there = None if isinstance(draft, InvalidBody) else _find_equal_user(store, draft)
        if there is None:
            raise
        _show_password(operator, there, None)
        operator.output.say(
            f"The user {there.username} already exists. The password cannot be shown again; "
            "set a new one with `stowage user reset-password`."
        )
    else:
        _show_password(operator, record.entity, made)


def _find_equal_user(store: Store, draft: UserCreate) -> User | None:
    """Return the existing user with the name of `draft` if equal in every field and password."""
    account = repository.find_account(store, draft.username)
    if account is None:
        return None
    found, stored = account.record.entity, account.login.password
    same = (found.name, found.email, set(found.roles)) == (
        draft.name, draft.email, set(draft.roles),
    )  # fmt: skip
    known = draft.password is None or passwords.verify(draft.password, stored)
    return found if same and known else None


@user.command("list")
@click.argument("tenant")
@command
def list_(operator: CommandContext, *, tenant: str) -> None:
    """List the users of TENANT.

    \b
    Example:
      stowage user list acme
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    found = read_all_pages(
        lambda page: service.list_users(store, UserParameters(page=page, per_page=100))
    )
    known = {role.id: role.name for role in list_all_roles(store)}
    rows = [
        one.model_dump() | {"roles": [known.get(role, str(role)) for role in one.roles]}
        for one in found
    ]
    operator.output.many(rows, _COLUMNS)


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def show(operator: CommandContext, *, tenant: str, username: str) -> None:
    """Show USER of TENANT.

    \b
    Example:
      stowage user show acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    operator.output.one(_user_row(store, service.get_user_by_name(store, username).entity))


@user.command("roles")
@click.argument("tenant")
@click.argument("username", metavar="USER")
@_ROLE_OPTION
@click.option("--no-roles", is_flag=True, help="Remove all roles.")
@deactivate_option
@yes_option
@command
def roles_(  # noqa: PLR0913  the options of the command
    operator: CommandContext, *, tenant: str, username: str, names: tuple[str, ...], no_roles: bool,
    deactivate_webhooks: bool, yes: bool,
) -> None:  # fmt: skip
    """Show the roles of USER of TENANT, or replace them. The roles given replace all others.

    The command asks for confirmation before a change. When a role is removed, the user's tokens
    stop working within 10 s.

    Without a role that has the permission users.manage, the webhook subscriptions that the user
    created, or whose address, secret or activation the user set last, are listed. They continue to
    send events, unless --deactivate-webhooks is given; the command can be repeated with it.

    \b
    Examples:
      stowage user roles acme ana.ruiz
      stowage user roles acme ana.ruiz --role Packers --role Receiving
      stowage user roles acme ana.ruiz --no-roles
    """  # noqa: D301  click reads the backspace
    if names and no_roles:
        raise click.UsageError("--role cannot be used with --no-roles.")
    store = open_store(tenant)
    known = service.get_user_by_name(store, username).entity
    if not names and not no_roles:
        if deactivate_webhooks:
            raise click.UsageError("--deactivate-webhooks needs --role or --no-roles.")
        operator.output.one(_user_row(store, known))
        return
    wanted = {"roles": _ids_of(store, names)}
    if {*wanted["roles"]} != {*known.roles}:
        change = ensure_valid(check(UserChange, wanted))
        after = known.model_copy(update=wanted)
        administrators.user_loses_permission(store, known, after)
        webhooks = describe_webhooks(
            store,
            lambda tx: webhooks_of_changed_user(tx, after, change),
            deactivate=deactivate_webhooks,
        )
        text = _role_change(store, tenant, known, wanted["roles"])
        confirm(operator, text + webhooks, yes=yes)
    _change(operator, store, username, {**wanted, "deactivate_webhooks": deactivate_webhooks})


def _role_change(store: Store, tenant: str, known: User, wanted: list[int]) -> str:
    """Return what a user gets and loses with other roles."""
    every = {role.id: role for role in list_all_roles(store)}

    def names(numbers: set[int]) -> str:
        return as_text([every[one].name if one in every else str(one) for one in sorted(numbers)])

    def permissions(numbers: Iterable[int]) -> set[str]:
        return {name for one in numbers if one in every for name in every[one].permissions}

    before, after = permissions(known.roles), permissions(wanted)
    removed = {*known.roles} - {*wanted}
    text = (
        f"The roles of {known.username} of {tenant} change from {names({*known.roles})} to "
        f"{names({*wanted})}: gets the permissions {as_text(sorted(after - before))}, loses "
        f"{as_text(sorted(before - after))}."
    )
    ends = " Present tokens of the user stop working within 10 s." if removed else ""
    return text + ends


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@deactivate_option
@yes_option
@command
def disable(
    operator: CommandContext, *, tenant: str, username: str, deactivate_webhooks: bool, yes: bool
) -> None:
    """Disable USER of TENANT: tokens and sessions end within 10 s, and logins are refused.

    The command asks for confirmation. The webhook subscriptions that the user created, or whose
    address, secret or activation the user set last, are listed. They continue to send events,
    unless --deactivate-webhooks is given; the command can be repeated with it.

    \b
    Examples:
      stowage user disable acme ana.ruiz
      stowage user disable acme ana.ruiz --deactivate-webhooks
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    known = service.get_user_by_name(store, username).entity
    if known.is_active:
        administrators.user_loses_permission(store, known, None)
        webhooks = _describe_webhooks(store, known.id, deactivate=deactivate_webhooks)
        confirm(
            operator,
            f"{_described(tenant, known)} is disabled: tokens and sessions end within 10 s, and "
            f"sign-ins are refused until the user is enabled again.{webhooks}",
            yes=yes,
        )
    raw = {"is_active": False, "deactivate_webhooks": deactivate_webhooks}
    _change(operator, store, username, raw)


def _describe_webhooks(store: Store, user_id: int, *, deactivate: bool) -> str:
    """Return what happens to the active subscriptions of a user whose access ends."""
    return describe_webhooks(
        store,
        lambda tx: webhooks_of(tx, "user", user_id, deactivate=False),
        deactivate=deactivate,
    )


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def enable(operator: CommandContext, *, tenant: str, username: str) -> None:
    """Enable USER of TENANT again.

    \b
    Example:
      stowage user enable acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    _change(operator, open_store(tenant), username, {"is_active": True})


def _change(operator: CommandContext, store: Store, username: str, raw: dict[str, Any]) -> None:
    change = check(UserChange, raw)

    def use_case(tx: Transaction) -> tuple[User, list[StoredWebhook] | None]:
        number = service.get_user_by_name(tx.store, username).id
        changed = service.change_user(tx, number, change).entity
        return changed, webhooks_of_changed_user(tx, changed, ensure_valid(change))

    changed, found = run_as_operator(store.slug, use_case)
    show_with_webhooks(operator, _user_row(store, changed), found)


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@command
def unlock(operator: CommandContext, *, tenant: str, username: str) -> None:
    """Let USER of TENANT sign in again after too many failed attempts.

    The failed attempts of the user in the present quarter of an hour are forgotten, at every
    address, and so are wrong codes: each address gets its full number of attempts again. If
    somebody else sent wrong codes, run `stowage user reset-password` instead: they know the
    password. The limit of an address for all users stays.
    The addresses are shown; `stowage audit TENANT --action user.locked_out` lists all lockouts.

    \b
    Example:
      stowage user unlock acme ana.ruiz
    """  # noqa: D301  click reads the backspace
    found = unlock_user(open_store(tenant).slug, username)
    row = {"username": found.user.username, "id": found.user.id}
    operator.output.one(
        row
        | {
            "failures": found.failures,
            "wrong_codes": found.wrong_codes,
            "addresses": found.addresses,
        }
    )
    if not found.failures and not found.wrong_codes:
        operator.output.say(
            "The user has no failed attempts in this quarter of an hour, and no wrong codes. "
            "Attempts that were interrupted count until it ends."
        )


@user.command("reset-password")
@click.argument("tenant")
@click.argument("username", metavar="USER")
@_ASK_OPTION
@yes_option
@command
def reset_password(
    operator: CommandContext, *, tenant: str, username: str, ask: bool, yes: bool
) -> None:
    """Give USER of TENANT a new password, and show it once. Tokens and sessions end within 10 s.

    The command asks for confirmation.

    \b
    Examples:
      stowage user reset-password acme ana.ruiz
      stowage user reset-password acme ana.ruiz --yes
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    known = service.get_user_by_name(store, username).entity
    confirm(
        operator,
        f"{_described(tenant, known)} gets a new password: the present one, tokens and sessions "
        "end within 10 s.",
        yes=yes,
    )
    reset = check(PasswordReset, {"password": _given_password(ask=ask)})

    def use_case(tx: Transaction) -> tuple[User, str | None]:
        number = service.get_user_by_name(tx.store, username).id
        record, made = service.reset_password(tx, number, reset)
        return record.entity, made

    _show_password(operator, *run_as_operator(store.slug, use_case))


@user.command("remove-second-factor")
@click.argument("tenant")
@click.argument("username", metavar="USER")
@yes_option
@command
def remove_second_factor(
    operator: CommandContext, *, tenant: str, username: str, yes: bool
) -> None:
    """Switch off two-step verification of USER, for example after the loss of the phone.

    Tokens stop working within 10 s, and sessions that began without a code end. The command asks
    for confirmation.

    \b
    Examples:
      stowage user remove-second-factor acme ana.ruiz
      stowage user remove-second-factor acme ana.ruiz --yes
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    known = service.get_user_by_name(store, username).entity
    if known.two_step:
        confirm(
            operator,
            f"{_described(tenant, known)} can sign in with the password alone. Tokens stop working "
            "within 10 s, and sessions that began without a code end.",
            yes=yes,
        )

    def use_case(tx: Transaction) -> User:
        return credentials.remove_totp(tx, service.get_user_by_name(tx.store, username).id).entity

    operator.output.one(_user_row(store, run_as_operator(store.slug, use_case)))


@user.command()
@click.argument("tenant")
@click.argument("username", metavar="USER")
@yes_option
@deactivate_option
@command
def delete(
    operator: CommandContext, *, tenant: str, username: str, yes: bool, deactivate_webhooks: bool
) -> None:
    """Delete USER of TENANT. Tokens and sessions end within 10 s; the name can be used again.

    The webhook subscriptions that the user created, or whose address, secret or activation the
    user set last, are listed. They continue to send events, unless --deactivate-webhooks is given;
    the command can be repeated with it.

    \b
    Examples:
      stowage user delete acme ana.ruiz
      stowage user delete acme ana.ruiz --yes --deactivate-webhooks
    """  # noqa: D301  click reads the backspace
    store = open_store(tenant)
    name = normalize_username(username)
    try:
        known = service.get_user_by_name(store, name).entity
    except NotFound:
        deleted = find_deleted_id(
            store, "user.deleted", lambda details: details["username"] == name
        )
        if deleted is None:
            raise
        number = deleted
        message = f"The user {name} was already deleted."
    else:
        number = known.id
        administrators.user_loses_permission(store, known, None)
        webhooks = _describe_webhooks(store, number, deactivate=deactivate_webhooks)
        confirm(
            operator,
            f"{_described(tenant, known)} is deleted: tokens and sessions end within 10 s."
            f"{webhooks}",
            yes=yes,
        )
        message = f"The user {name} is deleted."

    def use_case(tx: Transaction) -> list[StoredWebhook]:
        with suppress(Gone):  # This command, or a concurrent one, has deleted the user before.
            service.delete_user(tx, number)
        return webhooks_of(tx, "user", number, deactivate=deactivate_webhooks)

    found = run_as_operator(store.slug, use_case)
    operator.output.say(message)
    row = {"username": name, "id": number, "state": "deleted"}
    show_with_webhooks(operator, row, found)

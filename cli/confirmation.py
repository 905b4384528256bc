"""The question that a command asks before it ends access or removes something."""

import sys

import click

from cli.operator import CommandContext, CommandFailed
from cli.output import printable
from shared.identity.tenancy.tenant import Tenant

WRONG_USAGE = 2
"""Exit code of click for wrong options."""

yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation, for scripts.")


def confirm(operator: CommandContext, consequence: str, *, yes: bool) -> None:
    """Show what the command will do, and ask whether to do it; with `yes` only show it.

    Raises:
        CommandFailed: The answer is no, or there is no terminal to ask at. Nothing was changed.
    """
    if yes:
        operator.output.say(consequence)
        return
    ensure_terminal(consequence)
    if not click.confirm(printable(f"{consequence}\nContinue?"), err=True):
        raise not_confirmed()


def confirm_name(operator: CommandContext, consequence: str, name: str, *, yes: bool) -> None:
    """Like `confirm`, but ask for a name to be typed, for what cannot be undone at all."""
    if yes:
        operator.output.say(consequence)
        return
    ensure_terminal(consequence)
    question = f"{consequence}\nType {name} to continue"
    if (typed := click.prompt(printable(question), err=True)) != name:
        raise not_confirmed(f"{typed} is not {name}; nothing was changed.")


def confirm_address(operator: CommandContext, tenant: Tenant, wanted: str, *, yes: bool) -> None:
    """Ask before the address of a tenant changes, unless it already is the wanted one."""
    if tenant.base_url == wanted:
        return
    confirm(
        operator,
        f"The address of the tenant {tenant.slug} changes from {tenant.base_url} to {wanted}. "
        "Links and tokens contain the address: within minutes its clients and users have to "
        "request new tokens at the new address.",
        yes=yes,
    )


def ensure_terminal(consequence: str) -> None:
    """Raise CommandFailed without a terminal: a script must not wait for an answer."""
    if not sys.stdin.isatty():
        raise CommandFailed(
            f"{consequence}\nNothing was changed: the command asks for confirmation, and there is "
            "no terminal. Use --yes in scripts.",
            "confirmation_required",
            WRONG_USAGE,
        )


def not_confirmed(message: str = "Nothing was changed.") -> CommandFailed:
    """Return the error of a command that was not confirmed."""
    return CommandFailed(message, "not_confirmed")

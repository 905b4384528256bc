"""`stowage tenant restore`: bring back a tenant's data of an earlier moment."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from cli.confirmation import confirm, yes_option
from cli.operator import CommandContext, CommandFailed, command
from cli.upgrade import ensure_deployed_schema
from operations.restore import (
    Restored,
    RestorePlan,
    cancel_restore,
    plan_restore,
    plan_switch,
    restore_tenant,
    switch_table,
)
from operations.tenant_changes import show_tenant
from operations.verify import verify_table
from shared.kernel.db import schema


@click.command()
@click.argument("slug")
@click.option(
    "--at", metavar="TIME", help="Restore the data of TIME, such as 2026-11-23T02:10:00Z."
)
@click.option(
    "--prepare", is_flag=True,
    help="With --at: only restore and check the new table; requests are served meanwhile.",
)  # fmt: skip
@click.option(
    "--to-table", metavar="TABLE",
    help="Switch to another table of SLUG, such as the one before a restore.",
)  # fmt: skip
@click.option("--cancel", is_flag=True, help="End an unfinished restore without a change.")
@click.option("--unchecked", is_flag=True, help="Do not compare the data of the new table.")
@yes_option
@command
def restore(  # noqa: PLR0913  the options of a long operation
    operator: CommandContext,
    *,
    slug: str,
    at: str | None,
    prepare: bool,
    to_table: str | None,
    cancel: bool,
    unchecked: bool,
    yes: bool,
) -> None:
    """Replace the data of the tenant SLUG by its data of TIME, and keep the present table.

    DynamoDB restores the table of TIME into a new one. Everything that was changed after TIME is
    missing there. Requests of SLUG are refused (503) until the new table has replaced the present
    one; with --prepare first, that takes 3 minutes. The command can be interrupted at any time: run
    it again, and it goes on. docs/operating/restore.md has the steps, and what to do afterwards.

    \b
    Examples:
      stowage tenant restore acme --at 2026-11-23T02:10:00Z
      stowage tenant restore acme --at 2026-11-23T02:10:00Z --prepare
      stowage tenant restore acme --cancel
      stowage tenant restore acme --to-table stowage-tenant-acme
    """  # noqa: D301  click reads the backspace
    if [at is not None, to_table is not None, cancel].count(True) != 1:
        raise click.UsageError("Use --at TIME, --to-table TABLE or --cancel.")
    if prepare and at is None:
        raise click.UsageError("--prepare needs --at TIME.")
    if operator.is_local:
        raise CommandFailed(
            "The local stack keeps no earlier moments of its tables, so nothing can be restored "
            "there. Nothing was changed.",
            "impossible_locally",
        )
    if cancel:
        _cancel(operator, slug)
        return
    ensure_deployed_schema(operator.deployment)
    plan = plan_restore(slug, at) if at else plan_switch(slug, to_table or "")
    if plan.is_done:
        operator.output.say(f"Nothing was done: {_present_state(plan)}")
    else:
        wanted = f"the table {to_table}" if to_table else f"its data of {plan.at}"
        _confirm(operator, plan, wanted, prepare=prepare, yes=yes)
    verify = None if unchecked else verify_table
    with _reporting_refusal(operator, slug), operator.output.progress() as progress:
        if at:
            done = restore_tenant(slug, at, prepare_only=prepare, verify=verify, progress=progress)
        else:
            done = switch_table(slug, to_table or "", verify=verify, progress=progress)
    _show(operator, done)


@contextmanager
def _reporting_refusal(operator: CommandContext, slug: str) -> Iterator[None]:
    """Say after a failure that requests are still refused, if they are."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            if show_tenant(slug).is_being_restored:
                operator.output.say(
                    f"Requests of {slug} are refused until the restore is finished (run the "
                    f"command again) or ended (stowage tenant restore {slug} --cancel)."
                )
        raise


def _present_state(plan: RestorePlan) -> str:
    if plan.at is None:
        return f"{plan.table} is the table of {plan.tenant} already."
    return (
        f"{plan.tenant} was restored to {plan.at} by an earlier run. To restore this moment once "
        "more, switch back first."
    )


def _confirm(
    operator: CommandContext, plan: RestorePlan, wanted: str, *, prepare: bool, yes: bool
) -> None:
    if prepare:
        consequence = (
            f"The data of {plan.tenant} of {plan.at} is restored into a new table. Nothing else "
            "changes."
        )
        confirm(operator, consequence, yes=yes)
        return
    confirm(
        operator,
        f"Requests of the tenant {plan.tenant} are refused until {wanted} has replaced the table "
        f"{plan.table}, which is kept. What was changed in between is then missing, and all users "
        "and clients have to get new tokens.",
        yes=yes,
    )


def _cancel(operator: CommandContext, slug: str) -> None:
    with operator.output.progress() as progress:
        table = cancel_restore(slug, progress=progress)
    if table is None:
        operator.output.say(f"No restore of {slug} is in progress.")
    else:
        operator.output.say(f"The table {table} is kept, if it was already made.")
    operator.output.one({"tenant": slug, "cancelled": table is not None, "new_table": table})


def _show(operator: CommandContext, done: Restored) -> None:
    for line in _advice(done):
        operator.output.say(line)
    operator.output.one(
        {
            "tenant": done.tenant,
            "at": done.at,
            "table": done.table,
            "previous_table": done.previous_table,
            "version": done.version,
            "is_switched": done.is_switched,
            "locked_users": list(done.locked_users),
            "deactivated_webhooks": list(done.deactivated_webhooks),
            "switch_back": _switch_back(done) if done.is_switched else None,
        }
    )


def _switch_back(done: Restored) -> str:
    return f"stowage tenant restore {done.tenant} --to-table {done.previous_table}"


def _advice(done: Restored) -> list[str]:
    """Return what the operator can do next."""
    if not done.is_switched:
        command_line = f"stowage tenant restore {done.tenant} --at {done.at}"
        return [f"The new table {done.table} is ready. Switch to it: {command_line}"]
    lines = []
    if done.previous_table != done.table:
        lines.append(
            f"The earlier table {done.previous_table} is kept. Switch back: {_switch_back(done)}"
        )
    if done.version != schema.SCHEMA_VERSION:
        lines.append(
            f"The table has version {done.version}. Upgrade it: stowage tenant upgrade "
            f"{done.tenant}"
        )
    return lines

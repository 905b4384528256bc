"""`stowage tenant upgrade`: bring tenants' tables to the version of the release."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from cli.confirmation import confirm, yes_option
from cli.deployment import Deployment
from cli.operator import CommandContext, CommandFailed, command
from cli.output import as_text
from operations import provisioning
from operations.table_lease import ensure_no_restore
from operations.upgrade import (
    DEFAULT_RATE,
    REFUSALS,
    Upgraded,
    UpgradePlan,
    contract_table,
    expand_table,
    plan_upgrade,
    upgrade_tables,
)
from shared.kernel.db import schema
from shared.kernel.errors import Conflict, ServiceError, UnservedTable

_PLAN_COLUMNS = ("tenant", "version", "target", "missing_indexes", "kinds", "items")


@click.command()
@click.argument("slugs", metavar="[SLUG]...", nargs=-1)
@click.option("--all", "all_tenants", is_flag=True, help="All tenants.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option(
    "--expand", is_flag=True,
    help="Only add the missing indexes. For the new release, before it is deployed.",
)  # fmt: skip
@click.option(
    "--contract", is_flag=True,
    help="Only remove the indexes that the release does not use. After the upgrade.",
)  # fmt: skip
@click.option(
    "--rate", type=click.IntRange(min=1), default=DEFAULT_RATE, show_default=True, metavar="N",
    help="Entities to rewrite per second, at most.",
)  # fmt: skip
@yes_option
@command
def upgrade(  # noqa: PLR0913  the options of a long operation
    operator: CommandContext,
    *,
    slugs: tuple[str, ...],
    all_tenants: bool,
    dry_run: bool,
    expand: bool,
    contract: bool,
    rate: int,
    yes: bool,
) -> None:
    """Upgrade the tables of the tenants SLUG, or of all, to the version of the deployed release.

    Requests are served meanwhile. The command adds missing indexes, waits twice until running
    requests have ended (2.5 minutes each), and rewrites the entities that have another form in the
    new version. It can be interrupted at any time: run it again, and it goes on. The order of a
    release with a new version is in docs/operating/deploy.md.

    \b
    Examples:
      stowage tenant upgrade --all --dry-run
      stowage tenant upgrade --all --expand
      stowage tenant upgrade acme
      stowage tenant upgrade --all --rate 500
      stowage tenant upgrade --all --contract
    """  # noqa: D301  click reads the backspace
    if bool(slugs) == all_tenants:
        raise click.UsageError("Name tenants, or use --all.")
    if expand and contract:
        raise click.UsageError("--expand cannot be used with --contract.")
    if not expand and not dry_run:
        ensure_deployed_schema(operator.deployment)
    wanted = slugs or [tenant.slug for tenant in provisioning.list_tenants()]
    plans, refused = _plans(wanted, are_all_changed=expand or contract)
    if dry_run:
        operator.output.many([_plan_row(plan) for plan in plans], _PLAN_COLUMNS)
    elif expand:
        _expand(operator, plans, refused)
    elif contract:
        _contract(operator, plans, refused, yes=yes)
    else:
        _upgrade(operator, plans, refused, rate=rate, yes=yes)
    if refused:
        messages = "\n".join(error.message for error in refused)
        if isinstance(refused[0], UnservedTable):
            raise CommandFailed(messages, "unserved_table")
        raise CommandFailed(messages, refused[0].code)


def ensure_deployed_schema(deployment: Deployment) -> None:
    """Raise Conflict if this command line has another version of the schema than the deployment.

    Functions of an older release would refuse a table that this command line creates or upgrades.
    """
    if deployment.schema_version != schema.SCHEMA_VERSION:
        raise Conflict(
            f"This command line is of a release with schema version {schema.SCHEMA_VERSION}, and "
            f"the deployed release has {deployment.schema_version}. Use the command line of the "
            "deployed release, or deploy this one first."
        )


def _plans(
    slugs: Iterable[str], *, are_all_changed: bool
) -> tuple[list[UpgradePlan], list[ServiceError]]:
    """Return the plans of the tenants that can be upgraded, and why the others cannot.

    An unfinished restore matters to the tables that are changed: the outdated ones, or all.
    """
    plans: list[UpgradePlan] = []
    refused: list[ServiceError] = []
    for slug in slugs:
        with _added_to(refused):
            plan = plan_upgrade(slug)
            if are_all_changed or plan.version != plan.target:
                ensure_no_restore(slug)
            plans.append(plan)
    return plans, refused


@contextmanager
def _added_to(refused: list[ServiceError]) -> Iterator[None]:
    """Add the error of a tenant that cannot be upgraded to `refused`: it does not stop others."""
    try:
        yield
    except REFUSALS as error:
        refused.append(error)


def _plan_row(plan: UpgradePlan) -> dict[str, Any]:
    return {
        "tenant": plan.tenant,
        "version": plan.version,
        "target": plan.target,
        "missing_indexes": list(plan.missing_indexes),
        "unused_indexes": list(plan.unused_indexes),
        "kinds": list(plan.kinds),
        "items": plan.items,
    }


def _expand(
    operator: CommandContext, plans: Iterable[UpgradePlan], refused: list[ServiceError]
) -> None:
    rows = []
    with operator.output.progress() as progress:
        for plan in plans:
            with _added_to(refused):
                added = expand_table(plan.tenant, progress=progress)
                rows.append({"tenant": plan.tenant, "added_indexes": added})
    operator.output.many(rows, ("tenant", "added_indexes"))


def _contract(
    operator: CommandContext,
    plans: Iterable[UpgradePlan],
    refused: list[ServiceError],
    *,
    yes: bool,
) -> None:
    unused = {plan.tenant: list(plan.unused_indexes) for plan in plans}
    if found := {tenant: names for tenant, names in unused.items() if names}:
        lines = [f"{tenant}: {as_text(names)}" for tenant, names in found.items()]
        confirm(
            operator,
            "This removes the indexes that this release does not use. An earlier release cannot be "
            "deployed again after that.\n" + "\n".join(lines),
            yes=yes,
        )
    rows = []
    with operator.output.progress() as progress:
        for tenant in unused:
            with _added_to(refused):
                removed = contract_table(tenant, progress=progress)
                rows.append({"tenant": tenant, "removed_indexes": removed})
    operator.output.many(rows, ("tenant", "removed_indexes"))


def _upgrade(
    operator: CommandContext,
    plans: Iterable[UpgradePlan],
    refused: list[ServiceError],
    *,
    rate: int,
    yes: bool,
) -> None:
    plans = list(plans)
    outdated = [plan for plan in plans if plan.version != plan.target]
    if outdated:
        confirm(
            operator,
            f"The tables of {as_text([plan.tenant for plan in outdated])} are upgraded to version "
            f"{schema.SCHEMA_VERSION}. Requests are served meanwhile. An earlier release cannot be "
            "deployed again after that, because it refuses these tables.",
            yes=yes,
        )
    slugs = [plan.tenant for plan in plans]
    done: list[Upgraded] = []
    with operator.output.progress() as progress, _added_to(refused):
        done.extend(upgrade_tables(slugs, rate=rate, progress=progress))
    rows = [
        {"tenant": each.tenant, "version": each.version, "rewritten": each.rewritten}
        for each in done
    ]
    operator.output.many(rows, ("tenant", "version", "rewritten"))

"""`stowage tenant import`: make a tenant from the export of another deployment."""

from pathlib import Path
from typing import Any

import click

from cli.confirmation import confirm, yes_option
from cli.operator import CommandContext, CommandFailed, command
from cli.passphrase import read_passphrase
from cli.upgrade import ensure_deployed_schema
from operations import domains, provisioning
from operations.tenant_import import TenantExport, Terms, import_tenant, open_export
from operations.tenant_rules import MAX_REQUESTS_PER_MINUTE
from shared.identity.tenancy.tenant import MODULES, PLANS

_NONE = "none"
_PLAN = "plan"


class _RequestLimit(click.ParamType):
    """A number of requests per minute, or `plan` for 0, the limit of the plan."""

    name = "limit"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if value == _PLAN:
            return 0
        if not str(value).isdecimal() or not 1 <= int(value) <= MAX_REQUESTS_PER_MINUTE:
            self.fail(f"{value} is not {_PLAN} or from 1 to {MAX_REQUESTS_PER_MINUTE}", param, ctx)
        return int(value)


@click.command("import")
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--host", help="Its own host name here.  [default: SLUG.DOMAIN if the deployment has a domain]"
)
@click.option(
    "--base-url", help="Address shared with other tenants.  [default: the deployment's address]"
)
@click.option(
    "--plan", type=click.Choice(list(PLANS)), help="Its plan here.  [default: that of the export]"
)
@click.option(
    "--module", "modules", type=click.Choice([*sorted(MODULES), _NONE]), multiple=True,
    help="Module to switch on; may be repeated.  [default: those of the export]",
)  # fmt: skip
@click.option(
    "--requests-per-minute", type=_RequestLimit(), metavar=f"N|{_PLAN}",
    help="Limit agreed with the company, or that of its plan.  [default: that of the export]",
)  # fmt: skip
@click.option(
    "--unchecked", is_flag=True,
    help="Make the tenant active although its data contradicts itself.",
)  # fmt: skip
@yes_option
@command
def import_(  # noqa: PLR0913  each option is one fact about the tenant
    operator: CommandContext,
    *,
    source: Path,
    host: str | None,
    base_url: str | None,
    plan: str | None,
    modules: tuple[str, ...],
    requests_per_minute: int | None,
    unchecked: bool,
    yes: bool,
) -> None:
    """Make the tenant whose export is in DIR, with all its data, in this deployment.

    DIR is what `stowage tenant export SLUG --to DIR --with-secrets` wrote in the other deployment.
    The passphrase is asked for, or is the value of the environment variable STOWAGE_PASSPHRASE.
    Every line of the export is checked before anything is written. Then the command shows plan,
    modules and request limit that the tenant gets, and asks for confirmation. Requests are refused
    until everything is written and compared with the export, item by item, and what follows from
    other data is repaired, as by stowage verify --repair. An interrupted import is continued by the
    same command. The whole move is in docs/operating/moving.md.

    \b
    Examples:
      stowage tenant import acme-move
      stowage tenant import acme-move --host wms.acme.com
      stowage tenant import acme-move --plan essentials --module none --requests-per-minute plan
    """  # noqa: D301  click reads the backspace
    if host and base_url:
        raise click.UsageError("--host cannot be used with --base-url.")
    if _NONE in modules and len(modules) > 1:
        raise click.UsageError(f"--module {_NONE} cannot be used with another module.")
    deployment = operator.deployment
    ensure_deployed_schema(deployment)
    try:
        export = open_export(source, read_passphrase(new=False))
        terms = _chosen(export.terms, plan, modules, requests_per_minute)
        confirm(operator, _consequence(export, terms), yes=yes)
        if host is None and base_url is None:
            host = deployment.host_of(export.slug)
            base_url = None if host else deployment.address
        if base_url:
            domains.check_shared_address(base_url, deployment.shared_addresses)
        if base_url == deployment.address:
            provisioning.set_shared_address(base_url)
        with operator.output.progress() as progress:
            done = import_tenant(
                export, terms,
                base_url=base_url, host=host, unchecked=unchecked, progress=progress,
            )  # fmt: skip
    except OSError as error:
        message = f"{source} cannot be read: {error.strerror or error}"
        raise CommandFailed(message, "cannot_read") from error
    operator.output.one(
        {
            "tenant": done.slug,
            "address": done.base_url,
            "compared": [each._asdict() for each in done.compared],
            "repaired": done.repaired,
            "clients_without_secret": list(done.clients_without_secret),
        }
    )
    for client_id in done.clients_without_secret:
        operator.output.say(
            f"The secret of {client_id} could not be moved. Give it a new one: stowage client "
            f"rotate {client_id}."
        )


def _chosen(
    exported: Terms, plan: str | None, modules: tuple[str, ...], requests_per_minute: int | None
) -> Terms:
    """Return the terms of the options, and those of the export where there is no option."""
    limit = exported.requests_per_minute if requests_per_minute is None else requests_per_minute
    return Terms(
        plan or exported.plan,
        frozenset(modules) - {_NONE} if modules else exported.modules,
        limit or None,
    )


def _consequence(export: TenantExport, terms: Terms) -> str:
    contents = export.contents
    return (
        f"The export of {export.slug} has {contents.items} items of the table, {contents.clients} "
        f"active API clients, {contents.mobile_clients} mobile applications, {contents.users} "
        f"users and {contents.events} events: {contents.size / 1e6:.1f} MB of text.\n"
        f"The tenant {export.slug} gets {terms}."
    )

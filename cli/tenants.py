"""`stowage tenant …`."""

from collections.abc import Iterator
from typing import Any

import click

from cli.confirmation import confirm, confirm_address, yes_option
from cli.operator import CommandContext, command
from cli.output import as_text
from cli.upgrade import ensure_deployed_schema
from operations import domains, provisioning, tenant_changes, tenant_overview
from operations.tenant_overview import TenantOverview
from operations.tenant_rules import (
    NewTenant,
    check_moved_to,
)
from shared.identity.tenancy.tenant import (
    MODULES,
    PLANS,
    PlanName,
    State,
    Tenant,
)
from shared.kernel.db.schema import TableVersion

_COLUMNS = ("tenant", "state", "plan", "version", "modules", "address")


def _list_row(found: TenantOverview) -> dict[str, Any]:
    setup = _row(found.tenant) if found.tenant else dict.fromkeys(_COLUMNS)
    times = {"created_at": found.created_at, "deleted_at": found.deleted_at}
    return {**setup, "tenant": found.slug, "state": found.state, **times}


def _detail_row(found: TenantOverview) -> dict[str, Any]:
    if found.tenant is None:
        return {"tenant": found.slug, "state": found.state, "deleted_at": found.deleted_at}
    return {
        **_row(found.tenant),
        "state": found.state,
        "hosts": list(found.hosts),
        "table": found.tenant.table,
        "restoring": found.tenant.is_being_restored,
        "being_moved": found.tenant.is_being_moved,
        "clients": found.clients,
        "mobile_clients": found.mobile_clients,
        "limits": dict(found.tenant.limits),
        "created_at": found.created_at,
    }


def _row(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant": tenant.slug,
        "state": tenant.state,
        "plan": tenant.plan,
        "version": _version_text(tenant.table_version),
        "modules": sorted(tenant.modules),
        "address": tenant.base_url,
        "timezone": tenant.timezone,
        "moved_to": tenant.moved_to,
    }


def _version_text(version: TableVersion | None) -> str | None:
    """Return the version of a table, such as `1`, or `1, upgrade to 2` while it is upgraded."""
    if version is None:
        return None
    if version.announced == version.complete:
        return str(version.complete)
    return f"{version.complete}, upgrade to {version.announced}"


def _limit_row(tenant: Tenant) -> dict[str, Any]:
    return {
        "tenant": tenant.slug,
        "plan": tenant.plan,
        "requests_per_minute": tenant.limits["requests_per_minute"],
        "total_requests_per_minute": tenant.limits["total_requests_per_minute"],
        "agreed": tenant.requests_per_minute is not None,
    }


@click.group()
def tenant() -> None:
    """Manage tenants: create, configure, suspend, export and delete them.

    SLUG is the name of a tenant: 3 to 32 lower-case letters, digits and hyphens.
    """


@tenant.command()
@click.argument("slug")
@click.option(
    "--plan", type=click.Choice(list(PLANS)), default="essentials", show_default=True,
    help="Plan of the tenant.",
)  # fmt: skip
@click.option(
    "--module", "modules", type=click.Choice(sorted(MODULES)), multiple=True,
    help="Module to switch on; may be repeated.",
)  # fmt: skip
@click.option(
    "--timezone", default="UTC", show_default=True, help="Time zone, for example Europe/Madrid."
)
@click.option(
    "--host", help="Its own host name.  [default: SLUG.DOMAIN if the deployment has a domain]"
)
@click.option(
    "--base-url", help="Address shared with other tenants.  [default: the deployment's address]"
)
@command
def create(  # noqa: PLR0913  each option is one fact about the tenant
    operator: CommandContext,
    *,
    slug: str,
    plan: Any,
    modules: tuple[str, ...],
    timezone: str,
    host: str | None,
    base_url: str | None,
) -> None:
    """Create the tenant SLUG, or complete a creation that was interrupted.

    \b
    Examples:
      stowage tenant create acme
      stowage tenant create acme --plan enterprise --module waves --module bulk_import
      stowage tenant create acme --host wms.acme.com --timezone Europe/Madrid
    """  # noqa: D301  click reads the backspace
    if host is None and base_url is None:
        host = operator.deployment.host_of(slug)
        base_url = None if host else operator.deployment.address
    settings = NewTenant(slug, plan, base_url, host, frozenset(modules), timezone)
    settings.check()
    deployment = operator.deployment
    ensure_deployed_schema(deployment)
    if base_url:
        domains.check_shared_address(base_url, deployment.shared_addresses)
    if base_url == deployment.address:
        provisioning.set_shared_address(base_url)
    with operator.output.progress() as progress:
        created = provisioning.create_tenant(settings, progress=progress)
    operator.output.one(_row(created))
    if host and host != deployment.host_of(slug) and not domains.is_added(slug, host):
        operator.output.say(
            f"Nothing serves {host} yet. Run `stowage domain add {slug} {host} --certificate-arn "
            "ARN`."
        )


@tenant.command("list")
@click.option("--deleted", is_flag=True, help="Include deleted tenants.")
@command
def list_(operator: CommandContext, *, deleted: bool) -> None:
    """List all tenants, including those being created or deleted.

    \b
    Examples:
      stowage tenant list
      stowage --json tenant list --deleted
    """  # noqa: D301  click reads the backspace
    rows = [_list_row(each) for each in tenant_overview.list_overviews(deleted=deleted)]
    operator.output.many(rows, _COLUMNS)


@tenant.command()
@click.argument("slug")
@command
def show(operator: CommandContext, *, slug: str) -> None:
    """Show the tenant SLUG: plan, modules, limits, address, hosts and number of clients.

    \b
    Example:
      stowage tenant show acme
    """  # noqa: D301  click reads the backspace
    operator.output.one(_detail_row(tenant_overview.get_overview(slug)))


@tenant.command()
@click.argument("slug")
@click.option(
    "--for-move", is_flag=True,
    help="Tell callers that SLUG is being moved, and to repeat their requests (Retry-After).",
)  # fmt: skip
@yes_option
@command
def suspend(operator: CommandContext, *, slug: str, for_move: bool, yes: bool) -> None:
    """Suspend the tenant SLUG, for example for unpaid bills: its API answers 402 within 10 s.

    The command asks for confirmation. Its data stays, and `stowage tenant resume` ends the
    suspension. With --for-move the answer has the same code and says that the company is being
    moved to another server (docs/operating/moving.md), not that a bill is unpaid.

    \b
    Examples:
      stowage tenant suspend acme
      stowage tenant suspend acme --for-move --yes
    """  # noqa: D301  click reads the backspace
    answer = "402 tenant_suspended" + (" with Retry-After" if for_move else "")
    _end_service(operator, slug, "suspended", answer, for_move=for_move, yes=yes)


@tenant.command()
@click.argument("slug")
@command
def resume(operator: CommandContext, *, slug: str) -> None:
    """Resume the tenant SLUG after a suspension, a cancellation or a move.

    \b
    Example:
      stowage tenant resume acme
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(provisioning.set_state(slug, "active")))


@tenant.command()
@click.argument("slug")
@yes_option
@command
def cancel(operator: CommandContext, *, slug: str, yes: bool) -> None:
    """Cancel SLUG: within 10 s its API answers 402. Its data stays until it is deleted.

    The command asks for confirmation. `stowage tenant resume` ends the cancellation.

    \b
    Examples:
      stowage tenant cancel acme
      stowage tenant cancel acme --yes
    """  # noqa: D301  click reads the backspace
    _end_service(operator, slug, "cancelled", "402 tenant_cancelled", yes=yes)


@tenant.command()
@click.argument("slug")
@click.option("--to", required=True, metavar="URL", help="https URL of the company's own server.")
@yes_option
@command
def move(operator: CommandContext, *, slug: str, to: str, yes: bool) -> None:
    """Mark the tenant SLUG as moved to its own server: its API answers 410 with the new address.

    The command asks for confirmation. `stowage tenant resume` ends the move.

    \b
    Examples:
      stowage tenant move acme --to https://wms.acme.com/api/v1
      stowage tenant move acme --to https://wms.acme.com/api/v1 --yes
    """  # noqa: D301  click reads the backspace
    check_moved_to("moved", to)
    _end_service(operator, slug, "moved", "410 tenant_moved", moved_to=to, yes=yes)


def _end_service(  # noqa: PLR0913  what the question needs
    operator: CommandContext,
    slug: str,
    state: State,
    answer: str,
    *,
    moved_to: str | None = None,
    for_move: bool = False,
    yes: bool,
) -> None:
    """Set a state in which requests are refused, after a question."""
    known = tenant_changes.show_tenant(slug)
    present = known.state, known.moved_to, known.is_being_moved
    if present != (state, moved_to, for_move):
        found = tenant_overview.get_overview(slug)
        address = f" and the address {moved_to}" if moved_to else ""
        confirm(
            operator,
            f"The state of the tenant {slug} changes from {known.state} to {state}. Within 10 s "
            f"its API and its token routes answer {answer}{address} to its {found.clients} "
            f"integration clients, its {found.mobile_clients} mobile applications and all users; "
            "events are not delivered and dropped files are rejected. The data stays, and "
            f"`stowage tenant resume {slug}` undoes it.",
            yes=yes,
        )
    changed = provisioning.set_state(slug, state, moved_to=moved_to, for_move=for_move)
    operator.output.one(_row(changed))


@tenant.command()
@click.argument("slug")
@click.argument("plan_name", metavar="PLAN", type=click.Choice(list(PLANS)))
@yes_option
@command
def plan(operator: CommandContext, *, slug: str, plan_name: PlanName, yes: bool) -> None:
    """Change the plan of SLUG to PLAN.

    The command asks for confirmation when the plan takes something away. Clients, users and
    webhooks above the limits of a smaller plan stay; new ones are refused.

    \b
    Examples:
      stowage tenant plan acme professional
      stowage tenant plan acme essentials --yes
    """  # noqa: D301  click reads the backspace
    known = tenant_changes.show_tenant(slug)
    if lost := "; ".join(_losses(known, plan_name)):
        confirm(
            operator,
            f"The plan of the tenant {slug} changes from {known.plan} to {plan_name}: {lost}.",
            yes=yes,
        )
    operator.output.one(_row(provisioning.set_plan(slug, plan_name)))


def _losses(tenant: Tenant, plan_name: PlanName) -> Iterator[str]:
    """Yield what a tenant loses with another plan."""
    present, wanted = PLANS[tenant.plan], PLANS[plan_name]
    for feature in sorted(present.features - wanted.features):
        yield f"the feature {feature} is not included"
    for name, limit in wanted.limits.items():
        if name == "requests_per_minute" and tenant.requests_per_minute is not None:
            continue  # An agreed limit stays.
        if limit < present.limits[name]:
            yield f"{name.replace('_', ' ')} {present.limits[name]} becomes {limit}"


@tenant.command()
@click.argument("slug")
@click.option(
    "--requests-per-minute", type=int, metavar="N",
    help="Limit agreed with the company, per client or user.",
)  # fmt: skip
@click.option("--plan", "as_plan", is_flag=True, help="Return to the limit of the plan.")
@command
def limit(
    operator: CommandContext, *, slug: str, requests_per_minute: int | None, as_plan: bool
) -> None:
    """Set the rate limit of SLUG to another value than its plan's; without options, show it.

    The limit stays when the plan changes, until --plan is given.

    \b
    Examples:
      stowage tenant limit acme --requests-per-minute 2000
      stowage tenant limit acme --plan
      stowage tenant limit acme
    """  # noqa: D301  click reads the backspace
    if as_plan and requests_per_minute is not None:
        raise click.UsageError("--requests-per-minute cannot be used with --plan.")
    if as_plan or requests_per_minute is not None:
        found = provisioning.set_requests_per_minute(slug, requests_per_minute)
    else:
        found = tenant_changes.show_tenant(slug)
    operator.output.one(_limit_row(found))


@tenant.command()
@click.argument("slug")
@click.option(
    "--on", type=click.Choice(sorted(MODULES)), multiple=True,
    help="Module to switch on; may be repeated.",
)  # fmt: skip
@click.option(
    "--off", type=click.Choice(sorted(MODULES)), multiple=True,
    help="Module to switch off; may be repeated.",
)  # fmt: skip
@yes_option
@command
def modules(
    operator: CommandContext, *, slug: str, on: tuple[str, ...], off: tuple[str, ...], yes: bool
) -> None:
    """Switch modules of SLUG on and off; without options, show them.

    The command asks for confirmation when it switches a module off.

    \b
    Examples:
      stowage tenant modules acme --on waves --off bulk_import
      stowage tenant modules acme
    """  # noqa: D301  click reads the backspace
    found = tenant_changes.show_tenant(slug)
    if ended := sorted(found.modules & {*off} - {*on}):
        confirm(
            operator,
            f"This switches off {as_text(ended)} of the tenant {slug}: within 10 s the routes "
            "answer 404. The data stays, and the module can be switched on again.",
            yes=yes,
        )
    if on or off:
        found = provisioning.switch_modules(slug, on=on, off=off)
    operator.output.one(_row(found))


@tenant.command()
@click.argument("slug")
@click.option("--host", help="SLUG.DOMAIN of the deployment, or a host of `stowage domain list`.")
@click.option("--base-url", help="The deployment's own address, shared with other tenants.")
@yes_option
@command
def address(
    operator: CommandContext, *, slug: str, host: str | None, base_url: str | None, yes: bool
) -> None:
    """Change the address of SLUG. Clients have to request new tokens at the new address.

    An address at which the deployment does not answer is refused: add a host name of the company
    with `stowage domain add` first. The command asks for confirmation.

    \b
    Examples:
      stowage tenant address acme --host wms.acme.com
      stowage tenant address acme --host acme.example.com --yes
    """  # noqa: D301  click reads the backspace
    known = tenant_changes.show_tenant(slug)
    wanted = NewTenant(slug, base_url=base_url, host=host)
    wanted.check()
    deployment = operator.deployment
    if base_url:
        domains.check_shared_address(base_url, deployment.shared_addresses)
    is_own = host == deployment.host_of(slug)
    if host and not is_own:
        domains.check_added(slug, host, deployment.host_of(slug))
    confirm_address(operator, known, wanted.full_base_url, yes=yes)
    if base_url == deployment.address:
        provisioning.set_shared_address(base_url)
    changed = provisioning.set_address(slug, base_url=base_url, host=host, needs_domain=not is_own)
    operator.output.one(_row(changed))

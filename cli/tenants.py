"""`stowage tenant …`."""

from decimal import Decimal, InvalidOperation
from typing import Any

import click

from cli.operator import Operator, command
from operations import provisioning, tenant_changes, tenant_overview
from operations.tenant_overview import TenantOverview
from shared.identity.tenancy.rules import NewTenant
from shared.identity.tenancy.tenant import MODULES, PLANS, SUBSTITUTIONS, Tenant

_COLUMNS = ("tenant", "state", "plan", "modules", "address")


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
        "modules": sorted(tenant.modules),
        "address": tenant.base_url,
        "timezone": tenant.timezone,
        "moved_to": tenant.moved_to,
    }


class _Number(click.ParamType):
    """A decimal number, without loss of digits."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Decimal:
        try:
            return Decimal(value)
        except InvalidOperation:
            self.fail(f"{value} is not a number", param, ctx)


def _settings_row(tenant: Tenant) -> dict[str, Any]:
    settings = tenant.settings
    return {
        "tenant": tenant.slug,
        "timezone": tenant.timezone,
        "receipt_tolerance": float(settings.receipt_tolerance),
        "pick_substitution": settings.pick_substitution,
        "minutes_per_unit": float(settings.minutes_per_unit),
        "minutes_per_trip": float(settings.minutes_per_trip),
        "commit_drops": settings.commit_drops,
        "imports_require_kind_scope": settings.imports_require_kind_scope,
    }


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
    operator: Operator,
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
    if base_url == operator.deployment.address:
        provisioning.set_shared_address(base_url)
    settings = NewTenant(slug, plan, base_url, host, frozenset(modules), timezone)
    with operator.output.progress() as progress:
        created = provisioning.create_tenant(settings, progress=progress)
    operator.output.one(_row(created))


@tenant.command("list")
@click.option("--deleted", is_flag=True, help="Include deleted tenants.")
@command
def list_(operator: Operator, *, deleted: bool) -> None:
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
def show(operator: Operator, *, slug: str) -> None:
    """Show the tenant SLUG: plan, modules, limits, address, hosts and number of clients.

    \b
    Example:
      stowage tenant show acme
    """  # noqa: D301  click reads the backspace
    operator.output.one(_detail_row(tenant_overview.get_overview(slug)))


@tenant.command()
@click.argument("slug")
@command
def suspend(operator: Operator, *, slug: str) -> None:
    """Suspend the tenant SLUG, for example for unpaid bills: its API answers 402 within 10 s.

    \b
    Example:
      stowage tenant suspend acme
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(provisioning.set_state(slug, "suspended")))


@tenant.command()
@click.argument("slug")
@command
def resume(operator: Operator, *, slug: str) -> None:
    """Resume the tenant SLUG after a suspension, a cancellation or a move.

    \b
    Example:
      stowage tenant resume acme
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(provisioning.set_state(slug, "active")))


@tenant.command()
@click.argument("slug")
@command
def cancel(operator: Operator, *, slug: str) -> None:
    """Cancel SLUG: within 10 s its API answers 402. Its data stays until it is deleted.

    \b
    Example:
      stowage tenant cancel acme
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(provisioning.set_state(slug, "cancelled")))


@tenant.command()
@click.argument("slug")
@click.option("--to", required=True, metavar="URL", help="https URL of the company's own server.")
@command
def move(operator: Operator, *, slug: str, to: str) -> None:
    """Mark the tenant SLUG as moved to its own server: its API answers 410 with the new address.

    \b
    Example:
      stowage tenant move acme --to https://wms.acme.com/api/v1
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(provisioning.set_state(slug, "moved", moved_to=to)))


@tenant.command()
@click.argument("slug")
@click.argument("plan_name", metavar="PLAN", type=click.Choice(list(PLANS)))
@command
def plan(operator: Operator, *, slug: str, plan_name: str) -> None:
    """Change the plan of SLUG to PLAN.

    Clients and webhooks above the limits of a smaller plan stay; new ones are refused.

    \b
    Example:
      stowage tenant plan acme professional
    """  # noqa: D301  click reads the backspace
    operator.output.one(_row(provisioning.set_plan(slug, plan_name)))


@tenant.command()
@click.argument("slug")
@click.option(
    "--requests-per-minute", type=int, metavar="N",
    help="Limit agreed with the company, per client or user.",
)  # fmt: skip
@click.option("--plan", "as_plan", is_flag=True, help="Return to the limit of the plan.")
@command
def limit(operator: Operator, *, slug: str, requests_per_minute: int | None, as_plan: bool) -> None:
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
@command
def modules(operator: Operator, *, slug: str, on: tuple[str, ...], off: tuple[str, ...]) -> None:
    """Switch modules of SLUG on and off; without options, show them.

    \b
    Examples:
      stowage tenant modules acme --on waves --off bulk_import
      stowage tenant modules acme
    """  # noqa: D301  click reads the backspace
    found = tenant_changes.show_tenant(slug)
    if on or off:
        found = provisioning.switch_modules(slug, on=on, off=off)
    operator.output.one(_row(found))


@tenant.command()
@click.argument("slug")
@click.option("--timezone", help="Time zone, for example Europe/Madrid.")
@click.option(
    "--receipt-tolerance", type=_Number(),
    help="Percentage that may be received above the ordered quantity without approval.",
)  # fmt: skip
@click.option(
    "--pick-substitution", type=click.Choice(list(SUBSTITUTIONS)),
    help="Which other stock may be picked instead of the allocated stock.",
)  # fmt: skip
@click.option("--minutes-per-unit", type=_Number(), help="Standard minutes to pick one unit.")
@click.option("--minutes-per-trip", type=_Number(), help="Standard minutes of one trip.")
@click.option(
    "--commit-drops/--no-commit-drops", default=None,
    help="Commit the valid rows of files dropped into the bucket automatically.",
)  # fmt: skip
@click.option(
    "--imports-require-kind-scope/--no-imports-require-kind-scope", default=None,
    help="Require also the scope or permission of what an import contains.",
)  # fmt: skip
@command
def settings(operator: Operator, *, slug: str, **options: Decimal | str | bool | None) -> None:
    """Change settings of SLUG; without options, show them.

    \b
    Examples:
      stowage tenant settings acme --receipt-tolerance 5 --pick-substitution batch
      stowage tenant settings acme --timezone Europe/Madrid --commit-drops
      stowage tenant settings acme
    """  # noqa: D301  click reads the backspace
    changes = {name: value for name, value in options.items() if value is not None}
    found = (
        provisioning.set_settings(slug, changes) if changes else tenant_changes.show_tenant(slug)
    )
    operator.output.one(_settings_row(found))


@tenant.command()
@click.argument("slug")
@click.option("--host", help="Its own host name.")
@click.option("--base-url", help="Address shared with other tenants.")
@command
def address(operator: Operator, *, slug: str, host: str | None, base_url: str | None) -> None:
    """Change the address of SLUG. Clients have to request new tokens at the new address.

    \b
    Example:
      stowage tenant address acme --host wms.acme.com
    """  # noqa: D301  click reads the backspace
    if base_url == operator.deployment.address:
        provisioning.set_shared_address(base_url)
    changed = provisioning.set_address(slug, base_url=base_url, host=host)
    operator.output.one(_row(changed))

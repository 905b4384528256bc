"""`stowage events …`."""

import click

from cli.operator import CommandContext, CommandFailed, command
from operations import provisioning, tenant_changes
from shared.integration.webhooks.relay import relay_missed_entries

_COLUMNS = ("tenant", "relayed", "failed")


@click.group()
def events() -> None:
    """Relay events from the outbox to webhooks."""


@events.command()
@click.argument("tenants", nargs=-1)
@click.option(
    "--older-than", type=click.IntRange(min=0), default=300, show_default=True, metavar="SECONDS",
    help="Relay events of at least this age only: younger ones may still be in progress.",
)  # fmt: skip
@command
def relay(operator: CommandContext, *, tenants: tuple[str, ...], older_than: int) -> None:
    """Relay events that were not relayed from the stream, of TENANTS or of all tenants.

    Run it after an alarm on RelayFailures, when the cause is fixed. Events that were relayed and
    deliveries that were made are skipped, so the command can be repeated.

    \b
    Examples:
      stowage events relay
      stowage events relay acme --older-than 0
    """  # noqa: D301  click reads the backspace
    slugs = [tenant_changes.show_tenant(slug).slug for slug in tenants]
    slugs = slugs or [tenant.slug for tenant in provisioning.list_tenants()]
    rows = []
    with operator.output.progress() as progress:
        for slug in slugs:
            done, failed = 0, 0
            for relayed, missed in relay_missed_entries(slug, older_than=older_than):
                done, failed = done + relayed, failed + missed
                progress(f"{slug}: {done} events relayed")
            rows.append({"tenant": slug, "relayed": done, "failed": failed})
    operator.output.many(rows, _COLUMNS)
    if failures := [f"{row['failed']} of {row['tenant']}" for row in rows if row["failed"]]:
        raise CommandFailed(
            f"Events could not be relayed: {', '.join(failures)}. Fix the cause, then run the "
            "command again.",
            "relay_failed",
        )

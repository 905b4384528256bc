"""`stowage events …`."""

import sys

import click

from cli.operator import REFUSED, Operator, command
from operations import provisioning
from shared.integration.webhooks.relay import relay_missed_entries

_COLUMNS = ("tenant", "relayed", "failed")


@click.group()
def events() -> None:
    """Events on their way from the outbox to webhooks."""


@events.command()
@click.argument("tenants", nargs=-1)
@click.option(
    "--older-than", type=click.IntRange(min=0), default=300, show_default=True, metavar="SECONDS",
    help="Leave alone what is younger: it may still be on its way.",
)  # fmt: skip
@command
def relay(operator: Operator, *, tenants: tuple[str, ...], older_than: int) -> None:
    """Relay what the stream gave up, of TENANTS or of all of them.

    It is for the alarm on RelayFailures, once what caused it is mended. What was relayed is
    left alone, and a delivery that was made is not made again, so it does no harm to run it twice.

    \b
    Examples:
      stowage events relay
      stowage events relay acme --older-than 0
    """  # noqa: D301  click reads the backspace
    slugs = [provisioning.show_tenant(slug).slug for slug in tenants]
    slugs = slugs or [tenant.slug for tenant in provisioning.list_tenants()]
    rows = []
    with operator.output.progress() as progress:
        for slug in slugs:
            done, failed = 0, 0
            for relayed, missed in relay_missed_entries(slug, older_than=older_than):
                done, failed = done + relayed, failed + missed
                progress(f"{slug}: {done} relayed")
            rows.append({"tenant": slug, "relayed": done, "failed": failed})
    operator.output.many(rows, _COLUMNS)
    if any(row["failed"] for row in rows):
        sys.exit(REFUSED)

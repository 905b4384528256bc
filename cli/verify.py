"""`stowage verify`: compare what a tenant's table derives with what it is derived from."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from cli.operator import UNREACHABLE, CommandContext, CommandFailed, command
from operations.verify import Findings, verify_tenant
from operations.verify.advice import advice

_COLUMNS = ("kind", "subject", "field", "stored", "expected", "result")


@click.command()
@click.argument("slug")
@click.option("--repair", is_flag=True, help="Write derived data as it should be.")
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), metavar="N",
    help="Capacity units per second, at most.  [default: 1 % of what the table has]",
)  # fmt: skip
@command
def verify(operator: CommandContext, *, slug: str, repair: bool, rate: float | None) -> None:
    """Compare the stock, progress, totals, indexes and references of SLUG with their sources.

    Requests are served meanwhile; what they change during the run is looked at again. Each
    finding shows the stored and the expected value. --repair writes derived data only, such as
    levels and totals; what is not derived, such as a movement, never changes. The command can be
    interrupted at any time: run it again, and it goes on. docs/operating/verify.md explains each
    finding.

    Exit codes: 0 nothing is wrong, or everything wrong was repaired; 1 something is wrong; 3 some
    data changed on every attempt to read it, run the command again.

    \b
    Examples:
      stowage verify acme
      stowage verify acme --repair
      stowage --json verify acme --rate 100
    """  # noqa: D301  click reads the backspace
    with operator.output.progress() as progress:
        found = verify_tenant(slug, repair=repair, rate=rate, report=progress)
    operator.output.many(_rows(found), _COLUMNS)
    operator.output.say(_summary(found))
    if found.left:
        message = f"{slug}: {_number(found.left, 'finding')} not repaired. {_advice(found, repair)}"
        raise CommandFailed(message, "drift_found")
    if found.unsettled:
        names = ", ".join(found.unsettled[:5])
        message = (
            f"{slug}: {_number(len(found.unsettled), 'subject')} changed on every attempt to read "
            f"it ({names}). Run the command again when there are fewer requests."
        )
        raise CommandFailed(message, "not_settled", UNREACHABLE)


def _rows(found: Findings) -> Sequence[dict[str, Any]]:
    return [{**asdict(each), "result": _result(each)} for each in found.listed]


def _result(finding: Any) -> str:
    if finding.repaired:
        return "repaired"
    return "can be repaired" if finding.repairable else "not derived"


def _advice(found: Findings, repair: bool) -> str:  # noqa: FBT001  of the option
    """Return what to do about the findings that are left."""
    not_derived = +found.not_derived
    derived = found.left - not_derived.total()
    lines = []
    if derived and repair:
        lines.append("Run the command again: requests changed the data during the repair.")
    elif derived:
        lines.append(f"--repair corrects {derived} of them." if not_derived else "Run --repair.")
    if not_derived:
        lines.append(
            "--repair cannot correct the following, because no other data says what is right:"
        )
        lines += [f"  {count} {kind}: {advice(kind)}" for kind, count in not_derived.items()]
    return "\n".join(lines)


def _summary(found: Findings) -> str:
    checked = ", ".join(f"{count} {name}" for name, count in found.checked.items())
    more = found.found - len(found.listed)
    rest = f" The first {len(found.listed)} are listed." if more else ""
    return (
        f"{found.tenant}: {_number(found.found, 'finding')}, {found.repaired} repaired. "
        f"Checked: {checked}.{rest}"
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

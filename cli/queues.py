"""`stowage queues`: what waits, what failed and why, and the redrive of what failed."""

from dataclasses import asdict
from typing import Any

import click

from cli.operator import CommandContext, CommandFailed, command
from operations.queues import (
    DEFAULT_SAMPLE,
    READ_SECONDS,
    REDRIVEN,
    CauseCount,
    list_queues,
    sample_causes,
)
from operations.queues import redrive as redrive_queue

_COLUMNS = ("queue", "waiting", "in_flight", "delayed", "oldest_seconds", "dead_letters")
_CAUSE_COLUMNS = (
    "queue", "count", "error", "message", "place", "tenants", "last_at", "request_id",
)  # fmt: skip


@click.group(invoke_without_command=True)
@click.option(
    "--sample", type=click.IntRange(min=0), default=DEFAULT_SAMPLE, show_default=True, metavar="N",
    help="Dead letters of each queue to read for the causes, at most.",
)  # fmt: skip
@click.pass_context
def queues(context: click.Context, *, sample: int) -> None:
    """Show the queues: depth, age of the oldest message, and dead letters by cause.

    Counts are approximate, as SQS reports them. The age is the latest value that
    CloudWatch has of the last 15 minutes.

    \b
    Examples:
      stowage queues
      stowage --json queues --sample 1000
      stowage queues redrive webhooks
    """  # noqa: D301  click reads the backspace
    if context.invoked_subcommand is None:
        context.invoke(_show, sample=sample)


@click.command()
@command
def _show(operator: CommandContext, *, sample: int) -> None:
    """Print the queues, and the causes of up to `sample` dead letters of each."""
    samples = {one.queue: one for one in sample_causes(sample)}
    rows = []
    for state in list_queues():
        found = samples.get(state.name)
        rows.append(
            {
                **{("queue" if name == "name" else name): v for name, v in asdict(state).items()},
                "sampled": found.read if found else None,
                "causes": [_cause_row(cause) for cause in found.causes] if found else None,
            }
        )
    operator.output.many(rows, _COLUMNS)
    for found in samples.values():
        if found.read:
            operator.output.say(
                f"\n{found.queue}: causes of {found.read} of {found.of} dead letters. Other "
                f"readers did not see these for at most {READ_SECONDS} s."
            )
            operator.output.details([_cause_row(cause) for cause in found.causes], _CAUSE_COLUMNS)


def _cause_row(counted: CauseCount) -> dict[str, Any]:
    cause = asdict(counted.cause)
    return {
        "queue": counted.queue,
        "count": counted.count,
        **{name: cause[name] or None for name in ("error", "message", "place", "function")},
        "tenants": counted.tenants,
        "first_at": counted.first_at,
        "last_at": cause["failed_at"],
        "request_id": cause["request_id"],
    }


@queues.command()
@click.argument("name", type=click.Choice(REDRIVEN))
@command
def redrive(operator: CommandContext, *, name: str) -> None:
    """Send the dead letters of the queue NAME to the queue that they came from.

    Remove the cause before. The dead letters of `webhooks` are those of both delivery queues; for
    `relay` the events of the outbox are relayed. What was done already is not done again, so the
    command can be interrupted and repeated. Messages of an interrupted run can be read again after
    a minute, those of `relay` after 15 minutes.

    \b
    Examples:
      stowage queues redrive imports
      stowage queues redrive relay
    """  # noqa: D301  click reads the backspace
    with operator.output.progress() as progress:
        result = redrive_queue(name, progress=progress)
    operator.output.one(asdict(result))
    if result.failed:
        what = "Events could not be relayed" if name == "relay" else "Messages could not be sent"
        raise CommandFailed(
            f"{what}: {result.failed}. They are kept. Fix the cause, then run the command again.",
            "redrive_failed",
        )

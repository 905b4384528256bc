"""`stowage audit …`."""

from collections.abc import Mapping
from typing import Any, get_args

import click

from cli.lookups import open_store
from cli.operator import CommandContext, command
from cli.output import as_text
from shared.identity.audit import service, views
from shared.identity.audit.models import AuditAction, AuditEntry, AuditParameters
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.json_text import dumps, loads
from shared.kernel.validation import InvalidBody, check

_COLUMNS = ("created_at", "action", "actor", "target", "what", "reason")
_ACTIONS = get_args(AuditAction.__value__)


def _row(entry: AuditEntry) -> dict[str, Any]:
    changes = [
        f"{name}: {_shown(change.before)} → {_shown(change.after)}"
        for name, change in entry.changes.items()
    ]
    details = [
        f"{name}: {_shown(value)}" for name, value in entry.details.items() if value is not None
    ]
    return {
        **loads(dumps(entry.model_dump())),
        "actor": " ".join(
            each for each in (entry.actor.type, entry.actor.id, entry.actor.name) if each
        ),
        "target": " ".join(each for each in (entry.target.type, entry.target.id) if each),
        "what": [*changes, *details],
    }


def _shown(value: Any) -> str:
    content = loads(dumps(value))
    if isinstance(content, Mapping):  # Its names are values, such as the kinds of findings.
        return ", ".join(f"{name} {as_text(each)}" for name, each in content.items())
    return as_text(content)


@click.command()
@click.argument("tenant")
@click.option(
    "--action",
    type=click.Choice(_ACTIONS),
    metavar="ACTION",
    help="Show entries of this action only, such as client.created.",
)
@click.option(
    "--since",
    metavar="DATETIME",
    help="Show entries from this date-time on, such as 2026-03-01T09:30:00Z.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100),
    default=25,
    show_default=True,
    help="Number of entries to show.",
)
@command
def audit(
    operator: CommandContext, *, tenant: str, action: str | None, since: str | None, limit: int
) -> None:
    """Show the newest entries of the audit log of TENANT.

    The log records who changed its settings, users, roles, API clients, hosts and state, and when.

    \b
    Examples:
      stowage audit acme
      stowage audit acme --action client.rotated --since 2026-03-01T00:00:00Z
    """  # noqa: D301  click reads the backspace
    asked = {"action": action, "updated_since": since}
    given = {name: value for name, value in asked.items() if value is not None}
    parameters = check(AuditParameters, {"per_page": limit, **given})
    if isinstance(parameters, InvalidBody):
        problems = parameters.problems
        raise ValidationFailed([Problem("since", problem.message) for problem in problems])
    page = service.list_entries(open_store(tenant), parameters)
    operator.output.many([_row(views.audit_entry(record)) for record in page.records], _COLUMNS)

"""The webhook subscriptions of clients and users whose access a command ends or narrows."""

from collections.abc import Callable, Sequence

import click

from cli.operator import CommandContext
from cli.output import Row
from operations.operator_identity import run_as_operator
from shared.integration.webhooks.ended_access import listed_webhooks
from shared.integration.webhooks.models import StoredWebhook
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

deactivate_option = click.option(
    "--deactivate-webhooks",
    is_flag=True,
    help="Also deactivate the webhook subscriptions that the command lists.",
)


def describe_webhooks(
    store: Store,
    find: Callable[[Transaction], Sequence[StoredWebhook] | None],
    *,
    deactivate: bool,
) -> str:
    """Return what happens to the active subscriptions that `find` returns; empty without any."""
    found = run_as_operator(store.slug, find) or ()
    active = [str(webhook.id) for webhook in found if webhook.is_active]
    if not active:
        return ""
    what = "are deactivated" if deactivate else "continue to send events"
    return f" Affected webhook subscriptions {what}: {', '.join(active)}."


def show_with_webhooks(
    operator: CommandContext, row: Row, found: Sequence[StoredWebhook] | None
) -> None:
    """Print a client, user or role with the subscriptions whose creator or setter lost access.

    They are not printed if `found` is None: nobody has lost access.
    """
    if found is None:
        operator.output.one(row)
        return
    shown = [webhook.model_dump() for webhook in listed_webhooks(found) or ()]
    operator.output.one({**row, "webhooks": shown})
    active = [str(webhook.id) for webhook in found if webhook.is_active]
    if active:
        operator.output.say(
            f"Still active subscriptions: {', '.join(active)}. They continue to send events; run"
            " the command again with --deactivate-webhooks to deactivate them."
        )

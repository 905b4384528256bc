"""The webhook subscriptions of a client or user whose access a command ends."""

from collections.abc import Sequence

import click

from cli.operator import Operator
from cli.output import Row
from operations.operator_identity import run_as_operator
from shared.identity.audit.models import ActorType
from shared.integration.webhooks.creators import created_webhooks
from shared.integration.webhooks.models import StoredWebhook
from shared.integration.webhooks.service import webhooks_of_creator
from shared.kernel.db.store import Store

deactivate_option = click.option(
    "--deactivate-webhooks",
    is_flag=True,
    help="Also deactivate the webhook subscriptions that the client or user created.",
)


def describe_webhooks(
    store: Store, creator: ActorType, creator_id: str | int, *, deactivate: bool
) -> str:
    """Return what happens to the active subscriptions of a client or user; empty without any."""
    created = run_as_operator(
        store.slug, lambda tx: webhooks_of_creator(tx, creator, creator_id, deactivate=False)
    )
    active = [str(webhook.id) for webhook in created if webhook.is_active]
    if not active:
        return ""
    what = "are deactivated" if deactivate else "continue to send events"
    return f" Webhook subscriptions created by it {what}: {', '.join(active)}."


def show_with_webhooks(operator: Operator, row: Row, created: Sequence[StoredWebhook]) -> None:
    """Print a client or user with the subscriptions that it created."""
    shown = [webhook.model_dump() for webhook in created_webhooks(created)]
    operator.output.one({**row, "webhooks": shown})
    active = [str(webhook.id) for webhook in created if webhook.is_active]
    if active:
        operator.output.say(
            f"Still active subscriptions: {', '.join(active)}. They continue to send events; run"
            " the command again with --deactivate-webhooks to deactivate them."
        )

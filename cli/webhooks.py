"""The webhook subscriptions of a client or user whose access a command ends."""

from collections.abc import Sequence

import click

from cli.operator import Operator
from cli.output import Row
from shared.integration.webhooks.creators import created_webhooks
from shared.integration.webhooks.models import StoredWebhook

deactivate_option = click.option(
    "--deactivate-webhooks",
    is_flag=True,
    help="Also deactivate the webhook subscriptions that the client or user created.",
)


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

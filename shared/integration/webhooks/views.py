"""API representations of subscriptions and deliveries."""

from shared.integration.webhooks.models import (
    EndpointHealth,
    StoredWebhook,
    Webhook,
    WebhookWithSecret,
)


def webhook(stored: StoredWebhook, health: EndpointHealth | None) -> Webhook:
    """Return a subscription without its secret."""
    current = health or EndpointHealth()
    return Webhook.from_stored(
        stored,
        failure_count=current.failure_count,
        last_triggered_at=current.last_triggered_at,
    )


def new_webhook(stored: StoredWebhook, health: EndpointHealth, secret: str) -> WebhookWithSecret:
    """Return a subscription with its new secret."""
    return WebhookWithSecret(**dict(webhook(stored, health)), secret=secret)

"""How subscriptions and deliveries are shown."""

from shared.integration.webhooks.models import (
    Delivery,
    EndpointHealth,
    NewWebhook,
    StoredDelivery,
    StoredWebhook,
    Webhook,
)


def webhook(one: StoredWebhook, pulse: EndpointHealth | None) -> Webhook:
    """Show a subscription, without its secret."""
    known = pulse or EndpointHealth()
    return Webhook(
        id=one.id,
        url=one.url,
        events=one.events,
        is_active=one.is_active,
        failure_count=known.failure_count,
        last_triggered_at=known.last_triggered_at,
        created_at=one.created_at,
        updated_at=one.updated_at,
    )


def new_webhook(one: StoredWebhook, pulse: EndpointHealth, secret: str) -> NewWebhook:
    """Show a subscription with the secret that it has just got."""
    return NewWebhook(**dict(webhook(one, pulse)), secret=secret)


def delivery(one: StoredDelivery) -> Delivery:
    """Show a delivery."""
    return Delivery(**{name: getattr(one, name) for name in Delivery.model_fields})

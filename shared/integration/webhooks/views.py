"""API representations of subscriptions and deliveries."""

from shared.integration.webhooks.models import (
    Delivery,
    EndpointHealth,
    NewWebhook,
    StoredDelivery,
    StoredWebhook,
    Webhook,
)


def webhook(stored: StoredWebhook, health: EndpointHealth | None) -> Webhook:
    """Return a subscription without its secret."""
    current = health or EndpointHealth()
    return Webhook(
        id=stored.id,
        url=stored.url,
        events=stored.events,
        is_active=stored.is_active,
        failure_count=current.failure_count,
        last_triggered_at=current.last_triggered_at,
        created_by=stored.created_by,
        url_set_by=stored.url_set_by,
        secret_set_by=stored.secret_set_by,
        activated_by=stored.activated_by,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def new_webhook(stored: StoredWebhook, health: EndpointHealth, secret: str) -> NewWebhook:
    """Return a subscription with its new secret."""
    return NewWebhook(**dict(webhook(stored, health)), secret=secret)


def delivery(stored: StoredDelivery) -> Delivery:
    """Return a delivery."""
    return Delivery(**{name: getattr(stored, name) for name in Delivery.model_fields})

"""API representations of subscriptions and deliveries."""

from collections.abc import Sequence

from shared.identity.auth import client_views
from shared.identity.auth.clients import OAuthClient
from shared.identity.users.models import User
from shared.integration.webhooks.models import (
    ChangedUser,
    CreatedWebhook,
    Delivery,
    EndpointHealth,
    NewWebhook,
    RevokedApiClient,
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
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def new_webhook(stored: StoredWebhook, health: EndpointHealth, secret: str) -> NewWebhook:
    """Return a subscription with its new secret."""
    return NewWebhook(**dict(webhook(stored, health)), secret=secret)


def created_webhooks(stored: Sequence[StoredWebhook]) -> list[CreatedWebhook]:
    """Return subscriptions for the response to the end of their creator's access."""
    names = CreatedWebhook.model_fields
    return [CreatedWebhook(**{name: getattr(one, name) for name in names}) for one in stored]


def revoked_client(client: OAuthClient, created: Sequence[StoredWebhook]) -> RevokedApiClient:
    """Return a revoked client with the subscriptions that it created."""
    return RevokedApiClient(**dict(client_views.client(client)), webhooks=created_webhooks(created))


def changed_user(user: User, created: Sequence[StoredWebhook] | None) -> ChangedUser:
    """Return a user with the subscriptions that the user created; None if they were not read."""
    webhooks = None if created is None else created_webhooks(created)
    return ChangedUser(**dict(user), webhooks=webhooks)


def delivery(stored: StoredDelivery) -> Delivery:
    """Return a delivery."""
    return Delivery(**{name: getattr(stored, name) for name in Delivery.model_fields})

"""The subscriptions of a client or user whose access ends: request body and responses."""

from collections.abc import Sequence

from pydantic import Field

from shared.identity.auth import client_views
from shared.identity.auth.client_models import ApiClient
from shared.identity.auth.clients import OAuthClient
from shared.identity.users.models import User
from shared.integration.webhooks.models import StoredWebhook
from shared.kernel.events.kinds import EventKind
from shared.kernel.fields import Input, Stored


class AccessEnd(Input):
    """What happens to the subscriptions of a client or user whose access ends."""

    deactivate_webhooks: bool = Field(
        default=False,
        description="Also deactivate the subscriptions that the client or user created.",
    )


class CreatedWebhook(Stored):
    """A subscription in the response to the end of its creator's access."""

    id: int
    url: str = Field(json_schema_extra={"format": "uri"})
    events: list[EventKind]
    is_active: bool


class RevokedApiClient(ApiClient):
    """A revoked client as it was before, and the subscriptions that it created."""

    webhooks: list[CreatedWebhook] = Field(
        description="The subscriptions that the client created, as they are now."
    )


class ChangedUser(User):
    """A changed or deleted user, and the subscriptions that the user created."""

    webhooks: list[CreatedWebhook] | None = Field(
        description="The subscriptions that the user created, as they are now. Null unless the"
        " request disables or deletes the user."
    )


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

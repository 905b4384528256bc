"""Models of webhooks: request bodies, stored items and responses."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.identity.audit.models import Actor
from shared.integration.webhooks.target_urls import MAX_URL_LENGTH, InvalidTarget, parse_target
from shared.kernel.config import config
from shared.kernel.events.kinds import EVENT_KINDS, AnyEventKind, EventKind
from shared.kernel.fields import WHOLE_NUMBER, Input, Moment, Stored, Timestamp, distinct
from shared.kernel.list_parameters import KeyedParameters, ListParameters, OneOf

DEFAULT_OVERLAP_HOURS = 24
"""Hours for which the previous secret still signs after a rotation, by default."""


def _valid_url(url: str) -> str:
    try:
        parse_target(url, localhost=config().webhook_localhost)
    except InvalidTarget as reason:
        raise PydanticCustomError("target", "{reason}", {"reason": str(reason)}) from None
    return url


type _Url = Annotated[
    str,
    AfterValidator(_valid_url),
    WithJsonSchema(
        {"type": "string", "format": "uri", "pattern": "^https://", "maxLength": MAX_URL_LENGTH}
    ),
]
"""URL of an endpoint: https, a public host name, port 443 or 8443."""


type _EventKinds = Annotated[
    list[EventKind],
    Field(min_length=1, max_length=len(EVENT_KINDS), json_schema_extra={"uniqueItems": True}),
    distinct(len(EVENT_KINDS)),
]


def _valid_secret(secret: str) -> str:
    if not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise PydanticCustomError("secret", "must be printable ASCII characters without spaces")
    if not 16 <= len(secret) <= 128:  # noqa: PLR2004 - the message has the limits
        raise PydanticCustomError(
            "secret", "must have 16 to 128 characters, has {length}", {"length": len(secret)}
        )
    return secret


type _ChosenSecret = Annotated[
    str,
    StringConstraints(max_length=1_000),
    AfterValidator(_valid_secret),
    WithJsonSchema(
        {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[\\x21-\\x7e]+$"}
    ),
]
"""A secret chosen by the client: 16 to 128 printable ASCII characters without spaces."""


class WebhookCreate(Input):
    """A new subscription. The service generates a secret unless the client sends one."""

    url: _Url
    events: _EventKinds
    secret: _ChosenSecret | None = None


class WebhookChange(Input):
    """Changes of a subscription; fields that are not sent keep their values."""

    url: _Url = ""
    events: _EventKinds = Field(default_factory=list)
    is_active: bool = Field(default=True, description="true also resets failure_count to 0.")


class SecretRotation(Input):
    """A new secret, and the hours for which the previous one still signs."""

    secret: _ChosenSecret | None = None
    overlap_hours: Annotated[int, Field(ge=0, le=168), WHOLE_NUMBER] = DEFAULT_OVERLAP_HOURS


class StoredSecret(Stored):
    """An encrypted signing secret (base64); `until` (milliseconds) if it was replaced."""

    sealed: str
    until: int | None = None


class StoredWebhook(Stored):
    """A subscription as stored; `secrets` has the newest first.

    The values that change with every delivery are in a separate item, EndpointHealth.
    Each actor has the name of that time. `url_set_by`, `secret_set_by` and `activated_by` are who
    did it last; subscriptions of earlier versions lack them until then.
    """

    id: int
    created_by: Actor | None = None
    url_set_by: Actor | None = None
    secret_set_by: Actor | None = None
    activated_by: Actor | None = None
    url: str
    events: list[EventKind]
    is_active: bool = True
    secrets: list[StoredSecret]
    created_at: Timestamp
    updated_at: Timestamp


class EndpointHealth(Stored):
    """The results of the latest deliveries to a subscription.

    `quick`: whether the last response was fast, so that the fast queue serves the endpoint.
    """

    failure_count: int = 0
    last_triggered_at: Timestamp | None = None
    quick: bool = False


class Webhook(Stored):
    """A subscription in a response."""

    id: int
    url: str = Field(json_schema_extra={"format": "uri"})
    events: list[EventKind]
    is_active: bool
    failure_count: int = Field(
        description="Consecutive failed deliveries; at 10 the subscription is deactivated."
    )
    last_triggered_at: Timestamp | None
    created_by: Actor | None = Field(
        description="Who created the subscription, with the name at that time. Null if unknown."
    )
    url_set_by: Actor | None = Field(
        description="Who set `url` last, with the name at that time. Null if unknown."
    )
    secret_set_by: Actor | None = Field(
        description="Who set the secret last, with the name at that time. Null if unknown."
    )
    activated_by: Actor | None = Field(
        description="Who created the subscription or activated it last, with the name at that time."
        " Null if unknown."
    )
    created_at: Timestamp
    updated_at: Timestamp


class WebhookWithSecret(Webhook):
    """A subscription with its secret, which only this response contains."""

    secret: str


class WebhookParameters(KeyedParameters):
    """Parameters of the list of subscriptions."""

    sort: Literal["id", "-id"] = "id"
    is_active: bool | None = None
    event: EventKind | None = Field(default=None, description="Only subscriptions to this event.")


type DeliveryStatus = Literal["pending", "retrying", "succeeded", "failed", "cancelled"]


class Attempt(Stored):
    """One delivery attempt: the HTTP status of the response, or why there was none."""

    at: Timestamp
    status: int | None = Field(description="HTTP status of the response; null if there was none.")
    duration_ms: int
    error: str | None = Field(description="Why the attempt failed; null if it succeeded.")
    response: str = Field(description="The first kB of the response body.")


class Delivery(Stored):
    """The delivery of one event to one subscription, in a response."""

    id: str = Field(description="Id of the event.")
    webhook_id: int
    event: AnyEventKind
    status: DeliveryStatus
    reason: str | None = Field(default=None, description="Why the delivery was cancelled.")
    attempts: list[Attempt] = Field(
        default_factory=list, description="The last 20 attempts, oldest first."
    )
    next_attempt_at: Timestamp | None = None
    created_at: Timestamp = Field(description="Time of the event.")
    updated_at: Timestamp


class StoredDelivery(Delivery):
    """A delivery as stored.

    `round` is the number of the delivery request, from 1; each redelivery starts a new round.
    `tries` counts the attempts of the current round.
    """

    round: int = 1
    tries: int = 0


class RecoveryDraft(Input):
    """From when on a subscription gets what it has not received."""

    since: Moment = Field(
        description="Events from this instant on, up to the request; at most 31 days ago."
    )


class WebhookRecovery(Stored):
    """A requested recovery."""

    webhook_id: int
    since: Timestamp
    until: Timestamp = Field(description="The time of the request; later events are sent anyway.")


class DeliveryParameters(ListParameters):
    """Parameters of the list of deliveries."""

    sort: Literal["created_at", "-created_at"] = "-created_at"
    status: OneOf[DeliveryStatus] | None = None
    event: AnyEventKind | None = None

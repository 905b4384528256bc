"""What webhooks are: bodies, what is stored, what is answered."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.integration.webhooks.target_urls import MAX_URL_LENGTH, InvalidTarget, parse_target
from shared.kernel.config import config
from shared.kernel.events.kinds import EVENT_KINDS, AnyEventKind, EventKind
from shared.kernel.fields import Input, Stored, Timestamp, distinct
from shared.kernel.list_parameters import ListParameters

DEFAULT_OVERLAP_HOURS = 24
"""How long the secret before signs, too, unless a rotation says otherwise."""


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
"""Where events go: https, a public name, port 443 or 8443."""


type _EventKinds = Annotated[
    list[EventKind],
    Field(min_length=1, max_length=len(EVENT_KINDS), json_schema_extra={"uniqueItems": True}),
    distinct(len(EVENT_KINDS)),
]


def _valid_secret(secret: str) -> str:
    if not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise PydanticCustomError("secret", "must be printable ASCII characters without spaces")
    if not 16 <= len(secret) <= 128:  # noqa: PLR2004 - as the message says
        raise PydanticCustomError("secret", "must have 16 to 128 characters")
    return secret


type _ChosenSecret = Annotated[
    str,
    StringConstraints(max_length=1_000),
    AfterValidator(_valid_secret),
    WithJsonSchema(
        {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[\\x21-\\x7e]+$"}
    ),
]
"""A secret of the receiver's choice: 16 to 128 printable ASCII characters without spaces."""


class WebhookCreate(Input):
    """A new subscription. Without a secret, the service makes one."""

    url: _Url
    events: _EventKinds
    secret: _ChosenSecret | None = None


class WebhookChange(Input):
    """What may change of a subscription; only the fields sent do."""

    url: _Url = ""
    events: _EventKinds = Field(default_factory=list)
    is_active: bool = Field(
        default=True, description="true also sets failure_count to 0: a fresh start."
    )


class SecretRotation(Input):
    """A new secret, and for how long the one before signs, too."""

    secret: _ChosenSecret | None = None
    overlap_hours: Annotated[int, Field(ge=0, le=168)] = DEFAULT_OVERLAP_HOURS


class StoredSecret(Stored):
    """A signing secret: sealed, base64; `until` (milliseconds) for one that was replaced."""

    sealed: str
    until: int | None = None


class StoredWebhook(Stored):
    """A subscription as stored; its secrets, the newest first.

    What deliveries change all the time is kept beside it, in its pulse.
    """

    id: int
    url: str
    events: list[EventKind]
    is_active: bool = True
    secrets: list[StoredSecret]
    created_at: Timestamp
    updated_at: Timestamp


class EndpointHealth(Stored):
    """What deliveries have told of a subscription.

    `quick`: its endpoint answered quickly the last time, so that others may wait behind it.
    """

    failure_count: int = 0
    last_triggered_at: Timestamp | None = None
    quick: bool = False


class Webhook(Stored):
    """A subscription, as answered."""

    id: int
    url: str = Field(json_schema_extra={"format": "uri"})
    events: list[EventKind]
    is_active: bool
    failure_count: int = Field(
        description="Failed deliveries in a row; at 10 the subscription deactivates itself."
    )
    last_triggered_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class NewWebhook(Webhook):
    """A subscription with its secret, which is shown this once."""

    secret: str


class WebhookParameters(ListParameters):
    """Parameters of the list of subscriptions."""

    sort: Literal["id", "-id"] = "id"
    is_active: bool | None = None
    event: EventKind | None = Field(default=None, description="Only those that ask for this event.")


type DeliveryStatus = Literal["pending", "retrying", "succeeded", "failed", "cancelled"]


class Attempt(Stored):
    """One try to deliver: the status that was answered, or why there was no good answer."""

    at: Timestamp
    status: int | None = Field(description="HTTP status of the answer; null when there was none.")
    duration_ms: int
    error: str | None = Field(description="Why it failed; null when it succeeded.")
    response: str = Field(description="The first kB of the answer's body.")


class Delivery(Stored):
    """The delivery of one event to one subscription, as answered."""

    id: str = Field(description="Id of the event.")
    webhook_id: int
    event: AnyEventKind
    status: DeliveryStatus
    reason: str | None = Field(default=None, description="Why it was cancelled.")
    attempts: list[Attempt] = Field(
        default_factory=list, description="The last 20, the oldest first."
    )
    next_attempt_at: Timestamp | None = None
    created_at: Timestamp = Field(description="When the event happened.")
    updated_at: Timestamp


class StoredDelivery(Delivery):
    """A delivery as stored.

    `round` counts how often it was asked for, from 1; `tries` the attempts of this round.
    """

    round: int = 1
    tries: int = 0


class DeliveryParameters(ListParameters):
    """Parameters of the log of deliveries."""

    sort: Literal["created_at", "-created_at"] = "-created_at"
    status: DeliveryStatus | None = None
    event: AnyEventKind | None = None

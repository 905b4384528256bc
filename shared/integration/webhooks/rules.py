"""Decisions about deliveries, as pure functions."""

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shared.identity.audit.models import Actor, ActorType, changed_values
from shared.integration.webhooks.models import (
    Attempt,
    DeliveryStatus,
    EndpointHealth,
    StoredDelivery,
    StoredSecret,
    StoredWebhook,
)
from shared.kernel.clock import Instant, instant, milliseconds_of
from shared.kernel.events.kinds import TEST_EVENT
from shared.kernel.events.outbox import StoredEvent

if TYPE_CHECKING:
    from shared.integration.webhooks.http_client import AttemptResult

SLOW_AFTER_SECONDS = 2
"""Response time above which an endpoint is slow and belongs to the slow queue."""

MAX_FAILURES = 10
"""Consecutive failed deliveries after which a subscription is deactivated."""

_RECORDED_SECONDS = 10
"""How long the time of an attempt stands for those after it: each delivery would write the same
item otherwise, the health of the endpoint."""
_GONE = 410
_OVERDUE_SECONDS = 900
_OWN_DELIVERY_MS = 60_000
"""How long an event without an attempt is left to its own delivery, which may be under way."""
LOOK_AGAIN_MS = 30_000
"""When a recovery looks again at a delivery that is under way, after its next attempt is due."""
_MAX_LOGGED_ATTEMPTS = 20
"""Attempts that the log keeps per delivery; only repeated redeliveries exceed it."""
_JITTER = 0.1
_MAX_OLD_SECRETS = 3
_AUDITED = {"url", "events", "is_active"}
_FINAL: frozenset[DeliveryStatus] = frozenset({"succeeded", "failed", "cancelled"})


def retained_secrets(
    secrets: Sequence[StoredSecret], now: int, overlap_hours: int
) -> list[StoredSecret]:
    """Return the previous secrets that remain valid after a rotation, newest first.

    Secrets retained by an earlier rotation keep their expiry, so a repeated rotation does not
    invalidate the secret that the receiver still uses.

    `secrets` are those before the rotation, newest first. The newest of them remains valid for
    `overlap_hours`; 0 ends all at once. `now` is in milliseconds since the epoch.
    """
    if not overlap_hours:
        return []
    newest, *others = secrets
    expiring = newest.model_copy(update={"until": now + overlap_hours * 3_600_000})
    valid = [secret for secret in others if secret.until and secret.until > now]
    return [expiring, *valid][:_MAX_OLD_SECRETS]


def audited_changes(before: StoredWebhook, after: StoredWebhook) -> dict[str, tuple[Any, Any]]:
    """Return field → (before, after) of the changed fields, for the audit log."""
    return changed_values(*(one.model_dump(include=_AUDITED) for one in (before, after)))


def new_setters(before: StoredWebhook, after: StoredWebhook, actor: Actor) -> Mapping[str, Actor]:
    """Return who set address and activation: the attributes that a change by `actor` changes."""
    setters: dict[str, Actor] = {}
    if after.url != before.url:
        setters["url_set_by"] = actor
    if after.is_active and not before.is_active:
        setters["activated_by"] = actor
    return setters


type Responsible = tuple[ActorType, str]
"""A client or user by its id."""


def responsible_for(webhook: StoredWebhook) -> set[Responsible]:
    """Return who created a subscription, or set its address, secret or activation last."""
    setters = (webhook.url_set_by, webhook.secret_set_by, webhook.activated_by)
    return {(one.type, one.id) for one in (webhook.created_by, *setters) if one and one.id}


def has_ended(delivery: StoredDelivery) -> bool:
    """Return whether no attempt follows, unless a redelivery is requested."""
    return delivery.status in _FINAL


def is_overdue(delivery: StoredDelivery, now: int) -> bool:
    """Return whether the next attempt is so late that its message may be lost."""
    due = delivery.next_attempt_at
    return due is not None and milliseconds_of(due) + _OVERDUE_SECONDS * 1000 < now


def recovery_of(
    delivery: StoredDelivery | None, event: StoredEvent, webhook: int, *, until: int, now: int
) -> StoredDelivery | int | None:
    """Return what a recovery that was requested at `until` does about an event.

    Times are in milliseconds since the epoch. Events that the subscription has received, and
    deliveries that have ended since, need nothing.

    Returns:
        The delivery with a new round, or as it is if its message may be lost; the time to look
        again, because the delivery is under way; or None for nothing.
    """
    if delivery is None:
        begins = milliseconds_of(event.created_at) + _OWN_DELIVERY_MS
        if begins > now:
            return begins
    else:
        begun = milliseconds_of(delivery.updated_at) > until
        if delivery.status == "succeeded" or (begun and has_ended(delivery)):
            return None
        due = milliseconds_of(delivery.next_attempt_at) if delivery.next_attempt_at else 0
        if is_overdue(delivery, now):
            if begun:
                return delivery
        elif begun or 0 < due <= now:  # an attempt that is due may be under way
            return max(now, due) + LOOK_AGAIN_MS
    first = delivery or StoredDelivery(
        id=event.id,
        webhook_id=webhook,
        event=event.type,
        status="pending",
        created_at=event.created_at,
        updated_at=event.created_at,
    )
    return new_round(first, instant(now))


def new_round(delivery: StoredDelivery, now: Instant) -> StoredDelivery:
    """Return a delivery with a new round of attempts, of which the first one is due."""
    return delivery.model_copy(
        update={
            "status": "pending",
            "reason": None,
            "round": delivery.round + 1,
            "tries": 0,
            "next_attempt_at": now,
            "updated_at": now,
        }
    )


def is_fast(result: "AttemptResult") -> bool:
    """Return whether the response was fast enough for the fast queue."""
    return result.milliseconds <= SLOW_AFTER_SECONDS * 1000


def after_attempt(
    delivery: StoredDelivery,
    result: "AttemptResult",
    *,
    began: int,
    ended: int,
    delays: Sequence[int],
) -> StoredDelivery:
    """Return a delivery with one more attempt.

    The attempt `began` and `ended` at times in milliseconds since the epoch; `delays` are the
    seconds before each attempt of a round.
    """
    attempt = Attempt(
        at=instant(began),
        status=result.status,
        duration_ms=result.milliseconds,
        error=result.error,
        response=result.response,
    )
    tries = delivery.tries + 1
    status: DeliveryStatus
    next_attempt_at = None
    if result.error is None:
        status = "succeeded"
    elif result.status == _GONE or tries >= len(delays):
        status = "failed"
    else:
        status = "retrying"
        # Jitter: deliveries that failed together are not retried together.
        wait = delays[tries] * random.uniform(1, 1 + _JITTER)  # noqa: S311 - not a secret
        wait = max(wait, result.retry_after or 0)
        next_attempt_at = instant(ended + int(wait * 1000))
    return delivery.model_copy(
        update={
            "status": status,
            "tries": tries,
            "attempts": [*delivery.attempts, attempt][-_MAX_LOGGED_ATTEMPTS:],
            "next_attempt_at": next_attempt_at,
            "updated_at": instant(ended),
        }
    )


def must_record(health: EndpointHealth, began: int, *, fast: bool, succeeded: bool) -> bool:
    """Return whether an attempt that began at a time in milliseconds is written to the health.

    It is if it changes what else is known of the endpoint, or if the last time written is old.
    """
    last = health.last_triggered_at
    is_recent = last is not None and began - milliseconds_of(last) < _RECORDED_SECONDS * 1000
    return not is_recent or health.quick != fast or (succeeded and health.failure_count > 0)


def must_deactivate(health: EndpointHealth, result: "AttemptResult") -> bool:
    """Return whether a failed delivery deactivates its subscription; `health` is from before."""
    return result.status == _GONE or health.failure_count + 1 >= MAX_FAILURES


def cancellation_reason(webhook: StoredWebhook, delivery: StoredDelivery) -> str | None:
    """Return why a delivery must be cancelled; None if it may be attempted."""
    if not webhook.is_active:
        return "the subscription is not active"
    requested = delivery.round > 1 or delivery.event == TEST_EVENT
    if not requested and delivery.event not in webhook.events:
        return "the subscription no longer includes this event"
    return None

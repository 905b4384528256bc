"""Decisions about deliveries, on plain data."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.integration.webhooks.models import (
    Attempt,
    DeliveryStatus,
    EndpointHealth,
    StoredDelivery,
    StoredSecret,
    StoredWebhook,
)
from shared.kernel.clock import instant, milliseconds_of
from shared.kernel.events.kinds import TEST_EVENT

if TYPE_CHECKING:
    from shared.integration.webhooks.http_client import AttemptResult

SLOW_AFTER_SECONDS = 2
"""An endpoint that takes longer is kept from holding up others."""

MAX_FAILURES = 10
"""Failed deliveries in a row after which a subscription deactivates itself."""

_GONE = 410
_OVERDUE_SECONDS = 900
_MAX_LOGGED_ATTEMPTS = 20
"""That the log keeps of a delivery; only one that is asked for again and again has more."""
_JITTER = 0.1
_MAX_OLD_SECRETS = 3
_FINAL: frozenset[DeliveryStatus] = frozenset({"succeeded", "failed", "cancelled"})


def retained_secrets(
    secrets: Sequence[StoredSecret], now: int, overlap_hours: int
) -> list[StoredSecret]:
    """Return which secrets go on signing beside a new one, the newest first.

    Those that an earlier rotation left keep their time, so that a rotation that is repeated
    takes nothing from a receiver. No overlap ends all of them, as after a leak.

    Args:
        secrets: As they are, the newest first.
        now: Milliseconds since the epoch.
        overlap_hours: For how long the newest goes on.
    """
    if not overlap_hours:
        return []
    newest, *others = secrets
    going = newest.model_copy(update={"until": now + overlap_hours * 3_600_000})
    return [going, *(one for one in others if one.until and one.until > now)][:_MAX_OLD_SECRETS]


def has_ended(delivery: StoredDelivery) -> bool:
    """Tell whether there is nothing left to try, unless it is asked for again."""
    return delivery.status in _FINAL


def is_overdue(delivery: StoredDelivery, now: int) -> bool:
    """Tell whether the next attempt should have been made long ago: nobody may be going to."""
    due = delivery.next_attempt_at
    return due is not None and milliseconds_of(due) + _OVERDUE_SECONDS * 1000 < now


def is_fast(outcome: "AttemptResult") -> bool:
    """Tell whether an endpoint took so little time that others may wait behind it."""
    return outcome.milliseconds <= SLOW_AFTER_SECONDS * 1000


def after_attempt(
    delivery: StoredDelivery,
    outcome: "AttemptResult",
    *,
    began: int,
    ended: int,
    delays: Sequence[int],
) -> StoredDelivery:
    """Return a delivery after one more attempt.

    Args:
        delivery: As it was.
        outcome: Of the attempt.
        began: When it began, in milliseconds since the epoch.
        ended: When it ended.
        delays: Seconds before each attempt of a round.
    """
    attempt = Attempt(
        at=instant(began),
        status=outcome.status,
        duration_ms=outcome.milliseconds,
        error=outcome.error,
        response=outcome.response,
    )
    tries = delivery.tries + 1
    status: DeliveryStatus
    next_attempt_at = None
    if outcome.error is None:
        status = "succeeded"
    elif outcome.status == _GONE or tries >= len(delays):
        status = "failed"
    else:
        status = "retrying"
        # Whatever failed together must not come back together.
        wait = delays[tries] * random.uniform(1, 1 + _JITTER)  # noqa: S311 - jitter, no secret
        wait = max(wait, outcome.retry_after or 0)
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


def must_deactivate(pulse: EndpointHealth, outcome: "AttemptResult") -> bool:
    """Tell whether one more failed delivery ends a subscription; `pulse` as it was before."""
    return outcome.status == _GONE or pulse.failure_count + 1 >= MAX_FAILURES


def cancellation_reason(webhook: StoredWebhook, delivery: StoredDelivery) -> str | None:
    """Return why a delivery must not be tried; None when nothing stands against it."""
    if not webhook.is_active:
        return "the subscription is not active"
    asked_for = delivery.round > 1 or delivery.event == TEST_EVENT
    if not asked_for and delivery.event not in webhook.events:
        return "the subscription does not ask for this event any more"
    return None

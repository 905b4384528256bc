"""Recovery: what a subscription has not received of a time is delivered in order.

A task goes through the events one after the other: the next one is attempted when the one before
has ended. Each gets a new round of attempts, which is logged before its first attempt, so a task of
the round before is obsolete from then on. What was logged since the recovery was requested is not
begun again: a task that is processed again, or twice at once, finds in the log what was done.
"""

from dataclasses import replace
from typing import Literal

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import receives_webhooks
from shared.integration.webhooks import repository, rules
from shared.integration.webhooks.delivery import deliver
from shared.integration.webhooks.models import StoredDelivery
from shared.integration.webhooks.repository import RETENTION_DAYS, WEBHOOKS, DeliveryConflict
from shared.integration.webhooks.tasks import DeliveryTask, RecoveryTask
from shared.kernel.clock import Deadline, milliseconds_of, now_ms
from shared.kernel.db.store import Store
from shared.kernel.events.outbox import StoredEvent, next_events

type RecoveryOutcome = Literal["not_due", "moved", "recovering", "recovered", "dropped"]
"""Result of a task.

- `not_due`, `moved`: the task was sent again, to be processed later or in the slow queue.
- `recovering`: a task that goes on was sent.
- `recovered`: nothing is left.
- `dropped`: the subscription is inactive or deleted, or the company has no webhooks any more.
"""

_STEP_MS = 10_000
"""How long a task goes on; its other messages of the queue wait so long for the next ones."""
_RESERVE_SECONDS = 15
"""Time that an attempt and its log may take."""
_LOGGED_MS = RETENTION_DAYS * 86_400_000 - 1_000
"""Age up to which an event that is not in the log was not delivered: an older log has expired."""
_TRIES = 3


class _Ended(Exception):
    """The subscription gets nothing any more."""


def recover(task: RecoveryTask, deadline: Deadline) -> RecoveryOutcome:
    """Process a recovery task.

    Deliveries that wait for a retry hold up the others: then, and after some seconds, a task is
    sent that goes on.
    """
    if task.seconds_left:
        task.send()
        return "not_due"
    if not task.slow:
        replace(task, slow=True).send()
        return "moved"
    tenant = directory.tenant_matching(task.tenant, receives_webhooks)
    if tenant is None:
        return "dropped"
    store = store_for(tenant, deadline)
    try:
        left = _recover(store, task, deadline)
    except _Ended:
        return "dropped"
    if left is None:
        return "recovered"
    left.send()
    return "recovering"


def _recover(store: Store, task: RecoveryTask, deadline: Deadline) -> RecoveryTask | None:
    """Deliver events one after the other; return the task that goes on, None at the end."""
    began, after = now_ms(), task.after
    while True:
        entries, behind = next_events(store, after, task.until)
        received = _received(store, task.webhook, [event for _, event in entries])
        for place, event in entries:
            if event.id in received or event.only_subscription is not None:
                continue
            if now_ms() - began > _STEP_MS or deadline.remaining < _RESERVE_SECONDS:
                return replace(task, after=place, due=now_ms())
            due = _deliver(store, task, event, deadline)
            if due is not None:
                return replace(task, after=place, due=due)
        if behind is None:
            return None
        after = behind
        if now_ms() - began > _STEP_MS or deadline.remaining < _RESERVE_SECONDS:
            return replace(task, after=after, due=now_ms())


def _received(store: Store, webhook: int, events: list[StoredEvent]) -> set[str]:
    """Return the ids of the events that a subscription has received."""
    keys = {event.id: repository.delivery_key(webhook, event.id) for event in events}
    items = store.get_many(keys.values())
    logged = {event: repository.parse_delivery(items.get(key)) for event, key in keys.items()}
    return {
        event for event, found in logged.items() if found and found.delivery.status == "succeeded"
    }


def _deliver(
    store: Store, task: RecoveryTask, event: StoredEvent, deadline: Deadline
) -> int | None:
    """Deliver an event unless that was done; return when to look again at one that has not ended.

    Raises:
        _Ended: The subscription is inactive or deleted.
    """
    key, head = repository.delivery_key(task.webhook, event.id), WEBHOOKS.key(task.webhook)
    for _ in range(_TRIES):
        items = store.get_many([head, key])
        record = WEBHOOKS.from_items(items, task.webhook)
        if record is None or not record.entity.is_active:
            raise _Ended
        if event.type not in record.entity.events:
            return None
        logged, now = repository.parse_delivery(items.get(key)), now_ms()
        known = logged.delivery if logged else None
        if known is None and milliseconds_of(event.created_at) < now - _LOGGED_MS:
            return None
        found = rules.recovery_of(known, event, task.webhook, until=task.until, now=now)
        if not isinstance(found, StoredDelivery):
            return found
        if found is not known:
            try:
                repository.log_delivery(store, logged, found, now)
            except DeliveryConflict:
                continue
        attempt = DeliveryTask(
            task.tenant, task.webhook, event.id, found.round, found.tries + 1, due=now, slow=True
        )
        if deliver(attempt, deadline, received_before=False) in {"succeeded", "failed"}:
            return None
    return now_ms() + rules.LOOK_AGAIN_MS

"""The delivery of one event to one subscription: attempt, log, and next task.

A task may be processed again after a crash. An attempt that is in the log is not repeated. An
attempt that was made but not logged is repeated; receivers discard it by the id of the event.

An attempt is decided on eventually consistent reads, which cost half (D-376): it is as if it had
begun a moment earlier. Everything else, and every message that was received before, is decided on
the present state. So only a duplicate of a message can repeat an attempt of a moment ago.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Timer
from typing import Literal

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant, receives_webhooks
from shared.integration.webhooks import repository, rules
from shared.integration.webhooks.http_client import AttemptResult, post_event
from shared.integration.webhooks.models import EndpointHealth, StoredDelivery, StoredWebhook
from shared.integration.webhooks.repository import WEBHOOKS, DeliveryConflict, LoggedDelivery
from shared.integration.webhooks.signatures import signature_headers, unseal_secret
from shared.integration.webhooks.tasks import DeliveryTask
from shared.kernel.clock import Deadline, instant, milliseconds_of, now_ms
from shared.kernel.config import config
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Gone
from shared.kernel.events.kinds import TEST_EVENT
from shared.kernel.events.outbox import StoredEvent, find_event

type TaskOutcome = Literal[
    "succeeded", "retrying", "failed", "cancelled", "dropped", "conflict", "not_due", "moved"
]
"""Result of a task.

The first four are the new status of the delivery.

- `dropped`: no attempt is left to make.
- `conflict`: another worker received the same message and logged the delivery first, or the URL
  changed during the last attempt. The message must be received again, because the other worker may
  crash before it sends the next task, and because the attempt is due at the new URL.
- `not_due`: the task was received too early and was sent again.
- `moved`: the task went to the slow queue.
"""

_SECRET_CACHE_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class _State:
    """The stored data that an attempt depends on."""

    record: Record[StoredWebhook]
    health: EndpointHealth
    logged: LoggedDelivery | None
    event: StoredEvent | None


def deliver(task: DeliveryTask, deadline: Deadline, *, received_before: bool) -> TaskOutcome:
    """Process a delivery task.

    Args:
        task: The attempt to make.
        deadline: Time limit for retries of database calls.
        received_before: Whether the message was received before, so that the next task may not
            have been sent. False for a message from the dead-letter queue.
    """
    if task.seconds_left:
        task.send()
        return "not_due"
    tenant = directory.tenant_matching(task.tenant, receives_webhooks) or directory.tenant(
        task.tenant
    )
    if tenant is None:
        return "dropped"
    store = store_for(tenant, deadline)
    state = None if received_before else _read_state(store, task, consistent=False)
    if state is None or not _allows_attempt(task, tenant, state):
        state = _read_state(store, task, consistent=True)
    delivery = _open_delivery(task, state) if state else None
    if state is None or delivery is None:
        return "dropped"
    if delivery.tries >= task.attempt:
        if received_before or rules.is_overdue(delivery, now_ms()):
            _next_task(task, delivery, slow=not state.health.quick).send()
        return "dropped"
    return _process(store, task, tenant, state, delivery)


def _process(
    store: Store, task: DeliveryTask, tenant: Tenant, state: _State, delivery: StoredDelivery
) -> TaskOutcome:
    """Make the attempt, or cancel the delivery, or move the task to the slow queue."""
    reason = _cancellation_reason(tenant, state, delivery)
    if state.event is None or reason:
        reason = reason or "the event is no longer stored"
        return _record_cancellation(store, state.logged, delivery, reason)
    if not (state.health.quick or task.slow):
        replace(task, slow=True).send()
        return "moved"
    return _attempt(store, task, state, delivery, state.event.body(tenant.base_url))


def _read_state(store: Store, task: DeliveryTask, *, consistent: bool) -> _State | None:
    """Read the state of a task; None if the subscription was deleted, or does not show yet."""
    read = store.get_many if consistent else store.get_eventually
    delivery = repository.delivery_key(task.webhook, task.event)
    health_key = repository.health_key(task.webhook)
    keys = [WEBHOOKS.key(task.webhook), delivery, health_key]
    items, event = run_all(
        lambda: read(keys), lambda: find_event(store, task.event, consistent=consistent)
    )
    record = WEBHOOKS.from_items(items, task.webhook)
    health = items.get(health_key)
    if record is None or health is None:
        return None
    logged = repository.parse_delivery(items.get(delivery))
    return _State(record, EndpointHealth.model_validate(health), logged, event)


def _allows_attempt(task: DeliveryTask, tenant: Tenant, state: _State) -> bool:
    """Return whether the attempt of a task follows the logged ones, and nothing forbids it.

    The log of a test event begins with the event, so a state without it is too old.
    """
    delivery = _open_delivery(task, state)
    if delivery is None or state.event is None or delivery.tries != task.attempt - 1:
        return False
    is_too_old = state.logged is None and delivery.event == TEST_EVENT
    return not is_too_old and _cancellation_reason(tenant, state, delivery) is None


def _open_delivery(task: DeliveryTask, state: _State) -> StoredDelivery | None:
    """Return the delivery from the log, or a new one; None if the task is obsolete."""
    if state.logged:
        delivery = state.logged.delivery
        obsolete = rules.has_ended(delivery) or delivery.round != task.round
        return None if obsolete else delivery
    if state.event is None or task.round > 1:
        return None
    return StoredDelivery(
        id=task.event,
        webhook_id=task.webhook,
        event=state.event.type,
        status="pending",
        created_at=state.event.created_at,
        updated_at=instant(now_ms()),
    )


def _cancellation_reason(tenant: Tenant, state: _State, delivery: StoredDelivery) -> str | None:
    if not receives_webhooks(tenant):
        return "the account or its plan does not allow webhooks"
    return rules.cancellation_reason(state.record.entity, delivery)


def _record_cancellation(
    store: Store, logged: LoggedDelivery | None, delivery: StoredDelivery, reason: str
) -> TaskOutcome:
    now = now_ms()
    update = {
        "status": "cancelled",
        "reason": reason,
        "next_attempt_at": None,
        "updated_at": instant(now),
    }
    try:
        repository.log_delivery(store, logged, delivery.model_copy(update=update), now)
    except DeliveryConflict:
        return "conflict"
    return "cancelled"


def _attempt(
    store: Store, task: DeliveryTask, state: _State, delivery: StoredDelivery, body: bytes
) -> TaskOutcome:
    webhook = state.record.entity
    began = now_ms()
    headers = {
        "Content-Type": "application/json",
        **signature_headers(task.event, body, _active_secrets(task.tenant, webhook), began // 1000),
    }
    if state.event and state.event.traceparent:
        headers["traceparent"] = state.event.traceparent
    with _slow_endpoint_timer(store, webhook.id) if state.health.quick else nullcontext():
        result = post_event(webhook.url, body, headers, localhost=config().webhook_localhost)
    ended = now_ms()
    delays = config().webhook_delays
    after = rules.after_attempt(delivery, result, began=began, ended=ended, delays=delays)
    fast = rules.is_fast(result)
    try:
        if after.status == "failed":
            return _record_final_failure(store, state, after, result)
        succeeded = after.status == "succeeded"
        if rules.must_record(state.health, began, fast=fast, succeeded=succeeded):
            at = instant(began)
            repository.record_attempt(store, webhook.id, at, fast=fast, succeeded=succeeded)
        repository.log_delivery(store, state.logged, after, ended)
    except DeliveryConflict:
        return "conflict"
    if succeeded:
        return "succeeded"
    _next_task(task, after, slow=not fast).send()
    return "retrying"


@contextmanager
def _slow_endpoint_timer(store: Store, number: int) -> Iterator[None]:
    """Record the endpoint as slow as soon as the block takes longer than the limit.

    Other tasks of the endpoint then move to the slow queue while this attempt is still running.
    """
    timer = Timer(rules.SLOW_AFTER_SECONDS, repository.record_slow_endpoint, (store, number))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _next_task(task: DeliveryTask, delivery: StoredDelivery, *, slow: bool) -> DeliveryTask:
    """Return the task of the attempt that follows the logged ones."""
    due = milliseconds_of(delivery.next_attempt_at) if delivery.next_attempt_at else 0
    return replace(task, attempt=delivery.tries + 1, due=due, slow=slow)


def _record_final_failure(
    store: Store, state: _State, after: StoredDelivery, result: AttemptResult
) -> TaskOutcome:
    """Log a failed delivery and count it; deactivate the subscription if the limit is reached.

    Raises:
        DeliveryConflict: The delivery has changed since it was read, or the URL has: the failure
            of a former endpoint says nothing about the present one.
    """
    number, logged, url = after.webhook_id, state.logged, state.record.entity.url

    def use_case(tx: Transaction) -> TaskOutcome:
        seen = repository.find_delivery(tx.store, number, after.id)
        if (seen and seen.version) != (logged and logged.version):
            raise DeliveryConflict
        try:
            record = WEBHOOKS.get(tx.store, number)
        except Gone:
            return "dropped"
        if record.entity.is_active and record.entity.url != url:
            raise DeliveryConflict
        health = repository.read_health(tx.store, number) or EndpointHealth()
        repository.stage_delivery(tx, seen, after)
        if not record.entity.is_active:
            return "failed"  # the subscription was deactivated during the attempt: not counted
        # With the log, so that each failure counts once, whatever crashes or is repeated.
        repository.stage_failure(tx, number, health, fast=rules.is_fast(result))
        if rules.must_deactivate(health, result):
            inactive = record.entity.model_copy(update={"is_active": False, "updated_at": tx.now})
            repository.stage_registration(tx, repository.read_register(tx.store), inactive)
            WEBHOOKS.replace(tx, record, inactive)
        return "failed"

    # The role of the worker may not delete anything.
    return run_transaction(store, use_case, may_queue=False)


def _active_secrets(tenant: str, webhook: StoredWebhook) -> Sequence[str]:
    """Return the secrets that are valid now, newest first."""
    now = now_ms()
    return [
        _unseal(tenant, webhook.id, secret.sealed)
        for secret in webhook.secrets
        if secret.until is None or secret.until > now
    ]


_unseal = lru_cache(_SECRET_CACHE_SIZE)(unseal_secret)
"""Decrypts a secret; the cache saves a KMS call per delivery."""

"""The delivery of one event to one subscription: attempt, log, and what comes next.

Whatever dies in between, the message comes back, and the log tells how far it got: an
attempt that is in the log is not made again. One that died before it was logged is: who
receives tells repeats by the id of the event.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Timer
from typing import Literal

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant, gets_webhooks
from shared.integration.webhooks import repository, rules
from shared.integration.webhooks.http_client import AttemptResult, post_event
from shared.integration.webhooks.models import EndpointHealth, StoredDelivery, StoredWebhook
from shared.integration.webhooks.repository import WEBHOOKS, DeliveryConflict, LoggedDelivery
from shared.integration.webhooks.sealed_secrets import unseal_secret
from shared.integration.webhooks.signatures import signature_headers
from shared.integration.webhooks.tasks import DeliveryTask
from shared.kernel.clock import Deadline, instant, milliseconds_of, now_ms
from shared.kernel.config import config
from shared.kernel.db.collection import Record
from shared.kernel.db.parallel import run_both
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Gone
from shared.kernel.events.outbox import StoredEvent, find_event

type TaskOutcome = Literal[
    "succeeded", "retrying", "failed", "cancelled", "dropped", "overtaken", "waits", "moved"
]
"""What became of a message. `dropped`: there was nothing (left) to do; `waits`: it is not due;
`overtaken`: the same message was received twice at once, and the other one was faster; it must
come back, since the other one may die before it has sent what follows;
`moved`: it went to the queue of endpoints that are not known to be quick."""

_SECRET_CACHE_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class _State:
    """What an attempt needs, as it is now."""

    record: Record[StoredWebhook]
    health: EndpointHealth
    logged: LoggedDelivery | None
    event: StoredEvent | None


def deliver(task: DeliveryTask, deadline: Deadline, *, received_before: bool) -> TaskOutcome:
    """Do what a message asks for.

    Args:
        task: The message.
        deadline: Until when calls of the database may be tried again.
        again: Whether the message was received before: then its end may be missing. One that
            comes back from the dead letters does not tell.
    """
    if task.seconds_left:
        task.send()
        return "waits"
    tenant = directory.tenant_if(task.tenant, gets_webhooks) or directory.tenant(task.tenant)
    if tenant is None:
        return "dropped"
    store = store_for(task.tenant, deadline)
    found = _read_state(store, task)
    delivery = _open_delivery(task, found) if found else None
    if found is None or delivery is None:
        return "dropped"
    if delivery.tries >= task.attempt:
        if received_before or rules.is_overdue(delivery, now_ms()):
            _next_task(task, delivery, slow=not found.health.quick).send()
        return "dropped"
    return _process(store, task, tenant, found, delivery)


def _process(
    store: Store, task: DeliveryTask, tenant: Tenant, found: _State, delivery: StoredDelivery
) -> TaskOutcome:
    """Make the attempt, unless something stands against it or it belongs elsewhere."""
    reason = _cancellation_reason(tenant, found, delivery)
    if found.event is None or reason:
        return _record_cancellation(
            store, found.logged, delivery, reason or "the event is not kept any more"
        )
    if not (found.health.quick or task.slow):
        replace(task, slow=True).send()
        return "moved"
    return _attempt(store, task, found, delivery, found.event.body(tenant.base_url))


def _read_state(store: Store, task: DeliveryTask) -> _State | None:
    """Read all that is needed at once; None when the subscription was deleted."""
    keys = [
        WEBHOOKS.key(task.webhook),
        repository.health_key(task.webhook),
        repository.delivery_key(task.webhook, task.event),
    ]
    items, told = run_both(lambda: store.get_many(keys), lambda: find_event(store, task.event))
    record = WEBHOOKS.pick_from(items, task.webhook)
    pulse = items.get(keys[1])
    if record is None or pulse is None:
        return None
    logged = repository.parse_delivery(items.get(keys[2]))
    return _State(record, EndpointHealth.model_validate(pulse), logged, told)


def _open_delivery(task: DeliveryTask, found: _State) -> StoredDelivery | None:
    """Return the delivery as the log has it, or a new one; None when it waits for no attempt."""
    if found.logged:
        known = found.logged.delivery
        return None if rules.has_ended(known) or known.round != task.round else known
    if found.event is None or task.round > 1:
        return None
    return StoredDelivery(
        id=task.event,
        webhook_id=task.webhook,
        event=found.event.type,
        status="pending",
        created_at=found.event.created_at,
        updated_at=instant(now_ms()),
    )


def _cancellation_reason(tenant: Tenant, found: _State, delivery: StoredDelivery) -> str | None:
    if not gets_webhooks(tenant):
        return "the account or its plan does not allow deliveries"
    return rules.cancellation_reason(found.record.entity, delivery)


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
        return "overtaken"
    return "cancelled"


def _attempt(
    store: Store, task: DeliveryTask, found: _State, delivery: StoredDelivery, body: bytes
) -> TaskOutcome:
    webhook = found.record.entity
    began = now_ms()
    headers = {
        "Content-Type": "application/json",
        **signature_headers(task.event, body, _active_secrets(task.tenant, webhook), began // 1000),
    }
    with _slow_endpoint_timer(store, webhook.id) if found.health.quick else nullcontext():
        outcome = post_event(webhook.url, body, headers, localhost=config().webhook_localhost)
    ended = now_ms()
    delays = config().webhook_delays
    after = rules.after_attempt(delivery, outcome, began=began, ended=ended, delays=delays)
    quick = rules.is_fast(outcome)
    try:
        if after.status == "failed":
            return _record_final_failure(store, found.logged, after, outcome)
        succeeded = after.status == "succeeded"
        repository.record_attempt(
            store, webhook.id, instant(began), quick=quick, succeeded=succeeded
        )
        repository.log_delivery(store, found.logged, after, ended)
    except DeliveryConflict:
        return "overtaken"
    if succeeded:
        return "succeeded"
    _next_task(task, after, slow=not quick).send()
    return "retrying"


@contextmanager
def _slow_endpoint_timer(store: Store, number: int) -> Iterator[None]:
    """Note that an endpoint is slow while it still takes its time, not only afterwards.

    So those behind are led past it before it has held up many.
    """
    watch = Timer(rules.SLOW_AFTER_SECONDS, repository.record_slow_endpoint, (store, number))
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _next_task(task: DeliveryTask, delivery: StoredDelivery, *, slow: bool) -> DeliveryTask:
    """Return the attempt that follows those in the log."""
    due = milliseconds_of(delivery.next_attempt_at) if delivery.next_attempt_at else 0
    return replace(task, attempt=delivery.tries + 1, due=due, slow=slow)


def _record_final_failure(
    store: Store, logged: LoggedDelivery | None, after: StoredDelivery, outcome: AttemptResult
) -> TaskOutcome:
    """Log a delivery that failed for good and count it; the tenth in a row is the last one."""
    number = after.webhook_id

    def use_case(tx: Transaction) -> TaskOutcome:
        seen = repository.find_delivery(tx.store, number, after.id)
        if (seen and seen.version) != (logged and logged.version):
            raise DeliveryConflict
        try:
            record = WEBHOOKS.get(tx.store, number)
        except Gone:
            return "dropped"
        pulse = repository.read_health(tx.store, number) or EndpointHealth()
        repository.stage_delivery(tx, seen, after)
        if not record.entity.is_active:
            return "failed"  # it was under way when the count was closed
        repository.stage_failure(tx, number, pulse, quick=rules.is_fast(outcome))
        if rules.must_deactivate(pulse, outcome):
            ended = record.entity.model_copy(update={"is_active": False, "updated_at": tx.now})
            repository.stage_registration(tx, repository.read_register(tx.store), ended)
            WEBHOOKS.replace(tx, record, ended)
        return "failed"

    return run_transaction(store, use_case)


def _active_secrets(tenant: str, webhook: StoredWebhook) -> Sequence[str]:
    """Return the secrets that sign now, the newest first."""
    now = now_ms()
    return [
        _unsealed(tenant, webhook.id, secret.sealed)
        for secret in webhook.secrets
        if secret.until is None or secret.until > now
    ]


@lru_cache(_SECRET_CACHE_SIZE)
def _unsealed(tenant: str, webhook: int, sealed: str) -> str:
    """Unseal a secret; the environment remembers it, so that KMS is not asked each time."""
    return unseal_secret(tenant, webhook, sealed)

"""Use cases of the webhook routes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from shared.identity.audit import service as audit
from shared.identity.audit.models import AuditAction
from shared.identity.auth.rules import ensure_not_revoked
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant, limit_reached
from shared.integration.webhooks import repository, rules, views
from shared.integration.webhooks.models import (
    DeliveryParameters,
    EndpointHealth,
    RecoveryDraft,
    SecretRotation,
    StoredDelivery,
    StoredSecret,
    StoredWebhook,
    WebhookChange,
    WebhookCreate,
    WebhookParameters,
    WebhookRecovery,
)
from shared.integration.webhooks.repository import (
    RETENTION_DAYS,
    WEBHOOKS,
    LoggedDelivery,
    SubscriptionRegister,
)
from shared.integration.webhooks.signatures import new_secret, seal_secret
from shared.integration.webhooks.target_urls import InvalidTarget, parse_target, resolve_addresses
from shared.kernel.clock import milliseconds_of
from shared.kernel.config import config
from shared.kernel.db.lists.cursor import InvalidCursor
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, NotFound, Problem
from shared.kernel.events.kinds import TEST_EVENT
from shared.kernel.events.outbox import (
    Event,
    is_event_id,
    raise_event,
    request_recovery,
    request_redelivery,
)
from shared.kernel.fields import keep_order
from shared.kernel.validation import Checked, ensure_valid

_RESOLVE_SECONDS = 5
"""Time limit for the DNS query of a new URL."""


@dataclass(frozen=True, slots=True)
class WebhookWithHealth:
    """A subscription and the health of its endpoint."""

    record: Record[StoredWebhook]
    health: EndpointHealth


def create_webhook(
    tx: Transaction, tenant: Tenant, draft: Checked[WebhookCreate]
) -> tuple[WebhookWithHealth, str]:
    """Create a subscription; return it with its secret, which cannot be read later.

    Raises:
        ServiceError: `limit_reached`: the tenant has the maximum number of subscriptions.
        Unauthenticated: The caller's token has been revoked.
    """
    draft = ensure_valid(draft, _url_problems(draft.url))
    register = read_register(tx)
    if len(register.ids) >= tenant.limits["webhook_subscriptions"]:
        raise limit_reached(tenant, "webhook_subscriptions", len(register.ids))
    number = tx.next_id(WEBHOOKS.kind)
    secret = draft.secret or new_secret()
    actor = audit.actor_of(tx)
    webhook = StoredWebhook(
        id=number,
        created_by=actor,
        url_set_by=actor,
        secret_set_by=actor,
        activated_by=actor,
        url=draft.url,
        events=draft.events,
        secrets=[_seal(tx, number, secret)],
        created_at=tx.now,
        updated_at=tx.now,
    )
    repository.stage_registration(tx, register, webhook)
    repository.stage_new_health(tx, number)
    _audit(tx, "webhook.created", webhook, events=webhook.events)
    return WebhookWithHealth(WEBHOOKS.insert(tx, number, webhook), EndpointHealth()), secret


def _audit(
    tx: Transaction,
    action: AuditAction,
    webhook: StoredWebhook,
    *,
    changes: Mapping[str, tuple[Any, Any]] | None = None,
    **details: Any,
) -> None:
    """Add an audit entry about a subscription; its details are the URL and `details`."""
    details = {"url": webhook.url, **details}
    audit.record(tx, action, "webhook", webhook.id, changes=changes, details=details)


def read_register(tx: Transaction) -> SubscriptionRegister:
    """Read the register for a change that makes the caller responsible for a subscription.

    The change has to write the register.

    The revocations are read after the register, not from the cache of the handlers. So the change
    is refused, or its commit fails with StaleRead, when the subscriptions of the caller have been
    deactivated: `ended_access` writes the register.

    Raises:
        Unauthenticated: The caller's token has been revoked.
    """
    register = repository.read_register(tx.store)
    tenant = directory.tenant(tx.store.slug, max_age=0)
    if tenant and tx.caller:
        ensure_not_revoked(tenant, tx.caller)
    return register


def _seal(tx: Transaction, number: int, secret: str) -> StoredSecret:
    return StoredSecret(sealed=seal_secret(tx.store.slug, number, secret))


def _url_problems(url: str | None) -> list[Problem]:
    """Resolve the host of a URL; return the problem if it is not public.

    `url` is None when it is invalid or was not sent.
    """
    if not url:
        return []
    try:
        target = parse_target(url, localhost=config().webhook_localhost)
        resolve_addresses(target, seconds=_RESOLVE_SECONDS)
    except InvalidTarget as reason:
        return [Problem("url", str(reason))]
    return []


def get_webhook(store: Store, number: int) -> WebhookWithHealth:
    """Read a subscription."""
    record, health = run_all(
        lambda: WEBHOOKS.get(store, number), lambda: repository.read_health(store, number)
    )
    return WebhookWithHealth(record, health or EndpointHealth())


health_of_all = repository.read_all_health


def list_webhooks(
    store: Store, parameters: WebhookParameters
) -> tuple[Page[StoredWebhook], dict[int, EndpointHealth]]:
    """Return a page of subscriptions, and the health of all subscriptions by id."""
    return run_all(
        lambda: repository.list_webhooks(store, parameters),
        lambda: repository.read_all_health(store),
    )


def change_webhook(
    tx: Transaction, number: int, change: Checked[WebhookChange]
) -> WebhookWithHealth:
    """Change the fields that were sent. Activation also resets the failure count.

    The change applies to pending deliveries, too. If everything is as before, nothing is written.

    Raises:
        Unauthenticated: The caller's token has been revoked.
    """
    found = get_webhook(tx.store, number)
    before = found.record.entity
    sent = ensure_valid(change, _url_problems(change.url)).model_dump(exclude_unset=True)
    keep_order(sent, "events", before.events)
    after = before.model_copy(update={**sent, "updated_at": tx.now})
    health = found.health
    if sent.get("is_active"):
        health = health.model_copy(update={"failure_count": 0})
    changes = rules.audited_changes(before, after)
    if health.failure_count != found.health.failure_count:
        changes["failure_count"] = (found.health.failure_count, health.failure_count)
    if not changes:
        return found
    if health is not found.health:
        repository.stage_failure_reset(tx, number)
    _audit(tx, "webhook.changed", before, changes=changes)
    after = after.model_copy(update=rules.new_setters(before, after, audit.actor_of(tx)))
    repository.stage_registration(tx, read_register(tx), after)
    return WebhookWithHealth(WEBHOOKS.replace(tx, found.record, after), health)


def deactivate(tx: Transaction, records: Iterable[Record[StoredWebhook]]) -> list[StoredWebhook]:
    """Add the deactivation of the subscriptions that are active; return these."""
    active = [record for record in records if record.entity.is_active]
    audit.reserve_entry_ids(tx, len(active))
    changed = [WEBHOOKS.update(tx, record, {"is_active": False}).entity for record in active]
    for webhook in changed:
        _audit(tx, "webhook.changed", webhook, changes={"is_active": (True, False)})
    return changed


def delete_webhook(tx: Transaction, number: int) -> WebhookWithHealth:
    """Delete a subscription and its secrets; its pending deliveries are dropped."""
    found = get_webhook(tx.store, number)
    repository.stage_deregistration(tx, repository.read_register(tx.store), number)
    repository.stage_health_removal(tx, number)
    WEBHOOKS.remove(tx, found.record)
    _audit(tx, "webhook.deleted", found.record.entity, events=found.record.entity.events)
    return found


def rotate_secret(
    tx: Transaction, number: int, rotation: Checked[SecretRotation]
) -> tuple[WebhookWithHealth, str]:
    """Set a new secret; the previous ones remain valid until their overlap ends.

    Raises:
        Unauthenticated: The caller's token has been revoked.
    """
    found = get_webhook(tx.store, number)
    rotation = ensure_valid(rotation)
    webhook = found.record.entity
    secret = rotation.secret or new_secret()
    kept = rules.retained_secrets(webhook.secrets, tx.now_ms, rotation.overlap_hours)
    secrets = [_seal(tx, number, secret), *kept]
    _audit(tx, "webhook.secret_rotated", webhook, overlap_hours=rotation.overlap_hours)
    changes = {"secrets": secrets, "secret_set_by": audit.actor_of(tx)}
    after = WEBHOOKS.update(tx, found.record, changes)
    repository.stage_registration(tx, read_register(tx), after.entity)
    return WebhookWithHealth(after, found.health), secret


# Deliveries


def send_test(tx: Transaction, number: int) -> StoredDelivery:
    """Raise a test event for one subscription.

    Raises:
        Conflict: The subscription is inactive.
    """
    found = _get_active_webhook(tx, number)
    event_id = raise_event(
        tx,
        Event(
            type=TEST_EVENT,
            object="webhook",
            id=number,
            version=found.record.version,
            href=f"/webhooks/{number}",
            attributes=views.webhook(found.record.entity, found.health).model_dump(
                # nothing for the endpoint
                exclude={"created_by", "url_set_by", "secret_set_by", "activated_by"}
            ),
        ),
        only_subscription=number,
    )
    delivery = StoredDelivery(
        id=event_id,
        webhook_id=number,
        event=TEST_EVENT,
        status="pending",
        next_attempt_at=tx.now,
        created_at=tx.now,
        updated_at=tx.now,
    )
    repository.stage_delivery(tx, None, delivery)
    _audit(tx, "webhook.tested", found.record.entity, event_id=event_id)
    return delivery


def _get_active_webhook(tx: Transaction, number: int) -> WebhookWithHealth:
    found = get_webhook(tx.store, number)
    _ensure_active(found.record)
    return found


def _ensure_active(record: Record[StoredWebhook]) -> None:
    if not record.entity.is_active:
        raise Conflict(f"Subscription {record.id} is inactive; set is_active to true first.")


def redeliver(tx: Transaction, number: int, event: str) -> StoredDelivery:
    """Start a new round of attempts for a delivery in any status.

    Raises:
        Conflict: The subscription is inactive.
    """
    found, seen = run_all(
        lambda: _get_active_webhook(tx, number), lambda: _find_delivery(tx.store, number, event)
    )
    delivery = rules.new_round(seen.delivery, tx.now)
    repository.stage_delivery(tx, seen, delivery)
    request_redelivery(tx, number, event, delivery.round)
    _audit(tx, "webhook.redelivered", found.record.entity, event_id=event)
    return delivery


def recover(tx: Transaction, number: int, draft: Checked[RecoveryDraft]) -> WebhookRecovery:
    """Request the delivery of what a subscription has not received since a time, in order.

    Raises:
        Conflict: The subscription is inactive.
    """
    found = get_webhook(tx.store, number)
    since = draft.since
    problems: list[Problem] = []
    if since is not None:
        if since > tx.now:
            problems.append(Problem("since", "must not be in the future"))
        elif milliseconds_of(since) < tx.now_ms - RETENTION_DAYS * 86_400_000:
            problems.append(Problem("since", f"must be at most {RETENTION_DAYS} days ago"))
    draft = ensure_valid(draft, problems)
    _ensure_active(found.record)
    request_recovery(tx, number, milliseconds_of(draft.since))
    _audit(tx, "webhook.recovered", found.record.entity, since=draft.since)
    return WebhookRecovery(webhook_id=number, since=draft.since, until=tx.now)


def get_delivery(store: Store, number: int, event: str) -> StoredDelivery:
    """Read a delivery that has not expired."""
    _, found = run_all(
        lambda: WEBHOOKS.get(store, number), lambda: _find_delivery(store, number, event)
    )
    return found.delivery


def _find_delivery(store: Store, number: int, event: str) -> LoggedDelivery:
    found = repository.find_delivery(store, number, event) if is_event_id(event) else None
    if found is None:
        raise NotFound("This delivery")
    return found


def list_deliveries(
    store: Store, number: int, parameters: DeliveryParameters
) -> Page[StoredDelivery]:
    """Return a page of the newest deliveries of a subscription."""
    _, deliveries = run_all(
        lambda: WEBHOOKS.get(store, number),
        lambda: repository.recent_deliveries(store, number, parameters),
    )
    since = parameters.updated_since or ""
    found = [
        delivery
        for delivery in deliveries
        if parameters.event in {None, delivery.event} and delivery.updated_at >= since
    ]
    oldest_first = parameters.sort == "created_at"
    if oldest_first:
        found.reverse()
    first = (parameters.page - 1) * parameters.per_page
    if parameters.cursor:  # new and expired deliveries do not shift the pages
        last_seen = str(parameters.cursor.mark)
        if not is_event_id(last_seen):
            raise InvalidCursor
        ids = [delivery.id for delivery in found]
        first = sum(id_ <= last_seen if oldest_first else id_ >= last_seen for id_ in ids)
    records = [Record(number, delivery.round, delivery) for delivery in found]
    return parameters.page_of(records, first, attrgetter("id"))

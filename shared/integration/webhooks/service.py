"""Use cases of webhooks, as the routes offer them."""

from dataclasses import dataclass

from shared.identity.tenancy.tenant import Tenant, limit_reached
from shared.integration.webhooks import repository, rules, views
from shared.integration.webhooks.models import (
    DeliveryParameters,
    Pulse,
    SecretRotation,
    StoredDelivery,
    StoredSecret,
    StoredWebhook,
    WebhookChange,
    WebhookCreate,
    WebhookParameters,
)
from shared.integration.webhooks.repository import WEBHOOKS, Logged
from shared.integration.webhooks.safe import seal_secret
from shared.integration.webhooks.signatures import new_secret
from shared.integration.webhooks.targets import BadTarget, addresses_of, parse_target
from shared.kernel.config import config
from shared.kernel.db.collection import Record
from shared.kernel.db.listing import Page
from shared.kernel.db.parallel import run_both
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, NotFound, Problem
from shared.kernel.events.kinds import TEST
from shared.kernel.events.outbox import Event, is_event_id, raise_event, request_redelivery
from shared.kernel.validation import Checked, ensure_valid

_RESOLVE_SECONDS = 5
"""That the name of an address may take to be resolved."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A subscription with its pulse."""

    record: Record[StoredWebhook]
    pulse: Pulse


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of subscriptions with their pulses."""

    page: Page[StoredWebhook]
    pulses: dict[int, Pulse]


def create_webhook(
    tx: Transaction, tenant: Tenant, draft: Checked[WebhookCreate]
) -> tuple[Opened, str]:
    """Create a subscription; return it with its secret, which cannot be read afterwards.

    Raises:
        ValidationFailed: The draft is invalid, or its address is not on the public internet.
        ServiceError: limit_reached, the plan allows no further subscription.
    """
    draft = ensure_valid(draft, _url_problems(draft.url))
    register = repository.read_register(tx.store)
    if len(register.ids) >= tenant.limits["webhook_subscriptions"]:
        raise limit_reached(tenant, "webhook_subscriptions", len(register.ids))
    number = tx.next_id(WEBHOOKS.kind)
    secret = draft.secret or new_secret()
    webhook = StoredWebhook(
        id=number,
        url=draft.url,
        events=draft.events,
        secrets=[_sealed(tx, number, secret)],
        created_at=tx.now,
        updated_at=tx.now,
    )
    repository.enter(tx, register, webhook)
    repository.start_pulse(tx, number)
    return Opened(WEBHOOKS.insert(tx, number, webhook), Pulse()), secret


def _sealed(tx: Transaction, number: int, secret: str) -> StoredSecret:
    return StoredSecret(sealed=seal_secret(tx.store.slug, number, secret))


def _url_problems(url: str | None) -> list[Problem]:
    """Return what is wrong with an address; it is None when invalid, empty when not sent."""
    if not url:
        return []
    try:
        target = parse_target(url, localhost=config().webhook_localhost)
        addresses_of(target, seconds=_RESOLVE_SECONDS)
    except BadTarget as reason:
        return [Problem("url", str(reason))]
    return []


def get_webhook(store: Store, number: int) -> Opened:
    """Read a subscription; NotFound when it never was, Gone when it was deleted."""
    record, pulse = run_both(
        lambda: WEBHOOKS.get(store, number), lambda: repository.read_pulse(store, number)
    )
    return Opened(record, pulse or Pulse())


def list_webhooks(store: Store, parameters: WebhookParameters) -> Listed:
    """Read a page of subscriptions."""
    page, pulses = run_both(
        lambda: repository.list_webhooks(store, parameters),
        lambda: repository.read_pulses(store),
    )
    return Listed(page, pulses)


def change_webhook(tx: Transaction, number: int, change: Checked[WebhookChange]) -> Opened:
    """Change the fields sent; pending deliveries follow the change.

    Activating a subscription also resets its count of failures.

    Raises:
        NotFound, Gone: There is no such subscription, or it was deleted.
        ValidationFailed: The change is invalid, or its address is not on the public internet.
    """
    found = get_webhook(tx.store, number)
    sent = ensure_valid(change, _url_problems(change.url)).model_dump(exclude_unset=True)
    after = found.record.entity.model_copy(update={**sent, "updated_at": tx.now})
    pulse = found.pulse
    if sent.get("is_active"):
        repository.calm(tx, number)
        pulse = pulse.model_copy(update={"failure_count": 0})
    return Opened(_replace(tx, found.record, after), pulse)


def _replace(
    tx: Transaction, record: Record[StoredWebhook], after: StoredWebhook
) -> Record[StoredWebhook]:
    repository.enter(tx, repository.read_register(tx.store), after)
    return WEBHOOKS.replace(tx, record, after)


def delete_webhook(tx: Transaction, number: int) -> Opened:
    """Delete a subscription and its secrets; what waits to be delivered to it is dropped."""
    found = get_webhook(tx.store, number)
    repository.strike(tx, repository.read_register(tx.store), number)
    repository.drop_pulse(tx, number)
    WEBHOOKS.remove(tx, found.record)
    return found


def rotate_secret(tx: Transaction, number: int, wish: SecretRotation) -> tuple[Opened, str]:
    """Give a subscription a new secret; those before sign, too, until their overlap ends."""
    found = get_webhook(tx.store, number)
    webhook = found.record.entity
    secret = wish.secret or new_secret()
    kept = rules.kept_secrets(webhook.secrets, tx.now_ms, wish.overlap_hours)
    secrets = [_sealed(tx, number, secret), *kept]
    after = WEBHOOKS.update(tx, found.record, {"secrets": secrets})
    return Opened(after, found.pulse), secret


# Deliveries


def send_test(tx: Transaction, number: int) -> StoredDelivery:
    """Send a subscription an event that says nothing; Conflict when it is not active."""
    found = _active(tx, number)
    told = raise_event(
        tx,
        Event(
            type=TEST,
            object="webhook",
            id=number,
            version=found.record.version,
            href=f"/webhooks/{number}",
            attributes=views.webhook(found.record.entity, found.pulse).model_dump(),
        ),
        only_subscription=number,
    )
    delivery = StoredDelivery(
        id=told.id,
        webhook_id=number,
        event=TEST,
        status="pending",
        next_attempt_at=tx.now,
        created_at=tx.now,
        updated_at=tx.now,
    )
    repository.stage_delivery(tx, None, delivery)
    return delivery


def _active(tx: Transaction, number: int) -> Opened:
    found = get_webhook(tx.store, number)
    if not found.record.entity.is_active:
        message = f"Webhook {number} is not active; PATCH it with is_active true first."
        raise Conflict(message)
    return found


def redeliver(tx: Transaction, number: int, event: str) -> StoredDelivery:
    """Deliver an event once more, at once, whatever became of it; Conflict when not active."""
    _, seen = run_both(lambda: _active(tx, number), lambda: _find(tx.store, number, event))
    delivery = seen.delivery.model_copy(
        update={
            "status": "pending",
            "reason": None,
            "round": seen.delivery.round + 1,
            "tries": 0,
            "next_attempt_at": tx.now,
            "updated_at": tx.now,
        }
    )
    repository.stage_delivery(tx, seen, delivery)
    request_redelivery(tx, number, event, delivery.round)
    return delivery


def get_delivery(store: Store, number: int, event: str) -> StoredDelivery:
    """Read a delivery; NotFound when there is none (any more)."""
    _, found = run_both(lambda: WEBHOOKS.get(store, number), lambda: _find(store, number, event))
    return found.delivery


def _find(store: Store, number: int, event: str) -> Logged:
    found = repository.find_delivery(store, number, event) if is_event_id(event) else None
    if found is None:
        message = "This delivery"
        raise NotFound(message)
    return found


def list_deliveries(
    store: Store, number: int, parameters: DeliveryParameters
) -> Page[StoredDelivery]:
    """Read a page of the newest deliveries of a subscription; NotFound, Gone."""
    _, deliveries = run_both(
        lambda: WEBHOOKS.get(store, number),
        lambda: repository.recent_deliveries(store, number, parameters),
    )
    since = parameters.updated_since or ""
    wanted = [
        one
        for one in deliveries
        if parameters.event in {None, one.event} and one.updated_at >= since
    ]
    oldest_first = parameters.sort == "created_at"
    if oldest_first:
        wanted.reverse()
    first = (parameters.page - 1) * parameters.per_page
    last_seen = parameters.cursor
    if last_seen and is_event_id(last_seen):  # what came or went meanwhile moves no walk
        seen = [one.id <= last_seen if oldest_first else one.id >= last_seen for one in wanted]
        first = seen.count(True)
    shown = wanted[first : first + parameters.per_page]
    more = first + len(shown) < len(wanted)
    return Page(
        records=[Record(number, one.round, one) for one in shown],
        total=len(wanted),
        page=parameters.page,
        per_page=parameters.per_page,
        next_cursor=shown[-1].id if more and shown else None,
    )

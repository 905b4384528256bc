"""Items of webhooks in DynamoDB. Keys and indexes: see docs/internals/storage.md.

The partition `webhooks` has one register item per tenant, with the ids of all subscriptions and
the events of the active ones, and one health item per subscription.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, cast

from botocore.exceptions import BotoCoreError, ClientError

from shared.integration.webhooks.models import (
    DeliveryParameters,
    EndpointHealth,
    StoredDelivery,
    StoredWebhook,
    WebhookParameters,
)
from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets, flag_text, id_text
from shared.kernel.db.items import (
    AttributeMap,
    Item,
    Key,
    encode,
    item_at,
    key_of,
    pack,
    to_attributes,
    unpack,
    update_of,
    without_key,
)
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY, index_keys, index_name
from shared.kernel.db.transaction import Transaction
from shared.kernel.observability import logger

RETENTION_DAYS = 31
"""Days for which the log keeps a delivery, and how far a recovery goes back."""
MAX_LISTED = 500
"""Most deliveries that the list of a subscription returns, over all its pages."""

_PARTITION = "webhooks"
REGISTER_KEY: Key = (_PARTITION, "REGISTER")
_HEALTH = "HEALTH#"
_STATUS_INDEX = 1
_SUCCEEDED = "succeeded"


def _facets(webhook: StoredWebhook) -> Facets:
    return {
        "id": id_text(webhook.id),
        "is_active": flag_text(webhook.is_active),
        "events": f",{','.join(webhook.events)},",
        "updated_at": webhook.updated_at,
    }


WEBHOOKS = Collection(
    kind="webhook",
    noun="Webhook",
    listed_as="webhook",
    model=StoredWebhook,
    facets=_facets,
    sorts={"id": 1, "updated_at": 2},
    volatile=frozenset({"is_active", "events"}),
)


def list_webhooks(store: Store, parameters: WebhookParameters) -> Page[StoredWebhook]:
    """Return a page of subscriptions."""
    event = parameters.event
    query = parameters.list_query(
        equal={"is_active": flag_text(parameters.is_active)},
        contains={"events": f",{event}," if event else None},
    )
    return read_page(store, WEBHOOKS, query)


# Register


@dataclass(frozen=True, slots=True)
class SubscriptionRegister:
    """The subscriptions of a tenant: all ids, and the events of the active ones."""

    version: int = 0
    ids: frozenset[int] = frozenset()
    active_events: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def subscribers_of(self, event: str) -> list[int]:
        """Return the ids of the active subscriptions to an event."""
        return sorted(number for number, events in self.active_events.items() if event in events)


def read_register(store: Store) -> SubscriptionRegister:
    """Read the register with a consistent read."""
    item = store.get(REGISTER_KEY)
    if item is None:
        return SubscriptionRegister()
    events = {int(number): frozenset(text.split()) for number, text in item["wanted"].items()}
    return SubscriptionRegister(item["version"], frozenset(item.get("ids", ())), events)


def stage_registration(
    tx: Transaction, register: SubscriptionRegister, *webhooks: StoredWebhook
) -> None:
    """Write the register with new or changed subscriptions, unless it changed since it was read."""
    ids = register.ids | {webhook.id for webhook in webhooks}
    active_events = dict(register.active_events)
    for webhook in webhooks:
        active_events.pop(webhook.id, None)
        if webhook.is_active:
            active_events[webhook.id] = frozenset(webhook.events)
    _stage_register(tx, register, ids, active_events)


def stage_deregistration(tx: Transaction, register: SubscriptionRegister, number: int) -> None:
    """Write the register without a subscription, unless it changed since it was read."""
    active_events = dict(register.active_events)
    active_events.pop(number, None)
    _stage_register(tx, register, register.ids - {number}, active_events)


def _stage_register(
    tx: Transaction,
    register: SubscriptionRegister,
    ids: frozenset[int],
    active_events: Mapping[int, frozenset[str]],
) -> None:
    item = item_at(
        REGISTER_KEY,
        version=register.version + 1,
        ids=ids or None,
        wanted={str(number): " ".join(sorted(events)) for number, events in active_events.items()},
    )
    tx.replace(item, version=register.version)


# Endpoint health


def health_key(number: int) -> Key:
    """Return the key of the health item of a subscription."""
    return (_PARTITION, f"{_HEALTH}{id_text(number)}")


def read_health(store: Store, number: int) -> EndpointHealth | None:
    """Read the health of a subscription; None if there is no such subscription."""
    item = store.get(health_key(number))
    return EndpointHealth.model_validate(item) if item else None


def read_all_health(store: Store) -> dict[int, EndpointHealth]:
    """Read the health of all subscriptions: id → health."""
    page = store.query(
        KeyConditionExpression=f"{PARTITION_KEY} = :partition AND begins_with({SORT_KEY}, :prefix)",
        values={":partition": _PARTITION, ":prefix": _HEALTH},
        ConsistentRead=True,
    )
    return {
        int(item[SORT_KEY].removeprefix(_HEALTH)): EndpointHealth.model_validate(item)
        for item in page.items
    }


def stage_new_health(tx: Transaction, number: int) -> None:
    """Add the health item of a new subscription."""
    tx.insert(item_at(health_key(number), failure_count=0))


def stage_failure_reset(tx: Transaction, number: int) -> None:
    """Set the failure count to 0."""
    tx.update(
        health_key(number),
        "SET failure_count = :none",
        condition=f"attribute_exists({PARTITION_KEY})",
        values={":none": 0},
    )


def stage_health_removal(tx: Transaction, number: int) -> None:
    """Delete a health item."""
    tx.delete(health_key(number))


def stage_failure(tx: Transaction, number: int, health: EndpointHealth, *, fast: bool) -> None:
    """Count one more failed delivery, on the condition that the count has not changed."""
    tx.update(
        health_key(number),
        "SET failure_count = :more, last_triggered_at = :now, quick = :quick",
        condition="failure_count = :seen",
        values={
            ":more": health.failure_count + 1,
            ":seen": health.failure_count,
            ":now": tx.now,
            ":quick": fast,
        },
    )


def record_attempt(store: Store, number: int, now: Instant, *, fast: bool, succeeded: bool) -> None:
    """Write the time and speed of an attempt; a success resets the failure count.

    The final failure of a delivery is written by `stage_failure` instead.
    """
    values = {
        "last_triggered_at": now,
        "quick": fast,
        **({"failure_count": 0} if succeeded else {}),
    }
    store.retry_transient_errors(lambda: _set_health(store, number, values))


def record_slow_endpoint(store: Store, number: int) -> None:
    """Write that an endpoint is slow. An AWS error is only logged: the value is a hint."""
    try:
        _set_health(store, number, {"quick": False})
    except (BotoCoreError, ClientError):
        logger.warning("A slow endpoint was not recorded", exc_info=True)


def _set_health(store: Store, number: int, values: Mapping[str, Any]) -> None:
    """Set attributes of a health item, unless the subscription is deleted."""
    with suppress(store.client.exceptions.ConditionalCheckFailedException):
        store.client.update_item(
            TableName=store.table,
            Key=key_attributes(health_key(number)),
            UpdateExpression=f"SET {', '.join(f'{name} = :{name}' for name in values)}",
            ConditionExpression=f"attribute_exists({PARTITION_KEY})",
            ExpressionAttributeValues={f":{name}": encode(value) for name, value in values.items()},
        )


# Deliveries


@dataclass(frozen=True, slots=True)
class LoggedDelivery:
    """A delivery as read, with the version on which a change is conditioned."""

    version: int
    delivery: StoredDelivery
    expires_at: int


class DeliveryConflict(Exception):
    """Another worker has changed the delivery since it was read."""


def delivery_key(webhook: int, event: str) -> Key:
    """Return the key of a delivery; sort keys are in the order of the events."""
    return (f"delivery#{id_text(webhook)}", event)


def parse_delivery(item: Item | None) -> LoggedDelivery | None:
    """Parse a delivery item; None if it is missing or expired."""
    if item is None or item[EXPIRY] <= now_ms() // 1000:
        return None
    delivery = StoredDelivery.from_json(unpack([item["data"]]))
    return LoggedDelivery(item["version"], delivery, item[EXPIRY])


def find_delivery(store: Store, webhook: int, event: str) -> LoggedDelivery | None:
    """Read a delivery, or None."""
    return parse_delivery(store.get(delivery_key(webhook, event)))


def stage_delivery(tx: Transaction, seen: LoggedDelivery | None, delivery: StoredDelivery) -> None:
    """Add a delivery, on the condition that it has not changed since `seen` was read."""
    item = delivery_item(seen, delivery, tx.now_ms)
    tx.replace(item, version=seen.version if seen else 0)


def log_delivery(
    store: Store, seen: LoggedDelivery | None, delivery: StoredDelivery, now_ms: int
) -> None:
    """Write a delivery without a transaction.

    Raises:
        DeliveryConflict: The delivery has changed since `seen` was read.
    """
    item = delivery_item(seen, delivery, now_ms)
    attributes = to_attributes(item)
    write: Callable[..., Any] = store.client.put_item
    body: dict[str, Any] = {"Item": attributes}
    condition = f"attribute_not_exists({PARTITION_KEY})"
    if seen:
        expression, names, values = update_of(without_key(item))
        condition = "version = :seen"
        write = store.client.update_item
        body = {
            "Key": key_attributes(key_of(item)),
            "UpdateExpression": expression,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": to_attributes({**values, ":seen": seen.version}),
        }
    try:
        store.retry_transient_errors(
            lambda: write(
                TableName=store.table,
                ConditionExpression=condition,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **body,
            ),
        )
    except store.client.exceptions.ConditionalCheckFailedException as error:
        # Not a conflict if this call wrote the item and was retried after a lost response.
        stored: AttributeMap = cast("AttributeMap", error.response.get("Item", {}))
        if not attributes.items() <= stored.items():
            raise DeliveryConflict from None


def delivery_item(seen: LoggedDelivery | None, delivery: StoredDelivery, now_ms: int) -> Item:
    """Return the item of a delivery that takes the place of the one in `seen`."""
    partition, sort = delivery_key(delivery.webhook_id, delivery.id)
    (data,) = pack(delivery.to_json())
    item: Item = {
        PARTITION_KEY: partition,
        SORT_KEY: sort,
        "version": seen.version + 1 if seen else 1,
        "data": data,
        # Redeliveries do not extend the expiry: the event expires, too.
        EXPIRY: seen.expires_at if seen else now_ms // 1000 + RETENTION_DAYS * 86_400,
    }
    # Sparse index: few deliveries do not succeed.
    is_listed = delivery.status != _SUCCEEDED
    partition_name, sort_name = index_keys(_STATUS_INDEX)
    item[partition_name] = _status_partition(delivery) if is_listed else None
    item[sort_name] = sort if is_listed else None
    return item


def _status_partition(delivery: StoredDelivery) -> str:
    return f"delivery#{id_text(delivery.webhook_id)}#{delivery.status}"


def recent_deliveries(
    store: Store, webhook: int, parameters: DeliveryParameters
) -> list[StoredDelivery]:
    """Return the newest deliveries of a subscription, newest first, filtered by status."""
    wanted = parameters.status

    def read(status: str | None) -> list[Item]:
        if status in {None, _SUCCEEDED}:
            return _newest(store, f"delivery#{id_text(webhook)}", PARTITION_KEY)
        partition_name, _ = index_keys(_STATUS_INDEX)
        partition = f"delivery#{id_text(webhook)}#{status}"
        entries = _newest(store, partition, partition_name, IndexName=index_name(_STATUS_INDEX))
        return [*store.get_many(map(key_of, entries)).values()]

    read_items = map_concurrently(read, [*(wanted or (None,))])
    items = {key_of(item): item for one in read_items for item in one}
    logged = [parsed.delivery for item in items.values() if (parsed := parse_delivery(item))]
    logged.sort(key=attrgetter("id"), reverse=True)
    return [one for one in logged if wanted is None or one.status in wanted][:MAX_LISTED]


def _newest(store: Store, partition: str, name: str, **index: str) -> list[Item]:
    items: list[Item] = []
    start = None
    while len(items) < MAX_LISTED:
        more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
        page = store.query(
            KeyConditionExpression=f"{name} = :partition",
            values={":partition": partition},
            ScanIndexForward=False,
            Limit=MAX_LISTED - len(items),
            **index,
            **more,
        )
        items += page.items
        start = page.last_key
        if start is None:
            break
    return items

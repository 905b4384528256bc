"""The stored items of webhooks, and the invariants that they must satisfy."""

import base64
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from shared.integration.webhooks import rules
from shared.integration.webhooks.models import EndpointHealth, StoredDelivery, StoredWebhook
from shared.integration.webhooks.repository import (
    SubscriptionRegister,
    health_key,
    parse_delivery,
    read_register,
)
from shared.kernel.clock import milliseconds_of
from shared.kernel.config import config
from shared.kernel.db.items import Item, Key, from_attributes, inflate, unpack
from shared.kernel.db.records import HEAD
from shared.kernel.events.outbox import OutboxEntry, parse_entry
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack

if TYPE_CHECKING:
    from shared.kernel.db.store import Store

MAX_SUBSCRIPTIONS = 20
"""Most subscriptions of a tenant."""
_GONE = 410

type DeliveryId = tuple[int, str]
"""Subscription and event."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """The webhook items of a tenant; `webhooks` excludes deleted subscriptions."""

    webhooks: Mapping[int, StoredWebhook]
    health: Mapping[int, EndpointHealth]
    register: SubscriptionRegister
    deliveries: Mapping[DeliveryId, StoredDelivery]

    def open_deliveries(self) -> Iterator[StoredDelivery]:
        """Yield the deliveries to existing subscriptions that have not ended."""
        for (number, _), delivery in self.deliveries.items():
            if number in self.webhooks and not rules.has_ended(delivery):
                yield delivery

    def summary(self) -> tuple[object, ...]:
        """Return the state without ids and times."""
        paths = {number: path_of(webhook.url) for number, webhook in self.webhooks.items()}
        subscriptions = [
            (webhook.url, tuple(webhook.events), webhook.is_active, len(webhook.secrets))
            for _, webhook in sorted(self.webhooks.items())
        ]
        counts = {paths[number]: health.failure_count for number, health in self.health.items()}
        log = sorted(
            (paths[number], delivery.event, *_delivery_summary(delivery))
            for (number, _), delivery in self.deliveries.items()
            if number in paths
        )
        return subscriptions, counts, log


def _delivery_summary(delivery: StoredDelivery) -> tuple[object, ...]:
    statuses = tuple(attempt.status or 0 for attempt in delivery.attempts)
    return delivery.status, delivery.reason or "", delivery.round, delivery.tries, statuses


def read_state(stack: Stack, slug: str = "acme") -> StoredState:
    """Read all webhook items of a tenant."""
    webhooks: dict[int, StoredWebhook] = {}
    health: dict[int, EndpointHealth] = {}
    deliveries: dict[DeliveryId, StoredDelivery] = {}
    register: Item | None = None
    for attributes in stack.unsorted_items(slug):
        partition, sort = attributes["PK"]["S"], attributes["SK"]["S"]
        item = from_attributes(attributes)
        if partition.startswith("webhook#") and sort == HEAD and not item.get("deleted"):
            webhook = StoredWebhook.model_validate_json(unpack([item["data"]]))
            webhooks[webhook.id] = webhook
        elif partition == "webhooks" and sort.startswith("HEALTH#"):
            number = int(sort.removeprefix("HEALTH#"))
            assert health_key(number) == (partition, sort)
            health[number] = EndpointHealth.model_validate(item)
        elif (partition, sort) == ("webhooks", "REGISTER"):
            register = item
        elif partition.startswith("delivery#"):
            logged = parse_delivery(item)
            assert logged
            deliveries[logged.delivery.webhook_id, sort] = logged.delivery
    return StoredState(
        webhooks, health, read_register(cast("Store", _RegisterOnlyStore(register))), deliveries
    )


@dataclass(frozen=True, slots=True)
class _RegisterOnlyStore:
    """Stands in for a tenant's store; has only the register."""

    register: Item | None

    def get(self, _key: Key) -> Item | None:
        return self.register


def assert_consistent(state: StoredState, requests: Mapping[tuple[str, str], int]) -> None:
    """Assert that the items are consistent with each other and with the requests sent.

    `requests` is the number of requests by URL path and event.
    """
    assert state.register.ids == set(state.webhooks) == set(state.health)
    assert state.register.active_events == {
        number: frozenset(webhook.events)
        for number, webhook in state.webhooks.items()
        if webhook.is_active
    }
    assert len(state.webhooks) <= MAX_SUBSCRIPTIONS
    for number, webhook in state.webhooks.items():
        count = state.health[number].failure_count
        assert count <= rules.MAX_FAILURES
        assert not (webhook.is_active and count == rules.MAX_FAILURES), (
            "the subscription should be inactive"
        )
    for (number, event), delivery in state.deliveries.items():
        assert (delivery.webhook_id, delivery.id) == (number, event)
        if number in state.webhooks:
            _assert_plausible(
                delivery, requests.get((path_of(state.webhooks[number].url), event), 0)
            )


def path_of(url: str) -> str:
    """Return the path of a URL; each subscription has its own, also after a change of its URL."""
    return urlsplit(url).path


def _assert_plausible(delivery: StoredDelivery, requests: int) -> None:
    max_attempts = len(config().webhook_delays)
    attempts = delivery.attempts
    assert delivery.tries <= max_attempts, delivery
    assert delivery.round > 1 or delivery.tries == len(attempts), delivery
    assert delivery.tries <= len(attempts) <= requests, (delivery, requests)
    times = [milliseconds_of(attempt.at) for attempt in attempts]
    assert times == sorted(times), "the log has the attempts in order"
    of_this_round = itertools.pairwise(times[len(times) - delivery.tries :])
    for (before, at), delay in zip(of_this_round, config().webhook_delays[1:], strict=False):
        assert at >= before + delay * 1000, f"an attempt was too early: {delivery}"
    match delivery.status:
        case "pending":
            assert delivery.tries == 0
        case "retrying":
            assert 0 < delivery.tries < max_attempts
            assert delivery.next_attempt_at
        case "succeeded":
            assert attempts[-1].error is None
        case "failed":
            assert attempts[-1].error
            assert delivery.tries == max_attempts or attempts[-1].status == _GONE
        case "cancelled":
            assert delivery.reason
    if rules.has_ended(delivery):
        assert delivery.next_attempt_at is None
        assert bool(delivery.reason) == (delivery.status == "cancelled")
    assert all(attempt.error for attempt in attempts[:-1] if delivery.round == 1)


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An item of the outbox table."""

    tenant: str
    entry: OutboxEntry
    relayed: bool
    """Whether it is marked as relayed."""
    image: dict[str, Any]


def read_outbox() -> list[StoredEntry]:
    """Return the entries of all tenants in the order of creation."""
    found = []
    for image in stored_items(ACCOUNT, REGION, config().outbox_table):
        tenant, entry = parse_entry(image)
        found.append(StoredEntry(tenant, entry, "expires_at" in image, image))
    return sorted(found, key=lambda one: one.entry.id.partition("_")[2])


def assert_no_secret_stored(secrets: Iterable[str], written: Iterable[str]) -> None:
    """Assert that no table and no other written text contains a secret."""
    forms = [form for secret in secrets for form in _forms(secret)]
    assert forms
    tables = (config().control_table, config().outbox_table, *map(config().tenant_table, _SLUGS))
    texts = [
        *(_plain_text(item) for name in tables for item in stored_items(ACCOUNT, REGION, name)),
        *written,
    ]
    for text in texts:
        assert not [form for form in forms if form in text], text


_SLUGS = ("acme", "beta")


def _forms(secret: str) -> tuple[str, str]:
    return secret, base64.b64encode(secret.encode()).decode().rstrip("=")


def _plain_text(item: Mapping[str, Any]) -> str:
    return json.dumps(item, default=_plain)


def _plain(value: bytes) -> str:
    raw = inflate(value) if value[:1] == b"\x78" else value
    return raw.decode(errors="replace")

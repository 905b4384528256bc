"""What the tables say of webhooks, and what must be true of it at any moment."""

import base64
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from shared.clock import milliseconds_of
from shared.config import config
from shared.db.collection import HEAD
from shared.db.items import Item, Key, from_attributes, unpack
from shared.events.outbox import Entry, entry_of
from shared.webhooks import rules
from shared.webhooks.models import Pulse, StoredDelivery, StoredWebhook
from shared.webhooks.repository import Register, logged_of, pulse_key, read_register
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack

if TYPE_CHECKING:
    from shared.db.store import Store

MOST = 20
"""Subscriptions of a tenant."""
_GONE = 410

type Place = tuple[int, str]
"""A subscription and an event."""


@dataclass(frozen=True, slots=True)
class Books:
    """All items of a tenant's webhooks; `heads` are the subscriptions that were not deleted."""

    heads: Mapping[int, StoredWebhook]
    pulses: Mapping[int, Pulse]
    register: Register
    deliveries: Mapping[Place, StoredDelivery]

    def waiting(self) -> Iterator[StoredDelivery]:
        """Deliveries to living subscriptions that have not come to their end."""
        for (number, _), delivery in self.deliveries.items():
            if number in self.heads and not rules.has_ended(delivery):
                yield delivery

    def summary(self) -> tuple[object, ...]:
        """Return all of it but ids and moments: what does not depend on when it was made."""
        paths = {number: path_of(head.url) for number, head in self.heads.items()}
        hooks = [
            (head.url, tuple(head.events), head.is_active, len(head.secrets))
            for _, head in sorted(self.heads.items())
        ]
        counts = {paths[number]: pulse.failure_count for number, pulse in self.pulses.items()}
        log = sorted(
            (paths[number], delivery.event, *_told(delivery))
            for (number, _), delivery in self.deliveries.items()
            if number in paths
        )
        return hooks, counts, log


def _told(delivery: StoredDelivery) -> tuple[object, ...]:
    answers = tuple(attempt.status or 0 for attempt in delivery.attempts)
    return delivery.status, delivery.reason or "", delivery.round, delivery.tries, answers


def read_books(stack: Stack, slug: str = "acme") -> Books:
    """Look at every item of a tenant."""
    heads: dict[int, StoredWebhook] = {}
    pulses: dict[int, Pulse] = {}
    deliveries: dict[Place, StoredDelivery] = {}
    register: Item | None = None
    for attributes in stack.stored(slug):
        partition, sort = attributes["PK"]["S"], attributes["SK"]["S"]
        item = from_attributes(attributes)
        if partition.startswith("webhook#") and sort == HEAD and not item.get("deleted"):
            head = StoredWebhook.model_validate_json(unpack([item["data"]]))
            heads[head.id] = head
        elif partition == "webhooks" and sort.startswith("PULSE#"):
            number = int(sort.removeprefix("PULSE#"))
            assert pulse_key(number) == (partition, sort)
            pulses[number] = Pulse.model_validate(item)
        elif (partition, sort) == ("webhooks", "REGISTER"):
            register = item
        elif partition.startswith("delivery#"):
            logged = logged_of(item)
            assert logged
            deliveries[logged.delivery.webhook_id, sort] = logged.delivery
    return Books(heads, pulses, read_register(cast("Store", _Found(register))), deliveries)


@dataclass(frozen=True, slots=True)
class _Found:
    """Stands in for the store of a tenant that is asked for the register only."""

    register: Item | None

    def get(self, _key: Key) -> Item | None:
        return self.register


def ensure_sound(books: Books, posts: Mapping[tuple[str, str], int]) -> None:
    """Check that the items agree with each other, and the log with what was sent.

    `posts` counts requests by the path of their address and their event.
    """
    assert books.register.ids == set(books.heads) == set(books.pulses)
    assert books.register.wanted == {
        number: frozenset(head.events) for number, head in books.heads.items() if head.is_active
    }
    assert len(books.heads) <= MOST
    for number, head in books.heads.items():
        count = books.pulses[number].failure_count
        assert count <= rules.MOST_FAILURES
        assert not (head.is_active and count == rules.MOST_FAILURES), "it should have ended"
    for (number, event), delivery in books.deliveries.items():
        assert (delivery.webhook_id, delivery.id) == (number, event)
        if number in books.heads:
            _ensure_plausible(delivery, posts.get((path_of(books.heads[number].url), event), 0))


def path_of(url: str) -> str:
    """Each subscription has a path of its own, which stays when its address changes."""
    return urlsplit(url).path


def _ensure_plausible(delivery: StoredDelivery, posts: int) -> None:
    most = len(config().webhook_delays)
    attempts = delivery.attempts
    assert delivery.tries <= most, delivery
    assert delivery.round > 1 or delivery.tries == len(attempts), delivery
    assert delivery.tries <= len(attempts) <= posts, (delivery, posts)
    moments = [milliseconds_of(attempt.at) for attempt in attempts]
    assert moments == sorted(moments), "attempts are in the log as they were made"
    of_this_round = itertools.pairwise(moments[len(moments) - delivery.tries :])
    for (before, at), delay in zip(of_this_round, config().webhook_delays[1:], strict=False):
        assert at >= before + delay * 1000, f"an attempt was made too early: {delivery}"
    match delivery.status:
        case "pending":
            assert delivery.tries == 0
        case "retrying":
            assert 0 < delivery.tries < most
            assert delivery.next_attempt_at
        case "succeeded":
            assert attempts[-1].error is None
        case "failed":
            assert attempts[-1].error
            assert delivery.tries == most or attempts[-1].status == _GONE
        case "cancelled":
            assert delivery.reason
    if rules.has_ended(delivery):
        assert delivery.next_attempt_at is None
        assert bool(delivery.reason) == (delivery.status == "cancelled")
    assert all(attempt.error for attempt in attempts[:-1] if delivery.round == 1)


@dataclass(frozen=True, slots=True)
class Outlet:
    """One entry of the outbox, as its table has it."""

    tenant: str
    entry: Entry
    marked: bool
    """Whether its days are numbered."""
    image: dict[str, Any]


def read_outbox() -> list[Outlet]:
    """Every entry of all tenants, in the order in which they were made."""
    found = []
    for image in stored_items(ACCOUNT, REGION, config().outbox_table):
        tenant, entry = entry_of(image)
        found.append(Outlet(tenant, entry, "expires_at" in image, image))
    return sorted(found, key=lambda one: one.entry.id.partition("_")[2])


def ensure_unseen(secrets: Iterable[str], written: Iterable[str]) -> None:
    """Check that no secret stands in clear in a table or in anything else that was written."""
    forms = [form for secret in secrets for form in _forms(secret)]
    assert forms
    tables = (config().control_table, config().outbox_table, *map(config().tenant_table, _SLUGS))
    places = [
        *(_in_clear(item) for name in tables for item in stored_items(ACCOUNT, REGION, name)),
        *written,
    ]
    for place in places:
        assert not [form for form in forms if form in place], place


_SLUGS = ("acme", "beta")


def _forms(secret: str) -> tuple[str, str]:
    return secret, base64.b64encode(secret.encode()).decode().rstrip("=")


def _in_clear(item: Mapping[str, Any]) -> str:
    return json.dumps(item, default=_plain)


def _plain(value: bytes) -> str:
    raw = zlib.decompress(value) if value[:1] == b"\x78" else value
    return raw.decode(errors="replace")

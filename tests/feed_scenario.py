"""The feed of changes of acme: writers, the relay, and what the feed must have."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any, Self

from shared.kernel import aws
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.items import to_attributes
from shared.kernel.db.outbox_item import EVENT_PREFIX, Author, NotedChanges, VersionChange
from shared.kernel.db.store import Store
from shared.kernel.events.feed import (
    CLOCKS_MS,
    FeedEntry,
    FeedHead,
    UnappendedEntry,
    checksum,
    head_item,
    read_entries,
    read_head,
)
from shared.kernel.events.feed_append import append
from tests.noted_changes import Versions, listed_versions, noted_changes
from tests.stack import Stack
from tests.webhook_scenario import WebhookScenario, run_relay, stream_batch


@dataclass(frozen=True, slots=True)
class FeedScenario:
    """The feed of acme, and the versions that existed when the test began."""

    webhooks: WebhookScenario
    before: Versions

    @classmethod
    def started(cls, webhooks: WebhookScenario) -> Self:
        """Begin the feed with what exists; nothing waits for the relay."""
        stack = webhooks.stack
        for item in stack.outbox_items("acme"):
            key = {name: item[name] for name in ("PK", "SK")}
            aws.client("dynamodb").delete_item(TableName=config().outbox_table, Key=key)
        scenario = cls(webhooks, listed_versions(stack))
        scenario.begin()
        return scenario

    def begin(self) -> None:
        """Begin the feed with the versions of before."""
        table = self.store.table
        head = FeedHead(now_ms(), position=0, checksums=checksums_of(self.before))
        item = to_attributes(head_item(table, head))
        aws.client("dynamodb").put_item(TableName=table, Item=item)

    @property
    def stack(self) -> Stack:
        """The stack."""
        return self.webhooks.stack

    @property
    def store(self) -> Store:
        """The table of acme."""
        return self.stack.store()

    @property
    def head(self) -> FeedHead:
        """The end of the feed."""
        head = read_head(self.store)
        assert head
        return head

    def entries(self, after: int = 0) -> list[FeedEntry]:
        """Return the entries behind a position."""
        return list(read_entries(self.store, self.head, after))

    def items(self) -> list[dict[str, Any]]:
        """Return the items of the outbox, oldest first."""
        return self.stack.outbox_items("acme")

    def create(self, number: int) -> dict[str, Any]:
        """Create a product."""
        return self.webhooks.create_product(number)

    def rename(self, number: int, name: str) -> None:
        """Change a product."""
        assert self.webhooks.erp.patch(f"/products/{number}", {"name": name}).status == 200

    def relay(self, items: Sequence[dict[str, Any]] | None = None) -> list[str]:
        """Invoke the relay with items of the outbox; return the failed records."""
        return run_relay(stream_batch(self.items() if items is None else list(items)))

    def assert_complete(self) -> None:
        """Assert that the feed has each transaction once, in order of version, and the right sums.

        Its entries lead from the versions at the beginning to those of the table.
        """
        entries = self.entries()
        assert [one.position for one in entries] == list(range(1, self.head.position + 1))
        assert sorted(_contents(entries)) == sorted(_contents(noted_changes(self.stack).values()))
        versions = dict(self.before)
        for change in (change for entry in entries for change in entry.changes):
            key = (change.object, change.id)
            assert versions.pop(key, None) == change.before, change
            if change.after is not None:
                versions[key] = change.after
        assert versions == listed_versions(self.stack)
        found = {noun: sums for noun, sums in self.head.checksums.items() if sums != (0, 0)}
        assert found == checksums_of(versions)


def append_transactions(store: Store, transactions: Iterable[Sequence[VersionChange]]) -> None:
    """Append transactions with these changes to the feed, 20 at once."""
    head = read_head(store)
    assert head
    began = max(head.epoch, now_ms()) + CLOCKS_MS
    entries = (
        UnappendedEntry(
            f"{EVENT_PREFIX}{began:012x}{number:020x}",
            instant(began),
            NotedChanges(
                store.table,
                f"00000000-0000-4000-8000-{number:012d}",
                Author("client", "erp"),
                changes,
            ),
        )
        for number, changes in enumerate(transactions, 1)
    )
    for batch in batched(entries, 20, strict=False):
        append(store, batch)


def checksums_of(versions: Versions) -> dict[str, tuple[int, int]]:
    """Return object → number and sum of the versions, from a pass over them."""
    found = defaultdict[str, tuple[int, int]](lambda: (0, 0))
    for (noun, number), version in versions.items():
        count, total = found[noun]
        found[noun] = (count + 1, (total + checksum(noun, number, version)) % 2**64)
    return dict(found)


def _contents(entries: Iterable[Any]) -> list[str]:
    return [repr([*one.changes, one.request_id, one.author]) for one in entries]

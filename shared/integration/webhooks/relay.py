"""The relay from the outbox to the delivery queue: one task for each subscription to an event."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import receives_webhooks
from shared.integration.webhooks.repository import SubscriptionRegister, read_register
from shared.integration.webhooks.tasks import DeliveryTask, RecoveryTask, Task
from shared.kernel.aws import client
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.events.feed import UnappendedEntry
from shared.kernel.events.feed_append import append, unappended
from shared.kernel.events.outbox import (
    OutboxEntry,
    RecoveryRequest,
    RedeliveryRequest,
    StoredEvent,
    events_of,
    first_place,
    mark_relayed,
    unrelayed_entries,
)
from shared.kernel.observability import logger
from shared.kernel.queue import MAX_BATCH_MESSAGES, Queue


@dataclass(frozen=True, slots=True)
class Relay:
    """Sends the delivery tasks of outbox entries; reads each tenant's subscriptions once.

    It also appends their changes to the feeds of the tenants. An entry may be relayed again: the
    worker drops a task whose attempt is in the log, and the feed an entry that it has.
    """

    _registers: dict[str, SubscriptionRegister] = field(default_factory=dict)

    def relay(self, entries: Sequence[tuple[str, OutboxEntry]]) -> set[str]:
        """Send the tasks of entries, append their changes, and mark the entries as relayed.

        `entries` are pairs of tenant slug and entry. The changes are appended in their order, also
        those of entries whose tasks could not be sent.

        Returns:
            Ids of the entries that failed. They are not marked and must be relayed again.
        """
        failed: set[str] = set()
        tasks: list[tuple[str, Task]] = []
        for tenant, entry in entries:
            try:
                tasks += [(entry.id, task) for task in self._tasks_of(tenant, entry)]
            except Exception:  # noqa: BLE001 - the entry is reported as failed
                logger.exception("An outbox entry was not relayed", tenant=tenant)
                failed.add(entry.id)
        batches = batched(tasks, MAX_BATCH_MESSAGES, strict=False)
        for unsent in map_concurrently(_send, list(batches)):
            failed |= unsent
        failed |= _append_all(entries)
        relayed = [(tenant, entry) for tenant, entry in entries if entry.id not in failed]
        marked = map_concurrently(_mark_relayed, relayed)
        return failed | {
            entry.id for (_, entry), done in zip(relayed, marked, strict=True) if not done
        }

    def _tasks_of(self, tenant: str, entry: OutboxEntry) -> Sequence[Task]:
        if isinstance(entry, RecoveryRequest):
            place = first_place(entry.since_ms)
            return [RecoveryTask(tenant, entry.webhook, place, entry.until_ms, due=now_ms())]
        if isinstance(entry, RedeliveryRequest):
            return [DeliveryTask(tenant, entry.webhook, entry.event, entry.round, due=now_ms())]
        return [
            DeliveryTask(tenant, number, event.id, due=now_ms())
            for event in events_of(entry)
            for number in self._subscribers_of(tenant, event)
        ]

    def _subscribers_of(self, tenant: str, event: StoredEvent) -> Sequence[int]:
        only = event.only_subscription
        return self._register_of(tenant).subscribers_of(event.type) if only is None else [only]

    def _register_of(self, tenant: str) -> SubscriptionRegister:
        """Return the subscriptions of a tenant; empty if its plan or state allows no webhooks.

        One read serves all entries, because they were committed before it.
        """
        if tenant not in self._registers:
            found = directory.tenant_matching(tenant, receives_webhooks)
            # A tenant that is being restored must not hold up the events of others in its shard.
            self._registers[tenant] = (
                read_register(store_for(found, writes=False)) if found else SubscriptionRegister()
            )
        return self._registers[tenant]


def relay_missed_entries(tenant: str, *, older_than: int) -> Iterator[tuple[int, int]]:
    """Relay the entries of a tenant that the stream has not relayed.

    They are `older_than` that many seconds; the stream may still relay younger entries.

    Yields:
        The numbers of relayed and of failed events, page by page; a redelivery counts as one.
    """
    before = now_ms() - older_than * 1000
    for entries in unrelayed_entries(client("dynamodb"), config().outbox_table, tenant, before):
        sizes = {entry.id: len(events_of(entry)) or 1 for entry in entries}
        failed = sum(sizes[one] for one in Relay().relay([(tenant, entry) for entry in entries]))
        yield sum(sizes.values()) - failed, failed


def _send(batch: Sequence[tuple[str, Task]]) -> set[str]:
    """Send a batch of pairs of entry id and task; return the ids of entries with unsent tasks."""
    messages = [task.message() for _, task in batch]
    try:
        unsent = Queue(config().webhook_queue).send_many(messages)
    except Exception:  # noqa: BLE001 - the entries are reported as failed
        logger.exception("Delivery tasks were not sent")
        return {entry for entry, _ in batch}
    return {
        entry
        for (entry, _), message in zip(batch, messages, strict=True)
        if any(message is other for other in unsent)
    }


def _append_all(entries: Iterable[tuple[str, OutboxEntry]]) -> set[str]:
    """Append the changes of entries to the feeds of their tenants.

    Returns:
        The ids of the entries whose changes could not be appended.
    """
    of_table = defaultdict[tuple[str, str], list[UnappendedEntry]](list)
    for tenant, entry in entries:
        if one := unappended(entry):
            of_table[tenant, one.noted.table].append(one)
    done = map_concurrently(_append, list(of_table.items()))
    return {
        one.id
        for group, is_appended in zip(of_table.values(), done, strict=True)
        for one in group
        if not is_appended
    }


def _append(pair: tuple[tuple[str, str], Sequence[UnappendedEntry]]) -> bool:
    """Append the changes of a table; return whether that has succeeded."""
    (slug, table), entries = pair
    try:
        # The cached tenant may have the table of before a restore.
        tenant = directory.tenant_matching(slug, lambda found: found.table == table)
        if tenant:
            append(store_for(tenant, writes=False), entries)
    except Exception:  # noqa: BLE001 - the entries are reported as failed
        logger.exception("Changes were not appended to the feed", tenant=slug)
        return False
    return True


def _mark_relayed(pair: tuple[str, OutboxEntry]) -> bool:
    tenant, entry = pair
    try:
        mark_relayed(client("dynamodb"), config().outbox_table, tenant, entry)
    except Exception:  # noqa: BLE001 - the entry is reported as failed
        logger.exception("An outbox entry was not marked as relayed", tenant=tenant)
        return False
    return True

"""From the outbox to the queue: one message for each subscription that wants an event."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import gets_webhooks
from shared.integration.webhooks.repository import SubscriptionRegister, read_register
from shared.integration.webhooks.tasks import DeliveryTask
from shared.kernel.aws import client
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.events.outbox import (
    OutboxEntry,
    RedeliveryRequest,
    mark_relayed,
    unrelayed_entries,
)
from shared.kernel.observability import logger
from shared.kernel.queue import MOST_AT_ONCE, Queue


@dataclass(frozen=True, slots=True)
class Relay:
    """Relays entries of the outbox, each safe to be relayed again.

    A repeated message is dropped by whoever delivers: the log tells that the attempt was made.
    """

    _registers: dict[str, SubscriptionRegister] = field(default_factory=dict)

    def relay(self, entries: Sequence[tuple[str, OutboxEntry]]) -> set[str]:
        """Send the messages of entries (with their tenants), then mark them as relayed.

        Returns:
            Ids of the entries that could not be relayed; they are as they were.
        """
        failed: set[str] = set()
        tasks: list[tuple[str, DeliveryTask]] = []
        for tenant, entry in entries:
            try:
                tasks += [(entry.id, task) for task in self._tasks_of(tenant, entry)]
            except Exception:  # noqa: BLE001 - whatever it is, it comes back
                logger.exception("an entry of the outbox was not relayed", tenant=tenant)
                failed.add(entry.id)
        batches = [tasks[at : at + MOST_AT_ONCE] for at in range(0, len(tasks), MOST_AT_ONCE)]
        for refused in map_concurrently(_send, batches):
            failed |= refused
        relayed = [(tenant, entry) for tenant, entry in entries if entry.id not in failed]
        marked = map_concurrently(_mark_relayed, relayed)
        return failed | {
            entry.id for (_, entry), done in zip(relayed, marked, strict=True) if not done
        }

    def _tasks_of(self, tenant: str, entry: OutboxEntry) -> list[DeliveryTask]:
        if isinstance(entry, RedeliveryRequest):
            return [DeliveryTask(tenant, entry.webhook, entry.event, entry.round, due=now_ms())]
        only = entry.only_subscription
        numbers = (
            [only] if only is not None else self._register_of(tenant).subscribers_of(entry.type)
        )
        return [DeliveryTask(tenant, number, entry.id, due=now_ms()) for number in numbers]

    def _register_of(self, tenant: str) -> SubscriptionRegister:
        """Read who wants what, once for all entries: they were committed before."""
        if tenant not in self._registers:
            served = directory.tenant_if(tenant, gets_webhooks) is not None
            self._registers[tenant] = (
                read_register(store_for(tenant)) if served else SubscriptionRegister()
            )
        return self._registers[tenant]


def relay_left_over(tenant: str, *, older_than: int) -> Iterator[tuple[int, int]]:
    """Relay what the stream did not, of a tenant, page by page: how many were, were not relayed.

    Args:
        tenant: Slug.
        older_than: Seconds; what is younger may still be on its way.
    """
    before = now_ms() - older_than * 1000
    for entries in unrelayed_entries(client("dynamodb"), config().outbox_table, tenant, before):
        failed = Relay().relay([(tenant, entry) for entry in entries])
        yield len(entries) - len(failed), len(failed)


def _send(batch: list[tuple[str, DeliveryTask]]) -> set[str]:
    """Send the messages of a batch; return the entries whose message was not taken."""
    messages = [task.message() for _, task in batch]
    try:
        refused = Queue(config().webhook_queue).send_many(messages)
    except Exception:  # noqa: BLE001 - whatever it is, it comes back
        logger.exception("deliveries were not queued")
        return {entry for entry, _ in batch}
    return {
        entry
        for (entry, _), message in zip(batch, messages, strict=True)
        if any(message is one for one in refused)
    }


def _mark_relayed(one: tuple[str, OutboxEntry]) -> bool:
    tenant, entry = one
    try:
        mark_relayed(client("dynamodb"), config().outbox_table, tenant, entry)
    except Exception:  # noqa: BLE001 - whatever it is, it comes back
        logger.exception("an entry of the outbox was not marked as relayed", tenant=tenant)
        return False
    return True

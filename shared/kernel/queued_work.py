"""Work on an entity that workers do in steps, after messages of a queue.

A worker takes a lease of the entity, which each step renews, and does steps until its time is up;
then it sends itself another message. If it dies, the queue delivers its message again, and the next
worker goes on after the last complete step. Work that makes no progress is given up.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shared.kernel.clock import now_ms
from shared.kernel.db.records import Record
from shared.kernel.errors import NotFound

LEASE_MS = 30_000
"""How long a worker or request has an entity for itself after each step."""
MAX_ATTEMPTS = 5
"""How often an entity is taken up without progress before the work is given up. The queue delivers
a message as often."""
MAX_INVOCATIONS = 1_000
"""How often an entity is taken up before the work is given up, with or without progress. Lambda
does not stop the chain of messages with which the work continues (`RecursiveLoop` in the template).
At up to a minute each, these are more than 16 hours."""
WORKER_SECONDS = 120
"""Timeout of the worker function."""

type Change[E] = Callable[[E], Mapping[str, object] | None]
"""Returns what an entity gets instead, by attribute; None to leave it unchanged.

It is called again if the entity was changed since.
"""


class InSteps(Protocol):
    """What an entity has that is worked on in steps."""

    @property
    def status(self) -> str:
        """Its status."""

    @property
    def busy_until(self) -> int:
        """End of the lease of who works on it, also if it is over: epoch milliseconds."""

    @property
    def stalled(self) -> int:
        """How often a worker has taken it up since its last progress."""

    @property
    def invocations(self) -> int:
        """How often a worker has taken it up."""


@dataclass(frozen=True, slots=True)
class QueuedWork[E: InSteps]:
    """How the work on the entities of a kind is done.

    Attributes:
        in_progress: The statuses in which a worker has something to do.
        update: Changes an entity in a transaction of its own.
        enqueue: Sends the worker a message about an entity, visible after `delay` seconds.
        process: Does steps until the end, or until the time is up. It is also called for an entity
            that is not in progress.
        give_up: Ends the work on an entity; the text says why.
    """

    in_progress: Collection[str]
    update: Callable[[int, Change[E]], Record[E]]
    enqueue: Callable[..., None]
    process: Callable[[Record[E]], Record[E]]
    give_up: Callable[[Record[E], str], Record[E]]

    def take_up(self, number: int, *, last_delivery: bool) -> Record[E] | None:
        """Do steps of the work on an entity; return its record, None if there was nothing to do.

        Another message is sent if the time is up, if another worker holds the lease, and on the
        last delivery of a message. `last_delivery` is whether the queue delivers the message for
        the last time.
        """
        has_lease = False

        def take_lease(entity: E) -> Mapping[str, object] | None:
            nonlocal has_lease
            has_lease = entity.busy_until <= now_ms()
            if entity.status not in self.in_progress or not has_lease:
                return None
            return {
                "busy_until": now_ms() + LEASE_MS,
                "stalled": entity.stalled + 1,
                "invocations": entity.invocations + 1,
            }

        try:
            record = self.update(number, take_lease)
        except NotFound:
            return None  # the request that sent the message failed before it created the entity
        if self._continues(record) and not has_lease:
            delay = 1 + max(0, record.entity.busy_until - now_ms()) // 1000
            self.enqueue(number, delay=delay)
            return None
        if self._continues(record):
            if reason := _reason_to_give_up(record.entity):
                record = self.give_up(record, reason)
            elif last_delivery:
                # If this invocation dies too, another message must exist.
                self.enqueue(number, delay=WORKER_SECONDS)
        try:
            record = self.process(record)
        except Exception:
            # The queue would deliver the message again much later.
            self.enqueue(number, delay=LEASE_MS // 1000 + 1)
            raise
        if self._continues(record):
            self.update(number, self.release_lease)
            self.enqueue(number)
        return record

    def release_lease(self, entity: E) -> Mapping[str, object] | None:
        """End the lease of an entity, so that the next worker can take it up immediately."""
        return {"busy_until": now_ms()} if entity.status in self.in_progress else None

    def _continues(self, record: Record[E]) -> bool:
        return record.entity.status in self.in_progress


def progress() -> dict[str, Any]:
    """Return what a step of an entity sets: it has made progress, and its lease is renewed."""
    return {"busy_until": now_ms() + LEASE_MS, "stalled": 0}


def _reason_to_give_up(entity: InSteps) -> str | None:
    if entity.stalled >= MAX_ATTEMPTS:
        return f"Processing failed {MAX_ATTEMPTS} times at the same point."
    if entity.invocations > MAX_INVOCATIONS:
        return f"Processing was continued {MAX_INVOCATIONS} times and did not end."
    return None

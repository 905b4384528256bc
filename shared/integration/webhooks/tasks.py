"""Messages of the delivery queues: one message asks for one delivery attempt."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.queue import MAX_DELAY_SECONDS, Message, Queue, send_at


@dataclass(frozen=True, slots=True)
class _Task:
    """What the messages of both kinds have.

    Attributes:
        tenant: Slug.
        webhook: Id of the subscription.
        due: Time at which the task is to be processed, in milliseconds since the epoch.
        slow: Whether the task belongs to the slow queue.
    """

    tenant: str
    webhook: int
    due: int = field(default=0, kw_only=True)
    slow: bool = field(default=False, kw_only=True)

    @property
    def queue(self) -> Queue:
        """The queue that the task belongs to."""
        settings = config()
        return Queue(settings.webhook_slow_queue if self.slow else settings.webhook_queue)

    @property
    def late_ms(self) -> int:
        """Milliseconds since the task was due; 0 before."""
        return max(0, now_ms() - self.due)

    @property
    def seconds_left(self) -> int:
        """Seconds until the task is due, rounded up; 0 when it is due."""
        return max(0, -(-(self.due - now_ms()) // 1000))

    @property
    def identity(self) -> tuple[object, ...]:
        """What every repetition of the task has, and no other task."""
        raise NotImplementedError

    def message(self, delay: int = 0) -> Message:
        """Return the queue message, visible after `delay` seconds."""
        # Fair queuing: one message group per subscription.
        return Message(asdict(self), f"{self.tenant}.{self.webhook}", delay)

    def send(self) -> None:
        """Send the task to its queue, visible when it is due.

        A task that is due in more than MAX_DELAY_SECONDS is sent by a schedule (D-220).
        """
        delay = self.seconds_left
        if delay <= MAX_DELAY_SECONDS:
            self.queue.send(self.message(delay))
            return
        settings = config()
        group, role = settings.webhook_schedules, settings.webhook_schedule_role
        due = -(-self.due // 1000)
        name = hashlib.sha256(repr(self.identity).encode()).hexdigest()
        send_at(due, self.queue, self.message(), group, role, name)


@dataclass(frozen=True, slots=True)
class DeliveryTask(_Task):
    """One attempt to deliver an event to a subscription.

    It is `slow` if the last response of the endpoint was slow, or there was none yet.

    Attributes:
        event: Id of the event.
        round: Number of the delivery request, from 1; a redelivery starts the next round.
        attempt: Number of the attempt in the round, from 1.
    """

    event: str
    round: int = 1
    attempt: int = 1

    @property
    def identity(self) -> tuple[object, ...]:
        """The attempt."""
        return self.tenant, self.webhook, self.event, self.round, self.attempt


@dataclass(frozen=True, slots=True)
class RecoveryTask(_Task):
    """A part of a recovery: the events of a subscription from a place on, one after the other.

    Recoveries run in the slow queue.

    Attributes:
        after: The place in the outbox from which it goes on.
        until: When the recovery was requested, in milliseconds since the epoch.
    """

    after: str
    until: int

    @property
    def identity(self) -> tuple[object, ...]:
        """The part of the recovery, and when it goes on."""
        return self.tenant, self.webhook, self.after, self.until, self.due


type Task = DeliveryTask | RecoveryTask


def parse_task(body: Mapping[str, Any]) -> Task:
    """Parse the body of a queue message."""
    return RecoveryTask(**body) if "until" in body else DeliveryTask(**body)

"""Messages to the function that delivers: one is one attempt, now or later."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.queue import MOST_DELAY, Message, Queue


@dataclass(frozen=True, slots=True)
class DeliveryTask:
    """One attempt to deliver an event.

    Attributes:
        tenant: Slug.
        webhook: Id of the subscription.
        event: Id of the event.
        round: How often its delivery was asked for, this one included.
        attempt: Number of the attempt in the round, from 1.
        due: When it is to be made, in milliseconds since the epoch.
        slow: Whether it waits in the queue of endpoints that are slow, or not known to be quick.
    """

    tenant: str
    webhook: int
    event: str
    round: int = 1
    attempt: int = 1
    due: int = 0
    slow: bool = False

    @property
    def queue(self) -> Queue:
        """The queue that it waits in."""
        settings = config()
        return Queue(settings.webhook_slow_queue if self.slow else settings.webhook_queue)

    @property
    def late_ms(self) -> int:
        """Milliseconds since it was due; 0 before."""
        return max(0, now_ms() - self.due)

    @property
    def seconds_left(self) -> int:
        """Seconds until it is due, rounded up; 0 when it is."""
        return max(0, -(-(self.due - now_ms()) // 1000))

    def message(self) -> Message:
        """Write the message; what is due later than a message can wait comes back before."""
        # Neither another tenant's deliveries nor those to another endpoint wait for a group's.
        group = f"{self.tenant}.{self.webhook}"
        return Message(asdict(self), group, min(self.seconds_left, MOST_DELAY))

    def send(self) -> None:
        """Send the message."""
        self.queue.send(self.message())


def parse_task(body: Mapping[str, Any]) -> DeliveryTask:
    """Read a message."""
    return DeliveryTask(**body)

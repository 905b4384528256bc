"""Sends messages to SQS queues, now or at a later time."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.kernel.aws import client
from shared.kernel.json_text import dumps

MAX_DELAY_SECONDS = 900
"""Seconds by which SQS can delay a message. A schedule sends messages that are due later."""
MAX_BATCH_MESSAGES = 10
"""Messages that one call can send."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Attributes:
        body: The content.
        group: The message group: SQS delivers the messages of different groups in fair turns.
        delay: Seconds after which the message becomes visible, at most 900.
    """

    body: Mapping[str, Any]
    group: str
    delay: int = 0

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the SQS call that sends the message."""
        return {
            "MessageBody": dumps(self.body),
            "MessageGroupId": self.group,
            "DelaySeconds": self.delay,
        }


@dataclass(frozen=True, slots=True)
class Queue:
    """One SQS queue."""

    url: str

    def send(self, message: Message) -> None:
        """Send a message."""
        client("sqs").send_message(QueueUrl=self.url, **message.arguments())

    def send_many(self, messages: Sequence[Message]) -> list[Message]:
        """Send up to 10 messages in one call, and return those that SQS did not accept."""
        entries = [
            {"Id": str(number), **message.arguments()} for number, message in enumerate(messages)
        ]
        response = client("sqs").send_message_batch(QueueUrl=self.url, Entries=entries)
        return [messages[int(failed["Id"])] for failed in response.get("Failed", ())]


def send_at(  # noqa: PLR0913, PLR0917 - the parts of one schedule
    seconds: int, queue: Queue, message: Message, group: str, role: str, name: str
) -> None:
    """Send a message at a time, within 60 s; nothing happens if the name is scheduled.

    Args:
        seconds: The time, in seconds since the epoch. It must be in the future.
        queue: The queue.
        message: The message; its delay counts from `seconds`.
        group: The schedule group of EventBridge Scheduler.
        role: ARN of the role that sends the message.
        name: Name of the schedule, unique in the group: at most 64 letters, digits, `-_.`.
    """
    scheduler = client("scheduler")
    partition = role.split(":")[1]
    with suppress(scheduler.exceptions.ConflictException):  # an earlier call has created it
        scheduler.create_schedule(
            GroupName=group,
            Name=name,
            ScheduleExpression=f"at({datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S})",
            FlexibleTimeWindow={"Mode": "OFF"},
            ActionAfterCompletion="DELETE",
            Target={
                # The universal target, because the target "SQS queue" is documented to accept
                # message groups for FIFO queues only.
                "Arn": f"arn:{partition}:scheduler:::aws-sdk:sqs:sendMessage",
                "RoleArn": role,
                "Input": dumps({"QueueUrl": queue.url, **message.arguments()}),
            },
        )

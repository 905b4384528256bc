"""Messages to the workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.kernel.aws import client
from shared.kernel.json_text import dumps

MOST_DELAY = 900
"""Seconds; whoever has to wait longer goes through the queue more than once."""
MOST_AT_ONCE = 10
"""Messages of one call."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent.

    Messages of one group never hold up another's for long (fair queuing). It becomes visible
    after `delay` seconds, at most MOST_DELAY.
    """

    body: Mapping[str, Any]
    group: str
    delay: int = 0

    def arguments(self) -> dict[str, Any]:
        """Return the message as SQS takes it."""
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
        """Send up to MOST_AT_ONCE messages in one call; return those that were not taken."""
        entries = [
            {"Id": str(number), **message.arguments()} for number, message in enumerate(messages)
        ]
        answer = client("sqs").send_message_batch(QueueUrl=self.url, Entries=entries)
        return [messages[int(refused["Id"])] for refused in answer.get("Failed", ())]

"""Sends messages to SQS queues."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.kernel.aws import client
from shared.kernel.json_text import dumps

MOST_DELAY = 900
"""Seconds by which SQS can delay a message. A longer delay needs several messages in turn."""
MOST_AT_ONCE = 10
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

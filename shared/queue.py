"""Messages to the workers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.aws import client
from shared.json_text import dumps


@dataclass(frozen=True, slots=True)
class Queue:
    """One SQS queue. Messages of one tenant never hold up another's for long (fair queuing)."""

    url: str

    def send(self, message: Mapping[str, Any], *, tenant: str, delay: int = 0) -> None:
        """Send a message that becomes visible after `delay` seconds, at most 900."""
        client("sqs").send_message(
            QueueUrl=self.url,
            MessageBody=dumps(message),
            MessageGroupId=tenant,
            DelaySeconds=delay,
        )

"""Imports as the deployed stack runs them: the queue, its worker, files that arrive."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from moto.sqs.models import Message, Queue, sqs_backends

from functions.import_worker.app import lambda_handler
from shared.kernel import aws
from shared.kernel.config import config
from tests.gateway import Erp, LambdaContext, Response
from tests.stack import ACCOUNT, REGION, Stack

WORKER_MS = 120_000


@dataclass(frozen=True, slots=True)
class ImportDesk:
    """Uploads files for a tenant, and lets the worker work."""

    stack: Stack
    slug: str = "acme"

    @property
    def erp(self) -> Erp:
        """An ERP with every scope."""
        return self.stack.erp(self.slug)

    def upload(self, kind: str, name: str, content: bytes, **options: str) -> Response:
        """Upload a file with a request."""
        fields = {"kind": kind} | {f"options[{key}]": text for key, text in options.items()}
        return self.erp.upload("/imports", fields, (name, content))

    def imported(self, kind: str, name: str, content: bytes, **options: str) -> dict[str, Any]:
        """Upload a file, and wait until its validation has ended."""
        answer = self.upload(kind, name, content, **options)
        assert answer.status == 202, answer.text
        self.drain()
        return self.show(answer.data["id"])

    def commit(self, number: int) -> dict[str, Any]:
        """Commit an import, and wait until that has ended."""
        answer = self.erp.post(f"/imports/{number}/commit")
        assert answer.status == 202, answer.text
        self.drain()
        return self.show(number)

    def show(self, number: int) -> dict[str, Any]:
        """Read an import."""
        answer = self.erp.get(f"/imports/{number}")
        assert answer.status == 200, answer.text
        shown: dict[str, Any] = answer.data
        return shown

    # The bucket

    def put(self, name: str, content: bytes) -> None:
        """Leave a file in the tenant's part of the import bucket; its notice is in the queue."""
        key = f"{self.slug}/{name}"
        made = aws.client("s3").put_object(Bucket=config().import_bucket, Key=key, Body=content)
        stored = {
            "key": quote_plus(key, safe="/"),
            "size": len(content),
            "eTag": made["ETag"].strip('"'),
            "sequencer": f"{len(self.messages()):016X}",
        }
        self.send({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": stored}}]})

    def files(self) -> dict[str, bytes]:
        """Read all files of the tenant in the import bucket, by their names."""
        s3, bucket = aws.client("s3"), config().import_bucket
        found = s3.list_objects_v2(Bucket=bucket, Prefix=f"{self.slug}/").get("Contents", [])
        return {
            each["Key"].removeprefix(f"{self.slug}/"): s3.get_object(
                Bucket=bucket, Key=each["Key"]
            )["Body"].read()
            for each in found
        }

    # The queue

    def send(self, message: Mapping[str, Any]) -> None:
        """Put a message into the queue."""
        aws.client("sqs").send_message(
            QueueUrl=config().import_queue, MessageBody=json.dumps(message)
        )

    def messages(self) -> list[Message]:
        """Every message that waits, delayed ones included."""
        return self._queue()._messages

    def take(self) -> list[str]:
        """Take every message out of the queue, whether its delay is over or not."""
        bodies = [message.body for message in self.messages()]
        self.messages().clear()
        return bodies

    def drain(self) -> None:
        """Let the worker work until nothing is left to do."""
        while bodies := self.take():
            for body in bodies:
                assert not self.work(body)

    def work(self, *bodies: str, receives: int = 1) -> list[str]:
        """Give the worker one batch; the messages that failed."""
        records = [
            {
                "messageId": f"m{number}",
                "receiptHandle": "r",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(receives)},
                "eventSource": "aws:sqs",
            }
            for number, body in enumerate(bodies)
        ]
        answer = lambda_handler({"Records": records}, LambdaContext(WORKER_MS))  # type: ignore[arg-type]
        failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
        return [body for number, body in enumerate(bodies) if f"m{number}" in failed]

    def _queue(self) -> Queue:
        name = config().import_queue.rpartition("/")[2]
        queue: Queue = sqs_backends[ACCOUNT][REGION].queues[name]
        return queue

"""Imports in the deployed stack: uploads, the queue and its worker, the import bucket."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote_plus

import pytest
from moto.sqs.models import Message, Queue, sqs_backends

from shared.kernel import aws
from shared.kernel.config import config
from tests import gateway
from tests.gateway import Erp, LambdaContext, Response
from tests.stack import ACCOUNT, REGION, Stack

WORKER = "functions.import_worker.app.lambda_handler"
WORKER_MS = 120_000


def leave_all_to_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Process no import within its request, however small it is."""
    for limit in ("_SYNC_FILE_BYTES", "_SYNC_GROUPS", "_SYNC_ALLOCATIONS"):
        monkeypatch.setattr(f"shared.integration.imports.service.{limit}", 0)


def make_one_step_per_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each invocation of the worker end after one step, as if its time were over."""
    over = SimpleNamespace(remaining=0.0)
    monkeypatch.setattr("shared.integration.imports.context.ImportContext.deadline", over)


@dataclass(frozen=True, slots=True)
class ImportScenario:
    """Uploads files for a tenant, and runs the import worker."""

    stack: Stack
    slug: str = "acme"

    @property
    def erp(self) -> Erp:
        """An ERP with every scope."""
        return self.stack.erp(self.slug)

    def upload(self, kind: str, name: str, content: bytes, **options: str) -> Response:
        """Upload a file in a request."""
        fields = {"kind": kind} | {f"options[{key}]": text for key, text in options.items()}
        return self.erp.upload("/imports", fields, (name, content))

    def import_file(self, kind: str, name: str, content: bytes, **options: str) -> dict[str, Any]:
        """Upload a file, run the worker, and return the validated import."""
        response = self.upload(kind, name, content, **options)
        assert response.status == 202, response.text
        self.drain_queue()
        return self.get_import(response.data["id"])

    def commit(self, import_id: int) -> dict[str, Any]:
        """Commit an import, run the worker, and return the import."""
        self.erp.post(f"/imports/{import_id}/commit").ok(202)
        self.drain_queue()
        return self.get_import(import_id)

    def get_import(self, import_id: int) -> dict[str, Any]:
        """Return an import as the interface shows it."""
        return self.erp.get(f"/imports/{import_id}").ok()

    def put_file(self, name: str, content: bytes) -> None:
        """Write a file of the tenant to the import bucket, and queue its notification."""
        key = f"{self.slug}/{name}"
        s3 = aws.client("s3")
        response = s3.put_object(Bucket=config().import_bucket, Key=key, Body=content)
        created = {
            "key": quote_plus(key, safe="/"),
            "size": len(content),
            "eTag": response["ETag"].strip('"'),
            "sequencer": f"{len(self.messages()):016X}",
        }
        self.send({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": created}}]})

    def files(self) -> dict[str, bytes]:
        """Return the tenant's files in the import bucket by name."""
        s3, bucket = aws.client("s3"), config().import_bucket
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=f"{self.slug}/").get("Contents", [])
        return {
            each["Key"].removeprefix(f"{self.slug}/"): s3.get_object(
                Bucket=bucket, Key=each["Key"]
            )["Body"].read()
            for each in listed
        }

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message to the import queue."""
        aws.client("sqs").send_message(
            QueueUrl=config().import_queue, MessageBody=json.dumps(message)
        )

    def messages(self) -> list[Message]:
        """Return every message in the queue, including delayed ones."""
        return self._queue(config().import_queue)._messages

    def dead_letters(self) -> list[Message]:
        """Return every message that the worker could not process."""
        return self._queue(config().import_dead_letters)._messages

    def take_messages(self) -> list[str]:
        """Remove every message from the queue, including delayed ones, and return the bodies."""
        bodies = [message.body for message in self.messages()]
        self.messages().clear()
        return bodies

    def drain_queue(self) -> None:
        """Deliver messages to the worker until the queue is empty."""
        while bodies := self.take_messages():
            for body in bodies:
                assert not self.deliver(body)

    def deliver(self, *bodies: str, receives: int = 1) -> list[str]:
        """Deliver one batch of messages to the worker, and return those that failed."""
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
        response = gateway._function(WORKER)({"Records": records}, LambdaContext(WORKER_MS))
        failed = {each["itemIdentifier"] for each in response["batchItemFailures"]}
        return [body for number, body in enumerate(bodies) if f"m{number}" in failed]

    def _queue(self, url: str) -> Queue:
        queue: Queue = sqs_backends[ACCOUNT][REGION].queues[url.rpartition("/")[2]]
        return queue

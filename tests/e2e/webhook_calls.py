"""Helpers of the end-to-end tests of webhooks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.e2e.import_calls import eventually
from tests.e2e.responses import data

NOT_RAISED_HERE = "rfid_validation.completed"
"""A kind that none of these tests raises: its subscriptions receive only test events."""

_FINAL = {"succeeded", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a test."""

    client: httpx.Client
    id: int
    secret: str
    path: str

    def get(self) -> dict[str, Any]:
        """Return the subscription."""
        shown: dict[str, Any] = data(self.client.get(self.path))
        return shown

    def send_test(self) -> str:
        """Send a test event; return the id of its delivery."""
        delivery: dict[str, Any] = data(self.client.post(f"{self.path}/test"), 202)
        return str(delivery["id"])

    def delivery(self, event: str) -> dict[str, Any]:
        """Return a delivery."""
        read: dict[str, Any] = data(self.client.get(f"{self.path}/deliveries/{event}"))
        return read

    def wait_until_final(self, event: str, *, attempts: int = 1) -> dict[str, Any]:
        """Wait until a delivery has ended with at least this many attempts; return it."""

        def final_delivery() -> dict[str, Any] | None:
            # A delivery is logged after its first attempt, so after the endpoint has the request.
            if (
                self.client.get(f"{self.path}/deliveries/{event}").status_code
                == httpx.codes.NOT_FOUND
            ):
                return None
            read = self.delivery(event)
            over = read["status"] in _FINAL and len(read["attempts"]) >= attempts
            return read if over else None

        return eventually(final_delivery, f"the end of the delivery of {event}")


@contextmanager
def subscribed(client: httpx.Client, url: str, *events: str) -> Iterator[Subscription]:
    """Subscribe during the block; without `events` only to a kind that nothing raises."""
    answer = client.post("/webhooks", json={"url": url, "events": events or [NOT_RAISED_HERE]})
    webhook = data(answer, 201)
    one = Subscription(client, webhook["id"], webhook["secret"], f"/webhooks/{webhook['id']}")
    try:
        yield one
    finally:
        client.delete(one.path)

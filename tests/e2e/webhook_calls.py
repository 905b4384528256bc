"""What end-to-end tests of webhooks do: subscribe, and read the log."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from local.endpoint import Arrival, HttpResponse, listening
from tests.e2e.import_calls import eventually
from tests.e2e.responses import data

UNRAISED = "rfid_validation.completed"
"""Nothing raises it: who asks for it alone is sent only what is meant for it."""

_ENDED = {"succeeded", "failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a test, and what is said of it."""

    client: httpx.Client
    id: int
    secret: str
    path: str

    def show(self) -> dict[str, Any]:
        """Read it."""
        shown: dict[str, Any] = data(self.client.get(self.path))
        return shown

    def test(self) -> str:
        """Ask for a test event; return the id of its delivery."""
        delivery: dict[str, Any] = data(self.client.post(f"{self.path}/test"), 202)
        return str(delivery["id"])

    def delivery(self, event: str) -> dict[str, Any]:
        """Read a delivery."""
        read: dict[str, Any] = data(self.client.get(f"{self.path}/deliveries/{event}"))
        return read

    def ended(self, event: str, *, attempts: int = 1) -> dict[str, Any]:
        """Wait until a delivery has ended, after so many attempts or more."""

        def look() -> dict[str, Any] | None:
            read = self.delivery(event)
            over = read["status"] in _ENDED and len(read["attempts"]) >= attempts
            return read if over else None

        return eventually(look, f"the end of the delivery of {event}")


@contextmanager
def subscribed(client: httpx.Client, url: str, *events: str) -> Iterator[Subscription]:
    """Subscribe, to nothing that happens unless events are named, as long as the block lasts."""
    answer = client.post("/webhooks", json={"url": url, "events": events or [UNRAISED]})
    made = data(answer, 201)
    one = Subscription(client, made["id"], made["secret"], f"/webhooks/{made['id']}")
    try:
        yield one
    finally:
        client.delete(one.path)


def try_out(client: httpx.Client, *replies: HttpResponse) -> tuple[dict[str, Any], list[Arrival]]:
    """Send a test event to an endpoint with such replies; its delivery, and what arrived."""
    with listening(*replies) as endpoint, subscribed(client, endpoint.url) as one:
        return one.ended(one.test()), endpoint.arrivals

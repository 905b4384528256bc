"""The story of events: told as they happen, verified, tried again, looked up and sent once more."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from examples.webhooks.verify import BadSignatureError, verify
from local.demo_session import Story, StoryEnded
from local.endpoint import Arrival, Endpoint, HttpResponse, listening

_PATIENCE = 60
"""Seconds that something which follows by itself may take on a busy machine."""

_VERIFIED = "verified"
_KINDS = ("product.created", "receipt.created", "stock.updated", "receipt.completed")
_REFUSED = {
    "without TLS": "http://hooks.example.com/stowage",
    "this machine, by its number": "https://127.0.0.1:8443/",
    "this machine, by another name": "https://localhost.localdomain/",
    "an IP address written as one number": "https://2130706433/",
    "where a cloud keeps its credentials": "https://169.254.169.254/latest/meta-data/",
}


def play_webhooks(story: Story, run: str) -> None:
    """Subscribe, let goods arrive, and let the endpoint do what endpoints do."""
    with listening() as endpoint:
        made = story.tell(
            "Somebody wants to hear of goods that arrive",
            story.send("POST", "/webhooks", json={"url": endpoint.url, "events": _KINDS}), 201,
            lambda body: f"subscription {body['data']['id']}, its secret shown this once",
        )["data"]  # fmt: skip
        path = f"/webhooks/{made['id']}"
        try:
            _hear(story, run, endpoint, made["secret"])
            _rotate(story, path, endpoint, made["secret"])
            _stumble(story, path, endpoint)
        finally:
            story.send("DELETE", path)
        story.tell(
            "The subscription is deleted, which differs from never having been",
            story.send("GET", path), 410, lambda body: body["error"]["code"],
        )  # fmt: skip
    for what, url in _REFUSED.items():
        story.tell(
            f"No events go there: {what}",
            story.send("POST", "/webhooks", json={"url": url, "events": _KINDS}), 422,
            lambda body: "url " + body["errors"][0]["message"],
        )  # fmt: skip


def _hear(story: Story, run: str, endpoint: Endpoint, secret: str) -> None:
    """Let goods arrive; tell each event of it."""
    code = f"DEMO-{run}-HOOK"
    product = story.do("POST", "/products", {"item_code": code, "name": "Wall hook, demo"})
    order = {
        "external_ref": f"PO-H-{run}",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-100",
        "warehouse_code": "CEN",
        "lines": [{"item_code": code, "qty": 5}],
    }
    document = story.do("POST", "/entry-documents", order)
    receipt = story.do("POST", "/receipts", {"document_id": document["id"]})
    story.do("POST", f"/receipts/{receipt['id']}/start")
    line = {"item_code": code, "qty": 5, "bin_code": "REC-01"}
    story.do("POST", f"/receipts/{receipt['id']}/lines", line)
    story.do("POST", f"/receipts/{receipt['id']}/finalize")

    def is_of_this(event: Mapping[str, Any]) -> bool:
        data = event["data"]
        return bool(
            (data["object"], data["id"]) in {("product", product["id"]), ("receipt", receipt["id"])}
            or data["attributes"].get("product_id") == product["id"]
        )

    def heard() -> dict[str, Arrival]:
        arrivals = [one for one in list(endpoint.arrivals) if is_of_this(one.event)]
        return {one.event["type"]: one for one in arrivals}

    _until(lambda: heard().keys() == set(_KINDS), "the events of a receipt")
    for arrival in sorted(heard().values(), key=lambda one: str(one.event["created_at"])):
        event, verdict = arrival.event, _verdict(secret, arrival)
        story.fact(
            f"It hears: {event['type']}",
            f"{event['data']['object']} {event['data']['id']}, sequence {event['sequence']},"
            f" {_milliseconds(arrival)} ms after the change, {verdict}",
            fine=verdict == _VERIFIED,
        )


def _rotate(story: Story, path: str, endpoint: Endpoint, old: str) -> None:
    """Try the subscription out, before and while its secret is replaced."""
    verdict = _verdict(old, _tested(story, path, endpoint, "A test event, to try it out"))
    story.fact("It arrives", verdict, fine=verdict == _VERIFIED)
    new = story.tell(
        "The secret is replaced; for a day the old one signs, too",
        story.send("POST", f"{path}/rotate-secret"), 200, lambda _: "a new secret, shown this once",
    )["data"]["secret"]  # fmt: skip
    arrival = _tested(story, path, endpoint, "Another test event")
    verdicts = [_verdict(old, arrival), _verdict(new, arrival)]
    story.fact(
        "Its receiver may have either secret",
        "old: {}; new: {}".format(*verdicts),
        fine=verdicts == [_VERIFIED] * 2,
    )


def _stumble(story: Story, path: str, endpoint: Endpoint) -> None:
    """Let the endpoint fail, look into the log, and have a delivery made once more."""
    endpoint.reply_next(HttpResponse(500, body="out of order"), HttpResponse(500))
    event = story.do("POST", f"{path}/test")["id"]
    log = f"{path}/deliveries/{event}"
    _until(lambda: story.do("GET", log)["status"] == "succeeded", "the third attempt")
    story.tell(
        "The receiver is out of order twice: it is tried again",
        story.send("GET", log), 200,
        lambda body: "{status}, answers: ".format(**body["data"]) + _answers(body["data"]),
    )  # fmt: skip
    story.tell(
        "The log of deliveries, the newest first",
        story.send("GET", f"{path}/deliveries", params={"per_page": 3}), 200,
        lambda body: ", ".join(f"{one['event']} {one['status']}" for one in body["data"])
        + f" … of {body['meta']['total']}",
    )  # fmt: skip
    story.tell(
        "Something went wrong behind the receiver: once more, please",
        story.send("POST", f"{log}/redeliver"), 202, lambda body: body["data"]["status"],
    )  # fmt: skip
    bodies = [one.body for one in _await(endpoint, lambda told: told["id"] == event, 4)]
    story.fact(
        "It arrives again, byte for byte",
        f"{len(bodies)} times {len(bodies[0])} bytes, {len(set(bodies))} body",
        fine=len(set(bodies)) == 1,
    )


def _tested(story: Story, path: str, endpoint: Endpoint, what: str) -> Arrival:
    """Ask for a test event and wait for it."""
    event = story.tell(
        what, story.send("POST", f"{path}/test"), 202, lambda body: body["data"]["status"]
    )["data"]["id"]
    return _await(endpoint, lambda told: told["id"] == event, 1)[0]


def _await(
    endpoint: Endpoint, wanted: Callable[[Mapping[str, Any]], bool], count: int
) -> list[Arrival]:
    """Wait for so many deliveries of events; others may arrive meanwhile."""
    found: list[Arrival] = []

    def look() -> bool:
        found[:] = [arrival for arrival in list(endpoint.arrivals) if wanted(arrival.event)]
        return len(found) >= count

    _until(look, f"{count} deliveries")
    return found


def _until(look: Callable[[], bool], what: str) -> None:
    """Wait; StoryEnded when it does not come."""
    deadline = time.monotonic() + _PATIENCE
    while not look():
        if time.monotonic() > deadline:
            raise StoryEnded(f"{what} did not come within {_PATIENCE} s")
        time.sleep(0.1)


def _verdict(secret: str, arrival: Arrival) -> str:
    """Say what a receiver with this secret makes of a delivery."""
    try:
        verify(secret, arrival.headers["X-Service-Signature"], arrival.body)
    except BadSignatureError as problem:
        return str(problem)
    return _VERIFIED


def _milliseconds(arrival: Arrival) -> int:
    """How long after its change an event arrived."""
    changed = datetime.fromisoformat(arrival.event["created_at"]).timestamp()
    return round((arrival.at - changed) * 1000)


def _answers(delivery: Mapping[str, Any]) -> str:
    return ", ".join(str(attempt["status"]) for attempt in delivery["attempts"])

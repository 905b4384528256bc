"""The webhook part of the demo: deliveries, retries, redelivery, rejected URLs."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import httpx
from stowage_client import BadSignatureError, verify_delivery

from local.demo_places import ORIGIN, RECEIVING_BIN
from local.demo_session import Demo, DemoFailed
from local.webhook_endpoint import CannedResponse, LocalEndpoint, ReceivedRequest, running_endpoint
from operations.scenarios import create_order, order_of, receive

_TIMEOUT_SECONDS = 240
"""Longest wait for an asynchronous step on a busy machine."""

_VERIFIED = "verified"
_KINDS = ("product.created", "receipt.created", "stock.updated", "receipt.completed")
_REJECTED_URLS = {
    "without TLS": "http://hooks.example.com/stowage",
    "loopback IP address": "https://127.0.0.1:8443/",
    "host name of this machine": "https://localhost.localdomain/",
    "IP address in decimal notation": "https://2130706433/",
    "cloud metadata service": "https://169.254.169.254/latest/meta-data/",
}


def run_webhooks_demo(demo: Demo, run: str) -> None:
    """Subscribe, receive goods, and show how deliveries succeed and fail."""
    with running_endpoint() as endpoint:
        subscribed = demo.send("POST", "/webhooks", json={"url": endpoint.url, "events": _KINDS})
        if subscribed.status_code == httpx.codes.PAYMENT_REQUIRED:
            demo.skip("Subscribe to events of received goods", subscribed.json()["message"])
            return
        webhook = demo.step(
            "Subscribe to events of received goods", subscribed, 201,
            "subscription {data[id]} with its secret",
        )["data"]  # fmt: skip
        path = f"/webhooks/{webhook['id']}"
        try:
            _receive_goods(demo, run, endpoint, webhook["secret"])
            _rotate(demo, path, endpoint, webhook["secret"])
            _fail_and_redeliver(demo, path, endpoint)
        finally:
            demo.send("DELETE", path)
        title = "Read the deleted subscription: 410, not 404"
        demo.step(title, demo.send("GET", path), 410, "{error[code]}")
    for what, url in _REJECTED_URLS.items():
        body = {"url": url, "events": _KINDS}
        refusal = "url {errors[0][message]}"
        demo.post(f"Reject a URL: {what}", "/webhooks", body, refusal, expected=422)


def _receive_goods(demo: Demo, run: str, endpoint: LocalEndpoint, secret: str) -> None:
    """Receive goods; show each event."""
    code = f"DEMO-{run}-HOOK"
    product = demo.call("/products", {"item_code": code, "name": "Wall hook, demo"})
    goods = {"item_code": code, "qty": 5}
    order = order_of("purchase_order", f"PO-H-{run}", ORIGIN, [goods])
    document = create_order(demo.call, order)
    receipt = receive(demo.call, document["id"], [{**goods, "bin_code": RECEIVING_BIN}])

    def belongs_to_receipt(event: Mapping[str, Any]) -> bool:
        data = event["data"]
        return bool(
            (data["object"], data["id"]) in {("product", product["id"]), ("receipt", receipt["id"])}
            or data["attributes"].get("product_id") == product["id"]
        )

    def received() -> dict[str, ReceivedRequest]:
        return {
            request.event["type"]: request
            for request in list(endpoint.requests)
            if belongs_to_receipt(request.event)
        }

    _wait_until(lambda: received().keys() == set(_KINDS), "the events of a receipt")
    for request in sorted(received().values(), key=lambda each: str(each.event["created_at"])):
        event, verification = request.event, _verification(secret, request)
        demo.check(
            f"Receive event {event['type']}",
            f"{event['data']['object']} {event['data']['id']}, sequence {event['sequence']},"
            f" {_latency_ms(request)} ms after the change, {verification}",
            passed=verification == _VERIFIED,
        )


def _rotate(demo: Demo, path: str, endpoint: LocalEndpoint, old: str) -> None:
    """Send test events before and after a rotation of the secret."""
    verification = _verification(old, _send_test_event(demo, path, endpoint, "Send a test event"))
    demo.check("Receive the test event", verification, passed=verification == _VERIFIED)
    title = "Rotate the secret; the old one remains valid for 24 hours"
    new = demo.post(title, f"{path}/rotate-secret", None, "the new secret")["secret"]
    request = _send_test_event(demo, path, endpoint, "Send another test event")
    verifications = [_verification(old, request), _verification(new, request)]
    demo.check(
        "Verify the event with both secrets",
        "old: {}; new: {}".format(*verifications),
        passed=verifications == [_VERIFIED] * 2,
    )


def _fail_and_redeliver(demo: Demo, path: str, endpoint: LocalEndpoint) -> None:
    """Let the endpoint fail, read the delivery log, and redeliver an event."""
    endpoint.respond_next(CannedResponse(500, body="maintenance"), CannedResponse(500))
    event_id = demo.call(f"{path}/test")["id"]
    log = f"{path}/deliveries/{event_id}"
    _wait_until(lambda: demo.call(log, method="GET")["status"] == "succeeded", "the third attempt")
    demo.step(
        "Retry a delivery after two failed attempts",
        demo.send("GET", log), 200,
        lambda body: f"{body['data']['status']}, responses: {_response_statuses(body['data'])}",
    )  # fmt: skip
    demo.step(
        "List the deliveries, newest first",
        demo.send("GET", f"{path}/deliveries", params={"per_page": 3}), 200,
        lambda body: ", ".join(f"{each['event']} {each['status']}" for each in body["data"])
        + f" … of {body['meta']['total']}",
    )  # fmt: skip
    demo.post("Redeliver the event", f"{log}/redeliver", expected=202)
    bodies = [request.body for request in _wait_for_deliveries(endpoint, event_id, 4)]
    demo.check(
        "Receive the same body again",
        f"{len(bodies)} times {len(bodies[0])} bytes, {len(set(bodies))} distinct body",
        passed=len(set(bodies)) == 1,
    )


def _send_test_event(demo: Demo, path: str, endpoint: LocalEndpoint, what: str) -> ReceivedRequest:
    """Send a test event and wait for it."""
    event_id = demo.post(what, f"{path}/test", expected=202)["id"]
    return _wait_for_deliveries(endpoint, event_id, 1)[0]


def _wait_for_deliveries(
    endpoint: LocalEndpoint, event_id: str, count: int
) -> list[ReceivedRequest]:
    """Wait for `count` deliveries of an event; other events may arrive in between."""

    def deliveries() -> list[ReceivedRequest]:
        return [request for request in list(endpoint.requests) if request.event["id"] == event_id]

    _wait_until(lambda: len(deliveries()) >= count, f"{count} deliveries")
    return deliveries()


def _wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until `condition` returns true; DemoFailed after the timeout."""
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise DemoFailed(f"{what} did not arrive within {_TIMEOUT_SECONDS} s")
        time.sleep(0.1)


def _verification(secret: str, request: ReceivedRequest) -> str:
    """Return "verified", or why a receiver with this secret rejects the delivery."""
    try:
        verify_delivery(secret, request.headers["X-Service-Signature"], request.body)
    except BadSignatureError as problem:
        return str(problem)
    return _VERIFIED


def _latency_ms(request: ReceivedRequest) -> int:
    """Return the milliseconds between a change and the arrival of its event."""
    changed = datetime.fromisoformat(request.event["created_at"]).timestamp()
    return round((request.at - changed) * 1000)


def _response_statuses(delivery: Mapping[str, Any]) -> str:
    return ", ".join(str(attempt["status"]) for attempt in delivery["attempts"])

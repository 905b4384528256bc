"""End-to-end tests of webhooks, from a change to an endpoint."""

import base64
import hashlib
import hmac
import time
from contextlib import ExitStack
from typing import Any

import httpx

from local.webhook_endpoint import CannedResponse, LocalEndpoint, ReceivedRequest, running_endpoint
from tests.e2e.import_calls import eventually
from tests.e2e.responses import data
from tests.e2e.webhook_calls import subscribed

OK, FAIL = CannedResponse(), CannedResponse(500, body="no room")
_HANGING = 10
"""Subscriptions with hanging endpoints, and events for each: together they occupy all workers of
a queue of the local stack twice, for 10 s each time."""
_UNDELAYED_SECONDS = 15
"""Longest time of undelayed deliveries on a busy machine, in seconds."""


def signed_by(secret: str, request: ReceivedRequest) -> bool:
    """Return whether both signatures of a delivery are valid, without code of the service."""
    parts = [part.split("=", 1) for part in request.headers["X-Service-Signature"].split(",")]
    (sent_at,) = [value for name, value in parts if name == "t"]
    own = hmac.new(secret.encode(), f"{sent_at}.".encode() + request.body, hashlib.sha256)
    name = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}."
    standard_key = base64.b64decode(secret.removeprefix("whsec_"))
    standard = hmac.new(standard_key, name.encode() + request.body, hashlib.sha256)
    fresh = abs(time.time() - int(sent_at)) < 300
    stripe_valid = ["v1", own.hexdigest()] in parts
    standard_signature = f"v1,{base64.b64encode(standard.digest()).decode()}"
    return (
        fresh
        and stripe_valid
        and standard_signature in request.headers["webhook-signature"].split(" ")
    )


def statuses(delivery: dict[str, Any]) -> list[int | None]:
    """Return the HTTP status of each attempt."""
    return [attempt["status"] for attempt in delivery["attempts"]]


def test_an_event_is_delivered_and_signed(acme: httpx.Client, run: str) -> None:
    with running_endpoint() as endpoint, subscribed(acme, endpoint.url, "product.created") as one:
        product = data(acme.post("/products", json={"item_code": run, "name": "Drüm"}), 201)
        request = _wait_for_request(endpoint, product)
        delivery = one.wait_until_final(request.event["id"])
    assert request.event == {
        "id": request.headers["webhook-id"],
        "type": "product.created",
        "version": 1,
        "created_at": product["created_at"],
        "tenant": "acme",
        "sequence": 1,
        "data": {
            "object": "product",
            "id": product["id"],
            "status": None,
            "resource_version": 1,
            "href": str(acme.base_url.join(f"products/{product['id']}")),
            "attributes": product,
        },
    }
    assert request.headers["Content-Type"] == "application/json"
    assert signed_by(one.secret, request)
    assert (delivery["status"], statuses(delivery)) == ("succeeded", [204])
    assert (delivery["event"], delivery["webhook_id"]) == ("product.created", one.id)


def _wait_for_request(endpoint: LocalEndpoint, product: dict[str, Any]) -> ReceivedRequest:
    """Wait for the only event of a product."""
    (request,) = eventually(
        lambda: _requests_about(endpoint, product) or None, "the event of a product"
    )
    return request


def _requests_about(endpoint: LocalEndpoint, product: dict[str, Any]) -> list[ReceivedRequest]:
    """Return the requests about a product; other tests may cause more requests."""
    return [one for one in list(endpoint.requests) if one.event["data"]["id"] == product["id"]]


def test_a_failed_attempt_is_retried_with_a_new_signature(beta: httpx.Client) -> None:
    with running_endpoint(FAIL, FAIL, OK) as endpoint, subscribed(beta, endpoint.url) as one:
        delivery = one.wait_until_final(one.send_test())
        assert one.get()["failure_count"] == 0
    assert (delivery["status"], statuses(delivery)) == ("succeeded", [500, 500, 204])
    first = delivery["attempts"][0]
    assert (first["error"], first["response"]) == ("responded with status 500", "no room")
    assert len({request.body for request in endpoint.requests}) == 1
    assert all(signed_by(one.secret, request) for request in endpoint.requests)
    assert len(endpoint.requests) == 3


def test_hanging_endpoints_do_not_delay_fast_ones(importer: httpx.Client, run: str) -> None:
    # Not beta: other tests need its subscriptions.
    product = data(importer.post("/products", json={"item_code": run, "name": "Drum"}), 201)
    with (
        ExitStack() as many,
        running_endpoint(CannedResponse(hangs=True)) as hanging,
        running_endpoint() as healthy,
        subscribed(importer, healthy.url) as healthy_subscription,
    ):
        healthy_subscription.wait_until_final(
            healthy_subscription.send_test()
        )  # the endpoint is now fast
        for _ in range(_HANGING):
            many.enter_context(subscribed(importer, hanging.url, "product.updated"))
        for name in range(_HANGING):
            data(importer.patch(f"/products/{product['id']}", json={"name": f"Drum {name}"}))
        eventually(lambda: hanging.requests or None, "a delivery that hangs")

        ended = [
            healthy_subscription.wait_until_final(healthy_subscription.send_test())
            for _ in range(3)
        ]

        assert {one["status"] for one in ended} == {"succeeded"}
        assert healthy.requests[-1].at - hanging.requests[0].at < _UNDELAYED_SECONDS

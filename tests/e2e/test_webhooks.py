"""Webhooks of the deployed stack: from a change to an endpoint, and all that endpoints do."""

import base64
import hashlib
import hmac
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from local.endpoint import Arrival, Endpoint, HttpResponse, listening
from tests.e2e.conftest import IMPORTER
from tests.e2e.import_calls import eventually
from tests.e2e.responses import data, fields, key, refused, walk
from tests.e2e.webhook_calls import UNRAISED, subscribed, try_out

OK, FAIL = HttpResponse(), HttpResponse(500, body="no room")
_AT_ONCE = 5
_STUCK = 10
"""Subscriptions that hang, with as many events each: together they take every place of a queue
of the local stack twice, 10 s each time."""
_PROMPTLY = 15
"""Seconds that deliveries which wait for nothing may take on a busy machine."""
_ENDURED = 10
"""Failed deliveries in a row that a subscription bears."""


def signed_by(secret: str, arrival: Arrival) -> bool:
    """Verify both signatures of a delivery, by nothing but their description."""
    parts = [part.split("=", 1) for part in arrival.headers["X-Service-Signature"].split(",")]
    (sent_at,) = [value for name, value in parts if name == "t"]
    own = hmac.new(secret.encode(), f"{sent_at}.".encode() + arrival.body, hashlib.sha256)
    name = f"{arrival.headers['webhook-id']}.{arrival.headers['webhook-timestamp']}."
    standard_key = base64.b64decode(secret.removeprefix("whsec_"))
    standard = hmac.new(standard_key, name.encode() + arrival.body, hashlib.sha256)
    fresh = abs(time.time() - int(sent_at)) < 300
    fits = ["v1", own.hexdigest()] in parts
    also = f"v1,{base64.b64encode(standard.digest()).decode()}"
    return fresh and fits and also in arrival.headers["webhook-signature"].split(" ")


def statuses(delivery: dict[str, Any]) -> list[int | None]:
    """What was answered to each attempt."""
    return [attempt["status"] for attempt in delivery["attempts"]]


def test_the_life_of_a_subscription(beta: httpx.Client) -> None:
    wanted = {"url": "http://localhost:1", "events": [UNRAISED]}
    answer = beta.post("/webhooks", json=wanted, headers=key())
    made = data(answer, 201)
    path = f"/webhooks/{made['id']}"
    assert answer.headers["Location"].endswith(path)
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    shown = made | {"is_active": True, "failure_count": 0, "last_triggered_at": None}
    assert (made, data(beta.get(path))) == (shown, shown)
    assert shown in walk(beta, "/webhooks", per_page=100)

    change = {"events": ["receipt.completed"], "is_active": False, "url": "http://localhost:2/new"}
    changed = data(beta.patch(path, json=change))
    assert changed == {**shown, **change, "updated_at": changed["updated_at"]}
    assert changed not in walk(beta, "/webhooks", is_active="true", per_page=100)
    refused(beta.post(f"{path}/test"), 409, "conflict")

    rotated = data(beta.post(f"{path}/rotate-secret"))
    assert rotated.pop("secret") not in {secret, ""}
    assert rotated == data(beta.get(path))

    assert data(beta.delete(path)) == rotated
    for late in (
        beta.get(path),
        beta.patch(path, json={"is_active": True}),
        beta.delete(path),
        beta.post(f"{path}/test"),
        beta.get(f"{path}/deliveries"),
    ):
        refused(late, 410, "gone")


def test_a_change_is_told_and_signed(acme: httpx.Client, run: str) -> None:
    with listening() as endpoint, subscribed(acme, endpoint.url, "product.created") as one:
        product = data(acme.post("/products", json={"item_code": run, "name": "Drüm"}), 201)
        arrival = _arrival(endpoint, product)
        delivery = one.ended(arrival.event["id"])
    assert arrival.event == {
        "id": arrival.headers["webhook-id"],
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
    assert arrival.headers["Content-Type"] == "application/json"
    assert signed_by(one.secret, arrival)
    assert (delivery["status"], statuses(delivery)) == ("succeeded", [204])
    assert (delivery["event"], delivery["webhook_id"]) == ("product.created", one.id)


def _arrival(endpoint: Endpoint, product: dict[str, Any]) -> Arrival:
    """Wait for the one event of a product."""
    (arrival,) = eventually(lambda: _of(endpoint, product) or None, "the event of a product")
    return arrival


def _of(endpoint: Endpoint, product: dict[str, Any]) -> list[Arrival]:
    """Return what has arrived of a product; other tests may create some meanwhile."""
    return [one for one in list(endpoint.arrivals) if one.event["data"]["id"] == product["id"]]


def test_the_sequence_tells_the_order(acme: httpx.Client, run: str) -> None:
    kinds = ("product.created", "product.updated")
    with listening() as endpoint, subscribed(acme, endpoint.url, *kinds):
        product = data(acme.post("/products", json={"item_code": run, "name": "0"}), 201)
        for name in "1234":
            data(acme.patch(f"/products/{product['id']}", json={"name": name}))

        def look() -> list[dict[str, Any]] | None:
            arrived = _of(endpoint, product)
            told = {arrival.event["sequence"]: arrival.event for arrival in arrived}
            return [told[number] for number in sorted(told)] if len(told) == 5 else None

        events = eventually(look, "five events of one product")
    assert [event["type"] for event in events] == [kinds[0], *[kinds[1]] * 4]
    assert [event["data"]["attributes"]["name"] for event in events] == list("01234")


def test_what_fails_is_tried_again_and_signed_anew(beta: httpx.Client) -> None:
    with listening(FAIL, FAIL, OK) as endpoint, subscribed(beta, endpoint.url) as one:
        delivery = one.ended(one.test())
        assert one.show()["failure_count"] == 0
    assert (delivery["status"], statuses(delivery)) == ("succeeded", [500, 500, 204])
    first = delivery["attempts"][0]
    assert (first["error"], first["response"]) == ("answered 500", "no room")
    assert len({arrival.body for arrival in endpoint.arrivals}) == 1
    assert all(signed_by(one.secret, arrival) for arrival in endpoint.arrivals)
    assert len(endpoint.arrivals) == 3


def test_ten_failed_deliveries_deactivate_until_it_is_activated_again(beta: httpx.Client) -> None:
    with (
        listening(*[FAIL] * 3 * _ENDURED, OK) as endpoint,
        subscribed(beta, endpoint.url) as one,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        events = list(pool.map(lambda _: one.test(), range(_ENDURED - 1)))
        assert [one.ended(event)["status"] for event in events] == ["failed"] * len(events)
        before = one.show()
        assert (before["is_active"], before["failure_count"]) == (True, _ENDURED - 1)
        assert statuses(one.delivery(events[0])) == [500] * 3

        assert one.ended(one.test())["status"] == "failed"
        after = one.show()
        assert (after["is_active"], after["failure_count"]) == (False, _ENDURED)
        refused(beta.post(f"{one.path}/test"), 409, "conflict")
        failed = walk(beta, f"{one.path}/deliveries", status="failed", per_page=4)
        assert [row["id"] for row in failed[1:]] == sorted(events, reverse=True)

        again = data(beta.patch(one.path, json={"is_active": True}))
        assert (again["is_active"], again["failure_count"]) == (True, 0)
        assert one.ended(one.test())["status"] == "succeeded"
        assert one.show()["failure_count"] == 0


def test_an_endpoint_that_is_gone_is_not_asked_again(beta: httpx.Client) -> None:
    with listening(HttpResponse(410)) as endpoint, subscribed(beta, endpoint.url) as one:
        delivery = one.ended(one.test())
        assert (delivery["status"], statuses(delivery)) == ("failed", [410])
        assert one.show()["is_active"] is False
    assert len(endpoint.arrivals) == 1


def test_an_endpoint_may_ask_to_wait(beta: httpx.Client) -> None:
    delivery, (first, second) = try_out(beta, HttpResponse(429, {"Retry-After": "4"}), OK)
    assert (delivery["status"], statuses(delivery)) == ("succeeded", [429, 204])
    assert second.at - first.at > 3.5


@pytest.mark.parametrize("status", [302, 307])
def test_redirects_are_not_followed(beta: httpx.Client, status: int) -> None:
    with listening() as elsewhere:
        there = HttpResponse(status, {"Location": elsewhere.url})
        delivery, (_, arrived) = try_out(beta, there, OK)
    assert delivery["attempts"][0]["error"] == f"answered with a redirect ({status})"
    assert arrived.event["type"] == "webhook.test"
    assert not elsewhere.arrivals


def test_endpoints_that_hang_hold_nobody_up(importer: httpx.Client, run: str) -> None:
    # Not beta, whose other tests would find no room for their subscriptions.
    product = data(importer.post("/products", json={"item_code": run, "name": "Drum"}), 201)
    with (
        ExitStack() as many,
        listening(HttpResponse(hangs=True)) as hanging,
        listening() as healthy,
        subscribed(importer, healthy.url) as well,
    ):
        well.ended(well.test())  # it is known to be quick
        for _ in range(_STUCK):
            many.enter_context(subscribed(importer, hanging.url, "product.updated"))
        for name in range(_STUCK):
            data(importer.patch(f"/products/{product['id']}", json={"name": f"Drum {name}"}))
        eventually(lambda: hanging.arrivals or None, "a delivery that hangs")

        ended = [well.ended(well.test()) for _ in range(3)]

        assert {one["status"] for one in ended} == {"succeeded"}
        assert healthy.arrivals[-1].at - hanging.arrivals[0].at < _PROMPTLY


def test_a_delivery_is_made_once_more(beta: httpx.Client) -> None:
    with listening() as endpoint, subscribed(beta, endpoint.url) as one:
        event = one.test()
        one.ended(event)
        answer = beta.post(f"{one.path}/deliveries/{event}/redeliver", headers=key())
        assert data(answer, 202)["status"] == "pending"
        delivery = one.ended(event, attempts=2)
    assert (delivery["status"], statuses(delivery)) == ("succeeded", [204, 204])
    first, second = endpoint.arrivals
    assert first.body == second.body


def test_the_test_event_tells_of_the_subscription(beta: httpx.Client) -> None:
    with listening() as endpoint, subscribed(beta, endpoint.url) as one:
        shown = one.show()
        one.ended(one.test())
    (arrival,) = endpoint.arrivals
    assert (arrival.event["type"], arrival.event["tenant"]) == ("webhook.test", "beta")
    assert arrival.event["data"]["attributes"] == shown
    assert signed_by(one.secret, arrival)


def test_a_rotated_secret_and_the_new_one_both_sign(beta: httpx.Client) -> None:
    with listening() as endpoint, subscribed(beta, endpoint.url) as one:
        new = data(beta.post(f"{one.path}/rotate-secret"))["secret"]
        one.ended(one.test())
        newest = data(beta.post(f"{one.path}/rotate-secret", json={"overlap_hours": 0}))["secret"]
        one.ended(one.test())
    during, after = endpoint.arrivals
    assert [signed_by(each, during) for each in (one.secret, new)] == [True, True]
    assert [signed_by(each, after) for each in (new, newest)] == [False, True]


def test_webhooks_are_not_in_the_smallest_plan(mini: httpx.Client) -> None:
    wanted = {"url": "https://hooks.example.com", "events": [UNRAISED]}
    for answer in (mini.get("/webhooks"), mini.post("/webhooks", json=wanted)):
        envelope = refused(answer, 402, "feature_not_in_plan")
        assert envelope["error"]["feature"] == "webhooks.enabled"


def test_a_tenants_webhooks_are_its_own(
    acme: httpx.Client, importer: httpx.Client, run: str
) -> None:
    changed = "product.updated"
    product = data(acme.post("/products", json={"item_code": run, "name": "Drum"}), 201)
    with (
        listening() as ours,
        listening() as theirs,
        subscribed(acme, ours.url, changed) as first,
        subscribed(acme, ours.url, changed) as second,
        subscribed(importer, theirs.url, changed) as other,
    ):
        data(acme.patch(f"/products/{product['id']}", json={"name": "Private"}))
        # Each tenant counts its own subscriptions, so one of ours may have the number of theirs.
        mine = second if first.id == other.id else first
        event = eventually(
            lambda: next(iter(walk(acme, f"{mine.path}/deliveries")), None), "a delivery"
        )["id"]
        mine.ended(event)
        eventually(lambda: _of(ours, product) or None, "the event")
        other.ended(other.test())  # by now, what came before it has come
        assert {one.event["tenant"] for one in theirs.arrivals} == {IMPORTER}
        for answer in (
            importer.get(mine.path),
            importer.patch(mine.path, json={"is_active": False}),
            importer.delete(mine.path),
            importer.post(f"{mine.path}/test"),
            importer.post(f"{mine.path}/rotate-secret"),
            importer.get(f"{mine.path}/deliveries"),
            importer.get(f"{mine.path}/deliveries/{event}"),
            importer.post(f"{mine.path}/deliveries/{event}/redeliver"),
        ):
            assert answer.status_code in {404, 410}, answer.text
        refused(importer.get(f"{other.path}/deliveries/{event}"), 404, "not_found")
        assert mine.show()["is_active"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://hooks.example.com/", "must begin with https://"),
        ("http://127.0.0.1:8787", "must begin with https://"),
        ("ftp://hooks.example.com/", "must begin with https://"),
        ("https://169.254.169.254/latest/meta-data", "not an IP address"),
        ("https://2130706433/", "not an IP address"),
        ("https://0x7f.1/", "not an IP address"),
        ("https://[::ffff:10.0.0.1]/", "not an IP address"),
        ("https://localhost:8443/", "a host of the public internet"),
        ("https://hooks.example.com:22/", "must use port 443 or 8443"),
        ("https://user:pw@hooks.example.com/", "a user name or password"),
        ("https://hooks.example.com/#top", "a fragment"),
        ("https://nobody.invalid/", "does not resolve"),
    ],
)
def test_addresses_that_are_refused(beta: httpx.Client, url: str, reason: str) -> None:
    answer = beta.post("/webhooks", json={"url": url, "events": [UNRAISED]})
    assert fields(answer) == ["url"]
    assert reason in answer.json()["errors"][0]["message"]


def test_all_that_is_wrong_is_told_at_once(beta: httpx.Client) -> None:
    wrong = {"url": "https://10.0.0.1", "events": [UNRAISED, "truck.washed"], "secret": "short"}
    assert fields(beta.post("/webhooks", json=wrong)) == ["url", "events.1", "secret"]
    empty = {"url": "http://localhost:1", "events": []}
    assert fields(beta.post("/webhooks", json=empty)) == ["events"]

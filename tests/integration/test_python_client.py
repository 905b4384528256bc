"""The Python client retries requests without losing or repeating writes."""

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from stowage_client import Stowage, StowageError
from stowage_client.client import ATTEMPTS, LONGEST_WAIT

from operations import api_clients
from tests.clock import Clock
from tests.faults import AwsFaults, Fault, Killed, kill_after, kill_before, lose_answer
from tests.gateway import Gateway
from tests.stack import ADDRESS, Stack

type InjectedFault = Callable[[httpx.Request], httpx.Response | None]

ORDER = {
    "external_ref": "PO-1",
    "type": "purchase_order",
    "doc_date": "2026-03-01",
    "partner_code": "V-1",
    "warehouse_code": "YARD",
    "lines": [{"item_code": "BRICK", "qty": 100, "external_ref": "10"}],
}


class FaultyTransport(httpx.BaseTransport):
    """Transport to the gateway that records requests and injects faults.

    For each request it calls the next function of `before`, which may answer or raise instead of
    the service, and after the request was processed the next function of `after`.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.sent: list[httpx.Request] = []
        self.before: list[InjectedFault] = []
        self.after: list[InjectedFault] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if self.before and (instead := self.before.pop(0)(request)):
            return instead
        answer = self.answer(request)
        if self.after and (instead := self.after.pop(0)(request)):
            return instead
        return answer

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Return the answer of the service."""
        path = request.url.raw_path.decode().removeprefix("/api")
        try:
            answer = self._gateway.request(
                request.method, path, headers=dict(request.headers), body=request.read()
            )
        except Killed as death:
            raise httpx.ReadTimeout("no answer", request=request) from death
        return httpx.Response(answer.status, headers=answer.headers, text=answer.text)

    def tokens_asked(self) -> int:
        return sum(request.url.path.endswith("/oauth/token") for request in self.sent)

    def keys(self) -> list[str]:
        """Return the Idempotency-Keys of the orders sent, in order."""
        return [
            request.headers["Idempotency-Key"]
            for request in self.sent
            if request.url.path.endswith("-documents") and request.method == "POST"
        ]


def respond_with(status: int, code: str = "x", **headers: str) -> InjectedFault:
    """Return a fault that answers with an error instead of the service."""
    body = {"error": {"code": code, "message": code}, "errors": [], "message": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx.Response(status, json=body, headers=named)


def break_with(error: type[httpx.TransportError]) -> InjectedFault:
    """Return a fault that breaks the connection."""

    def disturb(request: httpx.Request) -> httpx.Response:
        raise error("broken", request=request)

    return disturb


@pytest.fixture
def transport(stack: Stack) -> FaultyTransport:
    return FaultyTransport(stack.gateway)


@pytest.fixture
def waits() -> list[float]:
    """The seconds of each wait of the client."""
    return []


@pytest.fixture
def stowage(transport: FaultyTransport, clock: Clock, waits: list[float]) -> Stowage:
    """The client of acme's ERP with a token; a warehouse and a product exist."""

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.advance(seconds)

    who = api_clients.create_client("acme", "ERP")
    http = httpx.Client(transport=transport)
    made = Stowage(ADDRESS, *who, http=http, sleep=sleep, clock=clock.monotonic)
    made.post("/warehouses", {"whs_code": "YARD", "name": "Yard"})
    made.post("/products", {"item_code": "BRICK", "name": "Brick"})
    return made


def documents(stowage: Stowage) -> list[dict[str, Any]]:
    return list(stowage.each("/entry-documents"))


def test_order_with_a_lost_response_is_created_once(
    stowage: Stowage, transport: FaultyTransport, waits: list[float]
) -> None:
    transport.after = [break_with(httpx.ReadTimeout), break_with(httpx.RemoteProtocolError)]
    made = stowage.post("/entry-documents", ORDER)

    assert [shown["id"] for shown in documents(stowage)] == [made["id"]]
    assert len(transport.keys()) == 3
    assert len(set(transport.keys())) == 1
    assert 0.5 <= waits[0] <= 1 <= waits[1] <= 2


def test_key_of_the_caller_is_sent(stowage: Stowage, transport: FaultyTransport) -> None:
    transport.before = [break_with(httpx.ConnectError)]
    first = stowage.post("/entry-documents", ORDER, key="po-1")

    assert stowage.post("/entry-documents", ORDER, key="po-1") == first
    assert transport.keys() == ["po-1"] * 3
    assert transport.sent[-1].headers["Accept"] == "application/json"


@pytest.mark.parametrize("fault", [kill_before, kill_after, lose_answer])
def test_order_is_created_once_after_a_fault_at_any_call(
    fault: Callable[[int], Fault],
    stowage: Stowage,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The shortest possible waits must be longer than the claim of the failed request.
    monkeypatch.setattr("random.uniform", min)
    for at in itertools.count():
        order = ORDER | {"external_ref": f"PO-{at}"}
        with aws_faults.faulty(fault(at)), aws_faults.recorded() as recording:
            made = stowage.post("/entry-documents", order)
        assert made["external_ref"] == f"PO-{at}"
        if len(recording.calls) <= at:  # There was no call number `at`.
            break

    assert at > 3
    references = [shown["external_ref"] for shown in documents(stowage)]
    assert sorted(references) == sorted(f"PO-{number}" for number in range(at + 1))


def test_refused_token_is_replaced_once(stowage: Stowage, transport: FaultyTransport) -> None:
    before = transport.tokens_asked()
    transport.before = [respond_with(401, "unauthenticated")]
    stowage.post("/entry-documents", ORDER)
    assert transport.tokens_asked() == before + 1
    assert len(set(transport.keys())) == 1

    always = respond_with(401, "unauthenticated")
    transport.before = [always, lambda _: None, always]
    with pytest.raises(StowageError, match="401 unauthenticated"):
        stowage.get("/products")
    assert transport.tokens_asked() == before + 2


def test_token_is_replaced_one_minute_before_it_expires(
    stowage: Stowage, transport: FaultyTransport, clock: Clock
) -> None:
    stowage.get("/products")
    assert transport.tokens_asked() == 1
    clock.advance(3500)
    stowage.get("/products")
    assert transport.tokens_asked() == 1
    clock.advance(50)
    stowage.get("/products")
    assert transport.tokens_asked() == 2


def test_threads_share_one_token() -> None:
    started, granted = threading.Barrier(8), list[str]()

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/oauth/token"):
            granted.append(f"token-{len(granted)}")
            time.sleep(0.05)  # so that threads without a lock would meet
            return httpx.Response(200, json={"access_token": granted[-1], "expires_in": 3600})
        return httpx.Response(200, json={"data": request.headers["Authorization"]})

    shared = Stowage(ADDRESS, "erp", "x", http=httpx.Client(transport=httpx.MockTransport(answer)))

    def read(_: int) -> str:
        started.wait()
        token: str = shared.get("/products")
        return token

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(read, range(8))} == {"Bearer token-0"}
    assert granted == ["token-0"]


def test_wrong_secret_raises_the_oauth_error(transport: FaultyTransport) -> None:
    client_id, _ = api_clients.create_client("acme", "shop")
    stranger = Stowage(ADDRESS, client_id, "guessed", http=httpx.Client(transport=transport))
    with pytest.raises(StowageError) as refusal:
        stranger.get("/products")
    assert (refusal.value.status, refusal.value.code) == (401, "invalid_client")
    assert refusal.value.request_id
    assert "guessed" not in repr(stranger)


@pytest.mark.parametrize(
    "busy",
    [
        respond_with(429, "rate_limited", Retry_After="7"),
        respond_with(503, "service_unavailable", Retry_After="7"),
        respond_with(409, "duplicate_in_flight", Retry_After="7"),
    ],
)
def test_client_waits_at_least_the_seconds_of_retry_after(
    busy: InjectedFault, stowage: Stowage, transport: FaultyTransport, waits: list[float]
) -> None:
    transport.before = [busy, busy]
    stowage.post("/entry-documents", ORDER)

    assert len(waits) == 2
    assert all(7 <= seconds <= 7 + 2 for seconds in waits)
    assert len(set(transport.keys())) == 1


@pytest.mark.parametrize(
    ("advice", "longest"),
    [("86400", LONGEST_WAIT), ("Wed, 21 Oct 2026 07:28:00 GMT", 1), ("-5", 1), ("²", 1)],
)
def test_wait_for_retry_after_is_limited(
    advice: str, longest: float, stowage: Stowage, transport: FaultyTransport, waits: list[float]
) -> None:
    headers = [(b"Retry-After", advice.encode())]
    transport.before = [lambda _: httpx.Response(503, text="busy", headers=headers)]
    stowage.get("/products")

    assert len(waits) == 1
    assert 0.5 <= waits[0] <= longest


def test_client_raises_after_the_last_attempt(
    stowage: Stowage, transport: FaultyTransport, waits: list[float]
) -> None:
    transport.before = [lambda _: httpx.Response(502, text="<html>")] * ATTEMPTS
    with pytest.raises(StowageError) as refusal:
        stowage.get("/products")
    assert (refusal.value.status, refusal.value.code) == (502, "http_502")
    assert len(waits) == ATTEMPTS - 1
    assert sum(waits) >= 31

    transport.before = [break_with(httpx.ConnectTimeout)] * ATTEMPTS
    with pytest.raises(httpx.ConnectTimeout):
        stowage.get("/products")


def test_error_response_is_raised_immediately_with_every_problem(
    stowage: Stowage, waits: list[float]
) -> None:
    with pytest.raises(StowageError) as refusal:
        stowage.post("/entry-documents", ORDER | {"doc_date": "2026-02-30", "partner_code": 7})

    assert (refusal.value.status, refusal.value.code) == (422, "validation_failed")
    assert refusal.value.problems.keys() == {"doc_date", "partner_code"}
    assert all(refusal.value.problems.values())
    assert refusal.value.request_id == refusal.value.answer.headers["X-Request-Id"]
    assert waits == []


def test_patch_with_an_outdated_etag_is_refused(stowage: Stowage, waits: list[float]) -> None:
    seen = stowage.send("GET", "/products/1")
    tag = seen.headers["ETag"]
    assert stowage.send("GET", "/products/1", headers={"If-None-Match": tag}).status_code == 304

    assert stowage.patch("/products/1", {"name": "Brick, red"}, etag=tag)["name"] == "Brick, red"
    with pytest.raises(StowageError, match="stale_state"):
        stowage.patch("/products/1", {"name": "Brick, blue"}, etag=tag)
    assert stowage.get("/products/1")["name"] == "Brick, red"
    assert waits == []


def test_each_yields_all_pages_of_a_list(stowage: Stowage, transport: FaultyTransport) -> None:
    for number in range(5):
        stowage.post("/products", {"item_code": f"B-{number}", "name": "Board & batten"})
    transport.sent.clear()

    rows = stowage.each("/products", per_page=2, search="& b", sort="-item_code")
    assert [row["item_code"] for row in rows] == ["B-4", "B-3", "B-2", "B-1", "B-0"]
    assert len(transport.sent) == 3

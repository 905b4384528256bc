"""The example client on the deployed stack: tokens, retries, pages and synchronization."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.stowage_client import Stowage, StowageError
from examples.sync_orders import sync
from tests.clock import ManualClock
from tests.e2e.conftest import TIMEOUT, Deployed
from tests.subprocesses import python


class RecordingTransport(httpx.BaseTransport):
    """A transport that records requests and responses, and that can lose the next responses."""

    def __init__(self) -> None:
        self._wire = httpx.HTTPTransport()
        self.exchanged: list[tuple[httpx.Request, httpx.Response]] = []
        self.lost = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._wire.handle_request(request)
        answer.read()
        self.exchanged.append((request, answer))
        if self.lost:
            self.lost -= 1
            raise httpx.ReadTimeout("the response is lost", request=request)
        return answer

    def close(self) -> None:
        self._wire.close()

    def sent_to(self, end: str) -> list[tuple[httpx.Request, httpx.Response]]:
        """Return the requests to paths with this suffix, and their responses."""
        return [each for each in self.exchanged if each[0].url.path.endswith(end)]


@pytest.fixture
def transport() -> RecordingTransport:
    return RecordingTransport()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def stowage(
    stack: Deployed, transport: RecordingTransport, clock: ManualClock
) -> Iterator[Stowage]:
    """The example client of acme, without delays between attempts."""
    acme = stack.tenants["acme"]
    with httpx.Client(transport=transport, timeout=TIMEOUT) as http:
        yield Stowage(
            acme.base_url,
            acme.client_id,
            acme.client_secret,
            http=http,
            sleep=lambda _: None,
            clock=clock,
        )


def order(reference: str) -> dict[str, Any]:
    """Return a purchase order for the central warehouse of the sample."""
    return {
        "external_ref": reference,
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "P20001",
        "warehouse_code": "CEN",
        "lines": [{"item_code": "CAB-TE-2R5-100", "qty": 12}],
    }


def test_token_is_reused_until_shortly_before_it_expires(
    stowage: Stowage, transport: RecordingTransport, clock: ManualClock
) -> None:
    for _ in range(3):
        stowage.get("/warehouses")
    assert len(transport.sent_to("/oauth/token")) == 1

    clock.now += 3600 - 59
    stowage.get("/warehouses")
    assert len(transport.sent_to("/oauth/token")) == 2
    assert [answer.status_code for _, answer in transport.sent_to("/warehouses")] == [200] * 4


def test_refused_token_is_replaced_and_the_request_repeated(
    stowage: Stowage, transport: RecordingTransport
) -> None:
    stowage.get("/warehouses")
    stowage._bearer = "Bearer spoilt"
    stowage.get("/warehouses")
    assert [answer.status_code for _, answer in transport.sent_to("/warehouses")] == [200, 401, 200]


def test_wrong_credentials_raise(stack: Deployed) -> None:
    acme = stack.tenants["acme"]
    with httpx.Client(timeout=TIMEOUT) as http:
        stranger = Stowage(acme.base_url, acme.client_id, "wrong", http=http)
        with pytest.raises(StowageError) as refusal:
            stranger.get("/warehouses")
    assert (refusal.value.status, refusal.value.code) == (401, "invalid_client")


def test_order_with_a_lost_response_is_created_once(
    stowage: Stowage, transport: RecordingTransport, run: str
) -> None:
    stowage.get("/warehouses")
    transport.lost = 2
    made = stowage.post("/entry-documents", order(f"PO-{run}"))

    attempts = transport.sent_to("/entry-documents")
    assert [answer.status_code for _, answer in attempts] == [201, 201, 201]
    assert len({request.headers["Idempotency-Key"] for request, _ in attempts}) == 1
    replayed = [answer.headers.get("Idempotent-Replayed") for _, answer in attempts]
    assert replayed == [None, "true", "true"]
    assert [row["id"] for row in stowage.each("/entry-documents", external_ref=f"PO-{run}")] == [
        made["id"]
    ]


def test_own_idempotency_key_works_across_runs(stowage: Stowage, stack: Deployed, run: str) -> None:
    provider = {"name": f"Supplier {run}"}
    first = stowage.post("/providers", provider, key=f"provider-{run}")
    acme = stack.tenants["acme"]
    with httpx.Client(timeout=TIMEOUT) as http:
        restarted = Stowage(acme.base_url, acme.client_id, acme.client_secret, http=http)
        assert restarted.post("/providers", provider, key=f"provider-{run}") == first
        with pytest.raises(StowageError) as refusal:
            restarted.post("/providers", {"name": "Another"}, key=f"provider-{run}")
    assert refusal.value.code == "idempotency_key_reused"
    assert len(list(stowage.each("/providers", search=run))) == 1


def test_list_is_read_by_page(stowage: Stowage, transport: RecordingTransport, run: str) -> None:
    made = [stowage.post("/providers", {"name": f"{run} {n}"})["id"] for n in range(5)]
    transport.exchanged.clear()
    walked = [row["id"] for row in stowage.each("/providers", search=run, per_page=2, sort="id")]
    assert walked == made
    assert len(transport.sent_to("/providers")) == 3


def test_sync_receives_new_and_changed_orders(
    stowage: Stowage, transport: RecordingTransport, run: str, tmp_path: Path
) -> None:
    state, known = tmp_path / "orders.state", dict[int, dict[str, Any]]()

    def take(document: dict[str, Any]) -> None:
        known[document["id"]] = document | {"differences": []}  # which only the detail has

    old = stowage.post("/entry-documents", order(f"OLD-{run}"))
    sync(stowage, state, take)
    assert known[old["id"]] == old

    new = stowage.post("/entry-documents", order(f"NEW-{run}"))
    closed = stowage.post(f"/entry-documents/{old['id']}/close")
    known.clear()
    transport.exchanged.clear()
    sync(stowage, state, take)
    assert known[new["id"]] == new
    assert known[old["id"]] == closed
    _newest, *pages = transport.sent_to("/entry-documents")
    assert all("updated_since" in request.url.params for request, _ in pages)


def test_the_sync_program_reports_missing_settings_and_errors_in_one_sentence(
    stack: Deployed, tmp_path: Path
) -> None:
    with python("-m", "examples.sync_orders", STOWAGE_CLIENT_ID="nobody") as running:
        assert running.communicate(timeout=120) == (
            "", "Set STOWAGE_URL, STOWAGE_CLIENT_SECRET.\n"
        )  # fmt: skip
    settings = {"STOWAGE_CLIENT_ID": "nobody", "STOWAGE_CLIENT_SECRET": "x"}
    arguments = ("-m", "examples.sync_orders", str(tmp_path / "state"))
    with python(*arguments, STOWAGE_URL=stack.base_url, **settings) as running:
        printed, errors = running.communicate(timeout=120)
    assert (printed, running.returncode) == ("", 1)
    assert errors.startswith(f"{stack.base_url}: 401 invalid_client: ")
    assert errors.count("\n") == 1

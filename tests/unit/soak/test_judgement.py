"""The judgement of a soak run: what it calls lost, doubled or unexplained."""

import random
import time
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.soak.__main__ import Run
from tests.soak.caller import Caller, Company
from tests.soak.journal import Journal, Stock
from tests.soak.request_log import RequestLog


@pytest.fixture
def journal() -> Journal:
    return Journal("acme", RequestLog())


def _rows(*codes: str) -> list[dict[str, Any]]:
    return [{"id": number, "item_code": code} for number, code in enumerate(codes, 1)]


def test_acknowledged_and_unacknowledged_rows_that_exist_once_are_no_finding(
    journal: Journal,
) -> None:
    journal.add("/products", "A", {"id": 1})
    journal.add("/products", "B", None)
    journal.add("/products", "C", None)
    journal.check_rows("/products", _rows("A", "B", "of another run"))
    assert journal.log.findings == []


@pytest.mark.parametrize(
    ("data", "rows", "finding"),
    [
        ({"id": 1}, _rows(), "LOST"),
        ({"id": 7}, _rows("A"), "LOST"),
        ({"id": 1}, _rows("A", "A"), "DOUBLED"),
        (None, _rows("A", "A"), "DOUBLED"),
    ],
)
def test_lost_and_doubled_rows_are_findings(
    journal: Journal, data: Any, rows: list[dict[str, Any]], finding: str
) -> None:
    journal.add("/products", "A", data)
    journal.check_rows("/products", rows)
    (found,) = journal.log.findings
    assert finding in found


def test_stock_may_have_any_of_the_unacknowledged_changes() -> None:
    stock = Stock(Decimal(5), [Decimal(2), Decimal(-1)])
    assert stock.possible() == {Decimal(5), Decimal(7), Decimal(4), Decimal(6)}


@pytest.mark.parametrize(
    ("statuses", "kills", "findings"),
    [
        ([503, 502], [0, 0], 0),
        ([503, 503], [0], 1),
        ([503], [-90], 1),
        ([503], [90], 1),
        ([500], [0, 0], 1),
        ([404, 422], [], 0),
    ],
)
def test_each_kill_during_a_request_explains_one_server_error_but_no_500(
    statuses: list[int], kills: list[int], findings: int
) -> None:
    run = Run(1, 1)
    began = time.monotonic()
    for status in statuses:
        run.log.answered("GET /products", status, "x", began)
    run.killer.times = [began + seconds for seconds in kills]
    run.killer.killed["WorkFunction"] = len(kills)
    run._judge_server_errors()
    assert len(run.log.findings) == findings


def _caller(answer: httpx.MockTransport, seed: int = 1) -> Caller:
    company = Company("acme", "https://api.test/api/v1", {"grant_type": "client_credentials"})
    rng = random.Random(seed)  # noqa: S311 - not security
    return Caller(company, RequestLog(), rng, httpx.Client(transport=answer))


def test_second_effect_of_a_repeated_request_is_a_finding() -> None:
    numbers = iter(range(100))

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/token"):
            return httpx.Response(200, json={"access_token": "t"})
        return httpx.Response(201, json={"data": {"id": next(numbers)}})

    caller = _caller(httpx.MockTransport(respond))
    for _ in range(40):
        caller.write("POST", "/products", {})
    assert len(caller.log.findings) == caller.log.twice + caller.log.repeated > 0

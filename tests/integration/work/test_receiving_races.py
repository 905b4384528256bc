"""Several people receive at the same instant; and how often one of them waits."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.dock import Dock
from tests.faults import Wire
from tests.gateway import Response
from tests.integration.census import assert_totals_are_true, take_census
from tests.stack import Stack
from tests.stock_proof import prove


def at_once(*calls: Callable[[], Response]) -> list[Response]:
    """Make all calls at the same instant."""
    barrier = Barrier(len(calls))

    def worker(call: Callable[[], Response]) -> Response:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as workers:
        return list(workers.map(worker, calls))


@pytest.fixture
def slow_wire(dock: Dock, wire: Wire) -> Wire:
    """Each AWS call lasts, so that the requests really meet."""
    assert dock
    wire.latency = 0.01
    return wire


@pytest.mark.usefixtures("slow_wire")
def test_two_receipts_of_one_line_share_what_was_ordered(dock: Dock, stack: Stack) -> None:
    order = dock.order({"qty": 10})
    receipts = [dock.started(order) for _ in range(2)]

    def receiving(number: int) -> Callable[[], Response]:
        return lambda: dock.receive(number, 2)

    answers = at_once(*(receiving(number) for number in receipts * 4))

    assert Counter(answer.status for answer in answers) == {200: 5, 409: 3}
    assert {one.code for one in answers if one.status == 409} == {"approval_required"}
    assert dock.progress(order) == [(10, 0, "complete")]
    assert dock.stock() == [("BRICK", "A-01", 10)]
    assert sum(line["qty"] for one in receipts for line in dock.shown(one)["lines"]) == 10
    prove(stack.store())
    assert_totals_are_true(stack, take_census(stack))


@pytest.mark.usefixtures("slow_wire")
def test_a_serial_is_received_once(dock: Dock, stack: Stack) -> None:
    orders = [dock.order({"item_code": "DRILL", "qty": 2}) for _ in range(2)]
    receipts = [dock.started(order) for order in orders for _ in range(2)]

    def receiving(number: int) -> Callable[[], Response]:
        return lambda: dock.receive(number, 1, item_code="DRILL", serials=["S-1"])

    answers = at_once(*(receiving(number) for number in receipts))

    assert Counter(answer.status for answer in answers) == {200: 1, 422: 3}
    refused = {one.json()["error"]["field"] for one in answers if one.status == 422}
    assert refused == {"serials.0"}
    assert dock.stock() == [("DRILL", "A-01", 1)]
    prove(stack.store())


@pytest.mark.usefixtures("slow_wire")
def test_who_cancels_puts_back_all_that_came_or_is_refused(dock: Dock, stack: Stack) -> None:
    order = dock.order({"qty": 10})
    number = dock.started(order)
    dock.receive(number, 4)

    answers = at_once(
        lambda: dock.act(number, "cancel"),
        lambda: dock.receive(number, 1),
        lambda: dock.act(number, "finalize"),
        lambda: dock.receive(number, 2),
    )

    cancelled, *_ = answers
    status = dock.shown(number)["status"]
    assert status == ("cancelled" if cancelled.status == 200 else "finalized")
    assert {one.status for one in answers} <= {200, 409}
    kept = sum(row[2] for row in dock.stock())
    assert kept == dock.progress(order)[0][0]
    assert kept == (
        0 if status == "cancelled" else sum(x["qty"] for x in dock.shown(number)["lines"])
    )
    prove(stack.store())


@pytest.mark.usefixtures("slow_wire")
def test_a_position_is_deleted_or_receives(dock: Dock, stack: Stack) -> None:
    number = dock.started(dock.order({"qty": 10}))
    [position] = dock.erp.get(
        "/warehouse-positions", query={"bin_code": "B-01", "warehouse": "YARD"}
    ).data[:1]

    deleted, received = at_once(
        lambda: dock.erp.delete(f"/warehouse-positions/{position['id']}"),
        lambda: dock.receive(number, 1, bin_code="B-01"),
    )

    assert (deleted.status, received.status) in {(200, 422), (409, 200)}
    prove(stack.store())


@pytest.mark.parametrize("known", [False, True])
def test_a_line_waits_five_times(dock: Dock, wire: Wire, known: bool) -> None:  # noqa: FBT001
    """The receipt, master data and document, rows by code, rows and levels, the commit."""
    number = dock.started(dock.order({"qty": 10}, {"item_code": "DRILL", "qty": 30}))
    if known:
        dock.receive(number, 1)
    bricks = {"item_code": "BRICK", "qty": 2, "bin_code": "A-01"}
    serials = [f"S-{each}" for each in range(25)]
    drills = {"item_code": "DRILL", "qty": 25, "bin_code": "A-01", "serials": serials}
    path = f"/receipts/{number}/lines"

    for body in (bricks, drills):
        with wire.recorded() as seen:
            assert dock.erp.post(path, body).status == 200
        assert seen.round_trips == 5, seen.operations
    del bricks["bin_code"]
    with wire.recorded() as seen:
        assert dock.erp.post(path, bricks, key="l-1").status == 200
    assert seen.round_trips == 7, "one more to claim the key, one to find the destination"


def test_how_often_the_other_work_waits(dock: Dock, wire: Wire) -> None:
    order = dock.order({"qty": 10})
    waits: dict[str, int] = {}
    number = dock.receipt(order)
    with wire.recorded() as seen:
        dock.receipt(order)
    waits["create"] = seen.round_trips
    for action in ("start", "finalize", "synchronize", "revert"):
        if action == "finalize":
            dock.receive(number, 5)
        with wire.recorded() as seen:
            assert dock.act(number, action).status == 200
        waits[action] = seen.round_trips

    assert waits == {"create": 2, "start": 2, "finalize": 3, "synchronize": 2, "revert": 5}

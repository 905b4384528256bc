"""Concurrent receipts, and the round trips of each action."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants


@pytest.fixture
def slow_aws_calls(receiving_scenario: ReceivingScenario, aws_faults: AwsFaults) -> AwsFaults:
    """Delay each AWS call, so that concurrent requests overlap."""
    assert receiving_scenario
    aws_faults.latency = 0.01
    return aws_faults


@pytest.mark.usefixtures("slow_aws_calls")
def test_two_receipts_of_one_line_share_the_ordered_quantity(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order({"qty": 10})
    receipts = [receiving_scenario.started(order) for _ in range(2)]

    def receiving(number: int) -> Callable[[], Response]:
        return lambda: receiving_scenario.receive(number, 2)

    answers = at_once(*(receiving(number) for number in receipts * 4))

    assert Counter(answer.status for answer in answers) == {200: 5, 409: 3}
    assert {one.code for one in answers if one.status == 409} == {"approval_required"}
    assert receiving_scenario.progress(order) == [(10, 0, "complete")]
    assert receiving_scenario.stock() == [("BRICK", "A-01", 10)]
    assert (
        sum(line["qty"] for one in receipts for line in receiving_scenario.shown(one)["lines"])
        == 10
    )
    assert_invariants(stack.store())
    assert_counters_match(stack, read_stored_entities(stack))


@pytest.mark.usefixtures("slow_aws_calls")
def test_serial_is_received_once(receiving_scenario: ReceivingScenario, stack: Stack) -> None:
    orders = [receiving_scenario.order({"item_code": "DRILL", "qty": 2}) for _ in range(2)]
    receipts = [receiving_scenario.started(order) for order in orders for _ in range(2)]

    def receiving(number: int) -> Callable[[], Response]:
        return lambda: receiving_scenario.receive(number, 1, item_code="DRILL", serials=["S-1"])

    answers = at_once(*(receiving(number) for number in receipts))

    assert Counter(answer.status for answer in answers) == {200: 1, 422: 3}
    refused = {one.json()["error"]["field"] for one in answers if one.status == 422}
    assert refused == {"serials.0"}
    assert receiving_scenario.stock() == [("DRILL", "A-01", 1)]
    assert_invariants(stack.store())


@pytest.mark.usefixtures("slow_aws_calls")
def test_cancelling_while_receiving_undoes_everything_or_is_refused(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    order = receiving_scenario.order({"qty": 10})
    number = receiving_scenario.started(order)
    receiving_scenario.receive(number, 4)

    answers = at_once(
        lambda: receiving_scenario.act(number, "cancel"),
        lambda: receiving_scenario.receive(number, 1),
        lambda: receiving_scenario.act(number, "finalize"),
        lambda: receiving_scenario.receive(number, 2),
    )

    cancelled, *_ = answers
    status = receiving_scenario.shown(number)["status"]
    assert status == ("cancelled" if cancelled.status == 200 else "finalized")
    assert {one.status for one in answers} <= {200, 409}
    kept = sum(row[2] for row in receiving_scenario.stock())
    assert kept == receiving_scenario.progress(order)[0][0]
    assert kept == (
        0
        if status == "cancelled"
        else sum(x["qty"] for x in receiving_scenario.shown(number)["lines"])
    )
    assert_invariants(stack.store())


@pytest.mark.usefixtures("slow_aws_calls")
def test_position_is_either_deleted_or_receives_goods(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"qty": 10}))
    [position] = receiving_scenario.erp.get(
        "/warehouse-positions", query={"bin_code": "B-01", "warehouse": "YARD"}
    ).data[:1]

    deleted, received = at_once(
        lambda: receiving_scenario.erp.delete(f"/warehouse-positions/{position['id']}"),
        lambda: receiving_scenario.receive(number, 1, bin_code="B-01"),
    )

    assert (deleted.status, received.status) in {(200, 422), (409, 200)}
    assert_invariants(stack.store())


@pytest.mark.parametrize("known", [False, True])
def test_receiving_a_line_takes_five_round_trips(
    receiving_scenario: ReceivingScenario,
    aws_faults: AwsFaults,
    known: bool,  # noqa: FBT001
) -> None:
    """Round trips: the receipt, master data and document, row aliases, rows and levels, commit."""
    number = receiving_scenario.started(
        receiving_scenario.order({"qty": 10}, {"item_code": "DRILL", "qty": 30})
    )
    if known:
        receiving_scenario.receive(number, 1)
    bricks = {"item_code": "BRICK", "qty": 2, "bin_code": "A-01"}
    serials = [f"S-{each}" for each in range(20)]
    drills = {"item_code": "DRILL", "qty": 20, "bin_code": "A-01", "serials": serials}
    path = f"/receipts/{number}/lines"

    for body in (bricks, drills):
        with aws_faults.recorded() as seen:
            assert receiving_scenario.erp.post(path, body).status == 200
        assert seen.round_trips == 5, seen.operations
    del bricks["bin_code"]
    with aws_faults.recorded() as seen:
        assert receiving_scenario.erp.post(path, bricks, key="l-1").status == 200
    assert seen.round_trips == 7, "one more to claim the key, one to find the destination"


def test_round_trips_of_other_receipt_actions(
    receiving_scenario: ReceivingScenario, aws_faults: AwsFaults
) -> None:
    order = receiving_scenario.order({"qty": 10})
    waits: dict[str, int] = {}
    number = receiving_scenario.receipt(order)
    with aws_faults.recorded() as seen:
        receiving_scenario.receipt(order)
    waits["create"] = seen.round_trips
    for action in ("start", "finalize", "synchronize", "revert"):
        if action == "finalize":
            receiving_scenario.receive(number, 5)
        with aws_faults.recorded() as seen:
            assert receiving_scenario.act(number, action).status == 200
        waits[action] = seen.round_trips

    assert waits == {"create": 2, "start": 2, "finalize": 3, "synchronize": 2, "revert": 5}

"""Concurrent returns, and the round trips of each action."""

from collections import Counter

import pytest

from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants


@pytest.fixture
def slow_aws_calls(scenario: ReturnScenario, aws_faults: AwsFaults) -> AwsFaults:
    """Delay each AWS call, so that concurrent requests overlap."""
    assert scenario
    aws_faults.latency = 0.01
    return aws_faults


@pytest.mark.usefixtures("slow_aws_calls")
def test_twenty_returns_of_one_line_take_what_was_dispatched(
    scenario: ReturnScenario, stack: Stack
) -> None:
    answers = at_once(*([lambda: scenario.draft(("BRICK", 1))] * 20))

    assert Counter(answer.status for answer in answers) == {201: 10, 422: 10}
    assert {answer.code for answer in answers if answer.status == 422} == {"rule_blocked"}
    assert_invariants(stack.store())


@pytest.mark.usefixtures("slow_aws_calls")
def test_serial_is_returned_once(scenario: ReturnScenario, stack: Stack) -> None:
    line = {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}
    answers = at_once(*([lambda: scenario.draft(lines=[line])] * 8))

    assert Counter(answer.status for answer in answers) == {201: 1, 422: 7}
    assert_invariants(stack.store())


@pytest.mark.usefixtures("slow_aws_calls")
def test_arrivals_above_the_announced_quantity_share_what_is_left(
    scenario: ReturnScenario, stack: Stack
) -> None:
    returns = [scenario.expected(("BRICK", 1)) for _ in range(2)]
    answers = at_once(
        *(lambda number=number: scenario.receive(number, {"qty": 2}) for number in returns * 4)
    )

    received = sum(line["received_qty"] for one in returns
                   for line in scenario.shown(one)["lines"])  # fmt: skip
    assert received == 2 * Counter(answer.status for answer in answers)[200]
    assert received in {8, 10}
    assert_invariants(stack.store())


@pytest.mark.usefixtures("slow_aws_calls")
def test_concurrent_returns_with_one_reference_are_one_return(scenario: ReturnScenario) -> None:
    answers = at_once(*([lambda: scenario.draft(("BRICK", 1), external_ref="RMA-1")] * 6))

    assert Counter(answer.status for answer in answers) == {201: 1, 200: 5}
    assert len({answer.data["id"] for answer in answers}) == 1
    assert len(scenario.erp.walk("/returns")) == 1
    other = scenario.draft(("BRICK", 2), external_ref="RMA-1")
    assert (other.status, other.json()["warning"]) == (
        200,
        "Return RMA-1 exists already and was not changed. The request differs in: lines.0.qty.",
    )


@pytest.mark.parametrize("action", ["restock", "quarantine"])
@pytest.mark.usefixtures("slow_aws_calls")
def test_received_goods_are_decided_on_once(
    scenario: ReturnScenario, stack: Stack, action: str
) -> None:
    number = scenario.received({"qty": 3})
    answers = at_once(*([lambda: scenario.decide(number, {"qty": 1, "action": action})] * 6))

    assert Counter(answer.status for answer in answers)[200] == 3
    assert {answer.code for answer in answers if answer.status != 200} <= {
        "validation_failed", "stale_state"
    }  # fmt: skip
    assert scenario.shown(number)["status"] == "dispositioned"
    status = "available" if action == "restock" else "quarantine"
    assert scenario.stock("BRICK") == [("B-01", status, 3)]
    assert_invariants(stack.store())

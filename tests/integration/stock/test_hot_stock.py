"""Requests that compete for one stock row."""

from collections import Counter

from tests.concurrency import run_concurrently
from tests.dynamodb.conflicts import ConflictDetector
from tests.faults import AwsFaults, conflict
from tests.simulated_time import simulated_time
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_REQUESTS = 20


def test_twenty_requests_for_the_last_ten_units_get_exactly_ten(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    body = {
        "item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01",
        "decrease": 1, "reason": "Lost",
    }  # fmt: skip

    def take(number: int) -> int:
        return stack.erp().post("/stock-adjustments", body, key=f"take-{number}").status

    with (
        simulated_time(_REQUESTS) as clock,
        aws_faults.faulty(ConflictDetector(sleep=clock.sleep).fault),
    ):
        aws_faults.latency = 0.01
        statuses = Counter(run_concurrently(_REQUESTS, take))
        aws_faults.latency = 0.0

    assert statuses == {201: 10, 409: 10}
    assert yard.level("BRICK") == (0, 0, 0)
    assert_invariants(stack.store())


def test_second_attempt_of_a_pick_is_one_read_and_one_transaction(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    number = yard.started(yard.order(("BRICK", 5)))
    assert yard.pick(number, "BRICK", 1).status == 200

    with aws_faults.recorded() as once:
        assert yard.pick(number, "BRICK", 1).status == 200
    with aws_faults.recorded() as twice, aws_faults.faulty(conflict()):
        assert yard.pick(number, "BRICK", 1).status == 200

    assert twice.operations[-3:] == ["TransactWriteItems", "BatchGetItem", "TransactWriteItems"]
    assert len(twice.operations) == len(once.operations) + 2
    assert_invariants(stack.store())

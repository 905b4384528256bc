"""The second attempt of a request that competes for a stock row."""

from tests.faults import AwsFaults, conflict
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario


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

"""What the pass over the shares of levels reads, and what it does with changes that are left."""

from operations.verify import shares_pass
from operations.verify.shares_pass import OpenShares
from shared.kernel.clock import Deadline
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.verify.planting import Table
from tests.warehouse_scenario import WarehouseScenario


def test_entities_that_changed_are_read_again_once(
    small_table: Table, clock: Clock, aws_faults: AwsFaults
) -> None:
    """Not all that has changed since the start, for each chunk with suspected drifts."""
    yard = WarehouseScenario(small_table.stack.erp())
    store = small_table.stack.store()
    store.deadline = Deadline(3_600_000)
    shares = OpenShares(store, 1)
    for _ in shares.load():
        pass
    for _ in range(3):
        yard.order(("BRICK", 1))
    clock.advance(shares_pass._COMMIT_MS / 1000 + 1)
    shares.refresh([])
    [level] = shares.of(1).values()
    assert level.sums["committed"] == 3

    clock.advance(1)
    with aws_faults.recorded() as seen:
        shares.refresh([])
    assert "BatchGetItem" not in seen.operations

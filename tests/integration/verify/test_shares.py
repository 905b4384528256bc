"""What the pass over the shares of levels reads, and what it does with changes that are left."""

from decimal import Decimal

from operations.verify import shares_pass
from operations.verify.shares_pass import OpenShares, SharesPass
from shared.kernel.clock import Deadline
from shared.kernel.db.items import without_key
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.stock.level_marks import mark_key, new_mark
from shared.warehouse.stock.level_settling import settle_levels
from shared.warehouse.stock.models import PendingShares
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.verify.changes import (
    BRICK,
    LEVEL,
    YARD,
    allocate_for_a_picking_that_has_ended,
)
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


def test_mark_stays_until_its_changes_are_added(small_table: Table) -> None:
    """Also in a run that continues an interrupted one, which has not read the levels itself."""
    name, place = "0" * 32, (BRICK, YARD)
    pending = [PendingShares(name=name, at_ms=1, committed=Decimal(3))]
    small_table.edit("level", LEVEL, pending=pending)
    mark = new_mark(name, "2026-03-01T00:00:00.000Z", [place])
    small_table.put(mark_key(name), without_key(mark))

    continued = SharesPass(small_table.stack.store(), 0, {name})
    [drift] = continued.look([("mark", name)])[("mark", name)]
    assert (drift.kind, drift.fix) == ("mark.endless", None)

    run_transaction(small_table.stack.store(), lambda tx: settle_levels(tx, [place]))
    [drift] = continued.look([("mark", name)])[("mark", name)]
    assert drift.fix


def test_what_has_ended_has_no_shares(table: Table) -> None:
    """Whether it changed a moment ago, or long before."""
    allocate_for_a_picking_that_has_ended(table)
    shares = OpenShares(table.stack.store(), 1)
    for _ in shares.load():
        pass
    before = shares.of(BRICK)[YARD].sums
    shares._since_ms = shares_pass._COMMIT_MS
    shares.refresh([BRICK])
    assert shares.of(BRICK)[YARD].sums == before

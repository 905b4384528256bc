"""Stock rules: moves, allocations and refusals."""

from decimal import Decimal

import pytest

from shared.kernel.clock import milliseconds_of
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.facets import quantity_text
from shared.kernel.errors import Conflict
from shared.kernel.fields import ZERO
from shared.warehouse.stock.models import StockRefused, StockRow
from shared.warehouse.stock.repository import row_key
from shared.warehouse.stock.rules import (
    MAX_ROW,
    StockChanges,
    stock_count_changes,
)

BEFORE = "2026-03-01T08:00:00.000Z"
NOW = "2026-03-02T09:00:00.000Z"
NOW_MS = milliseconds_of(NOW)


def row(bin_code: str = "A-01", **more: object) -> StockRow:
    """Return a row with five pieces, two of them allocated."""
    stored = StockRow(
        id=7, product_id=1, product_name=None, item_code="BRICK", qty=Decimal(5),
        allocated=Decimal(2), status="in", warehouse_id=1, whs_code="",
        position_id=ord(bin_code[0]), bin_code=bin_code, inventory_status="available",
        received_at=BEFORE, created_at=BEFORE, updated_at=BEFORE,
    )  # fmt: skip
    return stored.model_copy(update=more)


def blank(bin_code: str = "B-01", **more: object) -> StockRow:
    return row(
        bin_code, id=0, qty=Decimal(0), allocated=Decimal(0), status="out", received_at=NOW,
        created_at=NOW, **more,
    )  # fmt: skip


def facts(entity: object, names: str) -> list[object]:
    """Return the attributes with these names, separated by spaces."""
    return [getattr(entity, name) for name in names.split()]


def stock_changes(*rows: StockRow) -> StockChanges:
    """Return changes to the stored `rows`."""
    changes = StockChanges(row_key, NOW)
    changes.add_rows(rows)
    return changes


def test_move_reduces_one_row_and_increases_the_other() -> None:
    changes = stock_changes(row(expiry_date="2030-01-01"))

    came = changes.move("transfer", Decimal(3), source=row(), target=blank())

    assert facts(came, "qty allocated status id") == [3, 0, "in", 0]
    assert facts(came, "received_at expiry_date") == [BEFORE, "2030-01-01"], (
        "the dates move with the stock"
    )
    assert facts(came, "created_at updated_at") == [NOW, NOW]
    left = changes.rows[row_key(row().key)]
    assert facts(left, "qty allocated status updated_at") == [2, 2, "in", NOW]
    [moved] = changes.movements
    assert facts(moved, "type qty") == ["transfer", 3]
    assert facts(moved.origin, "bin_code inventory_status") == ["A-01", "available"]
    assert facts(moved.target, "bin_code inventory_status") == ["B-01", "available"]
    assert {one.id for _, one in changes.changed()} == {0, 7}


def test_empty_row_has_status_out() -> None:
    changes = stock_changes(row(allocated=Decimal(0)))

    changes.move("dispatch", Decimal(5), source=row())

    left = changes.rows[row_key(row().key)]
    assert facts(left, "qty status") == [0, "out"]


def test_merged_stock_keeps_the_earlier_dates() -> None:
    later = "2027-01-01"
    there = row("B-01", id=8, expiry_date=later, received_at=NOW)
    changes = stock_changes(row(expiry_date="2026-12-01"), there)

    came = changes.move("transfer", Decimal(1), source=row(), target=blank())

    assert facts(came, "id qty allocated") == [8, 6, 2]
    assert facts(came, "expiry_date received_at created_at") == ["2026-12-01", BEFORE, BEFORE]


def test_staged_stock_stays_allocated() -> None:
    changes = stock_changes(row())

    staged = changes.move(
        "pick", Decimal(2), source=row(), target=blank("A-01", inventory_status="staged"),
        allocated=True,
    )  # fmt: skip

    assert facts(staged, "qty allocated") == [2, 2]
    left = changes.rows[row_key(row().key)]
    assert facts(left, "qty allocated") == [3, 0]


def test_allocation_and_release_change_the_row() -> None:
    changes = stock_changes(row())

    changes.allocate(row(), Decimal(3))
    assert changes.rows[row_key(row().key)].allocated == 5
    changes.release(row(), Decimal(4))

    left = changes.rows[row_key(row().key)]
    assert facts(left, "qty allocated updated_at") == [5, 1, NOW]
    assert changes.movements == []


def test_more_than_the_available_quantity_is_refused() -> None:
    with pytest.raises(StockRefused, match=r"^3\.5 requested, 3 available of BRICK at A-01$"):
        stock_changes(row()).move("adjustment", Decimal("3.5"), source=row())
    with pytest.raises(StockRefused, match=r"^4 requested, 3 available of BRICK at A-01$"):
        stock_changes(row()).allocate(row(), Decimal(4))
    damaged = row(inventory_status="damaged", allocated=Decimal(0))
    with pytest.raises(StockRefused, match=r"^1 requested, 0 available of BRICK at A-01$"):
        stock_changes(damaged).allocate(damaged, Decimal(1))


def test_allocation_below_the_expected_quantity_is_a_stale_read() -> None:
    with pytest.raises(StaleRead, match="row 7"):
        stock_changes(row()).release(row(), Decimal(3))
    with pytest.raises(StaleRead, match="row 7"):
        stock_changes(row()).move("dispatch", Decimal(3), source=row(), allocated=True)


def test_serial_in_stock_is_refused() -> None:
    there = row(serial_number="S-1", qty=Decimal(1), allocated=Decimal(0))
    with pytest.raises(StockRefused, match=r"^serial S-1 is already in stock at  A-01$"):
        stock_changes(there).move("receipt", Decimal(1), target=blank(serial_number="S-1"))


def test_row_never_exceeds_what_lists_can_sort_by() -> None:
    changes = stock_changes(row(qty=MAX_ROW - 1))

    changes.move("adjustment", Decimal(1), target=row())
    with pytest.raises(Conflict, match=r"would be 999999999999\.000001; the limit is 999999999999"):
        changes.move("adjustment", Decimal("0.000001"), target=row())

    [(_, full)] = changes.changed()
    assert full.qty == MAX_ROW
    assert len(quantity_text(full.qty)) == len(quantity_text(ZERO))


def test_movement_without_origin_and_target_is_refused() -> None:
    with pytest.raises(ValueError, match="origin or a target"):
        stock_changes().move("adjustment", Decimal(1))


def test_stock_counts_follow_the_rows_with_stock() -> None:
    changes = stock_changes(row(allocated=Decimal(0)))
    changes.move("transfer", Decimal(5), source=row(), target=blank())

    assert stock_count_changes(changes.stored, changes.changed()) == {ord("A"): -1, ord("B"): 1}

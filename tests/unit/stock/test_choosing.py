"""The order of allocation: first expired, then pick faces, then first received."""

from decimal import Decimal

from shared.warehouse.stock import service
from shared.warehouse.stock.models import StockRow
from tests.unit.stock.test_rules import row

EARLY, LATE = "2026-03-01T08:00:00.000Z", "2026-03-01T09:00:00.000Z"


def stock_at(number: int, **more: object) -> StockRow:
    """Return a row with three available pieces at position `number`, received early."""
    facts = {"id": number, "position_id": number, "qty": Decimal(3), "allocated": Decimal(0)}
    return row(**{**facts, "received_at": EARLY, **more})  # type: ignore[arg-type]


def allocated_parts(
    rows: list[StockRow], faces: dict[int, bool], qty: int
) -> list[tuple[int, int]]:
    """Return position and quantity of each allocated part."""
    parts = service.choose_rows(rows, faces, Decimal(qty))
    return [(one.position_id or 0, int(part)) for one, part in parts]


def test_pick_face_is_allocated_before_older_stock() -> None:
    rows = [stock_at(1), stock_at(2, received_at=LATE), stock_at(3)]

    assert allocated_parts(rows, {1: False, 2: True, 3: False}, 7) == [(2, 3), (1, 3), (3, 1)]
    assert allocated_parts(rows, {1: False, 2: False, 3: False}, 7) == [(1, 3), (3, 3), (2, 1)]


def test_earlier_expiry_is_allocated_before_a_pick_face() -> None:
    rows = [
        stock_at(1, expiry_date="2030-01-01"),
        stock_at(2, expiry_date="2029-01-01"),
        stock_at(3),
    ]

    assert allocated_parts(rows, {1: True, 2: False, 3: True}, 9) == [(2, 3), (1, 3), (3, 3)]


def test_only_available_unallocated_stock_of_the_warehouse_is_allocated() -> None:
    rows = [stock_at(1), stock_at(2, inventory_status="damaged"), stock_at(3, allocated=Decimal(3))]

    assert allocated_parts(
        [*rows, stock_at(4, allocated=Decimal(2))], {2: True, 3: True, 4: False}, 5
    ) == [(4, 1)]

"""What an allocation chooses: first expired, then pick faces, then first received."""

from decimal import Decimal

from shared.warehouse.stock import service
from shared.warehouse.stock.models import StockRow
from tests.unit.stock.test_rules import row

EARLY, LATE = "2026-03-01T08:00:00.000Z", "2026-03-01T09:00:00.000Z"


def shelf(number: int, **more: object) -> StockRow:
    """Three free at position `number`, received early."""
    facts = {"id": number, "position_id": number, "qty": Decimal(3), "allocated": Decimal(0)}
    return row(**{**facts, "received_at": EARLY, **more})  # type: ignore[arg-type]


def chosen(rows: list[StockRow], faces: dict[int, bool], qty: int) -> list[tuple[int, int]]:
    """Position and quantity of each part."""
    parts = service.choose(rows, faces, Decimal(qty))
    return [(one.position_id or 0, int(part)) for one, part in parts]


def test_a_pick_face_comes_before_what_was_received_earlier() -> None:
    rows = [shelf(1), shelf(2, received_at=LATE), shelf(3)]

    assert chosen(rows, {1: False, 2: True, 3: False}, 7) == [(2, 3), (1, 3), (3, 1)]
    assert chosen(rows, {1: False, 2: False, 3: False}, 7) == [(1, 3), (3, 3), (2, 1)]


def test_what_expires_first_comes_before_a_pick_face() -> None:
    rows = [shelf(1, expiry_date="2030-01-01"), shelf(2, expiry_date="2029-01-01"), shelf(3)]

    assert chosen(rows, {1: True, 2: False, 3: True}, 9) == [(2, 3), (1, 3), (3, 3)]


def test_nothing_is_taken_from_elsewhere_nor_what_is_not_available_or_promised() -> None:
    rows = [shelf(1), shelf(2, inventory_status="damaged"), shelf(3, allocated=Decimal(3))]

    assert chosen([*rows, shelf(4, allocated=Decimal(2))], {2: True, 3: True, 4: False}, 5) == [
        (4, 1)
    ]

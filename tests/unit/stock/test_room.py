"""How much fits at a position."""

from decimal import Decimal
from typing import Any

from shared.kernel.fields import LEAST_QUANTITY, MAX_QUANTITY
from shared.warehouse.catalog.models import Packaging
from shared.warehouse.stock.room import room_for
from shared.warehouse.warehouses.models import StoredPosition
from tests.cases import each_case

_TIME = "2026-03-01T09:30:00.000Z"
_CASE = Packaging(
    weight_kg=Decimal(2), length_mm=Decimal(500), width_mm=Decimal(400), height_mm=Decimal(300)
)
"""0.06 m³."""
_HEAVY = Packaging(weight_kg=Decimal("7.5"))


def _position(**capacities: Any) -> StoredPosition:
    return StoredPosition(
        id=1, warehouse_id=1, whs_code="YARD", bin_code="A-01", created_at=_TIME,
        updated_at=_TIME, **{f"capacity_{name}": value for name, value in capacities.items()},
    )  # fmt: skip


@each_case(
    ("capacities", "contents", "room"),
    [
        ({}, {2: 5}, None),
        ({"units": 20}, {}, 20),
        ({"units": 20}, {1: 5, 2: 3}, 12),
        ({"units": 0}, {}, 0),
        ({"units": 20}, {2: 23}, -3),
        ({"weight_kg": 31}, {2: 2, 3: 100}, 8),
        ({"volume_m3": Decimal("0.3")}, {1: 1, 2: 4}, 4),
        ({"weight_kg": 31, "volume_m3": Decimal("0.3"), "units": 3}, {1: 1}, 2),
        ({"volume_m3": 1}, {}, Decimal("16.666666")),
    ],
)
def test_room_is_that_of_the_smallest_capacity(
    capacities: dict[str, Any], contents: dict[int, int], room: Decimal | None
) -> None:
    packagings = {1: _CASE, 2: _HEAVY, 3: None}
    known = {product: Decimal(qty) for product, qty in contents.items()}
    assert room_for(1, _position(**capacities), known, packagings) == room


def test_goods_without_weight_and_measures_always_fit() -> None:
    position = _position(weight_kg=10, volume_m3=1)
    assert room_for(3, position, {1: Decimal(100)}, {1: _CASE, 3: None}) is None


def test_room_of_the_smallest_goods_is_at_most_the_largest_quantity() -> None:
    side = LEAST_QUANTITY
    tiny = Packaging(length_mm=side, width_mm=side, height_mm=side)
    position = _position(volume_m3=MAX_QUANTITY)
    assert room_for(1, position, {}, {1: tiny}) == MAX_QUANTITY
    huge = Packaging(length_mm=MAX_QUANTITY, width_mm=MAX_QUANTITY, height_mm=MAX_QUANTITY)
    overfull = room_for(1, position, {2: MAX_QUANTITY}, {1: tiny, 2: huge})
    assert overfull == -MAX_QUANTITY

"""Rules of stock levels: sums over rows, and holds."""

from decimal import Decimal

import pytest

from shared.warehouse.stock.level_rules import (
    HoldExpired,
    LevelChange,
    NegativeLevel,
    apply_level_change,
    level_changes,
)
from shared.warehouse.stock.models import StoredLevel
from tests.unit.stock.test_rules import BEFORE, NOW, NOW_MS, facts, row, stock_changes


def test_level_changes_with_its_rows_and_is_never_negative() -> None:
    level = StoredLevel(
        event_id=7, product_id=1, item_code="OLD", whs_code="YARD", created_at=BEFORE,
        updated_at=BEFORE, on_hand=Decimal(5), allocated=Decimal(2),
    )  # fmt: skip
    changes = stock_changes(row())
    changes.move("adjustment", Decimal(3), source=row())
    [difference] = level_changes(changes.stored, changes.changed())

    after = apply_level_change(level, difference, NOW_MS)

    assert facts(after, "on_hand allocated available") == [2, 2, 0]
    assert facts(after, "event_id item_code created_at updated_at") == [7, "BRICK", BEFORE, NOW]
    for by in ({"on_hand": Decimal(-4)}, {"allocated": Decimal(-3)}, {"damaged": Decimal(4)}):
        with pytest.raises(NegativeLevel):
            apply_level_change(level, LevelChange(row(), by), NOW_MS)


def test_level_has_the_holds_that_have_not_expired() -> None:
    three, also_three, two = (NOW_MS + 9, Decimal(3)), (NOW_MS + 9, Decimal("3.0")), (5, Decimal(2))
    level = StoredLevel(
        event_id=7, product_id=1, item_code="OLD", whs_code="YARD", created_at=BEFORE,
        updated_at=BEFORE, on_hand=Decimal(5), holds=[two, three],
    )  # fmt: skip
    assert [level.held_at(one) for one in (4, 5, NOW_MS + 8, NOW_MS + 9)] == [5, 3, 3, 0]
    assert [level.sellable_at(one) for one in (4, 5)] == [0, 2]
    assert level.held_until_ms == NOW_MS + 9

    more, less = LevelChange(row(), holds={three: 1}), LevelChange(row(), holds={also_three: -2})
    both = apply_level_change(level, more, NOW_MS)
    assert both.holds == [three, three]
    assert apply_level_change(both, less, NOW_MS).holds == []
    for gone in (less, LevelChange(row(), holds={(7, Decimal(2)): -1})):
        with pytest.raises(HoldExpired):
            apply_level_change(level, gone, NOW_MS)

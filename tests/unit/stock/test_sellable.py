"""What can be sold of a level at a moment, with holds that expire and changes under way."""

from decimal import Decimal
from typing import Any

from shared.warehouse.stock import level_rules
from shared.warehouse.stock.level_marks import sellable
from shared.warehouse.stock.level_rules import LevelChange
from shared.warehouse.stock.models import LevelPlace, PendingShares, StoredLevel

_EXPIRES = 100


def _pending(name: str, **more: Any) -> PendingShares:
    return PendingShares(name=name, at_ms=0, **more)


def _sellable(now_ms: int, *pending: PendingShares) -> tuple[int, int]:
    level = StoredLevel(
        event_id=1, product_id=1, item_code="BRICK", whs_code="YARD", on_hand=Decimal(10),
        committed=Decimal(2), holds=[(_EXPIRES, Decimal(3))], pending=list(pending),
        created_at="", updated_at="",
    )  # fmt: skip
    states: Any = {"committed": "committed", "aborted": "aborted"}
    most, least = sellable(level, states, lambda one: one.name == "ended", now_ms)
    return int(most), int(least)


def test_hold_counts_until_the_instant_at_which_it_expires() -> None:
    assert [_sellable(at) for at in (_EXPIRES - 1, _EXPIRES)] == [(5, 5), (8, 8)]


def test_changes_under_way_count_for_what_they_would_take() -> None:
    names = ("committed", "aborted", "ended", "open")
    changes = [_pending(name, committed=Decimal(1)) for name in names]
    assert _sellable(_EXPIRES, *changes) == (7, 6)
    assert _sellable(_EXPIRES, _pending("open", committed=Decimal(-1))) == (8, 8)
    held = _pending("open", new_holds=[(_EXPIRES + 1, Decimal(4))])
    assert [_sellable(at, held) for at in (_EXPIRES, _EXPIRES + 1)] == [(8, 4), (8, 8)]


def test_hold_that_becomes_an_order_takes_nothing_more_while_it_holds() -> None:
    used = _pending("open", committed=Decimal(3), ended_holds=[(_EXPIRES, Decimal(3))])
    assert [_sellable(at, used) for at in (_EXPIRES - 1, _EXPIRES)] == [(5, 5), (8, 5)]

    place = LevelPlace(1, 1, "BRICK", "YARD")
    change = LevelChange(place, {"committed": Decimal(3)}, {(_EXPIRES, Decimal(3)): -1})
    assert [level_rules.taken(change, at) for at in (_EXPIRES - 1, _EXPIRES)] == [0, 3]


def test_allocation_of_what_is_ordered_takes_nothing() -> None:
    place = LevelPlace(1, 1, "BRICK", "YARD")
    amounts = {"allocated": Decimal(3), "committed": Decimal(-3)}
    assert level_rules.taken(LevelChange(place, amounts), 0) == 0
    assert level_rules.taken(LevelChange(place, {"on_hand": Decimal(-2)}), 0) == 2

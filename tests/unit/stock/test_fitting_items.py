"""Items that fit into one step: their actions are counted again only where it may matter."""

import random
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.records import Record
from shared.kernel.db.steps import STEP_ACTIONS
from shared.kernel.errors import Conflict
from shared.warehouse.stock.models import StockRefused, StockRow
from shared.warehouse.stock.posting import StockPosting
from tests.cases import each_case
from tests.unit.stock.test_rules import NOW, blank, row

_ACTIONS = 3
"""Those of an allocation in a product of its own: row, level, and level of all warehouses."""


class _Posting(StockPosting):
    """A posting without a table, which notes how often its actions are counted."""

    def __init__(self, rows: list[StockRow]) -> None:
        tx: Any = SimpleNamespace(
            company=SimpleNamespace(item={"capacity": {"S": "enforce"}}), now=NOW, cost=Cost()
        )
        super().__init__(tx)
        self.counted = 0
        self._add_records(Record(one.id, 1, one) for one in rows)

    @property
    def planned_actions(self) -> int:
        self.counted += 1
        return super().planned_actions


@each_case("count", [1, 2, STEP_ACTIONS // _ACTIONS, STEP_ACTIONS // _ACTIONS + 1, 60])
def test_as_many_items_are_added_as_fit(count: int) -> None:
    rows = [row(id=number, product_id=number) for number in range(1, count + 1)]
    posting = _Posting(rows)

    added = posting.add_while_fitting(rows, lambda one: posting.changes.allocate(one, Decimal(1)))

    fitting = min(count, STEP_ACTIONS // _ACTIONS)
    assert added == rows[:fitting]
    assert posting.planned_actions == fitting * _ACTIONS
    assert posting.counted <= 10, "of 25"


def test_the_first_item_is_added_even_if_it_does_not_fit() -> None:
    rows = [row(id=number, product_id=number) for number in (1, 2)]
    posting = _Posting(rows)

    added = posting.add_while_fitting(
        rows, lambda one: posting.changes.allocate(one, Decimal(1)), lambda: Cost(99)
    )

    assert added == rows[:1]


@each_case("seed", range(5))
def test_no_change_adds_more_actions_than_expected(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same in every run
    places = [
        {"bin_code": code, "warehouse_id": number, "product_id": product, "batch_num": batch,
         "serial_number": serial}
        for code, number in (("A-01", 1), ("B-01", 1), ("C-01", 2))
        for product, batch, serial in ((1, None, None), (2, "X", None), (3, "Y", "S-1"))
    ]  # fmt: skip
    stored = [row(**one, id=number) for number, one in enumerate(places[:2], start=1)]  # type: ignore[arg-type]
    posting, moved = _Posting(stored), 0
    posting.batches.dates.update({(2, "X"): None, (3, "Y"): "2030-01-01"})
    for _ in range(200):
        rows, movements = dict(posting.changes.rows), len(posting.changes.movements)
        planned = posting.planned_actions
        one = chance.choice(places)
        here = posting.changes.find(blank(**one).key)  # type: ignore[arg-type]
        try:
            if here is None or chance.random() < 0.5:
                posting.changes.move("adjustment", Decimal(1), target=blank(**one))  # type: ignore[arg-type]
            else:
                to = {**one, "bin_code": chance.choice(["A-01", "B-01"])}
                target = blank(**to) if chance.random() < 0.7 else None  # type: ignore[arg-type]
                posting.changes.move("transfer", Decimal(1), source=here, target=target)
            moved += 1
        except (StockRefused, StaleRead, Conflict, KeyError):
            continue
        more = posting.planned_actions - planned
        assert more <= posting._most_added(rows, movements)
    assert moved > 50

"""A count of many lines: the transactions and reads that its steps take."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Barrier

import pytest

from shared.kernel.errors import ValidationFailed
from shared.warehouse.stock import service as stock
from tests.count_scenario import CountScenario
from tests.faults import AwsFaults
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

_LINES = 1_000
_AT_ONCE = 100

type Bound = Callable[[int, int], AbstractContextManager[None]]
"""Holds the calls of a block to so many transactions, and calls in all."""


@pytest.fixture
def at_most(aws_faults: AwsFaults) -> Bound:

    @contextmanager
    def bounded(transactions: int, calls: int) -> Iterator[None]:
        with aws_faults.recorded() as seen:
            yield
        assert seen.operations.count("TransactWriteItems") <= transactions
        assert len(seen.operations) <= calls

    return bounded


def test_calls_of_a_large_count_grow_with_its_lines(
    yard: WarehouseScenario, stack: Stack, at_most: Bound
) -> None:
    goods = {"item_code": "DRILL", "warehouse": "YARD", "bin_code": "A-01", "reason": "Found"}
    for first in range(0, _LINES, _AT_ONCE):
        serials = [f"S{number:04}" for number in range(first, first + _AT_ONCE)]
        lines = [{**goods, "serial": serial, "increase": 1} for serial in serials]
        yard.erp.post("/stock-adjustments", {"lines": lines}).ok(201)
    counts = CountScenario(stack)

    with at_most(30, 150):
        number = counts.create(positions=["A-01"]).id
    with at_most(45, 350):
        counts.count(number, empty=True)
    counts.finish(number)
    with at_most(50, 480):
        assert counts.post(number).status == "posted"

    assert yard.erp.walk("/stocks", item_code="DRILL", status="in") == []


def test_stock_of_several_positions_that_is_read_at_once_counts_together(
    yard: WarehouseScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both reads are done before one of them is subtracted from what may be read."""
    both = Barrier(2)

    class Ids(list[int]):
        waits = True

        def __len__(self) -> int:
            if self.waits:
                self.waits = False
                both.wait(10)
            return super().__len__()

    yard.stock("BRICK", 1)
    monkeypatch.setattr("shared.warehouse.counts.creating.MAX_ROWS", 3)
    monkeypatch.setattr(stock, "ids_at_position", lambda *_, **__: Ids([1, 2]))

    with pytest.raises(ValidationFailed, match="positions: names more than"):
        CountScenario(stack).create(positions=["A-01", "B-01"])

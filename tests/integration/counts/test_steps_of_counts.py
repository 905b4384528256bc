"""A count of many lines: the transactions and reads that its steps take.

COUNT_LINES=5000 pytest -n0 -s tests/integration/counts/test_steps_of_counts.py
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Barrier

import pytest

from shared.kernel.errors import ValidationFailed
from shared.warehouse.stock import service as stock
from tests.count_scenario import CountScenario
from tests.dynamodb.request_cost import measured
from tests.faults import AwsFaults
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

_LINES = int(os.environ.get("COUNT_LINES", "1000"))
_AT_ONCE = 100

type Bound = Callable[[str, int, int, float], AbstractContextManager[None]]
"""Holds the calls of a block to so many for 1,000 lines: transactions, all, and write units of a
line."""


@pytest.fixture
def at_most(aws_faults: AwsFaults) -> Bound:

    @contextmanager
    def bounded(step: str, transactions: int, calls: int, units: float) -> Iterator[None]:
        began = time.process_time()
        with measured(aws_faults) as seen:
            yield
        seconds = time.process_time() - began
        commits, writes = seen.operations.count("TransactWriteItems"), seen.units.writes / _LINES
        print(  # noqa: T201 - the figures of docs/internals/performance.md
            f"{step}: {seen.calls} calls, {commits} transactions, {seen.round_trips} round trips,"
            f" {writes:.1f} write units of a line, {seconds:.0f} s of the processor with moto"
        )
        assert commits <= transactions * _LINES / 1_000
        assert seen.calls <= calls * _LINES / 1_000
        assert writes <= units

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

    with at_most("create", 30, 150, 5):
        number = counts.create(positions=["A-01"]).id
    with at_most("count", 45, 350, 5):
        counts.count(number, empty=True)
    counts.finish(number)
    with at_most("post", 50, 480, 20):
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

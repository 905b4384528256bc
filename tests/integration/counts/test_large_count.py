"""A count of 200 positions by three people, beside picks of the same goods.

One of them says when they counted. A fourth sets some lines to be counted again.

RANDOM_INTERLEAVINGS=1000 pytest -n0 tests/integration/counts/test_large_count.py
"""

import random
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial

import pytest

from shared.kernel.clock import instant, now_ms
from shared.warehouse.stock.repository import STOCK
from tests.count_scenario import CountScenario
from tests.interleaving import DEFAULT_SEED_COUNT, Scheduler, each_seed
from tests.stack import Stack
from tests.stock_invariants import assert_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

_PRODUCTS = 50
_POSITIONS = 200
_PEOPLE = 3
_RECOUNTED = 10
_STOCK = 40

type _Books = Mapping[str, Decimal]
"""Position → its quantity."""


@pytest.fixture
def yard(stack: Stack) -> WarehouseScenario:
    """Return YARD with 200 positions, each with 40 of one of 50 products."""
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    for product in range(_PRODUCTS):
        code = _product(product)
        yard.erp.post("/products", {"item_code": code, "name": code}).ok(201)
    slots = {"whs_code": "YARD", "naming_mask": "P-{slot}", "slots": {"from": 1, "to": _POSITIONS}}
    yard.erp.post("/warehouse-positions/bulk", slots).ok(201)
    for at in range(1, _POSITIONS + 1):
        yard.stock(_product(at), _STOCK, f"P-{at}")
    return yard


def _product(at: int) -> str:
    return f"SKU-{at % _PRODUCTS:02}"


def _rows(stack: Stack) -> dict[str, int]:
    """Return the id of the row of each position."""
    return {row.bin_code or "": row.id for row in read_state(stack.unsorted_items()).rows}


def _books(stack: Stack) -> _Books:
    rows = read_state(stack.unsorted_items()).rows
    return {row.bin_code or "": row.qty for row in rows if row.inventory_status == "available"}


def _count_part(
    counts: CountScenario,
    part: Mapping[str, int],
    rows: Mapping[str, int],
    planted: _Books,
    *,
    with_time: bool = False,
) -> None:
    """Count positions, of which each has more or less than the books by what is planted.

    A position from which goods are picked between a look and its count is counted again.
    """
    for bin_code, at in part.items():
        while True:
            time = {"counted_at": instant(now_ms())} if with_time else {}
            books = STOCK.get(counts.stack.store(), rows[bin_code]).entity.qty
            qty = books + planted[bin_code]
            [line] = counts.count(1, bin_code=bin_code, item_code=_product(at), qty=qty, **time)
            if line.status == "counted" and line.expected_qty == books:
                break


def _recount(
    counts: CountScenario, lines: Mapping[str, int], count: Callable[[Mapping[str, int]], None]
) -> None:
    """Count positions, set their lines to be counted again, and count them again."""
    for bin_code, line_num in lines.items():
        part = {bin_code: int(bin_code.removeprefix("P-"))}
        count(part)
        counts.recount(1, line_num)
        count(part)


def _pick(yard: WarehouseScenario, picking: int) -> None:
    for line in yard.erp.get(f"/pickings/{picking}").ok()["lines"]:
        yard.pick(picking, line["item_code"], line["qty"], line["bin_code"]).ok()


def test_posted_differences_of_a_large_count_are_the_planted_ones(
    stack: Stack, yard: WarehouseScenario, scheduler: Scheduler
) -> None:
    counts, rows = CountScenario(stack), _rows(stack)
    goods = [(_product(at), 30) for at in range(_PRODUCTS)]
    pickings = [yard.started(yard.order(*goods[part::2])) for part in range(2)]
    bins = {f"P-{at}": at for at in range(1, _POSITIONS + 1)}
    number = counts.create(positions=list(bins)).id
    lines = {line.bin_code: line.line_num for line in counts.get(number).lines}

    for seed in each_seed(stack, DEFAULT_SEED_COUNT):
        rng = random.Random(seed)  # noqa: S311 - replayable, not secret
        planted = {bin_code: Decimal(rng.choice((0, 0, -3, -1, 2, 5))) for bin_code in bins}
        shuffled = rng.sample(list(bins), len(bins))
        acts: list[Callable[[], None]] = [
            *(
                partial(
                    _count_part, counts, {one: bins[one] for one in shuffled[at::_PEOPLE]}, rows,
                    planted, with_time=at == 0,
                )
                for at in range(_PEOPLE)
            ),
            partial(
                _recount, counts, {one: lines[one] for one in rng.sample(shuffled, _RECOUNTED)},
                partial(_count_part, counts, rows=rows, planted=planted),
            ),
            *(partial(_pick, yard, picking) for picking in pickings),
        ]  # fmt: skip

        scheduler.run(acts, seed)

        counts.finish(number)
        before = _books(stack)
        assert counts.post(number).status == "posted"
        after = _books(stack)
        assert {one: after[one] - before[one] for one in bins} == planted
        assert sum(before.values()) < _STOCK * _POSITIONS, "goods were picked"
    assert_invariants(stack.store())

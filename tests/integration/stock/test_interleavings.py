"""What happens at the same time ends as if it had happened one after the other.

Each scene is prepared once. Then its acts run in each order one after the other, which
gives the outcomes that are right; and at the same time, in many ways, each of which must
give one of these. Whatever is committed meanwhile, the books are checked at once.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import pytest

from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.stock.concurrent_scenarios import SCENARIOS, Acts
from tests.interleaving import USUAL, Scheduler, replayable, seeds
from tests.stack import Stack
from tests.stock_invariants import StoredState, check, read_books
from tests.warehouse_scenario import WarehouseScenario

type Outcome = tuple[object, ...]


@pytest.fixture
def scheduler(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Few shards of counters, since moto is slow and deletions write them all."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    return Scheduler(aws_faults, monkeypatch)


# What came of it


def _outcome(stack: Stack, answers: list[Response]) -> Outcome:
    """Tell what the callers were told, and what is stored, without ids and times."""
    books = read_books(stack.stored())
    return (
        tuple(_told(answer) for answer in answers),
        _stock(books),
        Counter((one.type, one.item_code, one.qty) for one in books.movements),
        [
            (one.status, len(one.works), len(one.finished), [_line(line) for line in one.lines])
            for one in [*books.entries, *books.exits]
        ],
        Counter(one.status for one in books.receipts),
        Counter(one.status for one in books.pickings),
        Counter(one.status for one in books.transfer_orders),
    )


def _told(answer: Response) -> object:
    if answer.status >= 400:
        return answer.status, answer.code
    shown = answer.data
    lines = [
        (line["item_code"], line["qty"], line.get("picked_qty"), line.get("bin_code"))
        for line in shown.get("lines", ())
    ]
    return answer.status, shown.get("status"), shown.get("qty_after"), lines


def _line(line: Any) -> object:
    return line.item_code, line.open_qty, line.done_qty, line.status


def _stock(books: StoredState) -> Counter[object]:
    return Counter(
        (
            row.item_code, row.whs_code, row.bin_code, row.batch_num, row.serial_number,
            row.inventory_status, row.qty, row.allocated,
        )
        for row in books.rows
        if row.qty
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Scene:
    """Acts on a floor that is as it was prepared each time."""

    stack: Stack
    acts: Acts
    restore: Callable[[], None]

    def in_turn(self) -> Iterator[Outcome]:
        """Let the acts happen one after the other, in every order."""
        for order in permutations(range(len(self.acts))):
            self.restore()
            answers = {number: self.acts[number]() for number in order}
            yield _outcome(self.stack, [answers[number] for number in range(len(self.acts))])

    def at_once(self, scheduler: Scheduler, seed: int) -> Outcome:
        """Let the acts happen at the same time, in the way of a seed."""
        self.restore()
        return _outcome(self.stack, scheduler.run(self.acts, seed))


@pytest.mark.parametrize("prepare", SCENARIOS)
def test_at_once_is_as_one_after_the_other(
    prepare: Callable[[Stack], Acts], stack: Stack, scheduler: Scheduler
) -> None:
    acts = prepare(stack)
    scene = _Scene(stack, acts, stack.keep())
    right = list(scene.in_turn())
    scheduler.after_commit = lambda: check(read_books(stack.stored()))

    for seed in seeds(USUAL):
        with replayable(seed):
            outcome = scene.at_once(scheduler, seed)
            assert outcome in right


# Many


@dataclass(frozen=True, slots=True)
class _Picker:
    """Somebody who has an order to pick, and picks what he is sent to."""

    yard: WarehouseScenario
    order: int

    def work(self) -> float:
        """Pick all that can be had; how much that was."""
        made = self.yard.erp.post("/pickings", {"document_id": self.order})
        assert made.status == 201, made.text
        number = made.data["id"]
        assert self.yard.act(number, "start").status == 200
        picked = 0.0
        for line in made.data["lines"]:
            if line["bin_code"]:
                taken = self.yard.pick(number, "BRICK", line["qty"], line["bin_code"])
                assert taken.status == 200, taken.text
                picked += line["qty"]
        return picked


@pytest.mark.parametrize(("pickers", "units", "runs"), [(6, 3, 4), (20, 10, 2)])
def test_pickers_and_the_last_units(
    pickers: int, units: int, runs: int, stack: Stack, scheduler: Scheduler
) -> None:
    yard = WarehouseScenario.furnished(stack.erp(), "YARD")
    yard.stock("BRICK", units // 2, "A-01")
    yard.stock("BRICK", units - units // 2, "F-01")
    everyone = [_Picker(yard, yard.order(("BRICK", 1))) for _ in range(pickers)]
    restore = stack.keep()
    scheduler.after_commit = lambda: check(read_books(stack.stored()))

    for seed in seeds(runs):
        restore()
        with replayable(seed):
            got = scheduler.run([picker.work for picker in everyone], seed)
            assert Counter(got) == {1: units, 0: pickers - units}
            assert yard.level("BRICK") == (units, units, 0)

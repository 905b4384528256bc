"""Concurrent operations have the outcome of some sequential order.

Each scenario is prepared once. Its actions run concurrently with many seeds. Every concurrent run
must give the outcome of some order in which they run one after the other, and the stock invariants
must hold after every commit.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import isfunction
from itertools import permutations
from typing import Any

import pytest

from shared.warehouse.documents.vocabulary import DocumentKind
from tests.gateway import Response
from tests.integration.stock import concurrent_scenarios, packing_scenarios, return_scenarios
from tests.integration.stock.concurrent_scenarios import Acts
from tests.interleaving import DEFAULT_SEED_COUNT, Commit, Scheduler, each_seed, seeds
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import sampled
from tests.stack import Stack
from tests.stock_invariants import StoredState, check_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

type Outcome = tuple[object, ...]
type Order = tuple[int, ...]
"""Indexes of the actions."""

_SCENARIOS = [
    function
    for module in (concurrent_scenarios, packing_scenarios, return_scenarios)
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and name[0] != "_"
]

_FAILED = {
    "returns_of_one_reference": 7,
    "revert_of_the_receipt_during_the_deletion_of_the_product": 16,
}
"""Further seeds of scenarios, with which they once failed."""


# Outcomes


def _outcome(stack: Stack, answers: list[Response]) -> Outcome:
    """Return the responses and the stored state without ids and times."""
    state = read_state(stack.unsorted_items())
    return (
        tuple(_response(answer) for answer in answers),
        _stock(state),
        Counter((one.type, one.item_code, one.qty) for one in state.movements),
        [
            (one.status, len(one.works), len(one.finished), [_line(line) for line in one.lines])
            for one in [*state.entries, *state.exits]
        ],
        Counter(one.status for one in state.receipts),
        Counter(one.status for one in state.pickings),
        Counter(one.status for one in state.transfer_orders),
        Counter((one.status, one.lines[0].received_qty) for one in state.returns),
        state.returned,
        Counter((one.status, one.is_active) for one in state.packing_orders),
        Counter(
            (one.status, tuple((goods.item_code, goods.qty) for goods in one.contents))
            for one in state.units
        ),
    )


def _response(answer: Response) -> object:
    if answer.status >= 400:
        return answer.status, answer.code
    shown = answer.data
    lines = [
        (line["item_code"], line["qty"], line.get("picked_qty"), line.get("bin_code"))
        for line in shown.get("lines", ())
    ]
    return answer.status, shown.get("status"), shown.get("result"), shown.get("qty_after"), lines


def _line(line: Any) -> object:
    return line.item_code, line.open_qty, line.done_qty, line.status


def _stock(state: StoredState) -> Counter[object]:
    return Counter(
        (
            row.item_code, row.whs_code, row.bin_code, row.batch_num, row.serial_number,
            row.inventory_status, row.qty, row.allocated,
        )
        for row in state.rows
        if row.qty
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Scenario:
    """Actions that run from the same prepared state each time."""

    stack: Stack
    actions: Acts
    restore: Callable[[], None]
    _sequential: dict[Order, Outcome] = field(default_factory=dict)

    def run_sequentially(self, order: Order) -> Outcome:
        """Run the actions one after the other; return the same outcome again for an order."""
        if order not in self._sequential:
            self.restore()
            answers = {number: self.actions[number]() for number in order}
            self._sequential[order] = _outcome(
                self.stack, [answers[number] for number in range(len(self.actions))]
            )
        return self._sequential[order]

    def orders(self, commits: Sequence[Commit]) -> list[Order]:
        """Return every order, first the one that the commits of a concurrent run suggest."""
        likely = list(dict.fromkeys(commit.worker for commit in commits))
        every = list(permutations(range(len(self.actions))))
        return sorted(every, key=lambda order: [*order][: len(likely)] != likely)

    def run_concurrently(self, scheduler: Scheduler, seed: int) -> Outcome:
        """Run the actions concurrently, with a seed."""
        self.restore()
        return _outcome(self.stack, scheduler.run(self.actions, seed))


@pytest.mark.parametrize("prepare", _SCENARIOS)
def test_concurrent_actions_have_the_outcome_of_a_sequential_order(
    prepare: Callable[[Stack], Acts], stack: Stack, scheduler: Scheduler
) -> None:
    actions = prepare(stack)
    scenario = _Scenario(stack, actions, stack.take_snapshot())
    scheduler.after_commit = lambda: check_invariants(read_state(stack.unsorted_items()))

    failed = _FAILED.get(prepare.__name__)
    for seed in [*seeds(DEFAULT_SEED_COUNT), *([] if failed is None else [failed])]:
        outcome = scenario.run_concurrently(scheduler, seed)
        orders = scenario.orders(scheduler.commits)
        assert outcome in map(scenario.run_sequentially, orders)


# Many requests for one order


@pytest.mark.parametrize("kind", ["entry", "exit"])
def test_changes_among_twenty_requests_for_an_order_lose_no_quantity(
    kind: DocumentKind, stack: Stack, scheduler: Scheduler
) -> None:
    """Every quantity that moved is on a line, and every change that was accepted counts."""
    warehouse = WarehouseScenario.with_master_data(stack.erp(), "YARD")
    receiving = ReceivingScenario(stack.erp(), warehouse)
    if kind == "exit":
        warehouse.stock("BRICK", 30)
        order = warehouse.order(("BRICK", 10), ("BRICK", 1))
    else:
        order = receiving.order({"qty": 10}, {"qty": 1})
    path, erp = f"/{kind}-documents/{order}", warehouse.erp

    def pick() -> Response:
        made = erp.post("/pickings", {"document_id": order})
        if made.status == 201:
            warehouse.act(made.id, "start")
            warehouse.pick(made.id, "BRICK", 2)
            warehouse.act(made.id, "finalize", shortage_reason="other")
        return made

    def receive() -> Response:
        made = erp.post("/receipts", {"document_id": order})
        if made.status == 201:
            receiving.act(made.id, "start")
            receiving.receive(made.id, 2, bin_code="A-01")
            receiving.act(made.id, "finalize")
        return made

    added = {"lines": [{"item_code": "BRICK", "qty": 3}]}
    changes = [*(lambda: erp.patch(path, added),) * 4,
               *(lambda: erp.patch(path, {"lines": [{"line_num": 1, "qty": 7}]}),) * 2]  # fmt: skip
    work, dispatches = (pick, 5) if kind == "exit" else (receive, 0)
    acts: Acts = [
        *changes,
        *(work,) * (13 - dispatches),
        *(lambda: erp.post(f"{path}/dispatch", {"rest": "keep"}),) * dispatches,
        lambda: erp.post(f"{path}/close"),
    ]
    scheduler.after_commit = lambda: check_invariants(read_state(stack.unsorted_items()))

    for seed in each_seed(stack, 2):
        answers = scheduler.run(acts, seed)
        assert {answer.status for answer in answers} <= {200, 201, 409, 422}
        changed = [answer.status == 200 for answer in answers[: len(changes)]]
        lines = erp.get(path).ok()["lines"]
        assert len(lines) == 2 + sum(changed[:4])
        assert lines[0]["qty"] == (7 if any(changed[4:]) else 10)
        done, movement = ("picked", "pick") if kind == "exit" else ("received", "receipt")
        moved = (one.qty for one in read_state(stack.unsorted_items()).movements
                 if one.type == movement)  # fmt: skip
        assert sum(line[f"{done}_qty"] for line in lines) == sum(moved)


# Many pickers


@dataclass(frozen=True, slots=True)
class _Picker:
    """A picker with one order."""

    warehouse: WarehouseScenario
    order: int

    def pick_all(self) -> float:
        """Pick everything that is allocated; return the picked quantity."""
        made = self.warehouse.erp.post("/pickings", {"document_id": self.order}).ok(201)
        number = made["id"]
        assert self.warehouse.act(number, "start").status == 200
        picked = 0.0
        for line in made["lines"]:
            if line["bin_code"]:
                self.warehouse.pick(number, "BRICK", line["qty"], line["bin_code"]).ok()
                picked += line["qty"]
        return picked


@pytest.mark.parametrize(
    ("pickers", "units", "runs"), sampled("pickers", [(20, 10, 2), (6, 3, 4)], every=2)
)
def test_concurrent_pickers_get_exactly_the_stock(
    pickers: int, units: int, runs: int, stack: Stack, scheduler: Scheduler
) -> None:
    warehouse = WarehouseScenario.with_master_data(stack.erp(), "YARD")
    warehouse.stock("BRICK", units // 2, "A-01")
    warehouse.stock("BRICK", units - units // 2, "F-01")
    all_pickers = [_Picker(warehouse, warehouse.order(("BRICK", 1))) for _ in range(pickers)]
    scheduler.after_commit = lambda: check_invariants(read_state(stack.unsorted_items()))

    for seed in each_seed(stack, runs):
        got = scheduler.run([picker.pick_all for picker in all_pickers], seed)
        assert Counter(got) == {1: units, 0: pickers - units}
        assert warehouse.level("BRICK") == (units, units, 0)

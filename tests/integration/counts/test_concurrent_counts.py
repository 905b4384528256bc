"""Counts beside other work, requests that die, and twenty at once."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest

from shared.kernel.errors import Conflict, ServiceError, StaleState
from shared.warehouse.counts.models import StoredCount
from shared.warehouse.counts.repository import read_sums
from shared.warehouse.stock.models import StockRow
from tests.concurrency import run_concurrently
from tests.count_scenario import CountScenario
from tests.faults import Answer, AwsFaults, Call, Fault, Forward
from tests.integration.call_faults import at_calls, die
from tests.interleaving import DEFAULT_SEED_COUNT, Scheduler, each_seed
from tests.stack import Stack
from tests.stock_invariants import assert_invariants, check_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

type Goods = tuple[str, str, str | None]
"""Product, position and batch."""

_GOODS: list[Goods] = [
    ("BRICK", "A-01", None), ("BRICK", "B-01", None), ("BRICK", "F-01", None),
    ("CEMENT", "A-01", "L1"), ("CEMENT", "A-01", "L2"), ("CEMENT", "B-01", "L1"),
]  # fmt: skip


@pytest.fixture
def counts(stack: Stack) -> CountScenario:
    return CountScenario(stack)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step hold about one line."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 6)
    monkeypatch.setattr("shared.warehouse.counts.posting._LINES_PER_STEP", 1)


def _books(stack: Stack) -> defaultdict[Goods, Decimal]:
    """Return what the books have on shelves, of each goods."""
    found = defaultdict[Goods, Decimal](Decimal)
    for row in read_state(stack.unsorted_items()).rows:
        if row.inventory_status == "available":
            found[_goods_of(row)] += row.qty
    return found


def _goods_of(row: StockRow) -> Goods:
    return row.item_code, row.bin_code or "", row.batch_num


def _adjusted(stack: Stack) -> defaultdict[Goods, Decimal]:
    """Return what counts have adjusted, of each goods."""
    found = defaultdict[Goods, Decimal](Decimal)
    for one in read_state(stack.unsorted_items()).movements:
        if one.type == "adjustment" and (one.reason or "").startswith("Count CN-"):
            place, sign = (one.target, 1) if one.target else (one.origin, -1)
            assert place is not None
            found[one.item_code, place.bin_code or "", one.batch_num] += sign * one.qty
    return found


def _lot(batch: str | None) -> dict[str, str]:
    return {"batch": batch} if batch else {}


def _count_part(counts: CountScenario, part: list[Goods], planted: dict[Goods, int]) -> None:
    """Count goods that differ from the books by what is planted; again if they move meanwhile."""
    for goods in part:
        item_code, bin_code, batch = goods
        while True:
            books = _books(counts.stack)[goods]
            [line] = counts.count(
                1, bin_code=bin_code, item_code=item_code, qty=books + planted[goods], **_lot(batch)
            )
            if line.expected_qty == books:
                break


def _pick(yard: WarehouseScenario, picking: int) -> None:
    for line in yard.erp.get(f"/pickings/{picking}").ok()["lines"]:
        lot = _lot(line["batch_num"])
        yard.pick(picking, line["item_code"], line["qty"], line["bin_code"], **lot).ok()


def _move(yard: WarehouseScenario, rng: random.Random) -> None:
    for _ in range(2):
        bins = rng.sample(["A-01", "B-01", "F-01"], 2)
        line = {"item_code": "BRICK", "qty": 2, "from_bin": bins[0], "to_bin": bins[1]}
        body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}
        yard.erp.post("/transfers", body).ok(201)


def _receive(yard: WarehouseScenario) -> None:
    yard.stock("CEMENT", 6, batch="L2")
    yard.stock("BRICK", 3, "B-01")


def _stocked(stack: Stack, qty: int) -> WarehouseScenario:
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    for item_code, bin_code, batch in _GOODS:
        yard.stock(item_code, qty, bin_code, **_lot(batch))
    return yard


def test_posted_differences_are_the_planted_ones_whatever_moves_meanwhile(
    stack: Stack, scheduler: Scheduler, counts: CountScenario
) -> None:
    """Three people count, while others pick, receive and move the same goods."""
    yard = _stocked(stack, 40)
    pickings = [yard.started(yard.order(("BRICK", 9), ("CEMENT", 7))) for _ in range(2)]
    number = counts.create(item_codes=["BRICK", "CEMENT"]).id
    scheduler.after_commit = lambda: check_invariants(read_state(stack.unsorted_items()))

    for seed in each_seed(stack, DEFAULT_SEED_COUNT):
        rng = random.Random(seed)  # noqa: S311 - replayable, not secret
        planted = {goods: rng.choice((0, 0, -3, -1, 2, 5)) for goods in _GOODS}
        shuffled = rng.sample(_GOODS, len(_GOODS))
        acts: list[Callable[[], None]] = [
            *(partial(_count_part, counts, shuffled[at::3], planted) for at in range(3)),
            *(partial(_pick, yard, picking) for picking in pickings),
            partial(_move, yard, rng),
            partial(_receive, yard),
        ]

        scheduler.run(acts, seed)

        counts.finish(number)
        before = _books(stack)
        assert counts.post(number).status == "posted"
        after = _books(stack)
        assert {goods: after[goods] - before[goods] for goods in _GOODS} == planted
        wanted = {goods: qty for goods, qty in planted.items() if qty}
        assert _adjusted(stack) == wanted


def test_counts_of_one_line_at_once_leave_the_last_one(
    stack: Stack, counts: CountScenario, scheduler: Scheduler
) -> None:
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01", "B-01"]).id

    for seed in each_seed(stack, DEFAULT_SEED_COUNT):
        scheduler.run(
            [
                lambda: counts.count(number, item_code="BRICK", qty=7),
                lambda: counts.count(number, item_code="BRICK", qty=8),
                lambda: counts.count(number, bin_code="B-01", item_code="BRICK", qty=1),
                lambda: counts.count(number, bin_code="B-01", item_code="CEMENT", batch="L", qty=2),
            ],
            seed,
        )
        found = counts.get(number)
        assert [line.line_num for line in found.lines] == [1, 2, 3]
        assert found.lines[0].counted_qty in {7, 8}
        assert {(line.item_code, line.counted_qty) for line in found.lines[1:]} == {
            ("BRICK", 1), ("CEMENT", 2),
        }  # fmt: skip
        _assert_sums(stack, counts, number)


def _assert_sums(stack: Stack, counts: CountScenario, number: int) -> None:
    """Assert that the stored sums are those of the lines."""
    assert read_sums(stack.store(), [number])[number] == counts.get(number).sums


def test_counting_beside_finishing_is_before_it_or_refused(
    stack: Stack, counts: CountScenario, scheduler: Scheduler
) -> None:
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=9)

    def attempt(act: str) -> bool:
        try:
            if act == "count":
                counts.count(number, item_code="BRICK", qty=8)
            elif act == "new":
                counts.count(number, item_code="CEMENT", batch="L", qty=1)
            else:
                counts.finish(number)
                counts.post(number)
        except ServiceError:
            return False
        return True

    for seed in each_seed(stack, DEFAULT_SEED_COUNT):
        counted, new, _ = scheduler.run(
            [lambda: attempt("count"), lambda: attempt("new"), lambda: attempt("end")], seed
        )
        found = counts.get(number)
        assert found.record.entity.status == "posted"
        books = _books(stack)
        assert books["BRICK", "A-01", None] == (8 if counted else 9)
        assert books["CEMENT", "A-01", "L"] == (1 if new else 0)
        assert all(line.movement_id for line in found.lines)
        _assert_sums(stack, counts, number)
        assert_invariants(stack.store())


@pytest.mark.usefixtures("small_steps")
def test_line_is_not_counted_when_its_count_is_cancelled_meanwhile(
    stack: Stack, counts: CountScenario, aws_faults: AwsFaults
) -> None:
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=9)
    before = _before_the_commit(lambda: counts.cancel(number))

    with aws_faults.faulty(before), pytest.raises(StaleState):
        counts.count(number, item_code="BRICK", qty=8)

    assert counts.get(number).record.entity.status == "cancelled"
    assert [line.counted_qty for line in counts.get(number).lines] == [9]


def test_count_is_not_finished_when_a_line_is_to_be_counted_again_meanwhile(
    stack: Stack, counts: CountScenario, aws_faults: AwsFaults
) -> None:
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=9)
    before = _before_the_commit(lambda: counts.recount(number, 1))

    with aws_faults.faulty(before), pytest.raises(ServiceError, match="not counted"):
        counts.finish(number)

    assert counts.get(number).record.entity.status == "counting"
    counts.count(number, item_code="BRICK", qty=8)
    assert counts.finish(number).status == "counted"


@pytest.mark.parametrize("was_counted", [False, True])
def test_stock_that_comes_into_another_count_meanwhile_is_not_counted(
    stack: Stack, counts: CountScenario, aws_faults: AwsFaults, *, was_counted: bool
) -> None:
    WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    goods = {"item_code": "CEMENT", "batch": "L1", "qty": 1}
    if was_counted:
        former = counts.create(positions=["A-01"]).id
        counts.count(former, **goods)
        counts.cancel(former)
    number, other = (counts.create(positions=[one]).id for one in ("A-01", "B-01"))
    before = _before_the_commit(lambda: counts.count(other, **goods))

    with aws_faults.faulty(before), pytest.raises(Conflict, match=f"is in CN-{other}"):
        counts.count(number, **goods)


def _before_the_commit(act: Callable[[], object]) -> Fault:
    """Return a fault that runs `act` before the first transaction reaches DynamoDB."""
    begun = list[bool]()

    def send(call: Call, forward: Forward) -> Answer:
        if call.operation == "TransactWriteItems" and not begun:
            begun.append(True)
            act()
        return forward()

    return send


def test_twenty_requests_at_once_create_one_count_and_post_it_once(
    stack: Stack, counts: CountScenario
) -> None:
    _stocked(stack, 10)

    def create(_: int) -> StoredCount | None:
        try:
            return counts.create(positions=["A-01", "B-01", "F-01"])
        except ServiceError:
            return None

    created = [one for one in run_concurrently(20, create) if one]
    [count] = created
    for item_code, bin_code, batch in _GOODS:
        counts.count(count.id, bin_code=bin_code, item_code=item_code, qty=7, **_lot(batch))
    counts.finish(count.id)

    def post(_: int) -> str:
        try:
            return counts.post(count.id).status
        except ServiceError as error:
            return error.code

    answers = Counter(run_concurrently(20, post))

    assert answers["posted"] >= 1
    assert answers.keys() <= {"posted", "stale_state"}
    assert _adjusted(stack) == dict.fromkeys(_GOODS, Decimal(-3))
    assert_invariants(stack.store())


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("turns", [(1, 1), (2, 3)])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_work_that_was_killed_is_completed_by_whoever_comes_next(
    stack: Stack, aws_faults: AwsFaults, counts: CountScenario, turns: tuple[int, int], moment: str
) -> None:
    """The creation and the posting die at these transactions."""

    def dies(turn: int, act: Callable[[], object]) -> bool:
        kind = "TransactWriteItems"
        before = at_calls(kind, {turn}, before=die)
        fault = before if moment == "before" else at_calls(kind, {turn}, after=die)
        return aws_faults.kills(fault, act)

    _stocked(stack, 10)

    assert dies(turns[0], lambda: counts.create(positions=["A-01", "B-01", "F-01"]))
    for item_code, bin_code, batch in _GOODS:
        counts.count(1, bin_code=bin_code, item_code=item_code, qty=7, **_lot(batch))
    counts.finish(1)
    assert len(counts.get(1).lines) == len(_GOODS)
    assert dies(turns[1], lambda: counts.post(1))
    assert counts.get(1).record.entity.status == "counted"
    with pytest.raises(Conflict, match="is being posted"):
        counts.recount(1, 1)
    assert counts.post(1).status == "posted"
    assert _adjusted(stack) == dict.fromkeys(_GOODS, Decimal(-3))
    _assert_sums(stack, counts, 1)
    assert_invariants(stack.store())

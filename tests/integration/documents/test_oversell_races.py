"""With `oversell: refuse`, no more is sold than is there, whatever happens at the same time."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import count

import pytest

from shared.kernel.db.claim import LEASE_MS
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem
from shared.warehouse.stock import level_book, level_settling
from shared.warehouse.stock.level_book import LevelBook
from shared.warehouse.stock.level_marks import abort
from shared.warehouse.stock.level_rules import LevelChange
from shared.warehouse.stock.models import LevelPlace
from tests.clock import Clock
from tests.concurrency import at_once, run_concurrently
from tests.faults import AwsFaults, Call, Killed, before_each, kill_at
from tests.gateway import Response
from tests.integration.between_calls import before_each_call
from tests.integration.documents.bodies import document_body
from tests.interleaving import Scheduler, each_seed
from tests.sampling import sampled
from tests.stack import Stack
from tests.stock_invariants import read_state
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_ABANDONED_SECONDS = 61
_MOST_MOMENTS = 60
_GOODS = ("BRICK", "CEMENT", "DRILL")


@pytest.fixture
def shop(yard: WarehouseScenario) -> Iterator[WarehouseScenario]:
    """Two of each product, and never less than 0 to sell."""
    yard.stock("BRICK", 2)
    yard.stock("CEMENT", 2, batch="L-1")
    yard.stock_serials("S-1", "S-2")
    yard.change_settings(oversell="refuse")
    yield yard
    assert min(_sellable(yard).values()) >= 0


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare the levels of two products or more, each in a transaction of its own."""
    monkeypatch.setattr(level_book, "MOST_SMALL", 1)
    monkeypatch.setattr(level_settling, "_STEP_ACTIONS", 2)


def _create(yard: WarehouseScenario, reference: str, qty: float, *codes: str) -> Response:
    lines = [{"item_code": code, "qty": qty} for code in codes]
    body = document_body(type="sale_order", external_ref=reference, lines=lines)
    return yard.erp.post("/exit-documents", body, key=reference)


def _sellable(yard: WarehouseScenario) -> dict[str, float]:
    return {one["item_code"]: one["sellable"] for one in yard.erp.walk("/stock-levels")}


def _statuses(answers: Sequence[Response]) -> Counter[int]:
    return Counter(one.status for one in answers)


def test_order_that_another_request_has_created_meanwhile_is_answered_first(
    shop: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    lines = [{"item_code": "BRICK", "qty": 2}]
    body = document_body(type="sale_order", external_ref="SO-1", lines=lines)
    keys, answers = count(), list[Response]()

    def create() -> Response:
        return shop.erp.post("/exit-documents", body, key=f"key {next(keys)}")

    for meanwhile in before_each_call(
        stack, aws_faults, lambda: answers.append(create()), create,
        family="the same order meanwhile", every=1, at_least=4,
    ):  # fmt: skip
        assert (meanwhile.status, answers[-1].status) == (201, 200)
        assert answers[-1].data["id"] == meanwhile.data["id"]


def test_twenty_shops_sell_exactly_what_is_there(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 50)
    yard.change_settings(oversell="refuse")
    aws_faults.latency = 0.002

    def ask(shop: int) -> list[Response]:
        return [_create(yard, f"SO-{shop}-{number}", 1, "BRICK") for number in range(4)]

    answers = [one for each in run_concurrently(20, ask) for one in each]
    assert _statuses(answers) == {201: 50, 422: 30}
    assert _sellable(yard) == {"BRICK": 0}
    refused = {message for one in answers if one.status == 422 for message in one.blocked.values()}
    assert refused == {"1 requested, 0 can be sold of BRICK in YARD"}


def test_one_of_two_large_orders_gets_the_last_units(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    codes = [f"SKU-{number:02}" for number in range(40)]
    for code in codes:
        yard.erp.post("/products", {"item_code": code, "name": code}).ok(201)
        yard.stock(code, 1)
    yard.change_settings(oversell="refuse")
    aws_faults.latency = 0.002

    answers = at_once(
        partial(_create, yard, "SO-A", 1, *codes),
        partial(_create, yard, "SO-B", 1, *reversed(codes)),
    )

    assert _statuses(answers) == {201: 1, 422: 1}
    [refused] = [one for one in answers if one.status == 422]
    assert len(refused.blocked) == 40
    assert set(_sellable(yard).values()) == {0}
    state = read_state(stack.unsorted_items())
    assert not any(one.pending for one in [*state.levels, *state.totals])


@pytest.mark.usefixtures("prepared")
def test_orders_and_changes_in_any_order(
    shop: WarehouseScenario, scheduler: Scheduler, stack: Stack
) -> None:
    """Each order is of two products, and so large; what is refused would have been too much."""
    first, second = (
        shop.order(*((code, 0.5) for code in goods)) for goods in (("BRICK",), ("BRICK", "CEMENT"))
    )
    stack_levels = _sellable(shop)
    assert stack_levels == {"BRICK": 1, "CEMENT": 1.5, "DRILL": 2}

    def change(number: int, qty: float) -> Response:
        lines = [{"line_num": 1, "qty": qty}, {"item_code": "CEMENT", "qty": 0.5}]
        return shop.erp.patch(f"/exit-documents/{number}", {"lines": lines})

    actions: list[Callable[[], Response]] = [
        partial(_create, shop, "SO-A", 1, "BRICK", "CEMENT"),
        partial(_create, shop, "SO-B", 1, "BRICK"),
        partial(change, first, 1),
        partial(change, second, 1.5),
        partial(shop.erp.post, f"/exit-documents/{second}/close"),
    ]
    for seed in each_seed(stack):
        answers = scheduler.run(actions, seed)
        assert {one.status for one in answers} <= {200, 201, 409, 422}, _statuses(answers)
        left = _sellable(shop)
        assert min(left.values()) >= 0, (seed, left)
        repeated = _create(shop, "SO-Z", left["BRICK"] + 0.25, "BRICK")
        assert repeated.blocked, "nothing that was given up counts"
        if left["BRICK"]:
            _create(shop, "SO-Y", left["BRICK"], "BRICK").ok(201)


@pytest.mark.parametrize("codes", [("BRICK",), _GOODS], ids=["small", "large"])
@pytest.mark.parametrize("qty", [2, 3], ids=["accepted", "refused"])
@pytest.mark.usefixtures("prepared")
def test_death_at_any_call_leaves_what_can_be_sold_right(  # noqa: PLR0917
    shop: WarehouseScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    clock: Clock,
    codes: Sequence[str],
    qty: int,
) -> None:
    """The repeat does not count what its dead request has prepared; others count it a minute."""
    restore, moment = stack.take_snapshot(), 0
    for moment in sampled(f"oversell {codes} {qty}", range(_MOST_MOMENTS), every=3):
        restore()
        if not aws_faults.kills(kill_at(moment), lambda: _create(shop, "SO-A", qty, *codes)):
            break
        assert min(_sellable(shop).values()) >= 0
        clock.advance(LEASE_MS / 1000 + 1)
        repeated = _create(shop, "SO-A", qty, *codes)
        if qty > 2:
            assert repeated.blocked.keys() == {f"lines.{at}.qty" for at in range(len(codes))}
        else:
            assert repeated.status == 201, repeated.text
        left = 0 if qty <= 2 else 2
        assert {code: _sellable(shop)[code] for code in codes} == dict.fromkeys(codes, left)
    assert moment


@pytest.mark.usefixtures("prepared")
def test_what_a_dead_request_has_prepared_is_taken_for_a_minute(
    shop: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    """It may still be about to commit: others wait for it, and are refused in the end."""

    def die(call: Call) -> None:
        if call.operation == "TransactWriteItems" and b"places" in bytes(call.body):
            raise Killed(call.operation)

    assert aws_faults.kills(before_each(die), lambda: _create(shop, "SO-A", 2, *_GOODS))
    assert _sellable(shop)["BRICK"] == 2
    answer = _create(shop, "SO-B", 1, "BRICK")
    assert answer.blocked == {"lines.0.qty": "1 requested, 0 can be sold of BRICK in YARD"}

    clock.advance(_ABANDONED_SECONDS)
    _create(shop, "SO-C", 2, "BRICK").ok(201)
    assert _create(shop, "SO-A", 2, *_GOODS).blocked.keys() == {"lines.0.qty"}


@pytest.mark.usefixtures("shop")
def test_attempt_waits_for_one_that_is_being_prepared(stack: Stack) -> None:
    """It is not refused for what is then not ordered."""
    store, attempts = stack.store(), list[int]()
    place = LevelPlace(1, 1, "BRICK", "YARD")
    taken = LevelChange(place, {"committed": Decimal(2)})
    run_transaction(store, lambda tx: LevelBook(tx)._add_pending(tx, "name", [taken]))

    def take(tx: Transaction) -> list[Problem]:
        if len(attempts) == 2:
            run_transaction(store, partial(abort, name="name"))
        attempts.append(len(attempts))
        return LevelBook.of(tx).limit([(place, Decimal(2), "qty")])

    assert run_transaction(store, take) == []
    assert len(attempts) == 3

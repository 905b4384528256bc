"""Holds never take more than can be sold, whatever happens at once, and all of it if asked."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from shared.kernel.clock import milliseconds_of
from shared.kernel.db.claim import LEASE_MS
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.json_text import dumps, loads
from shared.kernel.validation import check
from shared.warehouse.holds import service
from shared.warehouse.holds.models import HoldDraft
from shared.warehouse.stock import level_book, level_settling
from shared.warehouse.stock.models import MAX_HOLDS
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults, before_first, kill_after, kill_before
from tests.gateway import Response
from tests.integration.documents.bodies import document_body
from tests.interleaving import Scheduler, each_seed
from tests.sampling import sampled
from tests.stack import Stack
from tests.stock_invariants import assert_invariants, check_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario


def _body(qty: float, *more: str, **fields: Any) -> dict[str, Any]:
    lines = [{"item_code": code, "qty": qty} for code in ("BRICK", *more)]
    return {"warehouse_code": "YARD", "ttl_seconds": 60, "lines": lines, **fields}


def _order(
    yard: WarehouseScenario, reference: str, qty: float, *more: str, **fields: Any
) -> Response:
    lines = [{"item_code": code, "qty": qty} for code in ("BRICK", *more)]
    body = document_body(type="sale_order", external_ref=reference, lines=lines, **fields)
    return yard.erp.post("/exit-documents", body, key=reference)


def _level(yard: WarehouseScenario) -> tuple[float, float, float]:
    [level] = yard.erp.walk("/stock-levels", item_code="BRICK", warehouse="YARD")
    return level["committed"], level["held"], level["sellable"]


def test_twenty_shops_hold_exactly_what_is_there(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 50)
    aws_faults.latency = 0.002

    def hold_five(shop: int) -> list[Response]:
        return [
            yard.erp.post("/holds", _body(1, external_ref=f"CART-{shop}-{number}"))
            for number in range(5)
        ]

    answers = [one for part in run_concurrently(20, hold_five) for one in part]

    assert Counter(one.status for one in answers) == {201: 50, 422: 50}
    refused = next(one for one in answers if one.status == 422)
    assert (refused.code, refused.json()["errors"]) == (
        "rule_blocked",
        [{"field": "lines.0.qty", "message": "1 requested, 0 can be sold of BRICK in YARD"}],
    )
    assert _level(yard) == (0, 50, 0)
    assert len(yard.erp.walk("/holds", status="active", per_page="100")) == 50
    assert_invariants(stack.store())


def test_goods_can_be_held_again_from_the_instant_at_which_a_hold_expires(
    yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    yard.change_settings(oversell="refuse")
    yard.stock("BRICK", 5)
    hold, other = (yard.erp.post("/holds", _body(qty)).ok(201) for qty in (4, 1))
    assert hold["expires_at"] == other["expires_at"]

    def move_to(moment_ms: int) -> None:
        clock.advance(moment_ms / 1000 - clock.time() + 0.0001)

    expires_ms = milliseconds_of(hold["expires_at"])
    move_to(expires_ms - 1000)
    assert _order(yard, "SO-1", 2).code == "rule_blocked"  # decided twice, some milliseconds apart
    move_to(expires_ms - 1)
    assert yard.erp.post("/holds", _body(2)).code == "rule_blocked"
    assert _order(yard, "SO-2", 1, hold_id=other["id"]).status == 201
    move_to(expires_ms)
    assert _order(yard, "SO-3", 1, hold_id=hold["id"]).code == "stale_state"
    assert yard.erp.post("/holds", _body(2)).status == 201
    assert _order(yard, "SO-4", 2).status == 201
    assert _level(yard) == (3, 2, 0)


def test_product_has_at_most_500_active_holds(
    stack: Stack, yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    yard.stock("BRICK", 1000)
    store, draft = stack.store(), check(HoldDraft, loads(dumps(_body(1, ttl_seconds=90))))
    first = yard.erp.post("/holds", _body(1)).id
    for _ in range(MAX_HOLDS - 1):
        run_transaction(store, lambda tx: service.create_hold(tx, draft))

    assert _level(yard) == (0, 500, 500)
    refused = yard.erp.post("/holds", _body(1))
    assert refused.code == "rule_blocked"
    assert [one["field"] for one in refused.json()["errors"]] == ["lines.0.qty"]
    yard.erp.post("/holds/9/extend", {"ttl_seconds": 100}).ok()
    assert _order(yard, "SO-1", 1, hold_id=8).status == 201
    assert _level(yard) == (1, 499, 500)
    yard.erp.post("/holds", _body(1)).ok(201)
    clock.advance(60)
    assert yard.erp.get(f"/holds/{first}").ok()["status"] == "expired"
    yard.erp.post("/holds", _body(2)).ok(201)
    assert _level(yard) == (1, 500, 499)
    assert_invariants(store)


# Interleavings


def _scenarios(yard: WarehouseScenario) -> dict[str, list[Callable[[], Response]]]:
    erp = yard.erp
    return {
        "hold and order": [
            lambda: erp.post("/holds", _body(3)),
            lambda: erp.post("/holds", _body(3)),
            lambda: _order(yard, "SO-A", 4),
        ],
        "use and release": [
            lambda: _order(yard, "SO-A", 3, hold_id=1),
            lambda: erp.post("/holds/1/release"),
            lambda: erp.post("/holds", _body(2)),
        ],
        "use twice, and extend": [
            lambda: _order(yard, "SO-A", 3, hold_id=1),
            lambda: _order(yard, "SO-B", 2, hold_id=1),
            lambda: erp.post("/holds/1/extend", {"ttl_seconds": 90}),
        ],
        "one reference": [
            lambda: erp.post("/holds", _body(2, external_ref="CART")),
            lambda: erp.post("/holds", _body(2, external_ref="CART")),
            lambda: erp.post("/holds/1/release"),
        ],
    }


@pytest.fixture(params=[False, True], ids=["within the transaction", "prepared"])
def products(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change levels within the transaction, or prepare them before."""
    if request.param:
        monkeypatch.setattr(level_book, "MOST_SMALL", 0)
        monkeypatch.setattr(level_settling, "_STEP_ACTIONS", 2)


@pytest.mark.parametrize(
    "name", ["hold and order", "use and release", "use twice, and extend", "one reference"]
)
@pytest.mark.usefixtures("products")
def test_concurrent_requests_sell_nothing_twice(
    stack: Stack, yard: WarehouseScenario, scheduler: Scheduler, *, name: str
) -> None:
    yard.change_settings(oversell="refuse")
    yard.stock("BRICK", 5)
    yard.erp.post("/holds", _body(3)).ok(201)
    if name == "hold and order":
        yard.erp.post("/holds/1/release").ok()

    def check_all() -> None:
        state = read_state(stack.unsorted_items())
        check_invariants(state)

    for _seed in each_seed(stack):
        scheduler.after_commit = check_all
        answers = scheduler.run(_scenarios(yard)[name], _seed)
        done = sum(one.status in {200, 201} for one in answers)
        assert {one.status for one in answers} <= {200, 201, 409, 422}, answers
        assert done >= 1
        committed, held, sellable = _level(yard)
        assert sellable == 5 - committed - held >= 0
        if name == "use twice, and extend":
            assert [one.status for one in answers[:2]].count(201) == 1
        if name == "use and release":
            assert Counter(one.status for one in answers[:2]).keys() <= {200, 201, 409}
            assert [one.status < 300 for one in answers[:2]].count(True) == 1
        if name == "one reference":
            assert answers[0].data["id"] == answers[1].data["id"]


@pytest.mark.usefixtures("products")
def test_hold_that_is_extended_while_an_order_uses_it_is_used(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 5)
    yard.erp.post("/holds", _body(3)).ok(201)

    def extend() -> None:
        yard.erp.post("/holds/1/extend", {"ttl_seconds": 90}).ok()

    with aws_faults.faulty(before_first("TransactWriteItems", extend)):
        assert _order(yard, "SO-1", 2, hold_id=1).status == 201

    assert _level(yard) == (2, 0, 3)


# Death at every call of a use, in one transaction and prepared


@pytest.fixture
def held(yard: WarehouseScenario) -> int:
    yard.stock("BRICK", 5)
    yard.erp.put("/products/2", {"man_btch_num": False}).ok()
    yard.stock("CEMENT", 5)
    return yard.erp.post("/holds", _body(4, "CEMENT")).id


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize(
    ("kill", "at"),
    sampled(
        "death while a hold is used",
        [(kill, at) for at in range(30) for kill in (kill_before, kill_after)],
        every=7,
    ),
)
def test_killed_use_of_a_hold_is_repeated_once(
    stack: Stack, yard: WarehouseScenario, held: int, clock: Clock, aws_faults: AwsFaults,
    *, kill: Any, at: int,
) -> None:  # fmt: skip
    def use() -> Response:
        return _order(yard, "SO-1", 3, "CEMENT", hold_id=held)

    aws_faults.kills(kill(at), use)
    check_invariants(read_state(stack.unsorted_items()))
    answer = use()
    if "duplicate_in_flight" in answer.text:
        clock.advance(LEASE_MS / 1000)
        answer = use()

    assert answer.status == 201, answer.text
    check_invariants(read_state(stack.unsorted_items()))
    assert _level(yard) == (3, 0, 2)
    assert yard.erp.get(f"/holds/{held}").ok()["exit_document_id"] == answer.id

"""The hourly run moves available goods past their expiry date to the status `blocked`."""

from collections.abc import Sequence

import pytest

from functions.expired_stock import app
from functions.expired_stock.app import ExpiredStockLeft
from operations import provisioning
from shared.kernel.db import steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.stock import expired_goods
from shared.warehouse.stock.level_rules import NegativeLevel
from shared.warehouse.stock.models import ExpiredRow
from shared.warehouse.stock.posting import StockPosting
from tests.clock import Clock
from tests.expired_stock_run import (
    completed_day,
    goods,
    moved,
    run_expired_stock,
    set_time,
    set_timezone,
)
from tests.faults import AwsFaults, before_first, kill_after_step, kill_at
from tests.log_lines import captured
from tests.stack import Stack, event_attributes, set_attributes
from tests.stock_invariants import assert_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

LAST_DAY = "2030-03-10"
"""The expiry date of the goods."""
NEXT_DAY = "2030-03-11T00:00:00"


@pytest.fixture
def yard(stack: Stack, clock: Clock) -> WarehouseScenario:
    """The warehouse YARD, before its goods expire."""
    # Before the clock moves: other tests use the same master data, and their events follow it.
    WarehouseScenario.with_master_data(stack.erp(), "YARD")
    set_time(clock, "2030-03-09T12:00:00")
    return WarehouseScenario(stack.erp())


def test_available_goods_are_blocked_when_their_day_has_passed(
    yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    yard.stock("CEMENT", 7, batch="NEW", expiry_date="2030-03-11")
    yard.stock("DRILL", 1, serial="S-1", expiry_date=LAST_DAY)
    yard.stock("BRICK", 4)
    set_time(clock, f"{LAST_DAY}T23:59:59")
    run_expired_stock()
    assert moved(yard) == [], "the day of the date is the last good one"

    set_time(clock, NEXT_DAY)
    run_expired_stock()
    assert goods(yard) == [
        ("BRICK", "", "available", 4),
        ("CEMENT", "NEW", "available", 7),
        ("CEMENT", "OLD", "blocked", 5),
        ("DRILL", "S-1", "blocked", 1),
    ]
    assert {row["expiry_date"] for row in yard.erp.walk("/stocks", inventory_status="blocked")} == {
        LAST_DAY
    }
    [level] = yard.erp.walk("/stock-levels", item_code="CEMENT")
    assert (level["on_hand"], level["available"]) == (12, 7)
    cement, drill = moved(yard)
    assert (cement["from"]["inventory_status"], cement["to"]["inventory_status"]) == (
        "available",
        "blocked",
    )
    assert [cement["user_id"], cement["client_id"], cement["document"]] == [None, None, None]
    assert cement["created_at"].startswith(NEXT_DAY)
    assert_invariants(stack.store())

    entries = yard.erp.walk("/audit-log", actor_type="system")
    assert {entry["target"]["id"] for entry in entries} == {str(cement["id"]), str(drill["id"])}
    [entry] = [one for one in entries if one["target"]["id"] == str(cement["id"])]
    assert (entry["action"], entry["reason"]) == ("stock.adjusted", "expired")
    assert entry["actor"] == {"type": "system", "id": None, "name": None}
    assert entry["changes"] == {"qty": {"from": 5, "to": 0}}
    assert entry["details"]["to_status"] == "blocked"
    changed = [
        event_attributes(one) for one in stack.events() if one["type"]["S"] == "stock.updated"
    ]
    assert [(one["item_code"], one["available"]) for one in changed[-2:]] == [
        ("CEMENT", 7),
        ("DRILL", 0),
    ]


def test_run_happens_once_a_day(yard: WarehouseScenario, stack: Stack, clock: Clock) -> None:
    """Goods that become available during the day are taken by the run of the next day."""
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    order = yard.order(("CEMENT", 3))
    picking = yard.picking(order)["id"]
    set_time(clock, NEXT_DAY)
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "available", 3), ("CEMENT", "OLD", "blocked", 2)]
    assert completed_day(stack) == "2030-03-11"

    assert yard.act(picking, "cancel").status == 200
    clock.advance(3600)
    with stack.unchanged():
        run_expired_stock()
    clock.advance(23 * 3600)
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "blocked", 5)]
    assert [one["qty"] for one in moved(yard)] == [2, 3]
    assert_invariants(stack.store())


def test_day_that_was_missed_is_made_up(
    yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, "2030-03-20T15:00:00")
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "blocked", 5)]
    assert completed_day(stack) == "2030-03-20"


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("UTC", "2030-03-10T23:00:00", "2030-03-11T00:00:00"),
        ("Asia/Kolkata", "2030-03-10T18:00:00", "2030-03-10T19:00:00"),
        ("Asia/Kathmandu", "2030-03-10T18:00:00", "2030-03-10T19:00:00"),
        ("Pacific/Kiritimati", "2030-03-10T09:00:00", "2030-03-10T10:00:00"),
        ("America/New_York", "2030-03-11T03:00:00", "2030-03-11T04:00:00"),  # 23 hours long
        ("America/Santiago", "2030-03-11T02:00:00", "2030-03-11T03:00:00"),
    ],
)
def test_run_of_the_first_hour_of_the_day_blocks(
    zone: str, before: str, after: str, yard: WarehouseScenario, clock: Clock
) -> None:
    """The schedule invokes the function at every full hour of UTC."""
    set_timezone(zone)
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, before)
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "available", 5)]
    set_time(clock, after)
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "blocked", 5)]


def test_day_that_begins_at_one_in_the_morning_is_not_missed(
    yard: WarehouseScenario, clock: Clock
) -> None:
    """Summer time begins at midnight in Santiago: the clock goes from 23:59 to 01:00."""
    set_timezone("America/Santiago")
    yard.stock("CEMENT", 5, batch="OLD", expiry_date="2030-09-07")
    set_time(clock, "2030-09-08T03:00:00")
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "available", 5)]
    set_time(clock, "2030-09-08T04:00:00")
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "blocked", 5)]


def test_companies_that_allow_expired_stock_or_are_not_active_are_left_alone(
    yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, NEXT_DAY)
    provisioning.set_settings("acme", {"expired_stock": "allow"})
    run_expired_stock()
    assert completed_day(stack) is None
    provisioning.set_settings("acme", {"expired_stock": "block"})
    set_attributes(state={"S": "suspended"})
    run_expired_stock()
    assert completed_day(stack) is None
    set_attributes(state={"S": "active"})
    run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "blocked", 5)]


def test_corrected_date_of_a_batch_counts_before_it_has_reached_its_rows(
    yard: WarehouseScenario, stack: Stack, clock: Clock, aws_faults: AwsFaults
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    later = {
        "item_code": "CEMENT",
        "batch": "OLD",
        "expiry_date": "2031-01-01",
        "reason": "Misread",
    }
    assert aws_faults.kills(kill_after_step(), lambda: yard.erp.post("/stock-adjustments", later))
    set_time(clock, NEXT_DAY)
    run_expired_stock()
    assert moved(yard) == []
    assert completed_day(stack) == "2030-03-11"


def _many(yard: WarehouseScenario) -> None:
    """Stock three batches and two serials, of which some are allocated."""
    for batch in ("L1", "L2", "L3"):
        yard.stock("CEMENT", 4, batch=batch, expiry_date=LAST_DAY)
    yard.picking(yard.order(("CEMENT", 6)))
    for serial in ("S-1", "S-2"):
        yard.stock("DRILL", 1, serial=serial, expiry_date=LAST_DAY)


_BLOCKED = [
    ("CEMENT", "L1", "available", 4),
    ("CEMENT", "L2", "available", 2),
    ("CEMENT", "L2", "blocked", 2),
    ("CEMENT", "L3", "blocked", 4),
    ("DRILL", "S-1", "blocked", 1),
    ("DRILL", "S-2", "blocked", 1),
]


def test_run_that_dies_at_any_call_is_completed_by_the_next(
    yard: WarehouseScenario,
    stack: Stack,
    clock: Clock,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "STEP_ACTIONS", 12)
    _many(yard)
    set_time(clock, NEXT_DAY)
    restore, moment, died = stack.take_snapshot(), 0, True
    while died:
        died = aws_faults.kills(kill_at(moment), run_expired_stock)
        run_expired_stock()
        assert goods(yard) == _BLOCKED, moment
        assert sorted(one["qty"] for one in moved(yard)) == [1, 1, 2, 4], moment
        assert len(yard.erp.walk("/audit-log", actor_type="system")) == 4, moment
        assert completed_day(stack) == "2030-03-11"
        assert not any(level.event_due for level in read_state(stack.items()).levels), moment
        assert_invariants(stack.store())
        restore()
        set_attributes(expiry_day={"S": "2030-03-10"})
        moment += 1
    assert moment > 20


def test_allocation_during_the_run_keeps_its_goods(
    yard: WarehouseScenario, stack: Stack, clock: Clock, aws_faults: AwsFaults
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, NEXT_DAY)
    order = yard.order(("CEMENT", 3), head={"type": "return_to_provider"})
    with aws_faults.faulty(before_first("TransactWriteItems", lambda: yard.picking(order))):
        run_expired_stock()
    assert goods(yard) == [("CEMENT", "OLD", "available", 3), ("CEMENT", "OLD", "blocked", 2)]
    assert_invariants(stack.store())


def test_failure_of_one_company_does_not_stop_the_others(
    yard: WarehouseScenario, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = WarehouseScenario.with_master_data(stack.erp("beta"), "YARD")
    for each in (yard, other):
        each.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, NEXT_DAY)
    real = expired_goods.block_expired

    def broken(store: Store, today: str) -> expired_goods.Blocked:
        if store.slug == "acme":
            raise RuntimeError("broken")
        return real(store, today)

    monkeypatch.setattr(app, "block_expired", broken)
    with captured() as written, pytest.raises(ExpiredStockLeft, match="1 failed, 0 wait: acme"):
        run_expired_stock()
    assert goods(other) == [("CEMENT", "OLD", "blocked", 5)]
    [line] = written.lines("expired stock failed")
    assert (line["tenant"], completed_day(stack), completed_day(stack, "beta")) == (
        "acme", None, "2030-03-11",
    )  # fmt: skip


def test_failure_of_one_product_does_not_stop_the_others(
    yard: WarehouseScenario, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("BRICK", 1, expiry_date=LAST_DAY)
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    yard.stock("DRILL", 1, serial="S-1", expiry_date=LAST_DAY)
    set_time(clock, NEXT_DAY)
    [cement] = yard.erp.get("/products", query={"item_code": "CEMENT"}).data
    real = expired_goods._block

    def broken(
        tx: Transaction, *, rows: Sequence[ExpiredRow], today: str
    ) -> tuple[int, StockPosting]:
        if any(row.product_id == cement["id"] for row in rows):
            raise NegativeLevel("on_hand: -1")
        return real(tx, rows=rows, today=today)

    monkeypatch.setattr(expired_goods, "_block", broken)
    with captured() as written, pytest.raises(ExpiredStockLeft, match="1 failed, 0 wait: acme"):
        run_expired_stock()
    assert goods(yard) == [
        ("BRICK", "", "blocked", 1),
        ("CEMENT", "OLD", "available", 5),
        ("DRILL", "S-1", "blocked", 1),
    ]
    assert [line["product_id"] for line in written.lines("expired goods failed")] == [cement["id"]]
    assert completed_day(stack) is None
    assert not any(level.event_due for level in read_state(stack.items()).levels)
    assert_invariants(stack.store())


def test_table_that_is_not_upgraded_is_left(
    yard: WarehouseScenario, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, NEXT_DAY)
    monkeypatch.setattr(expired_goods, "EXPIRY_SINCE", 1_000)
    with captured() as written, pytest.raises(ExpiredStockLeft, match="2 failed"):
        run_expired_stock()
    lines = written.lines("expired stock failed")
    assert [line["exception_name"] for line in lines] == ["TableNotUpgraded"] * 2
    assert completed_day(stack) is None


def test_turn_ends_with_the_time_of_the_run(
    yard: WarehouseScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    set_time(clock, NEXT_DAY)
    real, seen = expired_goods.block_expired, list[float]()

    def block(store: Store, today: str) -> expired_goods.Blocked:
        if store.slug == "beta":
            return real(store, today)
        seen.append(round(store.deadline.remaining))
        clock.advance(store.deadline.remaining)
        return expired_goods.Blocked()

    monkeypatch.setattr(app, "block_expired", block)
    with pytest.raises(ExpiredStockLeft, match="0 failed, 1 wait: acme"):
        run_expired_stock(remaining_ms=app._RESERVE_MS + 100_000)
    assert seen == [15, 60, 25]


def test_long_work_goes_on_in_turns_and_in_the_next_run(
    yard: WarehouseScenario, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = WarehouseScenario.with_master_data(stack.erp("beta"), "YARD")
    other.stock("CEMENT", 5, batch="OLD", expiry_date=LAST_DAY)
    _many(yard)
    set_time(clock, NEXT_DAY)
    real = expired_goods._block

    def one_movement_a_turn(
        tx: Transaction, *, rows: Sequence[ExpiredRow], today: str
    ) -> tuple[int, StockPosting]:
        if tx.store.slug == "beta":
            return real(tx, rows=rows, today=today)
        done, posting = real(tx, rows=rows[:1], today=today)
        clock.advance(len(posting.movement_ids) * app._TURN_MS / 1000)
        return done, posting

    monkeypatch.setattr(expired_goods, "_block", one_movement_a_turn)
    with pytest.raises(ExpiredStockLeft, match="0 failed, 1 wait: acme"):
        run_expired_stock(remaining_ms=app._RESERVE_MS + 2 * app._TURN_MS)
    assert goods(other) == [("CEMENT", "OLD", "blocked", 5)]
    assert completed_day(stack) is None
    assert len(moved(yard)) == 2
    run_expired_stock()
    assert goods(yard) == _BLOCKED
    assert len(moved(yard)) == 4
    assert_invariants(stack.store())


def test_goods_that_expire_soon_are_listed_without_empty_rows(yard: WarehouseScenario) -> None:
    """An empty row keeps the date of its last goods, and shows none."""
    for batch, day in (("L1", "2030-03-12"), ("L2", "2030-03-11"), ("L3", "2030-04-01")):
        yard.stock("CEMENT", 1, batch=batch, expiry_date=day)
    yard.stock("BRICK", 1)
    yard.adjust("CEMENT", batch="L2", counted_qty=0).ok(201)

    def batches(**query: object) -> list[str | None]:
        rows = yard.erp.walk("/stocks", **query)
        return [row["batch_num"] if row["qty"] else "empty" for row in rows]

    assert batches(expires_to="2030-03-31") == ["L1"]
    assert batches(expires_to="2030-03-12", status="in", warehouse="YARD") == ["L1"]
    assert batches(expires_to="2030-03-11") == []
    assert batches(expires_to="2030-03-31", status="out") == []
    assert batches(sort="expiry_date") == ["empty", None, "L1", "L3"]
    assert batches(sort="-expiry_date", item_code="CEMENT") == ["L3", "L1", "empty"]
    [empty] = yard.erp.walk("/stocks", status="out")
    assert (empty["batch_num"], empty["expiry_date"]) == ("L2", None)

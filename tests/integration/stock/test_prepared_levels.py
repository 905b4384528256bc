"""Changes of more levels than a transaction holds: prepared, committed by a mark, and added."""

from collections.abc import Iterator

import pytest

from functions.expired_stock.app import ExpiredStockLeft
from shared.kernel.db.claim import LEASE_MS
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.stock import level_book, level_settling
from shared.warehouse.stock.level_marks import left_entry, mark_key
from shared.warehouse.stock.posting import raise_due_events
from shared.warehouse.stock.repository import level_id
from tests.clock import Clock
from tests.concurrency import at_once
from tests.expired_stock_run import run_expired_stock
from tests.faults import Answer, AwsFaults, Call, Forward, Killed, before_each, kill_at
from tests.integration.documents.bodies import document_body
from tests.integration.verify.planting import Table
from tests.log_lines import captured
from tests.sampling import sampled
from tests.stack import Stack, event_attributes
from tests.stock_invariants import check_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

_LINES = [{"item_code": code, "qty": qty} for code, qty in
          (("BRICK", 5), ("CEMENT", 3), ("DRILL", 1), ("BRICK", 2))]  # fmt: skip
_CLAIM_EXPIRY_SECONDS = 60
_ABANDONED_SECONDS = 61
_MOST_MOMENTS = 60


@pytest.fixture(autouse=True)
def small_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare the levels of two products or more, each in a transaction of its own."""
    monkeypatch.setattr(level_book, "MOST_SMALL", 1)
    monkeypatch.setattr(level_settling, "_STEP_ACTIONS", 2)


@pytest.fixture(autouse=True)
def consistent(stack: Stack) -> Iterator[None]:
    yield
    _check(stack)


def _check(stack: Stack) -> None:
    check_invariants(read_state(stack.unsorted_items()))


def _create(yard: WarehouseScenario, reference: str = "SO-L") -> int:
    body = document_body(type="sale_order", external_ref=reference, lines=_LINES)
    return yard.erp.post("/exit-documents", body, key=reference).id


def _committed(stack: Stack) -> dict[str, float]:
    """Return what the levels have, without pending changes."""
    state = read_state(stack.unsorted_items())
    assert not any(one.pending for one in [*state.levels, *state.totals])
    return {one.item_code: float(one.committed) for one in state.levels}


def test_levels_are_right_at_every_moment_and_announced_once(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    moments = 0

    def check(_: Call) -> None:
        nonlocal moments
        moments += 1
        _check(stack)

    before = len(stack.events())
    with aws_faults.faulty(before_each(check)):
        number = _create(yard)
    assert moments > 10
    assert _committed(stack) == {"BRICK": 7, "CEMENT": 3, "DRILL": 1}
    assert [one["type"]["S"] for one in stack.events()[before:]] == ["stock.updated"] * 3
    [mark] = [one for one in stack.unsorted_items() if one["PK"]["S"].startswith("level_mark#")]
    assert "expires_at" in mark

    yard.erp.post(f"/exit-documents/{number}/close").ok()
    assert _committed(stack) == {"BRICK": 0, "CEMENT": 0, "DRILL": 0}


def test_request_that_dies_anywhere_leaves_levels_right(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    restore = stack.take_snapshot()
    for moment in sampled("prepared levels", range(_MOST_MOMENTS), every=4):
        restore()
        if not aws_faults.kills(kill_at(moment), lambda: _create(yard)):
            break
        _check(stack)
        clock.advance(_CLAIM_EXPIRY_SECONDS + _ABANDONED_SECONDS)
        _create(yard)
        _check(stack)
        clock.advance(_ABANDONED_SECONDS)
        for code in ("BRICK", "CEMENT", "DRILL"):
            yard.order((code, 1))
        assert _committed(stack) == {"BRICK": 8, "CEMENT": 4, "DRILL": 2}
        _check(stack)
    assert moment > 16


def test_request_that_is_slower_than_a_minute_prepares_again(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    waits = [_ABANDONED_SECONDS]

    def slow_commit(call: Call, forward: Forward) -> Answer:
        if waits and b"level_mark" in bytes(call.body):
            clock.advance(waits.pop())
            yard.order(("BRICK", 1))
            _check(stack)
        return forward()

    with aws_faults.faulty(slow_commit):
        _create(yard)
    assert sorted(read_state(stack.unsorted_items()).marks.values()) == ["aborted", "committed"]

    clock.advance(_ABANDONED_SECONDS)
    for code in ("BRICK", "CEMENT", "DRILL"):
        yard.order((code, 1))
    assert _committed(stack) == {"BRICK": 9, "CEMENT": 4, "DRILL": 2}


def test_repeat_drops_at_once_what_a_killed_request_has_prepared(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    """Also in a part of its levels; else it would count as ordered twice for a minute."""
    restore = stack.take_snapshot()

    def prepared() -> set[str]:
        state = read_state(stack.unsorted_items())
        return {each.name for one in state.levels for each in one.pending} - state.marks.keys()

    for moment in sampled("repeat of prepared levels", range(_MOST_MOMENTS), every=2):
        restore()
        if not aws_faults.kills(kill_at(moment), lambda: _create(yard)):
            break
        dead = prepared()
        clock.advance(LEASE_MS / 1000 + 1)

        def look_again(call: Call, dead: set[str] = dead) -> None:
            if b"level_mark" in bytes(call.body) and b"places" in bytes(call.body):
                assert not dead & prepared()

        with aws_faults.faulty(before_each(look_again)):
            _create(yard)
        _check(stack)
    assert moment > 16


def test_refused_attempt_is_aborted_at_once(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    """The next attempt, and whoever looks what can still be sold, does not count it."""
    number, counted = _create(yard), list[int]()

    def look(call: Call) -> None:
        if call.operation == "TransactWriteItems" and b"level_mark" in bytes(call.body):
            state = read_state(stack.unsorted_items())
            names = {each.name for one in state.levels for each in one.pending}
            counted.append(len(names - state.marks.keys()))
            if len(counted) == 1:
                change = {"lines": [{"line_num": 1, "qty": 9}]}
                yard.erp.patch(f"/exit-documents/{number}", change).ok()

    with aws_faults.faulty(before_each(look)):
        yard.erp.post(f"/exit-documents/{number}/close").ok()
    # Before the commit, the abort, the commit of the next attempt, and the expiry of its mark.
    assert counted == [1, 1, 1, 0]
    assert _committed(stack) == {"BRICK": 0, "CEMENT": 0, "DRILL": 0}


def test_request_that_prepares_for_long_keeps_its_claim(
    yard: WarehouseScenario,
    aws_faults: AwsFaults,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(level_book, "map_concurrently", lambda call, parts: list(map(call, parts)))
    body = document_body(type="sale_order", external_ref="SO-L", lines=_LINES)
    meanwhile = []

    def take_long(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            clock.advance(LEASE_MS * 0.6 / 1000)
            meanwhile.append(yard.erp.post("/exit-documents", body, key="SO-L").status)

    with aws_faults.faulty(before_each(take_long)):
        yard.erp.post("/exit-documents", body, key="SO-L").ok(201)
    assert meanwhile[:4] == [409] * 4, meanwhile


def _die_after_commit(
    yard: WarehouseScenario, aws_faults: AwsFaults, reference: str = "SO-L"
) -> None:
    """Create an order by a request that dies before its changes are added to the levels."""
    is_committed = False

    def die(call: Call, forward: Forward) -> Answer:
        nonlocal is_committed
        if is_committed:
            raise Killed(call.operation)
        answer = forward()
        is_committed = b"level_mark" in bytes(call.body)
        return answer

    assert aws_faults.kills(die, lambda: _create(yard, reference))


def _short(yard: WarehouseScenario) -> list[str]:
    """Return the products in the index of shortages."""
    return sorted(one["item_code"] for one in yard.erp.walk("/stock-levels", shortage=True))


def test_hourly_run_adds_what_a_request_has_left(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    _die_after_commit(yard, aws_faults)
    run_expired_stock()
    assert _short(yard) == [], "the request may still be running"
    clock.advance(_ABANDONED_SECONDS)
    restore, before = stack.take_snapshot(), len(stack.events())

    run_expired_stock()
    assert _committed(stack) == {"BRICK": 7, "CEMENT": 3, "DRILL": 1}
    assert _short(yard) == ["BRICK", "CEMENT", "DRILL"]
    assert [one["type"]["S"] for one in stack.events()[before:]] == ["stock.updated"] * 3
    with stack.unchanged():
        run_expired_stock()

    restore()
    at_once(run_expired_stock, run_expired_stock)
    assert _committed(stack) == {"BRICK": 7, "CEMENT": 3, "DRILL": 1}
    assert len(stack.events()) == before + 3

    for moment in sampled("left levels", range(_MOST_MOMENTS), every=4):
        restore()
        if not aws_faults.kills(kill_at(moment), run_expired_stock):
            break
        _check(stack)
        run_expired_stock()
        assert _committed(stack) == {"BRICK": 7, "CEMENT": 3, "DRILL": 1}
    assert moment > 16


def test_next_large_change_adds_what_a_request_has_left(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    _die_after_commit(yard, aws_faults)
    clock.advance(_ABANDONED_SECONDS)
    yard.order(("BRICK", 1), ("CEMENT", 1))
    assert _committed(stack) == {"BRICK": 8, "CEMENT": 4, "DRILL": 1}


def test_what_cannot_be_added_does_not_stop_the_rest(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    broken = {"state": "committed", "places": b"broken", **left_entry("2026-01-01T00:00:00.000Z")}
    Table(stack).put(mark_key("0" * 32), broken)
    _die_after_commit(yard, aws_faults)
    clock.advance(_ABANDONED_SECONDS)
    with captured() as written, pytest.raises(ExpiredStockLeft, match="1 failed, 0 wait: acme"):
        run_expired_stock()
    assert _committed(stack) == {"BRICK": 7, "CEMENT": 3, "DRILL": 1}
    [line] = written.lines("pending changes of levels failed")
    assert line["transaction"] == "0" * 32


def test_event_that_a_step_has_left_shows_committed_changes(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    """The request died before its changes were added to the level."""
    yard.stock("BRICK", 1)
    _die_after_commit(yard, aws_faults)
    [level] = [one for one in read_state(stack.unsorted_items()).levels if one.on_hand]
    place = (level.product_id, 1)
    Table(stack).edit("level", level_id(*place), event_due=True)
    run_transaction(stack.store(), lambda tx: raise_due_events(tx, [place]))
    shown = event_attributes(stack.events()[-1])
    assert (shown["item_code"], shown["on_hand"], shown["committed"]) == ("BRICK", 1, 7)


def test_abandoned_changes_are_dropped_a_few_at_a_time(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    """However many there are, their marks fit into the transaction that drops them."""

    def die(call: Call) -> None:
        if call.operation == "TransactWriteItems" and b"level_mark" in bytes(call.body):
            raise Killed(call.operation)

    for attempt in range(level_settling._MOST_ABORTED + 2):
        assert aws_faults.kills(before_each(die), lambda: _create(yard, f"SO-{attempt}"))  # noqa: B023
    clock.advance(_ABANDONED_SECONDS)

    for left in (2, 0):
        yard.order(("BRICK", 1))
        _check(stack)
        levels = read_state(stack.unsorted_items()).levels
        assert [len(one.pending) for one in levels if one.item_code == "BRICK"] == [left]


def test_large_and_small_orders_at_once(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    aws_faults.latency = 0.002
    yard.stock("BRICK", 50)

    def small() -> None:
        for number in range(5):
            body = document_body(type="sale_order", external_ref=f"SO-S{number}",
                                 lines=[{"item_code": "BRICK", "qty": 1}])  # fmt: skip
            yard.erp.post("/exit-documents", body, key=f"S{number}").ok(201)

    at_once(lambda: _create(yard, "SO-A"), lambda: _create(yard, "SO-B"), small)

    assert _committed(stack) == {"BRICK": 19, "CEMENT": 6, "DRILL": 2}

"""Picks of transfer orders that are undone: the order is picking again until it is dispatched."""

from typing import Any

import pytest

from operations.verify import verify_tenant
from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.between_calls import before_each_call
from tests.stack import Stack, event_attributes
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _undo(
    scenario: TransferScenario, number: int, item_code: str, qty: float, **more: object
) -> Response:
    body = {"item_code": item_code, "qty": qty, "bin_code": "A-01", **more}
    return scenario.act(number, "picks/undo", **body)


def _picking(scenario: TransferScenario, number: int) -> dict[str, Any]:
    return scenario.erp.get(f"/pickings/{scenario.shown(number)['picking_id']}").ok()


def _lines(shown: dict[str, Any]) -> list[tuple[float, str]]:
    return [(line["picked_qty"], line["status"]) for line in shown["lines"]]


def test_undone_pick_is_allocated_to_the_order_again(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.order(("BRICK", 4))
    transfer_scenario.pick(number, "BRICK", 3)
    before = len(stack.events())

    some = _undo(transfer_scenario, number, "BRICK", 1).ok()
    rest = _undo(transfer_scenario, number, "BRICK", 2).ok()

    assert [(one["status"], _lines(one)) for one in (some, rest)] == [
        ("picking", [(2, "partial")]), ("picking", [(0, "open")]),
    ]  # fmt: skip
    assert _lines(_picking(transfer_scenario, number)) == [(0, "open")]
    assert transfer_scenario.level("BRICK", "YARD") == (10, 4, 6, 0)
    moved = transfer_scenario.erp.walk("/stock-movements", type="pick_undone", sort="created_at")
    assert [one["qty"] for one in moved] == [1, 2]
    changed = [event_attributes(one)["whs_code"] for one in stack.events()[before:]]
    assert changed == ["SHOP", "SHOP"], "only what is incoming has changed"
    nothing = transfer_scenario.act(number, "finish-picking")
    assert (nothing.status, nothing.code) == (409, "conflict")
    assert transfer_scenario.pick(number, "BRICK", 4)["status"] == "picked"


@pytest.mark.parametrize("is_booked", [False, True])
def test_order_that_was_picked_is_picking_again(
    transfer_scenario: TransferScenario, *, is_booked: bool
) -> None:
    transfer_scenario.yard.stock_serials("S-1", "S-2")
    number = transfer_scenario.order(("DRILL", 2))
    picked = transfer_scenario.pick(number, "DRILL", 2, serials=["S-1", "S-2"])
    if is_booked:
        transfer_scenario.erp.post(f"/pickings/{picked['picking_id']}/synchronize").ok()

    shown = _undo(transfer_scenario, number, "DRILL", 1, serials=["S-2"]).ok()

    assert (picked["status"], shown["status"], _lines(shown)) == (
        "picked", "picking", [(1, "partial")],
    )  # fmt: skip
    assert shown["lines"][0]["serial_numbers"] == ["S-1"]
    picking = _picking(transfer_scenario, number)
    assert (picking["status"], picking["finalized_at"]) == ("started", None)
    transfer_scenario.pick(number, "DRILL", 1, serials=["S-2"])
    left = transfer_scenario.done(number, "dispatch")
    assert (left["status"], left["units"]["dispatched"]) == ("in_transit", 2)


@pytest.mark.usefixtures("clock")
def test_undo_after_a_short_end_allocates_only_what_was_undone(
    transfer_scenario: TransferScenario,
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    transfer_scenario.yard.stock("CEMENT", 3, batch="L1")
    number = transfer_scenario.order(("BRICK", 6), ("CEMENT", 3))
    transfer_scenario.pick(number, "BRICK", 4)
    transfer_scenario.done(number, "finish-picking")
    ended = _picking(transfer_scenario, number)
    assert (ended["status"], ended["has_shortage"]) == ("finalized", True)

    shown = _undo(transfer_scenario, number, "BRICK", 1).ok()

    assert (shown["status"], _lines(shown)) == ("picking", [(3, "partial"), (0, "open")])
    picking = _picking(transfer_scenario, number)
    assert (picking["status"], picking["has_shortage"]) == ("started", False)
    assert {line["status"] for line in picking["lines"]} == {"partial", "open"}
    # The picker of the test has no complete user record.
    assert not [one for one in verify_tenant("acme").listed if "user" not in one.subject]
    assert transfer_scenario.level("BRICK", "YARD") == (10, 4, 6, 0)
    assert transfer_scenario.level("CEMENT", "YARD") == (3, 0, 3, 0)
    transfer_scenario.pick(number, "BRICK", 1)
    short = transfer_scenario.done(number, "finish-picking")
    assert (short["status"], _lines(short)) == ("picked", [(4, "short"), (0, "short")])
    transfer_scenario.done(number, "cancel")
    assert transfer_scenario.level("BRICK", "YARD") == (10, 0, 10, 0)


def test_undo_of_more_than_was_picked_there_is_refused(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.order(("BRICK", 4), ("CEMENT", 1))
    transfer_scenario.pick(number, "BRICK", 2)

    for status in ("picking", "picked"):
        with stack.unchanged():
            more = _undo(transfer_scenario, number, "BRICK", 3)
            elsewhere = _undo(transfer_scenario, number, "BRICK", 1, bin_code="B-01")
            other = _undo(transfer_scenario, number, "DRILL", 1, serials=["S-1"])
        assert transfer_scenario.shown(number)["status"] == status
        assert more.problems == {"qty": "3 to undo, 2 of BRICK picked at A-01"}
        assert elsewhere.invalid_fields == ["bin_code", "qty"]
        assert other.invalid_fields == ["item_code"]
        if status == "picking":
            transfer_scenario.done(number, "finish-picking")


@pytest.fixture
def picked(transfer_scenario: TransferScenario, monkeypatch: pytest.MonkeyPatch) -> int:
    """An order of two products that is picked and leaves in two steps."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    transfer_scenario.yard.stock("BRICK", 2)
    transfer_scenario.yard.stock("CEMENT", 2, batch="L1")
    number = transfer_scenario.order(("BRICK", 2), ("CEMENT", 2))
    transfer_scenario.pick(number, "BRICK", 2)
    transfer_scenario.pick(number, "CEMENT", 2, batch="L1")
    return number


@pytest.mark.parametrize("action", ["picks/undo", "cancel"])
def test_action_is_too_late_when_the_order_is_dispatched_meanwhile(
    action: str,
    picked: int,
    transfer_scenario: TransferScenario,
    stack: Stack,
    aws_faults: AwsFaults,
) -> None:
    body = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"} if action != "cancel" else {}
    answers: list[Response] = []
    for dispatched in before_each_call(
        stack, aws_faults,
        lambda: answers.append(transfer_scenario.act(picked, action, **body)),
        lambda: transfer_scenario.act(picked, "dispatch"),
        family=f"calls of {action} of a transfer order", every=1, at_least=3,
    ):  # fmt: skip
        answer, status = answers[-1], transfer_scenario.shown(picked)["status"]
        if dispatched.status == 200:
            assert (answer.code, status) == ("stale_state", "in_transit"), answer.text
        else:
            assert (answer.status, answer.data["status"]) == (200, status), answer.text
        assert_invariants(stack.store())


def test_undo_is_refused_once_the_dispatch_has_begun(
    picked: int, transfer_scenario: TransferScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    answers: list[Response] = []
    seen: set[str] = set()
    for undone in before_each_call(
        stack, aws_faults,
        lambda: answers.append(transfer_scenario.act(picked, "dispatch")),
        lambda: _undo(transfer_scenario, picked, "BRICK", 1),
        family="calls of the dispatch of a transfer order", every=1, at_least=3,
    ):  # fmt: skip
        status = transfer_scenario.shown(picked)["status"]
        if undone.status == 200:
            assert (answers[-1].code, status) == ("conflict", "picking")
        else:
            assert (undone.code, status) == ("conflict", "in_transit")
            assert (
                f"TO-{picked} cannot be changed: its dispatch is not finished"
                in undone.json()["message"]
            )
        seen.add(status)
        assert_invariants(stack.store())
    assert seen == {"picking", "in_transit"}

"""A grant holds only for the figures of the rule that the supervisor has seen."""

from decimal import Decimal
from functools import partial

import pytest

from tests.concurrency import run_concurrently
from tests.faults import AwsFaults, before_first
from tests.gateway import Erp, Response
from tests.integration.approvals.conftest import MORE, ApprovalScenario, approval_of
from tests.integration.call_faults import at_calls
from tests.interleaving import Scheduler, each_seed
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_SHORT = {"shortage_reason": "could_not_locate"}


@pytest.fixture
def supervisor(stack: Stack) -> Erp:
    return Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))


@pytest.fixture
def counted(yard: WarehouseScenario) -> WarehouseScenario:
    """6 bricks at A-01; adjustments of more than 5 units need an approval."""
    yard.stock("BRICK", 6)
    yard.change_settings(approval_adjustment_qty=Decimal(5))
    return yard


def _status(erp: Erp, number: int) -> str:
    status: str = erp.get(f"/approvals/{number}").data["status"]
    return status


def _count(yard: WarehouseScenario) -> Response:
    return yard.adjust(counted_qty=0)


def test_grant_of_a_count_does_not_hold_for_another_quantity_in_stock(
    counted: WarehouseScenario, supervisor: Erp, stack: Stack
) -> None:
    first = approval_of(_count(counted))
    supervisor.post(f"/approvals/{first}/grant").ok()
    for _ in range(3):
        counted.stock("BRICK", 5)

    refused = _count(counted)
    second = approval_of(refused)

    assert second != first
    message = "21 of BRICK at A-01 would be adjusted, from 21 to 0; more than 5 needs the approval"
    assert counted.erp.get(f"/approvals/{second}").data["message"].startswith(message)
    assert refused.json()["message"].startswith(message)
    assert [_status(counted.erp, one) for one in (first, second)] == ["expired", "pending"]
    assert counted.level("BRICK") == (21, 0, 21)
    supervisor.post(f"/approvals/{second}/grant").ok()
    _count(counted).ok(201)
    assert _status(counted.erp, second) == "used"
    assert_invariants(stack.store())


def test_pending_approval_of_other_figures_is_replaced(
    counted: WarehouseScenario, supervisor: Erp, stack: Stack
) -> None:
    first = approval_of(_count(counted))
    assert approval_of(_count(counted)) == first
    counted.stock("BRICK", 1)
    shown = counted.erp.get(f"/approvals/{first}").data

    second = approval_of(_count(counted))

    assert approval_of(_count(counted)) == second != first
    replaced = counted.erp.get(f"/approvals/{first}").data
    assert replaced == {
        **shown,
        "status": "expired",
        "expires_at": replaced["updated_at"],
        "updated_at": replaced["updated_at"],
        "actions": [],
    }
    late = supervisor.post(f"/approvals/{first}/grant")
    assert (late.status, late.code) == (409, "stale_state")
    lists = {
        status: [row["id"] for row in counted.erp.walk("/approvals", status=status)]
        for status in ("pending", "granted", "expired")
    }
    assert lists == {"pending": [second], "granted": [], "expired": [first]}
    total = counted.erp.get("/approvals", query={"status": "expired", "per_page": 1}).json()
    assert total["meta"]["total"] == 1
    log = stack.erp().walk("/audit-log", target_type="approval", sort="created_at")
    assert [entry["details"].get("replaces") for entry in log] == [None, first]


def test_figures_that_return_are_those_of_the_grant(
    counted: WarehouseScenario, supervisor: Erp
) -> None:
    number = approval_of(_count(counted))
    supervisor.post(f"/approvals/{number}/grant").ok()
    counted.stock("BRICK", 1)
    counted.adjust(decrease=1).ok(201)
    _count(counted).ok(201)


def test_grant_of_a_status_change_does_not_hold_for_other_units(
    counted: WarehouseScenario, supervisor: Erp
) -> None:
    counted.stock("BRICK", 2)
    number = approval_of(counted.adjust(to_status="blocked"))
    supervisor.post(f"/approvals/{number}/grant").ok()
    counted.picking(counted.order(("BRICK", 2)))

    assert approval_of(counted.adjust(to_status="blocked")) != number


def test_grant_of_a_receipt_does_not_hold_after_other_goods_arrived(
    scenario: ApprovalScenario,
) -> None:
    first = scenario.granted()
    other = scenario.receiving.started(scenario.receiving.order({"qty": 10}))
    scenario.receiving.receive(other, 4).ok()
    assert scenario.shown(first)["status"] == "granted", "another order"
    scenario.receive({**MORE, "qty": 3}).ok()

    second = scenario.requested()

    assert [scenario.shown(one)["status"] for one in (first, second)] == ["expired", "pending"]
    assert scenario.shown(second)["message"].startswith("14 of BRICK would be received, 10 ordered")
    scenario.decide(second)
    scenario.receive().ok()


def test_grant_of_a_shortage_does_not_hold_after_more_was_picked(
    yard: WarehouseScenario, supervisor: Erp
) -> None:
    yard.stock("BRICK", 9)
    yard.change_settings(approval_shortage_percent=Decimal(10))
    number = yard.started(yard.order(("BRICK", 9)))
    yard.pick(number, "BRICK", 1).ok()
    first = approval_of(yard.act(number, "finalize", **_SHORT))
    supervisor.post(f"/approvals/{first}/grant").ok()
    yard.pick(number, "BRICK", 2).ok()

    second = approval_of(yard.act(number, "finalize", **_SHORT))

    assert second != first
    assert yard.erp.get(f"/approvals/{second}").data["message"].startswith("6 of 9 units")
    assert yard.level("BRICK") == (9, 9, 0), "nothing is released"


def test_goods_picked_between_the_steps_of_a_finalization_end_its_grant(
    yard: WarehouseScenario,
    supervisor: Erp,
    stack: Stack,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    for bin_code in ("A-01", "B-01", "F-01"):
        yard.stock("BRICK", 3, bin_code)
    yard.change_settings(approval_shortage_percent=Decimal(10))
    number = yard.started(yard.order(("BRICK", 9)))
    first = approval_of(yard.act(number, "finalize", **_SHORT))
    supervisor.post(f"/approvals/{first}/grant").ok()

    def pick() -> None:
        left = yard.erp.get(f"/pickings/{number}").data["lines"]
        place = next(one["bin_code"] for one in left if one["bin_code"])
        yard.pick(number, "BRICK", 1, place).ok()

    with aws_faults.faulty(at_calls("TransactWriteItems", [1], before=pick)):
        refused = yard.act(number, "finalize", **_SHORT)

    assert approval_of(refused) != first
    assert yard.erp.get(f"/pickings/{number}").data["status"] == "started"
    assert_invariants(stack.store())


def test_stock_that_changes_before_the_commit_ends_the_grant(
    counted: WarehouseScenario, supervisor: Erp, aws_faults: AwsFaults
) -> None:
    number = approval_of(_count(counted))
    supervisor.post(f"/approvals/{number}/grant").ok()
    change = before_first("TransactWriteItems", partial(counted.stock, "BRICK", 1))

    with aws_faults.faulty(change):
        refused = _count(counted)

    assert approval_of(refused) != number
    assert counted.level("BRICK") == (7, 0, 7)


def test_twenty_repeats_with_other_figures_make_one_approval(
    counted: WarehouseScenario, supervisor: Erp, aws_faults: AwsFaults
) -> None:
    first = approval_of(_count(counted))
    supervisor.post(f"/approvals/{first}/grant").ok()
    counted.stock("BRICK", 1)
    aws_faults.latency = 0.005

    answers = run_concurrently(20, lambda _: _count(counted))

    [second] = set(map(approval_of, answers))
    assert [_status(counted.erp, one) for one in (first, second)] == ["expired", "pending"]


def test_repeats_decisions_and_changes_of_stock_at_once_use_no_grant_of_other_figures(
    counted: WarehouseScenario, supervisor: Erp, scheduler: Scheduler, stack: Stack
) -> None:
    first = approval_of(_count(counted))
    for seed in each_seed(stack):
        actions = [
            partial(supervisor.post, f"/approvals/{first}/grant"),
            partial(_count, counted),
            partial(counted.adjust, increase=1),
            partial(_count, counted),
        ]
        answers = scheduler.run(actions, seed)
        removed = [one.data["qty_before"] for one in (answers[1], answers[3]) if one.status == 201]
        granted = [qty for qty in removed if qty > 5]
        assert granted in ([], [6]), "what the supervisor has seen"
        statuses = [row["status"] for row in counted.erp.walk("/approvals")]
        assert statuses.count("used") == len(granted)
        assert statuses.count("pending") <= 1
        assert_invariants(stack.store())

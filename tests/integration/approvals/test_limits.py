"""Shortages and stock adjustments require approvals above the limits of the settings."""

from decimal import Decimal

import pytest

from tests.cases import each_case
from tests.faults import AwsFaults, kill_after, kill_before
from tests.gateway import Erp
from tests.integration.approvals.conftest import approval_of
from tests.sampling import deadly_calls
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_SHORT = {"shortage_reason": "could_not_locate"}
_PLACE = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "reason": "Count"}


@pytest.fixture
def supervisor(stack: Stack) -> Erp:
    return Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))


def _grant(supervisor: Erp, number: int) -> None:
    assert supervisor.post(f"/approvals/{number}/grant").status == 200


def _short_picking(yard: WarehouseScenario, picked: float) -> int:
    """Start a picking of 8 bricks in two lines, and pick some."""
    number = yard.started(yard.order(("BRICK", 3), ("BRICK", 5)))
    assert yard.pick(number, "BRICK", picked).status == 200
    return number


def test_shortage_above_the_limit_requires_an_approval(
    yard: WarehouseScenario, supervisor: Erp, stack: Stack
) -> None:
    yard.stock("BRICK", 100)
    yard.change_settings(approval_shortage_percent=Decimal(25))
    assert yard.act(_short_picking(yard, 6), "finalize", **_SHORT).status == 200

    number = _short_picking(yard, 5.5)
    level = yard.level("BRICK")
    assert yard.act(number, "finalize").code == "validation_failed", "no reason"
    approval = approval_of(yard.act(number, "finalize", **_SHORT))
    assert yard.level("BRICK") == level, "nothing is released"
    shown = yard.erp.get(f"/approvals/{approval}").data
    assert (shown["code"], shown["resource"]) == ("shortage", {"object": "picking", "id": number})
    assert shown["message"] == (
        f"2.5 of 8 units of PKG-{number} would not be picked; more than 25 % needs the approval of"
        " a user with approvals.grant."
    )
    _grant(supervisor, approval)
    answer = yard.act(number, "finalize", **_SHORT)
    assert (answer.status, answer.data["status"]) == (200, "finalized")
    assert yard.erp.get(f"/approvals/{approval}").data["status"] == "used"
    assert_invariants(stack.store())


def test_any_shortage_is_allowed_without_a_limit_and_none_with_the_limit_zero(
    yard: WarehouseScenario,
) -> None:
    yard.stock("BRICK", 100)
    assert yard.act(_short_picking(yard, 0.5), "finalize", **_SHORT).status == 200
    yard.change_settings(approval_shortage_percent=Decimal(0))
    assert yard.act(_short_picking(yard, 8), "finalize").status == 200
    approval_of(yard.act(_short_picking(yard, 7.999999), "finalize", **_SHORT))


def test_grant_is_used_in_the_last_step_of_a_finalization(
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
    approval = approval_of(yard.act(number, "finalize", **_SHORT))
    _grant(supervisor, approval)
    as_prepared = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        assert yard.act(number, "finalize", **_SHORT).status == 200
    assert seen.operations.count("TransactWriteItems") > 2
    for kind in (kill_before, kill_after):
        for at in deadly_calls(f"grant {kind.__name__}", seen.operations, every=4):
            as_prepared()
            assert aws_faults.kills(kind(at), lambda: yard.act(number, "finalize", **_SHORT))
            status = yard.erp.get(f"/pickings/{number}").data["status"]
            used = yard.erp.get(f"/approvals/{approval}").data["status"] == "used"
            assert used == (status == "finalized")
            if not used:
                assert yard.act(number, "finalize", **_SHORT).status == 200
    assert_invariants(stack.store())


@each_case(
    ("within", "above", "units"),
    [
        ({"increase": 10}, {"increase": 10.000001}, "10.000001"),
        ({"decrease": 10}, {"decrease": 11}, "11"),
        ({"counted_qty": 90}, {"counted_qty": 120}, "20"),
        ({"counted_qty": 100}, {"counted_qty": 0}, "100"),
        ({"to_status": "blocked", "qty": 10}, {"to_status": "blocked", "qty": 11}, "11"),
        ({"to_status": "blocked", "qty": 1}, {"to_status": "blocked"}, "100"),
    ],
)
def test_adjustment_of_more_units_than_the_limit_requires_an_approval(  # noqa: PLR0917 - a table
    yard: WarehouseScenario, supervisor: Erp, stack: Stack,
    within: dict[str, object], above: dict[str, object], units: str,
) -> None:  # fmt: skip
    restore = stack.take_snapshot()
    yard.change_settings(approval_adjustment_qty=None)
    yard.stock("BRICK", 100)
    yard.change_settings(approval_adjustment_qty=Decimal(10))
    as_counted = stack.take_snapshot()
    assert yard.adjust(**within).status in {200, 201}
    as_counted()

    refused = yard.adjust(**above)
    number = approval_of(refused)
    assert yard.level("BRICK")[0] == 100
    assert refused.json()["message"].startswith(
        f"{units} of BRICK at A-01 would be adjusted, from 100 to "
    )
    _grant(supervisor, number)
    assert yard.adjust(**above).status == 201
    assert yard.erp.get(f"/approvals/{number}").data["status"] == "used"
    assert_invariants(stack.store())
    restore()


def test_limits_cost_one_round_trip_when_they_apply_and_none_otherwise(
    yard: WarehouseScenario, supervisor: Erp, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 100)

    def adjusted(qty: float, turn: str) -> tuple[int, int]:
        with aws_faults.recorded() as seen:
            answer = yard.erp.post("/stock-adjustments", {**_PLACE, "increase": qty}, key=turn)
        return answer.status, seen.round_trips

    def finalized(number: int, turn: str) -> tuple[int, int]:
        with aws_faults.recorded() as seen:
            answer = yard.erp.post(f"/pickings/{number}/finalize", _SHORT, key=turn)
        return answer.status, seen.round_trips

    pickings = [_short_picking(yard, 1) for _ in range(2)]
    adjusted(1, "warm")
    free, free_end = adjusted(2, "free"), finalized(pickings[0], "end")
    yard.change_settings(approval_adjustment_qty=Decimal(5), approval_shortage_percent=Decimal(5))
    adjusted(1, "warm again")
    assert adjusted(3, "below") == free
    refused, refused_end = adjusted(6, "above"), finalized(pickings[1], "end above")
    assert refused == (409, free[1] + 1)
    for row in yard.erp.walk("/approvals"):
        _grant(supervisor, row["id"])
    assert adjusted(6, "above") == (201, free[1] + 1)
    assert finalized(pickings[1], "end above") == (200, free_end[1] + 1)
    assert refused_end == (409, 3), "claim and picking, ids, approval"

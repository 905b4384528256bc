"""All stock of a product and batch has one expiry date, wherever it is and however it arrives."""

from typing import Any

import pytest

from shared.warehouse.stock.models import Lot
from shared.warehouse.stock.repository import batch_key
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after, kill_before
from tests.gateway import Erp, Response
from tests.integration.between_calls import before_each_call
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import sampled
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

CEMENT = 2
LOT: Lot = (CEMENT, "L1")
FIRST, OTHER, LATEST = "2030-01-31", "2031-02-28", "2032-03-31"


@pytest.fixture
def receiving(stack: Stack) -> ReceivingScenario:
    return ReceivingScenario(stack.erp())


def adjust(erp: Erp, bin_code: object = "A-01", **change: object) -> Response:
    goods = {"item_code": "CEMENT", "batch": "L1", **change}
    return WarehouseScenario(erp).adjust(bin_code=bin_code, **goods)


def dates(erp: Erp, batch: str = "L1") -> list[tuple[str | None, float, str | None]]:
    """Return position, quantity and date of each row of the batch that has stock."""
    rows = erp.walk("/stocks", batch=batch, status="in")
    return [
        (row["position"] and row["position"]["bin_code"], row["qty"], row["expiry_date"])
        for row in rows
    ]


def assert_names(answer: Response, date: str) -> None:
    assert (answer.status, answer.json()["error"]["field"]) == (422, "expiry_date"), answer.text
    assert date in answer.json()["message"]


def test_another_date_is_refused_at_every_position(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    erp = receiving.erp
    number = receiving.started(receiving.order({"item_code": "CEMENT", "qty": 9}))
    goods: dict[str, Any] = {"item_code": "CEMENT", "batch": "L1"}
    assert receiving.receive(number, 1, **goods, expiry_date=FIRST).status == 200

    with stack.unchanged():
        elsewhere = receiving.receive(number, 1, **goods, bin_code="B-01", expiry_date=OTHER)
        assert_names(elsewhere, f"L1 of CEMENT is in stock with the expiry date {FIRST}")
        assert_names(adjust(erp, "F-01", increase=1, expiry_date=OTHER), FIRST)
        status = adjust(erp, "F-01", increase=1, expiry_date=OTHER, inventory_status="damaged")
        assert_names(status, FIRST)
    assert receiving.receive(number, 1, **goods, bin_code="B-01", expiry_date=FIRST).status == 200

    assert dates(erp) == [("A-01", 1, FIRST), ("B-01", 1, FIRST)]
    assert adjust(erp, "F-01", batch="L2", increase=1, expiry_date=OTHER).status == 201


def test_goods_without_a_date_take_that_of_the_batch(receiving: ReceivingScenario) -> None:
    erp = receiving.erp
    number = receiving.started(receiving.order({"item_code": "CEMENT", "qty": 9}))
    receiving.yard.stock("CEMENT", 1, batch="L1", expiry_date=FIRST)
    goods: dict[str, Any] = {"item_code": "CEMENT", "batch": "L1"}

    assert receiving.receive(number, 1, **goods, bin_code="B-01").status == 200
    assert adjust(erp, "F-01", increase=1).data["expiry_date"] == FIRST
    assert adjust(erp, "A-01", counted_qty=3).data["expiry_date"] == FIRST

    assert dates(erp) == [("A-01", 3, FIRST), ("B-01", 1, FIRST), ("F-01", 1, FIRST)]


def test_date_for_a_batch_in_stock_without_one_is_refused(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("CEMENT", 1, batch="L1")

    with stack.unchanged():
        refused = adjust(yard.erp, "B-01", increase=1, expiry_date=FIRST)

    assert_names(refused, "L1 of CEMENT is in stock without an expiry date")


def test_batch_that_is_not_in_stock_gets_another_date(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("CEMENT", 2, batch="L1", expiry_date=FIRST)
    adjust(yard.erp, decrease=1)
    assert_names(adjust(yard.erp, increase=1, expiry_date=OTHER), FIRST)
    adjust(yard.erp, decrease=1)

    assert adjust(yard.erp, "B-01", increase=1, expiry_date=OTHER).status == 201
    assert adjust(yard.erp, increase=1).status == 201

    assert dates(yard.erp) == [("A-01", 1, OTHER), ("B-01", 1, OTHER)]
    assert_invariants(stack.store())


def test_date_of_goods_that_are_not_added_is_refused(yard: WarehouseScenario) -> None:
    for goods in ({}, {"item_code": "BRICK", "batch": None}):
        for change in ({"counted_qty": 2}, {"decrease": 1}, {"to_status": "damaged"}):
            refused = adjust(yard.erp, expiry_date=FIRST, **change, **goods)
            assert_names(refused, f"is not allowed with {next(iter(change))}")


def test_serials_of_a_batch_have_its_date(yard: WarehouseScenario) -> None:
    both = {"item_code": "PUMP", "name": "Pump", "man_btch_num": True, "man_ser_num": True}
    assert yard.erp.post("/products", both).status == 201
    pump = {"item_code": "PUMP", "increase": 1}
    assert adjust(yard.erp, **pump, serial="S-1", expiry_date=FIRST).status == 201
    assert adjust(yard.erp, "B-01", **pump, serial="S-2").status == 201
    assert_names(adjust(yard.erp, **pump, serial="S-3", expiry_date=OTHER), FIRST)

    adjust(yard.erp, **pump, batch="L2", serial="S-3", expiry_date=OTHER).ok(201)

    assert dates(yard.erp) == [("A-01", 1, FIRST), ("B-01", 1, FIRST)]
    assert dates(yard.erp, "L2") == [("A-01", 1, OTHER)]


def test_serial_of_another_batch_is_not_adjusted(yard: WarehouseScenario, stack: Stack) -> None:
    both = {"item_code": "PUMP", "name": "Pump", "man_btch_num": True, "man_ser_num": True}
    yard.erp.post("/products", both).ok(201)
    pump = {"item_code": "PUMP", "serial": "S-1"}
    adjust(yard.erp, **pump, increase=1, expiry_date=FIRST).ok(201)

    with stack.unchanged():
        for change in (
            {"counted_qty": 1}, {"increase": 1}, {"decrease": 1}, {"to_status": "quarantine"},
        ):  # fmt: skip
            refused = adjust(yard.erp, **pump, batch="L2", **change)
            assert (refused.status, refused.code) == (409, "conflict"), change
        assert adjust(yard.erp, **pump, batch="L2", counted_qty=0).ok()["qty_before"] == 0
    adjust(yard.erp, **pump, to_status="quarantine").ok(201)
    assert dates(yard.erp) == [("A-01", 1, FIRST)]
    assert_invariants(stack.store())


def test_index_that_lags_behind_hides_no_new_row(
    yard: WarehouseScenario, clock: Clock, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.stock.batches.id_pages", lambda *_, **__: [[]])
    yard.stock("CEMENT", 1, batch="L1", expiry_date=FIRST)

    assert_names(adjust(yard.erp, "B-01", increase=1, expiry_date=OTHER), FIRST)
    clock.advance(11)
    adjust(stack.erp(), "F-01", increase=1)
    batch = stack.store().get(batch_key(LOT)) or {}
    [_, second] = yard.erp.walk("/stocks")
    assert batch["new_rows"] == {second["id"]}


def test_only_goods_of_a_batch_take_one_more_action(yard: WarehouseScenario, stack: Stack) -> None:
    """Stock that moves between rows that have stock writes no batch."""
    for code, more in (("BRICK", {}), ("CEMENT", {"batch": "L1"})):
        for bin_code in ("A-01", "B-01"):
            yard.stock(code, 2, bin_code, **more)
    before = stack.store().get(batch_key(LOT))
    assert before is not None
    assert (before["version"], before["new_rows"]) == (2, {3, 4})
    line = {"item_code": "CEMENT", "qty": 1, "batch": "L1", "from_bin": "A-01", "to_bin": "B-01"}
    ends = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}

    assert yard.erp.post("/transfers", ends).status == 201

    assert stack.store().get(batch_key(LOT)) == before


def test_date_follows_goods_through_picking_and_transfer_orders(stack: Stack) -> None:
    scenario = TransferScenario(stack.erp())
    scenario.yard.stock("CEMENT", 5, batch="L1", expiry_date=FIRST)
    number = scenario.order(("CEMENT", 3))
    scenario.pick(number, "CEMENT", 2, batch="L1")
    scenario.done(number, "finish-picking")
    scenario.done(number, "dispatch")
    assert_invariants(stack.store())
    goods = {"item_code": "CEMENT", "batch": "L1", "qty": 2}

    assert scenario.receive(number, goods).status == 200

    assert dates(scenario.erp) == [("A-01", 3, FIRST), ("B-01", 2, FIRST)]


# Corrections


def correct(erp: Erp, expiry_date: object = OTHER, **more: object) -> Response:
    body = {"item_code": "CEMENT", "batch": "L1", "reason": "Label misread", **more}
    return erp.post("/stock-adjustments", {**body, "expiry_date": expiry_date})


@pytest.fixture
def spread(yard: WarehouseScenario) -> WarehouseScenario:
    """Five rows of the batch with stock, and an empty one; another batch and product."""
    for bin_code, status in (("A-01", "available"), ("B-01", "available"), ("B-01", "damaged")):
        yard.stock("CEMENT", 2, bin_code, batch="L1", expiry_date=FIRST, inventory_status=status)
    yard.stock("CEMENT", 1, batch="L2", expiry_date=FIRST)
    yard.stock("BRICK", 1, expiry_date=FIRST)
    picking = yard.started(yard.order(("CEMENT", 1)))
    assert yard.pick(picking, "CEMENT", 1, batch="L1").status == 200
    yard.stock("CEMENT", 1, "F-01", batch="L1")
    assert adjust(yard.erp, "F-01", decrease=1).status == 201
    return yard


def all_dates(yard: WarehouseScenario, batch: str = "L1") -> set[str | None]:
    """Return the dates of all rows of the batch with stock; empty ones show none."""
    return {row["expiry_date"] for row in yard.erp.walk("/stocks", batch=batch, status="in")}


def test_correction_changes_all_rows_of_the_batch(spread: WarehouseScenario, stack: Stack) -> None:
    movements = len(list(spread.erp.walk("/stock-movements")))
    answer = correct(spread.erp).ok()

    assert {**answer, "created_at": None} == {
        "movement_id": None, "product_id": CEMENT, "item_code": "CEMENT", "whs_code": None,
        "bin_code": None, "batch_num": "L1", "serial_number": None, "inventory_status": None,
        "to_status": None, "qty_before": None, "qty_after": None, "expiry_date": OTHER,
        "reason": "Label misread", "created_at": None,
    }  # fmt: skip
    assert all_dates(spread) == {OTHER}
    assert all_dates(spread, "L2") == {FIRST}
    assert len(list(spread.erp.walk("/stock-movements"))) == movements
    assert_names(adjust(spread.erp, increase=1, expiry_date=FIRST), OTHER)
    assert adjust(spread.erp, "F-01", increase=1).status == 201
    assert all_dates(spread) == {OTHER}
    assert_invariants(stack.store())


def test_correction_is_recorded_once(spread: WarehouseScenario) -> None:
    for _ in range(2):
        assert correct(spread.erp).status == 200
    [entry] = [
        one for one in spread.erp.walk("/audit-log", action="stock.adjusted")
        if one["target"]["id"] is None
    ]  # fmt: skip
    assert entry["changes"] == {"expiry_date": {"from": FIRST, "to": OTHER}}
    assert entry["details"] == {"product_id": CEMENT, "item_code": "CEMENT", "batch_num": "L1"}
    assert entry["reason"] == "Label misread"


def test_batch_without_a_date_gets_one(yard: WarehouseScenario) -> None:
    yard.stock("CEMENT", 1, batch="L1")

    assert correct(yard.erp, FIRST).status == 200

    assert dates(yard.erp) == [("A-01", 1, FIRST)]
    assert adjust(yard.erp, increase=1, expiry_date=FIRST).status == 201


def test_correction_names_a_batch_and_nothing_else(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("CEMENT", 1, batch="L1", expiry_date=FIRST)
    place = {"warehouse": "YARD", "bin_code": "A-01"}
    wrong: list[tuple[dict[str, object], set[str]]] = [
        ({"batch": "L9"}, {"batch"}),
        ({"batch": None}, {"batch"}),
        ({"item_code": "BRICK"}, {"batch"}),
        ({"item_code": "NONE"}, {"item_code"}),
        ({"expiry_date": "soon"}, {"expiry_date"}),
        ({"reason": None}, {"reason"}),
        ({"qty": 1, "serial": "S", "inventory_status": "available", **place},
         {"qty", "serial", "inventory_status", "warehouse", "bin_code"}),
        ({"expiry_date": None}, {"counted_qty", "warehouse", "bin_code"}),
        ({"increase": 1}, {"warehouse", "bin_code"}),
    ]  # fmt: skip
    with stack.unchanged():
        for change, fields in wrong:
            answer = correct(yard.erp, **{"expiry_date": OTHER, **change})
            assert set(answer.invalid_fields) == fields, change


def test_interrupted_correction_is_completed_by_the_same_request(
    spread: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 3)
    restore = stack.take_snapshot()
    for kill in (kill_before, kill_after):
        for at in sampled("interrupted correction", range(100), every=9):
            restore()
            try:
                with aws_faults.faulty(kill(at)):
                    assert correct(spread.erp).status == 200
            except Killed:
                assert all_dates(spread) <= {FIRST, OTHER}
                stored = stack.store().get(batch_key(LOT)) or {}
                adjust(spread.erp, "F-01", increase=1, expiry_date=stored["expiry_date"]).ok(201)
                assert correct(spread.erp).status == 200
            else:
                break
            assert all_dates(spread) == {OTHER}, at
            assert_invariants(stack.store())
        assert at > 8


def test_stock_that_arrives_and_moves_during_a_correction_has_the_new_date(
    spread: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the index does not show new rows yet."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 3)
    for changes in before_each_call(
        stack, aws_faults, lambda: correct(spread.erp).ok(), lambda: _move_about(spread.erp),
        family="stock during a correction", every=6, at_least=8,
    ):  # fmt: skip
        assert changes == [201, 201, 201]
        assert all_dates(spread) == {OTHER}
        assert_invariants(stack.store())


@pytest.mark.parametrize("place", [{"bin_code": "F-01"}, {"warehouse": "SHOP"}])
def test_goods_that_arrive_during_a_correction_have_the_new_date(
    spread: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, place: dict[str, str]
) -> None:
    """They fill an empty row, or make a row of a batch that only the correction changes."""
    for _ in before_each_call(
        stack, aws_faults, lambda: adjust(spread.erp, **place, increase=1).ok(201),
        lambda: correct(spread.erp, LATEST), family="goods during a correction", every=1,
        at_least=3,
    ):  # fmt: skip
        assert all_dates(spread) == {LATEST}


def test_two_corrections_at_once_leave_one_date(
    spread: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 3)
    for other in before_each_call(
        stack, aws_faults, lambda: correct(spread.erp).ok(),
        lambda: correct(spread.erp, LATEST), family="two corrections", every=9, at_least=8,
    ):  # fmt: skip
        assert other.status == 200
        assert len(all_dates(spread)) == 1
        assert_invariants(stack.store())


def _move_about(erp: Erp) -> list[int]:
    """Bring goods into an empty row, and move some into a new row and into one that has stock."""
    line = {"item_code": "CEMENT", "qty": 0.5, "batch": "L1", "from_bin": "A-01"}
    changes = [adjust(erp, "F-01", increase=1).status]
    for ends in (("YARD", "B-01"), ("SHOP", "A-01")):
        body = {"from_warehouse": "YARD", "to_warehouse": ends[0]}
        moved = erp.post("/transfers", {**body, "lines": [{**line, "to_bin": ends[1]}]})
        changes.append(moved.status)
    return changes

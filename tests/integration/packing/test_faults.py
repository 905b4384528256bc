"""Packing with many units, and during a dispatch."""

import pytest

from operations.verify import verify_tenant
from shared.kernel.db import steps
from tests.faults import AwsFaults, kill_after_step
from tests.integration.conftest import BeforeNextCommit
from tests.interleaving import Scheduler
from tests.packing_scenario import UNITS, PackingScenario
from tests.rfid_scenario import RfidScenario, bricks, passed
from tests.stack import Stack
from tests.stock_invariants import check_invariants, read_state


def test_units_made_at_the_same_time_have_different_codes(
    packing: PackingScenario, stack: Stack, scheduler: Scheduler
) -> None:
    packing.yard.change_settings(gs1_company_prefix="4006381")
    order = packing.staged_order(("BRICK", 10))

    answers = scheduler.run([lambda: packing.create_unit(order)] * 8, seed=1)

    assert {answer.status for answer in answers} == {201}
    assert len({answer.data["sscc"] for answer in answers}) == 8
    check_invariants(read_state(stack.unsorted_items()))


def test_many_units_are_dispatched_and_deleted_in_steps(
    packing: PackingScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "STEP_ACTIONS", 14)
    document, _ = packing.staged(("BRICK", 10))
    order = packing.order(document)["id"]

    def pack() -> list[int]:
        pallet = packing.unit(order, "pallet")
        units = [packing.unit(order, parent_id=pallet) for _ in range(19)]
        packing.done(packing.put(units[0], "BRICK", 10))
        for unit in [*units, pallet]:
            packing.done(packing.act(unit, "close"))
        packing.done(packing.complete(order))
        return [pallet, *units]

    pack()
    cancelled = packing.done(packing.cancel(order))
    assert (cancelled["status"], cancelled["units_count"]) == ("cancelled", 0)
    assert packing.erp.get(UNITS, query={"packing_order_id": order}).data == []
    order = packing.order(document)["id"]
    units = pack()
    before = stack.event_count()

    assert packing.dispatch(document).status == 200

    shown = packing.shown(order)
    assert shown["status"] == "shipped"
    assert [unit["id"] for unit in shown["handling_units"]] == units
    assert {unit["status"] for unit in shown["handling_units"]} == {"dispatched"}
    assert stack.event_count() == before + 3  # stock, packing order, shipment
    check_invariants(read_state(stack.unsorted_items()))


def test_completion_deletes_many_empty_units_in_steps(
    packing: PackingScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch, stack: Stack
) -> None:
    """It dies after the first step; the RFID validation that the order has passed still counts."""
    gate = RfidScenario(packing.erp, packing.yard)
    packing.yard.change_settings(rfid_required=True)
    order = packing.staged_order(("BRICK", 2))
    full, *empty = [packing.unit(order) for _ in range(5)]
    packing.done(packing.put(full, "BRICK", 2))
    packing.done(packing.act(full, "close", weight_kg=1))
    assert gate.result({"packing_order_id": order}, *bricks(1, 2)) == passed(2)
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)

    assert aws_faults.kills(kill_after_step(), lambda: packing.complete(order))

    assert packing.shown(order)["status"] == "in_progress"
    assert packing.shown(order)["units_count"] == 4
    check_invariants(read_state(stack.unsorted_items()))
    packed = packing.done(packing.complete(order))
    assert [unit["id"] for unit in packed["handling_units"]] == [full]
    assert {packing.erp.get(f"{UNITS}/{unit}").status for unit in empty} == {410}
    check_invariants(read_state(stack.unsorted_items()))


@pytest.mark.usefixtures("clock")
def test_units_that_are_dispatched_open_keep_what_is_in_them(
    packing: PackingScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After short packing, units may be open; the dispatch dies between carton and pallet."""
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)
    packing.yard.change_settings(gs1_company_prefix="4006381")
    document, _ = packing.staged(("BRICK", 2))
    order = packing.order(document)["id"]
    pallet = packing.unit(order, "pallet")
    carton = packing.unit(order, parent_id=pallet)
    packing.done(packing.put(carton, "BRICK", 1))
    packing.done(packing.complete(order, short=True, reason="Loose"))

    def labels() -> list[int]:
        return [packing.erp.get(f"{UNITS}/{unit}/label").status for unit in (pallet, carton)]

    assert aws_faults.kills(kill_after_step(2), lambda: packing.dispatch(document))
    assert labels() == [200, 200]
    assert packing.dispatch(document).status == 200
    assert labels() == [200, 200]
    drifts = verify_tenant("acme").listed
    assert not [one for one in drifts if one.kind.startswith("packing")]


def test_goods_of_a_dispatch_that_has_begun_are_not_packed(
    packing: PackingScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)
    document = packing.staged_lots(("BRICK", 4, {}), ("CEMENT", 3, {"batch": "L1"}))

    assert aws_faults.kills(kill_after_step(), lambda: packing.dispatch(document))

    refused = packing.erp.post("/packing-orders", {"exit_document_id": document})

    assert (refused.status, refused.json()["errors"][0]["field"]) == (422, "exit_document_id")
    assert packing.dispatch(document).status == 200


def test_a_picking_that_begins_during_the_first_step_stops_the_dispatch(
    packing: PackingScenario,
    before_next_commit: BeforeNextCommit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The step dispatches goods without a change of the document, and yet depends on it."""
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)
    yard = packing.yard
    yard.stock("BRICK", 4)
    yard.stock("CEMENT", 3, batch="L1")
    document = yard.order(("CEMENT", 3), ("BRICK", 10))
    number = yard.started(document)
    yard.pick(number, "BRICK", 4)
    yard.pick(number, "CEMENT", 3, batch="L1")
    yard.act(number, "finalize", shortage_reason="other")
    yard.stock("BRICK", 6)
    begun = before_next_commit(lambda: packing.erp.post("/pickings", {"document_id": document}))

    refused = packing.dispatch(document)

    assert [begun[0].status, refused.status] == [201, 409], refused.text
    assert packing.erp.get("/stock-movements", query={"type": "dispatch"}).data == []

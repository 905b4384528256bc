"""Transfers to pick faces: once for each need, whatever is repeated, killed or sent at once."""

from typing import Any

import pytest

from operations.verify import verify_tenant
from shared.identity.tenancy.access import operator_store
from shared.kernel.db.facets import id_text
from shared.kernel.db.table import index_name
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.stock.repository import STOCK
from shared.warehouse.transfers import replenishments
from shared.warehouse.transfers.repository import replenished_key
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import Answer, AwsFaults, Call, Forward, before_first
from tests.integration.call_faults import at_calls, die
from tests.replenishment_scenario import ReplenishmentScenario
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("consistent_stock")


@pytest.fixture
def three_faces(replenishment: ReplenishmentScenario) -> ReplenishmentScenario:
    """Three pick faces that need 50 bricks, 20 bricks and 10 bags, and stock for all of them."""
    replenishment.face("BRICK", "F-02", 5, 20)
    replenishment.face("CEMENT", "F-02", 5, 10)
    replenishment.yard.stock("BRICK", 60, "R-01")
    replenishment.yard.stock("BRICK", 60, "A-01")
    replenishment.yard.stock("CEMENT", 30, "A-01", batch="L1")
    return replenishment


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step create one transfer."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 3)


def _transfers(scenario: ReplenishmentScenario) -> list[dict[str, Any]]:
    rows = scenario.erp.walk("/transfers", sort="created_at")
    return [scenario.erp.get(f"/transfers/{row['id']}").ok() for row in rows]


def _brought(scenario: ReplenishmentScenario) -> list[tuple[str, float]]:
    """Return position and quantity of what all transfers bring, sorted."""
    return sorted(
        (one["lines"][0]["to_bin"], sum(line["qty"] for line in one["lines"]))
        for one in _transfers(scenario)
    )


_ALL = [("F-01", 50), ("F-02", 10), ("F-02", 20)]


def test_pending_transfer_moves_what_is_proposed(replenishment: ReplenishmentScenario) -> None:
    replenishment.yard.stock("BRICK", 30, "R-01")
    response = replenishment.post().ok(201)
    assert response == {
        "warehouse_code": "YARD",
        "created": [
            {
                "transfer_id": 1, "pick_face": 1, "item_code": "BRICK", "bin_code": "F-01",
                "qty": 30,
            }
        ],
        "unfilled": [
            {"pick_face": 1, "item_code": "BRICK", "bin_code": "F-01", "needed": 20}
        ],
        "next_after": None,
    }  # fmt: skip
    [transfer] = _transfers(replenishment)
    assert (transfer["status"], transfer["actions"]) == ("pending", ["execute"])
    [need] = replenishment.needs()
    assert (need["transfer_id"], need["needed"], need["proposals"]) == (1, 20, [])

    moved = replenishment.erp.post("/transfers/1/execute").ok()

    assert moved["status"] == "transferred"
    assert replenishment.needs() == []
    movements = replenishment.erp.walk("/stock-movements", document_type="transfer")
    assert [one["reason"] for one in movements] == ["replenishment"]


def test_pick_face_gets_no_second_transfer_while_one_waits(
    three_faces: ReplenishmentScenario,
) -> None:
    first = three_faces.replenish(pick_face_ids=[1])
    assert [one["pick_face"] for one in first] == [1]
    assert [one["pick_face"] for one in three_faces.replenish()] == [2, 3]
    assert three_faces.replenish() == []
    assert _brought(three_faces) == _ALL


def test_transfer_that_fails_still_waits_until_it_is_deleted(
    replenishment: ReplenishmentScenario, stack: Stack
) -> None:
    yard = replenishment.yard
    yard.stock("BRICK", 50, "R-01")
    replenishment.replenish()
    yard.adjust("BRICK", "R-01", counted_qty=0).ok(201)
    assert replenishment.erp.post("/transfers/1/execute").ok()["status"] == "error"
    yard.stock("BRICK", 50, "A-01")
    assert replenishment.replenish() == []
    replenishment.erp.delete("/transfers/1").ok()
    assert not any(one["PK"]["S"].startswith("replenished#") for one in stack.unsorted_items())
    assert [one["qty"] for one in replenishment.replenish()] == [50]


def test_executed_transfer_makes_room_for_the_next_need(
    three_faces: ReplenishmentScenario,
) -> None:
    three_faces.replenish()
    three_faces.erp.post("/transfers/1/execute").ok()
    three_faces.yard.adjust("BRICK", "F-01", counted_qty=1).ok(201)
    [created] = three_faces.replenish()
    assert (created["pick_face"], created["qty"]) == (1, 49)


def test_what_a_waiting_transfer_takes_is_not_proposed_again(
    replenishment: ReplenishmentScenario,
) -> None:
    replenishment.yard.stock("BRICK", 55, "R-01")
    replenishment.replenish()
    replenishment.face("BRICK", "F-02", 5, 20)
    assert [one["qty"] for one in replenishment.replenish()] == [5]


def test_twenty_requests_at_once_create_one_transfer_for_each_need(
    three_faces: ReplenishmentScenario,
) -> None:
    responses = run_concurrently(20, lambda _: three_faces.post())
    assert {response.status for response in responses} == {200, 201}
    assert sum(len(response.data["created"]) for response in responses) == 3
    assert _brought(three_faces) == _ALL


def test_other_pick_faces_that_are_replenished_at_once_take_other_stock(
    replenishment: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    replenishment.face("BRICK", "F-02", 5, 20)
    replenishment.yard.stock("BRICK", 55, "R-01")

    def other() -> None:
        replenishment.replenish(pick_face_ids=[2])

    with aws_faults.faulty(before_first("TransactWriteItems", other)):
        replenishment.replenish(pick_face_ids=[1])

    assert _brought(replenishment) == [("F-01", 35), ("F-02", 20)]


def test_transfer_that_is_created_while_another_one_is_executed_waits(
    three_faces: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    three_faces.replenish(pick_face_ids=[1])

    def other() -> None:
        three_faces.replenish(pick_face_ids=[2])

    with aws_faults.faulty(before_first("TransactWriteItems", other)):
        three_faces.erp.post("/transfers/1/execute").ok()

    assert three_faces.replenish(pick_face_ids=[1, 2]) == []


def test_need_that_is_filled_while_a_request_reads_it_is_not_filled_again(
    three_faces: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    three_faces.replenish(pick_face_ids=[1])

    def execute() -> None:
        three_faces.erp.post("/transfers/1/execute").ok()

    # The stock at the pick faces is read with the waiting transfers, in the third BatchGetItem.
    with aws_faults.faulty(at_calls("BatchGetItem", {2}, before=execute)):
        three_faces.replenish()

    assert _brought(three_faces) == _ALL


def test_pick_face_whose_position_is_deleted_meanwhile_gets_no_transfer(
    replenishment: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    replenishment.yard.stock("BRICK", 50, "R-01")
    replenishment.yard.stock("BRICK", 1, "F-01")
    replenishment.yard.adjust("BRICK", "F-01", counted_qty=0).ok(201)

    def delete() -> None:
        replenishment.erp.delete("/pick-faces/1").ok()
        position = replenishment.position("F-01")
        replenishment.erp.delete(f"/warehouse-positions/{position}").ok()

    with aws_faults.faulty(before_first("TransactWriteItems", delete)):
        assert replenishment.replenish() == []

    assert _transfers(replenishment) == []


def test_code_of_a_position_that_a_replenishment_has_named_is_given_to_no_other(
    replenishment: ReplenishmentScenario,
) -> None:
    erp = replenishment.erp
    replenishment.yard.stock("BRICK", 50, "R-01")
    replenishment.replenish()
    erp.delete("/transfers/1").ok()
    erp.delete("/pick-faces/1").ok()
    path = f"/warehouse-positions/{replenishment.position('F-01')}"
    erp.patch(path, {"bin_code": "F-09"}).ok()
    response = erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "F-01"})
    assert [*response.problems] == ["bin_code"]


def test_ids_of_transfers_are_reserved_together(
    three_faces: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    three_faces.needs()  # fill the caches of the environment
    with aws_faults.recorded() as seen:
        three_faces.replenish()
    assert seen.operations.count("UpdateItem") == 1


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("turn", range(3))
def test_repeat_of_a_killed_request_does_the_rest(
    three_faces: ReplenishmentScenario, aws_faults: AwsFaults, clock: Clock, turn: int, moment: str
) -> None:
    faults = {"before": at_calls("TransactWriteItems", {turn}, before=die),
              "after": at_calls("TransactWriteItems", {turn}, after=die)}  # fmt: skip
    assert aws_faults.kills(faults[moment], lambda: three_faces.post("key-1"))
    clock.advance(6)

    response = three_faces.post("key-1")

    assert [one["pick_face"] for one in response.ok(201)["created"]] == [1, 2, 3]
    assert _brought(three_faces) == _ALL
    assert three_faces.post("key-1").text == response.text


@pytest.mark.usefixtures("small_steps")
def test_request_stops_after_so_many_pick_faces_and_another_one_goes_on(
    three_faces: ReplenishmentScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.replenishment.creating.MAX_EXAMINED", 2)
    monkeypatch.setattr("shared.warehouse.replenishment.creating._PAGE", 1)
    first = three_faces.post().ok(201)
    assert (len(first["created"]), first["next_after"]) == (2, 2)
    second = three_faces.post(all=True, after=2).ok(201)
    assert (len(second["created"]), second["next_after"]) == (1, None)


def test_problems_of_a_request_are_reported_together(
    replenishment: ReplenishmentScenario,
) -> None:
    erp = replenishment.erp
    erp.post("/warehouses", {"whs_code": "SHOP", "name": "Shop"}).ok(201)
    body = {"warehouse_code": "SHOP", "pick_face_ids": [1, 77, "x"], "after": 5}
    assert erp.post("/replenishments", body).problems == {
        "pick_face_ids.0": "pick face 1 is in warehouse YARD",
        "pick_face_ids.1": "no pick face has the id 77",
        "pick_face_ids.2": "must be a whole number",
        "after": "is not allowed without all",
    }
    body = {"warehouse_code": "NONE", "pick_face_ids": [1], "all": True}
    assert erp.post("/replenishments", body).problems == {
        "warehouse_code": "no warehouse has the code NONE",
        "pick_face_ids": "give either pick_face_ids or all",
        "pick_face_ids.0": "pick face 1 is in warehouse YARD",
    }


def test_pick_face_that_is_assigned_again_gets_no_second_transfer(
    replenishment: ReplenishmentScenario,
) -> None:
    replenishment.yard.stock("BRICK", 100, "R-01")
    replenishment.replenish()
    replenishment.erp.delete("/pick-faces/1").ok()
    replenishment.face("BRICK", "F-01", 10, 50)

    assert replenishment.replenish() == []
    [need] = replenishment.needs()
    assert (need["transfer_id"], need["needed"]) == (1, 0)


@pytest.mark.usefixtures("small_steps")
def test_pick_face_that_is_deleted_after_a_step_is_left_out(
    three_faces: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    def delete() -> None:
        three_faces.erp.delete("/pick-faces/3").ok()

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=delete)):
        response = three_faces.post(pick_face_ids=[1, 2, 3])

    assert response.status == 201, response.text
    assert [one["pick_face"] for one in response.data["created"]] == [1, 2]


@pytest.mark.parametrize("before", [0, 1], ids=["new row", "row that was empty"])
def test_pick_face_that_was_just_filled_gets_no_second_transfer(
    replenishment: ReplenishmentScenario, aws_faults: AwsFaults, clock: Clock, before: int
) -> None:
    """Indexes show the goods half a second after the execution of the first transfer.

    A row that was empty is in the index of positions already.
    """
    clock.freeze()
    row, end = id_text(1 if before else 3), clock.time() + 0.5
    index = index_name(STOCK.index_of("free")) if before else ""

    def lag(call: Call, forward: Forward) -> Answer:
        answer = forward()
        parsed: dict[str, Any] = answer[0][1] if answer[0] else {}
        lags = call.operation == "Query" and index in call.request.get("IndexName", "-")
        if lags and clock.time() < end:
            parsed["Items"] = [one for one in parsed["Items"] if row not in str(one)]
        return answer

    item_code, batch = ("BRICK", None) if before else ("CEMENT", "L1")
    replenishment.yard.stock(item_code, 1, "F-01", batch=batch)
    replenishment.yard.adjust(item_code, "F-01", decrease=1, batch=batch).ok(201)
    replenishment.yard.stock("BRICK", 100, "R-01")
    [created] = replenishment.replenish()
    replenishment.erp.post(f"/transfers/{created['transfer_id']}/execute").ok()
    with aws_faults.faulty(lag):
        assert replenishment.post().ok(200)["created"] == []
    assert _brought(replenishment) == [("F-01", 50)]


def test_position_with_more_rows_than_are_read_is_not_waited_for(
    replenishment: ReplenishmentScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.stock.service._LISTED", 2)
    clock.freeze()
    for batch in ("L1", "L2", "L3"):
        replenishment.yard.stock("CEMENT", 1, "F-01", batch=batch)
    replenishment.yard.stock("BRICK", 100, "R-01")
    began = clock.time()

    assert len(replenishment.replenish()) == 1

    assert clock.time() == began


def _findings() -> list[tuple[str, bool]]:
    """Return the pick faces that a verification finds, and whether they were repaired."""
    found = verify_tenant("acme", repair=True).listed
    return [(one.field, one.repaired) for one in found if one.kind == "replenishment.ended"]


def test_transfer_that_waits_no_more_is_found_by_a_verification(
    replenishment: ReplenishmentScenario,
) -> None:
    """Of two pick faces, the transfer of one is executed, and its entry is still there."""
    replenishment.face("BRICK", "F-02", 5, 20)
    replenishment.yard.stock("BRICK", 100, "R-01")
    first, second = (one["transfer_id"] for one in replenishment.replenish())
    store = operator_store("acme")
    key = replenished_key("YARD", 1)
    replenishment.erp.post(f"/transfers/{first}/execute").ok()
    assert _findings() == []
    run_transaction(store, lambda tx: replenishments.record_waiting(tx, "YARD", 1, {1: first}))

    assert _findings() == [("pick face 1", True)]
    assert replenishments.waiting_in(store.get(key)) == {2: second}

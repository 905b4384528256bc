"""Dispatches that keep what was not picked, and further dispatches of the same document."""

from typing import Any

import pytest

from tests.faults import AwsFaults, Killed, kill_after_step
from tests.gateway import Response
from tests.packing_scenario import PackingScenario
from tests.return_scenario import PATH
from tests.stack import Stack, event_attributes
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _dispatch(yard: WarehouseScenario, document: int, **body: object) -> Response:
    return yard.erp.post(f"/exit-documents/{document}/dispatch", body or None)


def _shipments(stack: Stack) -> list[dict[str, Any]]:
    """Return what the events of dispatches say of what left and of the rest."""
    found = [
        event_attributes(event)
        for event in stack.events()
        if event["type"]["S"] == "shipment.dispatched"
    ]
    names = ("status", "shipped", "rest", "units")
    return [{name: shown[name] for name in names} for shown in found]


def test_the_rest_of_a_short_shipment_leaves_with_another_one(
    yard: WarehouseScenario, stack: Stack
) -> None:
    packing = PackingScenario(yard.erp, yard)
    yard.stock("BRICK", 10)
    document = yard.order(("BRICK", 10), ("CEMENT", 2))
    yard.picked(document, qty=4)
    first: int = packing.order(document)["id"]
    packing.unit(first)
    packing.done(packing.complete(first, short=True, reason="Late"))

    kept = _dispatch(yard, document, rest="keep").ok()

    assert (kept["status"], kept["actions"]) == ("partial-complete", ["pick", "close"])
    assert [(one["picked_qty"], one["open_qty"], one["status"]) for one in kept["lines"]] == [
        (4, 6, "partial"), (0, 2, "open"),
    ]  # fmt: skip
    again = _dispatch(yard, document)
    assert (again.code, again.json()["message"]) == (
        "conflict", "Document SO-1 is partial-complete and nothing is staged for it.",
    )  # fmt: skip

    number = yard.started(document)
    yard.pick(number, "BRICK", 6).ok()
    yard.act(number, "finalize", shortage_reason="damaged").ok()
    refused = yard.erp.post(f"/exit-documents/{document}/close")
    assert refused.json()["message"] == (
        "Document SO-1 has 6 picked units that wait for its dispatch."
        f" Dispatch it, or revert its pickings: picking {number}."
    )
    second = packing.order(document)
    assert (second["picking_ids"], second["qty"]["to_pack"]) == ([number], 6)
    unit = packing.unit(second["id"])
    packing.done(packing.put(unit, "BRICK", 6))
    packing.done(packing.act(unit, "close"))
    packing.done(packing.complete(second["id"]))
    closed = _dispatch(yard, document).ok()

    assert (closed["status"], closed["actions"]) == ("closed", [])
    assert [one["picked_qty"] for one in closed["lines"]] == [10, 0]
    assert _shipments(stack) == [
        {"status": "partial-complete", "shipped": [{"line_num": 1, "qty": 4}], "rest": "open",
         "units": []},
        {"status": "closed", "shipped": [{"line_num": 1, "qty": 6}], "rest": "closed",
         "units": [{"code": f"HU-{unit}", "sscc": None, "tracking_number": None,
                    "carrier_code": None}]},
    ]  # fmt: skip
    assert yard.level("BRICK") == (0, 0, 0)


def test_the_setting_says_what_a_dispatch_without_rest_does(yard: WarehouseScenario) -> None:
    yard.change_settings(dispatch_rest="keep")
    yard.stock("BRICK", 6)
    kept, closed, complete = (yard.order(("BRICK", qty)) for qty in (3, 3, 2))
    for document in (kept, closed, complete):
        yard.picked(document, qty=2)

    assert _dispatch(yard, kept).data["status"] == "partial-complete"
    assert _dispatch(yard, closed, rest="close").data["status"] == "closed"
    # Nothing is left to ship.
    assert _dispatch(yard, complete, rest="keep").data["status"] == "closed"
    assert yard.erp.post(f"/exit-documents/{kept}/close").data["lines"][0]["open_qty"] == 0
    assert _dispatch(yard, kept, rest="later").problems == {
        "rest": "must be one of 'close' or 'keep'"
    }


def test_what_an_interrupted_dispatch_took_is_shipped_with_its_repeat(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("BRICK", 9)
    yard.stock("CEMENT", 9, batch="L1")
    document = yard.order(("BRICK", 5), ("CEMENT", 2))
    yard.picked(document, qty=1)
    _dispatch(yard, document, rest="keep").ok()
    number = yard.started(document)
    yard.pick(number, "BRICK", 3).ok()
    yard.pick(number, "CEMENT", 2, batch="L1").ok()
    yard.act(number, "finalize", shortage_reason="other").ok()
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 8)
    with pytest.raises(Killed), aws_faults.faulty(kill_after_step(1)):
        _dispatch(yard, document, rest="keep")
    back = {"exit_document_id": document, "lines": [{"item_code": "BRICK", "qty": 2}]}
    assert yard.erp.post(PATH, back).blocked == {
        "lines.0.qty": f"2 of BRICK to return; 1 dispatched with EX-{document}, 0 returned, 1 left"
    }

    assert _dispatch(yard, document, rest="keep").data["status"] == "partial-complete"

    assert _shipments(stack)[1]["shipped"] == [
        {"line_num": 1, "qty": 3}, {"line_num": 2, "qty": 2},
    ]  # fmt: skip
    yard.erp.post(PATH, {**back, "lines": [{"item_code": "CEMENT", "qty": 1, "batch": "L1"}]}).ok(
        201
    )

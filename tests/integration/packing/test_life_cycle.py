"""Packing orders from the first carton to the truck, and back."""

from typing import Any

import pytest

from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.picking.repository import PICKINGS
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.packing_scenario import UNITS, PackingScenario
from tests.people import PICKER, PICKER_NAME
from tests.stack import Stack, event_attributes
from tests.stock_invariants import assert_invariants

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _events(stack: Stack, kind: str) -> list[dict[str, Any]]:
    """Return the attributes of the events of a kind, in their order."""
    found = [event for event in stack.events() if event["type"]["S"] == kind]
    return [event_attributes(event) for event in found]


def _transitions(stack: Stack) -> list[tuple[str, str, str]]:
    shown = _events(stack, "packing_order.transitioned")
    return [(one["from"], one["to"], one["status"]) for one in shown]


def test_goods_are_packed_into_units_in_units_and_leave_with_the_dispatch(
    packing: PackingScenario, stack: Stack
) -> None:
    packing.yard.change_settings(gs1_company_prefix="4006381", sscc_extension_digit=3)
    document, picking = packing.staged(("BRICK", 10))

    order = packing.order(document, station="Table 3")

    assert order == {
        "id": 1, "object": "packing_order", "code": "PK-1", "status": "open",
        "status_label": "Open", "exit_document_id": document, "exit_doc_num": f"EX-{document}",
        "warehouse_code": "YARD", "picking_ids": [picking], "station": "Table 3",
        "units_count": 0, "qty": {"to_pack": 10, "packed": 0}, "weight_kg": None,
        "operator": None, "short_reason": None, "packed_at": None, "shipped_at": None,
        "created_at": order["created_at"], "updated_at": order["created_at"],
        "lines": [
            {"item_code": "BRICK", "product_name": "Brick", "batch_num": None,
             "serial_numbers": [], "qty": 10, "packed_qty": 0}
        ],
        "handling_units": [], "actions": ["handling-units", "complete", "cancel"],
    }  # fmt: skip
    pallet = packing.unit(1, "pallet", length_mm=1200, width_mm=800, height_mm=150, tare_kg=22.5)
    carton = packing.unit(1, parent_id=pallet)
    shown = packing.done(packing.put(carton, "BRICK", 6))
    assert shown == {
        "id": 2, "object": "handling_unit", "code": "HU-2", "sscc": "340063810000000025",
        "type": "carton", "status": "open", "parent_id": pallet, "packing_order_id": 1,
        "warehouse_code": "YARD", "weight_kg": None, "length_mm": None, "width_mm": None,
        "height_mm": None, "tare_kg": None, "tracking_number": None, "carrier_code": None,
        "contents": [
            {"item_code": "BRICK", "product_name": "Brick", "batch_num": None,
             "serial_numbers": [], "qty": 6}
        ],
        "created_at": shown["created_at"], "updated_at": shown["updated_at"],
        "actions": ["contents", "remove", "close"],
    }  # fmt: skip
    packing.done(packing.put(pallet, "BRICK", 4))
    packing.done(packing.act(carton, "close", weight_kg=12))
    closed = packing.act(pallet, "close", weight_kg=40.5, tracking_number="T-1", carrier_code="UPS")
    assert (closed.data["tracking_number"], closed.data["carrier_code"]) == ("T-1", "UPS")
    assert_invariants(stack.store())

    packed = packing.done(packing.complete(1))

    assert (packed["status"], packed["units_count"]) == ("packed", 2)
    assert (packed["qty"], packed["weight_kg"]) == ({"to_pack": 10, "packed": 10}, 40.5)
    assert packed["packed_at"] is not None
    assert [unit["id"] for unit in packed["handling_units"]] == [pallet, carton]
    assert packing.dispatch(document).status == 200
    shipped = packing.shown(1)
    assert (shipped["status"], shipped["packed_at"]) == ("shipped", packed["packed_at"])
    assert shipped["shipped_at"] is not None
    assert {unit["status"] for unit in shipped["handling_units"]} == {"dispatched"}
    assert _transitions(stack) == [
        ("open", "in_progress", "in_progress"),
        ("in_progress", "packed", "packed"),
        ("packed", "shipped", "shipped"),
    ]
    [event] = _events(stack, "shipment.dispatched")
    assert event["status"] == "closed"
    assert event["units"] == [
        {"code": "HU-1", "sscc": "340063810000000018", "tracking_number": "T-1",
         "carrier_code": "UPS"},
        {"code": "HU-2", "sscc": "340063810000000025", "tracking_number": None,
         "carrier_code": None},
    ]  # fmt: skip


def test_batches_and_serials_are_packed_as_they_are_staged(packing: PackingScenario) -> None:
    document = packing.staged_lots(
        ("CEMENT", 3, {"batch": "L1"}),
        ("CEMENT", 2, {"batch": "L2"}),
        ("DRILL", 2, {"serials": ["S1", "S2"]}),
    )
    order = packing.order(document)["id"]
    unit = packing.unit(order)

    packing.done(packing.put(unit, "CEMENT", 2, batch="L2"))
    packing.done(packing.put(unit, "DRILL", 1, serials=["S2"]))
    shown = packing.done(packing.put(unit, "CEMENT", 1, batch="L1"))

    assert [(one["batch_num"], one["serial_numbers"], one["qty"]) for one in shown["contents"]] == [
        ("L2", [], 2), (None, ["S2"], 1), ("L1", [], 1),
    ]  # fmt: skip
    assert packing.remove(unit, "CEMENT", 2, batch="L2").status == 200
    left = packing.done(packing.remove(unit, "DRILL", 1, serials=["S2"]))
    assert [(one["batch_num"], one["qty"]) for one in left["contents"]] == [("L1", 1)]
    assert packing.shown(order)["qty"] == {"to_pack": 7, "packed": 1}
    assert packing.remove(unit, "CEMENT", 1).status == 200


def test_goods_of_several_pickings_are_packed_in_one_order(packing: PackingScenario) -> None:
    packing.yard.stock("BRICK", 4)
    document = packing.yard.order(("BRICK", 10))
    first = packing.picked(document, ("BRICK", 4))
    packing.yard.stock("BRICK", 6)
    second = packing.picked(document, ("BRICK", 6))

    order = packing.done(packing.erp.post("/packing-orders", {"picking_ids": [second, first]}))

    assert order["picking_ids"] == [second, first]
    assert [line["qty"] for line in order["lines"]] == [10]


def test_goods_of_a_picking_are_packed_for_each_of_its_documents_at_once(
    packing: PackingScenario, stack: Stack
) -> None:
    documents, number = packing.staged_for(2, 3)
    both = packing.erp.post("/packing-orders", {"picking_ids": [number]})
    assert both.invalid_fields == ["picking_ids.0"]

    orders = [packing.order(document) for document in documents]

    assert [order["qty"]["to_pack"] for order in orders] == [2, 3]
    assert [order["picking_ids"] for order in orders] == [[number], [number]]
    again = packing.erp.post("/packing-orders", {"exit_document_id": documents[1]})
    assert (again.status, again.code) == (409, "conflict")
    assert again.json()["error"]["message"] == (
        "PKG-1 is being packed in PK-3; a picking has one active packing order for EX-2 at most."
    )
    units = [packing.unit(order["id"]) for order in orders]
    too_many = packing.put(units[0], "BRICK", 3)
    assert (too_many.status, too_many.code) == (422, "rule_blocked")
    for unit, qty in zip(units, (2, 3), strict=True):
        packing.done(packing.put(unit, "BRICK", qty))
        packing.done(packing.act(unit, "close", weight_kg=qty))
    packing.done(packing.complete(orders[0]["id"]))
    assert packing.dispatch(documents[0]).status == 200
    assert packing.dispatch(documents[1]).code == "conflict"
    assert packing.shown(orders[1]["id"])["status"] == "in_progress"
    assert_invariants(stack.store())
    packing.done(packing.complete(orders[1]["id"]))
    assert packing.dispatch(documents[1]).status == 200
    assert {packing.shown(order["id"])["status"] for order in orders} == {"shipped"}
    shipped = [[unit["code"] for unit in event["units"]]
               for event in _events(stack, "shipment.dispatched")]  # fmt: skip
    assert shipped == [["HU-1"], ["HU-2"]]


def test_a_picking_is_reverted_once_it_is_packed_for_none_of_its_documents(
    packing: PackingScenario,
) -> None:
    documents, number = packing.staged_for(2, 3)
    orders = [packing.order(document)["id"] for document in documents]

    for left in (orders, orders[1:]):
        refused = packing.yard.act(number, "revert")
        codes = ", ".join(f"PK-{order}" for order in left)
        assert f"its goods are in {codes}; cancel that first" in refused.text
        packing.done(packing.cancel(left[0]))

    assert packing.yard.act(number, "revert").status == 200


def test_picking_is_reverted_beside_a_document_that_was_packed_and_dispatched(
    packing: PackingScenario, stack: Stack
) -> None:
    documents, number = packing.staged_for(2, 3)
    order = packing.order(documents[1])["id"]
    packing.done(packing.complete(order, short=True, reason="Loose"))
    assert packing.dispatch(documents[1]).status == 200

    reverted = packing.yard.act(number, "revert").ok()

    assert [line["picked_qty"] for line in reverted["lines"]] == [3]
    assert packing.yard.level("BRICK") == (2, 0, 2)
    assert packing.shown(order)["status"] == "shipped"
    assert_invariants(stack.store())


def test_packed_goods_are_required_of_the_document_that_is_dispatched(
    packing: PackingScenario,
) -> None:
    packing.yard.change_settings(packing_required=True)
    documents, _ = packing.staged_for(2, 3)
    order = packing.order(documents[0])["id"]
    packing.done(packing.complete(order, short=True, reason="Loose"))

    refused = packing.dispatch(documents[1])

    assert (refused.status, refused.code) == (409, "conflict")
    assert packing.dispatch(documents[0]).status == 200


def test_a_picking_of_the_previous_release_is_packed_for_its_other_document(
    packing: PackingScenario, stack: Stack
) -> None:
    """Release 2.0 stored one packing order of a picking, without its document."""
    documents, number = packing.staged_for(2, 3)
    first = packing.order(documents[0])["id"]
    _forget_document_of_packing_order(stack, number)
    taken = packing.erp.post("/packing-orders", {"exit_document_id": documents[0]})
    assert (taken.status, taken.code) == (409, "conflict")

    second = packing.order(documents[1])["id"]

    packing.done(packing.complete(first, short=True, reason="Loose"))
    assert packing.dispatch(documents[1]).code == "conflict"
    assert packing.dispatch(documents[0]).status == 200
    assert packing.shown(first)["status"] == "shipped"
    packing.done(packing.cancel(second))
    assert packing.dispatch(documents[1]).status == 200


def test_short_packing_leaves_the_rest_unpacked_and_ships_everything(
    packing: PackingScenario,
) -> None:
    document, _ = packing.staged(("BRICK", 10))
    order = packing.order(document)["id"]
    unit = packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 4))

    refused = packing.complete(order)

    assert (refused.status, refused.code) == (409, "conflict")
    assert refused.json()["error"]["message"] == (
        "PK-1 is not completely packed: 6 of BRICK not packed; HU-1 not closed. Send short to leave"
        " it so."
    )
    no_reason = packing.complete(order, short=True)
    assert (no_reason.status, no_reason.json()["errors"][0]["field"]) == (422, "reason")
    packed = packing.done(packing.complete(order, short=True, reason="Too long for a carton"))
    assert (packed["status"], packed["short_reason"]) == ("packed", "Too long for a carton")
    assert packing.put(unit, "BRICK", 1).code == "stale_state"
    assert packing.dispatch(document).status == 200
    assert packing.yard.level("BRICK") == (0, 0, 0)


def test_completion_deletes_open_units_in_which_nothing_is(packing: PackingScenario) -> None:
    order = packing.staged_order(("BRICK", 2))
    full, pallet, closed = packing.unit(order), packing.unit(order, "pallet"), packing.unit(order)
    packing.unit(order, parent_id=pallet)
    stack_of_one = packing.unit(order, "pallet")
    inner = packing.unit(order, parent_id=stack_of_one)
    packing.done(packing.put(full, "BRICK", 2))
    for unit in (full, closed, inner):
        packing.done(packing.act(unit, "close", weight_kg=1))

    refused = packing.complete(order)

    code = f"HU-{stack_of_one}"
    assert (refused.status, refused.code) == (409, "conflict")
    assert f"is not completely packed: {code} not closed." in refused.text
    assert packing.shown(order)["units_count"] == 6
    packing.done(packing.act(stack_of_one, "close", weight_kg=2))
    packed = packing.done(packing.complete(order))
    assert (packed["status"], packed["short_reason"], packed["units_count"]) == ("packed", None, 4)
    left = [unit["id"] for unit in packed["handling_units"]]
    assert left == [full, closed, stack_of_one, inner]
    assert packing.erp.get(f"{UNITS}/{pallet}").status == 410
    assert packing.shown(order)["handling_units"] == packed["handling_units"]


def test_an_order_that_is_packed_completely_keeps_no_reason_for_less(
    packing: PackingScenario,
) -> None:
    order = packing.staged_order(("BRICK", 2))
    unit = packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 2))
    packing.done(packing.act(unit, "close", weight_kg=1))

    packed = packing.done(packing.complete(order, short=True, reason="Loose"))

    assert (packed["status"], packed["short_reason"]) == ("packed", None)


def test_cancelling_frees_the_goods_and_deletes_the_units(
    packing: PackingScenario, stack: Stack
) -> None:
    document, order, unit = packing.packed(("BRICK", 10))
    picking = packing.shown(order)["picking_ids"][0]
    refused = packing.yard.act(picking, "revert")
    assert (refused.status, refused.code) == (409, "conflict")

    cancelled = packing.done(packing.cancel(order))

    assert (cancelled["status"], cancelled["handling_units"]) == ("cancelled", [])
    assert cancelled["qty"] == {"to_pack": 10, "packed": 0}
    assert cancelled["packed_at"] is None, "as after a cancellation in steps"
    assert packing.erp.get(f"{UNITS}/{unit}").status == 410
    assert packing.cancel(order).code == "stale_state"
    assert packing.yard.level("BRICK") == (10, 10, 0)
    again = packing.order(document)
    assert packing.yard.act(picking, "revert").code == "conflict"
    packing.done(packing.cancel(again["id"]))
    assert packing.yard.act(picking, "revert").status == 200
    assert [one[:2] for one in _transitions(stack)] == [
        ("open", "in_progress"), ("in_progress", "packed"), ("packed", "cancelled"),
        ("open", "cancelled"),
    ]  # fmt: skip


def test_a_reopened_unit_has_no_weight_and_takes_goods_again(packing: PackingScenario) -> None:
    order = packing.staged_order(("BRICK", 10))
    unit = packing.unit(order)
    packing.done(packing.act(unit, "close", weight_kg=3, tracking_number="T-1"))
    assert packing.shown(order)["weight_kg"] == 3

    shown = packing.done(packing.act(unit, "reopen"))

    assert (shown["status"], shown["weight_kg"]) == ("open", None)
    assert packing.shown(order)["weight_kg"] is None
    packing.done(packing.put(unit, "BRICK", 10))
    packing.done(packing.remove(unit, "BRICK", 10))
    assert packing.shown(order)["status"] == "in_progress"
    gone = packing.done(packing.erp.delete(f"{UNITS}/{unit}"))
    assert gone["id"] == unit
    assert packing.erp.get(f"{UNITS}/{unit}").status == 410
    assert packing.shown(order)["units_count"] == 0


def test_packed_goods_are_required_if_the_company_says_so(packing: PackingScenario) -> None:
    loose, _ = packing.staged(("BRICK", 1))
    document, order, _ = packing.packed(("BRICK", 2))
    packing.yard.change_settings(packing_required=True)

    refused = packing.dispatch(loose)

    assert (refused.status, refused.code) == (409, "conflict")
    assert packing.dispatch(document).status == 200
    assert packing.shown(order)["status"] == "shipped"
    number = packing.order(loose)["id"]
    assert packing.dispatch(loose).code == "conflict"
    packing.done(packing.complete(number, short=True, reason="One brick"))
    assert packing.dispatch(loose).status == 200


def test_the_first_user_who_packs_is_the_operator(packing: PackingScenario, stack: Stack) -> None:
    order = packing.staged_order(("BRICK", 2))
    unit = packing.unit(order)
    packer = Erp(stack.gateway, stack.user_token(sub=str(PICKER), permissions="exits.manage"))

    packer.post(f"{UNITS}/{unit}/contents", {"item_code": "BRICK", "qty": 1}).ok()

    assert packing.shown(order)["operator"] == {"id": PICKER, "name": PICKER_NAME}


def test_an_sscc_is_never_used_again(packing: PackingScenario, stack: Stack) -> None:
    packing.yard.change_settings(gs1_company_prefix="400638133393")
    order = packing.staged_order(("BRICK", 2))
    unit = packing.unit(order)
    used = packing.erp.get(f"{UNITS}/{unit}").data["sscc"]
    packing.done(packing.erp.delete(f"{UNITS}/{unit}"))
    allocate_ids(stack.store(), "sscc", 9_999)

    refused = packing.create_unit(order)

    assert (refused.status, refused.code) == (409, "conflict")
    assert used in refused.json()["error"]["message"]
    other = packing.done(packing.create_unit(order))
    assert other["sscc"][13:17] == "0002"
    packing.yard.change_settings(sscc_extension_digit=1)
    assert packing.done(packing.create_unit(order))["sscc"].startswith("1400638133393")
    packing.yard.change_settings(gs1_company_prefix=None)
    assert packing.done(packing.create_unit(order))["sscc"] is None


def test_packed_cases_count_their_units(packing: PackingScenario, aws_faults: AwsFaults) -> None:
    case = "14006381333938"
    body = {"gtins": [{"gtin": case, "units": 4}]}
    assert packing.erp.put("/products/1/packaging", body).status == 200
    order = packing.staged_order(("BRICK", 10))
    unit = packing.unit(order)
    with aws_faults.recorded() as by_code:
        packing.done(packing.put(unit, "BRICK", 1))
    with aws_faults.recorded() as by_gtin:
        packing.done(packing.act(unit, "contents", gtin=case, qty=2))

    assert by_gtin.round_trips == by_code.round_trips + 1
    left = packing.done(packing.act(unit, "contents/remove", gtin=case, qty=1.25))
    assert [one["qty"] for one in left["contents"]] == [4]
    refused = packing.act(unit, "contents", gtin=case, qty=2)
    assert (refused.status, refused.code) == (422, "rule_blocked")
    assert refused.json()["errors"] == [
        {"field": "qty", "message": "8 to pack, 6 of BRICK left in PK-1"}
    ]
    packing.done(packing.act(unit, "contents/remove", gtin=case, qty=1))
    empty = packing.act(unit, "contents/remove", gtin=case, qty=1)
    assert empty.json()["errors"] == [{"field": "gtin", "message": "BRICK is not in HU-1"}]


def _forget_document_of_packing_order(stack: Stack, number: int) -> None:
    def forget(tx: Transaction) -> None:
        record = PICKINGS.get(tx.store, number)
        PICKINGS.replace(tx, record, record.entity.model_copy(update={"packing_orders": {}}))

    run_transaction(stack.store(), forget)

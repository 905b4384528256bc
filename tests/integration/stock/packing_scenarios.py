"""Scenarios of concurrent operations on staged goods and their packing orders."""

from tests.integration.stock.concurrent_scenarios import Acts
from tests.packing_scenario import PackingScenario
from tests.rfid_scenario import RfidScenario, bricks
from tests.stack import Stack


def packing_during_the_revert_of_the_picking(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    document, picking = packing.staged(("BRICK", 3))
    return [
        lambda: packing.yard.act(picking, "revert"),
        lambda: packing.erp.post("/packing-orders", {"exit_document_id": document}),
    ]


def two_packing_orders_of_one_picking(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    document, picking = packing.staged(("BRICK", 3))
    return [
        lambda: packing.erp.post("/packing-orders", {"exit_document_id": document}),
        lambda: packing.erp.post("/packing-orders", {"picking_ids": [picking]}),
    ]


def packing_for_two_documents_of_one_picking(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    documents, picking = packing.staged_for(2, 3)
    other = packing.order(documents[0])["id"]
    return [
        lambda: packing.erp.post("/packing-orders", {"exit_document_id": documents[1]}),
        lambda: packing.cancel(other),
        lambda: packing.yard.act(picking, "revert"),
    ]


def packing_during_the_dispatch(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    document, _ = packing.staged(("BRICK", 3))
    return [
        lambda: packing.dispatch(document),
        lambda: packing.erp.post("/packing-orders", {"exit_document_id": document}),
    ]


def cancellation_of_packed_goods_during_the_dispatch(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    document, order, _ = packing.packed(("BRICK", 3))
    return [lambda: packing.dispatch(document), lambda: packing.cancel(order)]


def removal_during_the_completion(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    order = packing.staged_order(("BRICK", 3))
    unit = packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 3))
    return [
        lambda: packing.complete(order, short=True, reason="Loose"),
        lambda: packing.remove(unit, "BRICK", 2),
        lambda: packing.act(unit, "close", weight_kg=1),
    ]


def packing_into_an_empty_unit_during_the_completion(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    order = packing.staged_order(("BRICK", 3))
    unit, empty = packing.unit(order), packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 2))
    return [
        lambda: packing.complete(order, short=True, reason="Loose"),
        lambda: packing.put(empty, "BRICK", 1),
        lambda: packing.create_unit(order, parent_id=empty),
    ]


def two_packers_of_the_last_goods(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    order = packing.staged_order(("BRICK", 3))
    units = [packing.unit(order), packing.unit(order)]
    return [
        lambda: packing.put(units[0], "BRICK", 2),
        lambda: packing.put(units[1], "BRICK", 2),
    ]


def unit_in_a_unit_that_is_closed(stack: Stack) -> Acts:
    packing = PackingScenario(stack.erp())
    order = packing.staged_order(("BRICK", 3))
    pallet = packing.unit(order, "pallet")
    return [
        lambda: packing.create_unit(order, parent_id=pallet),
        lambda: packing.act(pallet, "close"),
        lambda: packing.erp.delete(f"/handling-units/{pallet}"),
    ]


def validation_during_packing_and_completion(stack: Stack) -> Acts:
    gate = RfidScenario(stack.erp())
    packing = gate.packing
    gate.yard.change_settings(rfid_required=True)
    order = packing.staged_order(("BRICK", 3))
    unit = packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 2))
    return [
        lambda: gate.validate({"packing_order_id": order}, *bricks(1, 2)),
        lambda: packing.put(unit, "BRICK", 1),
        lambda: packing.complete(order, short=True, reason="Loose"),
    ]

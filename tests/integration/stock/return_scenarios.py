"""Scenarios of concurrent returns, as in `concurrent_scenarios`."""

from tests.integration.stock.concurrent_scenarios import Acts
from tests.return_scenario import ReturnScenario
from tests.stack import Stack


def returns_during_the_dispatch(stack: Stack) -> Acts:
    """Return what is not dispatched yet, while its picking may be reverted instead."""
    scenario = ReturnScenario(stack.erp())
    yard = scenario.yard
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 5))
    picking = yard.picked(order, qty=5)
    return [
        lambda: scenario.draft(("BRICK", 3), exit_document_id=order),
        lambda: yard.act(picking, "revert"),
        lambda: yard.erp.post(f"/exit-documents/{order}/dispatch"),
    ]


def returns_of_one_line(stack: Stack) -> Acts:
    scenario = ReturnScenario(stack.erp())
    number = scenario.expected(("BRICK", 3))
    return [
        lambda: scenario.draft(("BRICK", 8)),
        lambda: scenario.receive(number, {"qty": 5}),
        lambda: scenario.act(number, "cancel"),
    ]


def returns_of_one_reference(stack: Stack) -> Acts:
    scenario = ReturnScenario(stack.erp())
    return [lambda: scenario.draft(("BRICK", 8), external_ref="RMA-1")] * 2


def arrivals_of_two_returns_above_what_they_announce(stack: Stack) -> Acts:
    scenario = ReturnScenario(stack.erp())
    first, second = scenario.expected(("BRICK", 1)), scenario.expected(("BRICK", 1))
    return [
        lambda: scenario.receive(first, {"qty": 6}),
        lambda: scenario.receive(second, {"qty": 5}),
        lambda: scenario.receive(first, {"qty": 2}),
    ]


def returns_of_one_serial(stack: Stack) -> Acts:
    scenario = ReturnScenario(stack.erp())
    line = {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}
    return [lambda: scenario.draft(lines=[line]), lambda: scenario.draft(lines=[line])]


def two_dispositions_of_the_same_goods(stack: Stack) -> Acts:
    scenario = ReturnScenario(stack.erp())
    number = scenario.received({"qty": 3})
    return [
        lambda: scenario.decide(number, {"qty": 2, "action": "restock"}),
        lambda: scenario.decide(number, {"qty": 2, "action": "quarantine"}),
    ]


def disposition_during_an_adjustment(stack: Stack) -> Acts:
    scenario = ReturnScenario(stack.erp())
    number = scenario.received({"qty": 3})
    damaged = {"qty": 2, "inventory_status": "quarantine", "to_status": "damaged"}
    return [
        lambda: scenario.decide(number, {"qty": 2, "action": "return_to_provider"}),
        lambda: scenario.yard.adjust(bin_code="B-01", **damaged),
        lambda: scenario.decide(number, {"qty": 1, "action": "restock"}),
    ]


def arrivals_of_one_serial_with_two_documents(stack: Stack) -> Acts:
    """Receive one serial with the returns of two documents that left without serials."""
    scenario = ReturnScenario(stack.erp())
    product = scenario.erp.post("/products", {"item_code": "SAW", "name": "Saw"}).id
    scenario.yard.stock("SAW", 2)
    orders = [scenario.yard.dispatched(SAW={"qty": 1}) for _ in range(2)]
    scenario.erp.patch(f"/products/{product}", {"man_ser_num": True}).ok()
    first, second = (scenario.expected(("SAW", 1), exit_document_id=one) for one in orders)
    saw = {"item_code": "SAW", "qty": 1, "serials": ["Z-1"]}
    return [
        lambda: scenario.receive(first, saw),
        lambda: scenario.receive(second, {**saw, "bin_code": "A-01"}),
        lambda: scenario.act(first, "lines/undo", **saw, bin_code="B-01"),
    ]

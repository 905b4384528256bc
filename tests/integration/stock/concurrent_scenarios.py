"""Scenes of the floor in which two or three things happen at the same time.

Each prepares a floor and returns the acts, which may be done in any order and at once.
"""

from collections.abc import Callable

from tests.gateway import Response
from tests.interleaving import Act
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

type Acts = list[Act[Response]]


def _receiving(stack: Stack) -> ReceivingScenario:
    return ReceivingScenario(stack.erp())


def _warehouse(stack: Stack) -> WarehouseScenario:
    return WarehouseScenario.furnished(stack.erp(), "YARD", "SHOP")


def two_receipts_of_one_line(stack: Stack) -> Acts:
    receiving_scenario = _receiving(stack)
    order = receiving_scenario.order({"qty": 10})
    first, second = receiving_scenario.started(order), receiving_scenario.started(order)
    return [
        lambda: receiving_scenario.receive(first, 6),
        lambda: receiving_scenario.receive(second, 6),
    ]


def one_serial_on_two_receipts(stack: Stack) -> Acts:
    receiving_scenario = _receiving(stack)
    goods = {"item_code": "DRILL", "qty": 1}
    first, second = (
        receiving_scenario.started(receiving_scenario.order(goods)),
        receiving_scenario.started(receiving_scenario.order(goods)),
    )
    return [
        lambda: receiving_scenario.receive(first, 1, item_code="DRILL", serials=["S"]),
        lambda: receiving_scenario.receive(
            second, 1, item_code="DRILL", serials=["S"], bin_code="B-01"
        ),
    ]


def goods_that_arrive_on_a_receipt_that_is_cancelled(stack: Stack) -> Acts:
    receiving_scenario = _receiving(stack)
    receipt = receiving_scenario.started(receiving_scenario.order({"qty": 10}))
    receiving_scenario.receive(receipt, 2)
    return [
        lambda: receiving_scenario.receive(receipt, 3),
        lambda: receiving_scenario.act(receipt, "cancel"),
        lambda: receiving_scenario.act(receipt, "finalize"),
    ]


def goods_that_are_promised_while_their_receipt_is_reverted(stack: Stack) -> Acts:
    receiving_scenario = _receiving(stack)
    receipt = receiving_scenario.started(receiving_scenario.order({"qty": 5}))
    receiving_scenario.receive(receipt, 5)
    receiving_scenario.act(receipt, "finalize")
    order = receiving_scenario.yard.order(("BRICK", 3))
    return [
        lambda: receiving_scenario.act(receipt, "revert"),
        lambda: receiving_scenario.erp.post("/pickings", {"document_id": order}),
    ]


def goods_that_arrive_while_their_document_is_closed(stack: Stack) -> Acts:
    receiving_scenario = _receiving(stack)
    order = receiving_scenario.order({"qty": 10})
    receipt = receiving_scenario.started(order)
    return [
        lambda: receiving_scenario.receive(receipt, 4),
        lambda: receiving_scenario.erp.post(f"/entry-documents/{order}/close"),
    ]


def two_counts_of_one_shelf(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 10)
    return [lambda: _adjust(yard, counted_qty=7), lambda: _adjust(yard, counted_qty=4)]


def two_who_take_the_last(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 10)
    return [lambda: _adjust(yard, decrease=6), lambda: _adjust(yard, decrease=7)]


def the_first_finds_on_one_shelf(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    return [lambda: _adjust(yard, increase=2), lambda: _adjust(yard, increase=3)]


def the_first_finds_in_two_warehouses(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    return [
        lambda: _adjust(yard, increase=2),
        lambda: _adjust(yard, increase=3, warehouse="SHOP"),
    ]


def corrections_in_two_warehouses(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    yard.stock("BRICK", 5, warehouse="SHOP")
    return [
        lambda: _adjust(yard, increase=2),
        lambda: _adjust(yard, decrease=3, warehouse="SHOP"),
    ]


def stock_that_is_corrected_while_it_is_promised(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 3))
    return [
        lambda: yard.erp.post("/pickings", {"document_id": order}),
        lambda: _adjust(yard, decrease=4),
        lambda: _adjust(yard, to_status="damaged", qty=1),
    ]


def one_order_on_two_pickings(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 3))
    body = {"document_id": order}
    return [lambda: yard.erp.post("/pickings", body), lambda: yard.erp.post("/pickings", body)]


def two_pickings_from_one_shelf(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    first, second = (yard.started(yard.order(("BRICK", qty))) for qty in (2, 3))
    return [lambda: yard.pick(first, "BRICK", 2), lambda: yard.pick(second, "BRICK", 3)]


def allocation_of_a_picking_that_is_cancelled(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 2)
    number = yard.started(yard.order(("BRICK", 5)))
    yard.stock("BRICK", 9, "B-01")
    return [lambda: yard.act(number, "allocate"), lambda: yard.act(number, "cancel")]


def stock_that_is_released_while_another_wants_it(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    holder, order = yard.started(yard.order(("BRICK", 5))), yard.order(("BRICK", 4))
    return [
        lambda: yard.act(holder, "cancel"),
        lambda: yard.erp.post("/pickings", {"document_id": order}),
    ]


def picks_while_the_picking_ends(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    number = yard.started(yard.order(("BRICK", 5)))
    yard.pick(number, "BRICK", 1)
    return [
        lambda: yard.pick(number, "BRICK", 4),
        lambda: yard.act(number, "finalize", shortage_reason="damaged"),
        lambda: yard.act(number, "cancel"),
    ]


def a_serial_that_two_pickings_take(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    for serial in ("S-1", "S-2", "S-3"):
        yard.stock("DRILL", 1, serial=serial)
    first, second = (yard.started(yard.order(("DRILL", 1))) for _ in range(2))
    return [
        lambda: yard.pick(first, "DRILL", 1, serials=["S-3"]),
        lambda: yard.pick(second, "DRILL", 1, serials=["S-3"]),
    ]


def a_document_that_leaves_while_its_picking_is_reverted(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 4))
    number = yard.started(order)
    yard.pick(number, "BRICK", 4)
    yard.act(number, "finalize")
    return [
        lambda: yard.erp.post(f"/exit-documents/{order}/dispatch"),
        lambda: yard.act(number, "revert"),
    ]


def a_document_that_leaves_twice(stack: Stack) -> Acts:
    [leave, _] = a_document_that_leaves_while_its_picking_is_reverted(stack)
    return [leave, leave]


def two_documents_of_one_picking_that_leave(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    orders = [yard.order(("BRICK", 2)), yard.order(("BRICK", 3))]
    number = yard.started(*orders)
    yard.pick(number, "BRICK", 5)
    yard.act(number, "finalize")
    return [
        lambda: yard.erp.post(f"/exit-documents/{orders[0]}/dispatch"),
        lambda: yard.erp.post(f"/exit-documents/{orders[1]}/dispatch"),
        lambda: yard.act(number, "revert"),
    ]


def a_product_that_is_deleted_while_it_is_found(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    [product] = yard.erp.get("/products", query={"item_code": "BRICK"}).data
    return [
        lambda: _adjust(yard, increase=2),
        lambda: yard.erp.delete(f"/products/{product['id']}"),
    ]


def a_position_that_is_deleted_while_goods_arrive(stack: Stack) -> Acts:
    receiving_scenario = _receiving(stack)
    receipt = receiving_scenario.started(receiving_scenario.order({"qty": 10}))
    query = {"warehouse": "YARD", "bin_code": "B-01"}
    [position] = receiving_scenario.erp.get("/warehouse-positions", query=query).data
    return [
        lambda: receiving_scenario.receive(receipt, 2, bin_code="B-01"),
        lambda: receiving_scenario.erp.delete(f"/warehouse-positions/{position['id']}"),
    ]


def two_transfers_to_an_empty_shelf(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5, "A-01")
    yard.stock("BRICK", 5, "F-01")
    return [lambda: _transfer(yard, 2, "A-01"), lambda: _transfer(yard, 3, "F-01")]


def a_transfer_of_what_is_promised_meanwhile(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 3))
    return [
        lambda: _transfer(yard, 4, "A-01"),
        lambda: yard.erp.post("/pickings", {"document_id": order}),
        lambda: _adjust(yard, decrease=2),
    ]


def a_transfer_that_is_executed_twice(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    number = _transfer(yard, 2, "A-01", execute=False).data["id"]
    execute = lambda: yard.erp.post(f"/transfers/{number}/execute")  # noqa: E731
    return [execute, execute]


def a_position_that_is_deleted_while_goods_are_moved_to_it(stack: Stack) -> Acts:
    yard = _warehouse(stack)
    yard.stock("BRICK", 5)
    query = {"warehouse": "YARD", "bin_code": "B-01"}
    [position] = yard.erp.get("/warehouse-positions", query=query).data
    return [
        lambda: _transfer(yard, 2, "A-01"),
        lambda: yard.erp.delete(f"/warehouse-positions/{position['id']}"),
    ]


def a_haul_that_is_picked_and_cancelled(stack: Stack) -> Acts:
    transfer_scenario = TransferScenario(stack.erp())
    transfer_scenario.yard.stock("BRICK", 5)
    number = transfer_scenario.order(("BRICK", 3))
    picked = {"item_code": "BRICK", "qty": 3, "bin_code": "A-01"}
    return [
        lambda: transfer_scenario.act(number, "picks", **picked),
        lambda: transfer_scenario.act(number, "cancel"),
        lambda: transfer_scenario.act(number, "dispatch"),
    ]


def a_haul_that_is_released_twice(stack: Stack) -> Acts:
    transfer_scenario = TransferScenario(stack.erp())
    transfer_scenario.yard.stock("BRICK", 5)
    number = transfer_scenario.draft(("BRICK", 3)).data["id"]
    return [
        lambda: transfer_scenario.act(number, "release", picker_id=7),
        lambda: transfer_scenario.act(number, "release", picker_id=7),
        lambda: transfer_scenario.act(number, "cancel"),
    ]


def goods_of_two_hauls_that_arrive(stack: Stack) -> Acts:
    transfer_scenario = TransferScenario(stack.erp())
    transfer_scenario.yard.stock("BRICK", 9)
    first, second = (
        transfer_scenario.underway(("BRICK", 4)),
        transfer_scenario.underway(("BRICK", 5)),
    )
    return [
        lambda: transfer_scenario.receive(first, {"item_code": "BRICK", "qty": 4}),
        lambda: transfer_scenario.receive(second, {"item_code": "BRICK", "qty": 5}),
    ]


def goods_of_a_haul_that_arrive_twice(stack: Stack) -> Acts:
    transfer_scenario = TransferScenario(stack.erp())
    transfer_scenario.yard.stock("BRICK", 9)
    number, _ = transfer_scenario.underway(("BRICK", 4)), transfer_scenario.underway(("BRICK", 5))
    return [
        lambda: transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 3}),
        lambda: transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 3}),
        lambda: transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 1}, final=True),
    ]


def a_haul_that_is_closed_twice(stack: Stack) -> Acts:
    transfer_scenario = TransferScenario(stack.erp())
    transfer_scenario.yard.stock("BRICK", 4)
    number = transfer_scenario.underway(("BRICK", 4))
    transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 1}, final=True)
    return [
        lambda: transfer_scenario.act(number, "close", reason="Lost"),
        lambda: transfer_scenario.act(number, "close", reason="Stolen"),
    ]


def two_waves_and_one_picking(stack: Stack) -> Acts:
    wave_scenario = WaveScenario(_warehouse(stack))
    first, both, third = wave_scenario.pickings(3)
    return [
        lambda: wave_scenario.create([first, both]),
        lambda: wave_scenario.create([both, third]),
    ]


def a_wave_that_is_released_while_a_picking_is_cancelled(stack: Stack) -> Acts:
    wave_scenario = WaveScenario(_warehouse(stack))
    wave_scenario.yard.stock("BRICK", 1)
    first, second = wave_scenario.pickings(2)
    number = wave_scenario.wave([first, second], "plan")
    return [
        lambda: wave_scenario.act(number, "release"),
        lambda: wave_scenario.yard.act(first, "cancel"),
    ]


def a_wave_that_is_cancelled_while_its_last_picking_ends(stack: Stack) -> Acts:
    wave_scenario = WaveScenario(_warehouse(stack))
    wave_scenario.yard.stock("BRICK", 1)
    [picking] = wave_scenario.pickings(1)
    number = wave_scenario.wave([picking], "plan", "release")
    wave_scenario.yard.act(picking, "start")
    wave_scenario.yard.pick(picking, "BRICK", 1)
    return [
        lambda: wave_scenario.yard.act(picking, "finalize"),
        lambda: wave_scenario.act(number, "cancel"),
        lambda: wave_scenario.act(number, "complete"),
    ]


def _transfer(yard: WarehouseScenario, qty: int, from_bin: str, **more: object) -> Response:
    """Move BRICK to B-01."""
    line = {"item_code": "BRICK", "qty": qty, "from_bin": from_bin, "to_bin": "B-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line], **more}
    return yard.erp.post("/transfers", body)


def _adjust(yard: WarehouseScenario, **changes: object) -> Response:
    body = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "reason": "Counted"}
    return yard.erp.post("/stock-adjustments", body | changes)


SCENARIOS: list[Callable[[Stack], Acts]] = [
    two_receipts_of_one_line,
    one_serial_on_two_receipts,
    goods_that_arrive_on_a_receipt_that_is_cancelled,
    goods_that_are_promised_while_their_receipt_is_reverted,
    goods_that_arrive_while_their_document_is_closed,
    two_counts_of_one_shelf,
    two_who_take_the_last,
    the_first_finds_on_one_shelf,
    the_first_finds_in_two_warehouses,
    corrections_in_two_warehouses,
    stock_that_is_corrected_while_it_is_promised,
    one_order_on_two_pickings,
    two_pickings_from_one_shelf,
    allocation_of_a_picking_that_is_cancelled,
    stock_that_is_released_while_another_wants_it,
    picks_while_the_picking_ends,
    a_serial_that_two_pickings_take,
    a_document_that_leaves_while_its_picking_is_reverted,
    a_document_that_leaves_twice,
    two_documents_of_one_picking_that_leave,
    a_product_that_is_deleted_while_it_is_found,
    a_position_that_is_deleted_while_goods_arrive,
    two_transfers_to_an_empty_shelf,
    a_transfer_of_what_is_promised_meanwhile,
    a_transfer_that_is_executed_twice,
    a_position_that_is_deleted_while_goods_are_moved_to_it,
    a_haul_that_is_picked_and_cancelled,
    a_haul_that_is_released_twice,
    goods_of_two_hauls_that_arrive,
    goods_of_a_haul_that_arrive_twice,
    a_haul_that_is_closed_twice,
    two_waves_and_one_picking,
    a_wave_that_is_released_while_a_picking_is_cancelled,
    a_wave_that_is_cancelled_while_its_last_picking_ends,
]

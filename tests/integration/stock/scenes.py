"""Scenes of the floor in which two or three things happen at the same time.

Each prepares a floor and returns the acts, which may be done in any order and at once.
"""

from collections.abc import Callable

from tests.dock import Dock
from tests.floor import Floor
from tests.gateway import Response
from tests.haul import Haul
from tests.interleaving import Act
from tests.stack import Stack
from tests.swell import Swell

type Acts = list[Act[Response]]


def _dock(stack: Stack) -> Dock:
    return Dock(stack.erp())


def _floor(stack: Stack) -> Floor:
    return Floor.furnished(stack.erp(), "YARD", "SHOP")


def two_receipts_of_one_line(stack: Stack) -> Acts:
    dock = _dock(stack)
    order = dock.order({"qty": 10})
    first, second = dock.started(order), dock.started(order)
    return [lambda: dock.receive(first, 6), lambda: dock.receive(second, 6)]


def one_serial_on_two_receipts(stack: Stack) -> Acts:
    dock = _dock(stack)
    goods = {"item_code": "DRILL", "qty": 1}
    first, second = dock.started(dock.order(goods)), dock.started(dock.order(goods))
    return [
        lambda: dock.receive(first, 1, item_code="DRILL", serials=["S"]),
        lambda: dock.receive(second, 1, item_code="DRILL", serials=["S"], bin_code="B-01"),
    ]


def goods_that_arrive_on_a_receipt_that_is_cancelled(stack: Stack) -> Acts:
    dock = _dock(stack)
    receipt = dock.started(dock.order({"qty": 10}))
    dock.receive(receipt, 2)
    return [
        lambda: dock.receive(receipt, 3),
        lambda: dock.act(receipt, "cancel"),
        lambda: dock.act(receipt, "finalize"),
    ]


def goods_that_are_promised_while_their_receipt_is_reverted(stack: Stack) -> Acts:
    dock = _dock(stack)
    receipt = dock.started(dock.order({"qty": 5}))
    dock.receive(receipt, 5)
    dock.act(receipt, "finalize")
    order = dock.floor.order(("BRICK", 3))
    return [
        lambda: dock.act(receipt, "revert"),
        lambda: dock.erp.post("/pickings", {"document_id": order}),
    ]


def goods_that_arrive_while_their_document_is_closed(stack: Stack) -> Acts:
    dock = _dock(stack)
    order = dock.order({"qty": 10})
    receipt = dock.started(order)
    return [
        lambda: dock.receive(receipt, 4),
        lambda: dock.erp.post(f"/entry-documents/{order}/close"),
    ]


def two_counts_of_one_shelf(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 10)
    return [lambda: _adjust(floor, counted_qty=7), lambda: _adjust(floor, counted_qty=4)]


def two_who_take_the_last(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 10)
    return [lambda: _adjust(floor, decrease=6), lambda: _adjust(floor, decrease=7)]


def the_first_finds_on_one_shelf(stack: Stack) -> Acts:
    floor = _floor(stack)
    return [lambda: _adjust(floor, increase=2), lambda: _adjust(floor, increase=3)]


def the_first_finds_in_two_warehouses(stack: Stack) -> Acts:
    floor = _floor(stack)
    return [
        lambda: _adjust(floor, increase=2),
        lambda: _adjust(floor, increase=3, warehouse="SHOP"),
    ]


def corrections_in_two_warehouses(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    floor.stock("BRICK", 5, warehouse="SHOP")
    return [
        lambda: _adjust(floor, increase=2),
        lambda: _adjust(floor, decrease=3, warehouse="SHOP"),
    ]


def stock_that_is_corrected_while_it_is_promised(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    order = floor.order(("BRICK", 3))
    return [
        lambda: floor.erp.post("/pickings", {"document_id": order}),
        lambda: _adjust(floor, decrease=4),
        lambda: _adjust(floor, to_status="damaged", qty=1),
    ]


def one_order_on_two_pickings(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    order = floor.order(("BRICK", 3))
    body = {"document_id": order}
    return [lambda: floor.erp.post("/pickings", body), lambda: floor.erp.post("/pickings", body)]


def two_pickings_from_one_shelf(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    first, second = (floor.started(floor.order(("BRICK", qty))) for qty in (2, 3))
    return [lambda: floor.pick(first, "BRICK", 2), lambda: floor.pick(second, "BRICK", 3)]


def allocation_of_a_picking_that_is_cancelled(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 2)
    number = floor.started(floor.order(("BRICK", 5)))
    floor.stock("BRICK", 9, "B-01")
    return [lambda: floor.act(number, "allocate"), lambda: floor.act(number, "cancel")]


def stock_that_is_released_while_another_wants_it(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    holder, order = floor.started(floor.order(("BRICK", 5))), floor.order(("BRICK", 4))
    return [
        lambda: floor.act(holder, "cancel"),
        lambda: floor.erp.post("/pickings", {"document_id": order}),
    ]


def picks_while_the_picking_ends(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    number = floor.started(floor.order(("BRICK", 5)))
    floor.pick(number, "BRICK", 1)
    return [
        lambda: floor.pick(number, "BRICK", 4),
        lambda: floor.act(number, "finalize", shortage_reason="damaged"),
        lambda: floor.act(number, "cancel"),
    ]


def a_serial_that_two_pickings_take(stack: Stack) -> Acts:
    floor = _floor(stack)
    for serial in ("S-1", "S-2", "S-3"):
        floor.stock("DRILL", 1, serial=serial)
    first, second = (floor.started(floor.order(("DRILL", 1))) for _ in range(2))
    return [
        lambda: floor.pick(first, "DRILL", 1, serials=["S-3"]),
        lambda: floor.pick(second, "DRILL", 1, serials=["S-3"]),
    ]


def a_document_that_leaves_while_its_picking_is_reverted(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    order = floor.order(("BRICK", 4))
    number = floor.started(order)
    floor.pick(number, "BRICK", 4)
    floor.act(number, "finalize")
    return [
        lambda: floor.erp.post(f"/exit-documents/{order}/dispatch"),
        lambda: floor.act(number, "revert"),
    ]


def a_document_that_leaves_twice(stack: Stack) -> Acts:
    [leave, _] = a_document_that_leaves_while_its_picking_is_reverted(stack)
    return [leave, leave]


def two_documents_of_one_picking_that_leave(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    orders = [floor.order(("BRICK", 2)), floor.order(("BRICK", 3))]
    number = floor.started(*orders)
    floor.pick(number, "BRICK", 5)
    floor.act(number, "finalize")
    return [
        lambda: floor.erp.post(f"/exit-documents/{orders[0]}/dispatch"),
        lambda: floor.erp.post(f"/exit-documents/{orders[1]}/dispatch"),
        lambda: floor.act(number, "revert"),
    ]


def a_product_that_is_deleted_while_it_is_found(stack: Stack) -> Acts:
    floor = _floor(stack)
    [product] = floor.erp.get("/products", query={"item_code": "BRICK"}).data
    return [
        lambda: _adjust(floor, increase=2),
        lambda: floor.erp.delete(f"/products/{product['id']}"),
    ]


def a_position_that_is_deleted_while_goods_arrive(stack: Stack) -> Acts:
    dock = _dock(stack)
    receipt = dock.started(dock.order({"qty": 10}))
    query = {"warehouse": "YARD", "bin_code": "B-01"}
    [position] = dock.erp.get("/warehouse-positions", query=query).data
    return [
        lambda: dock.receive(receipt, 2, bin_code="B-01"),
        lambda: dock.erp.delete(f"/warehouse-positions/{position['id']}"),
    ]


def two_transfers_to_an_empty_shelf(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5, "A-01")
    floor.stock("BRICK", 5, "F-01")
    return [lambda: _transfer(floor, 2, "A-01"), lambda: _transfer(floor, 3, "F-01")]


def a_transfer_of_what_is_promised_meanwhile(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    order = floor.order(("BRICK", 3))
    return [
        lambda: _transfer(floor, 4, "A-01"),
        lambda: floor.erp.post("/pickings", {"document_id": order}),
        lambda: _adjust(floor, decrease=2),
    ]


def a_transfer_that_is_executed_twice(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    number = _transfer(floor, 2, "A-01", execute=False).data["id"]
    execute = lambda: floor.erp.post(f"/transfers/{number}/execute")  # noqa: E731
    return [execute, execute]


def a_position_that_is_deleted_while_goods_are_moved_to_it(stack: Stack) -> Acts:
    floor = _floor(stack)
    floor.stock("BRICK", 5)
    query = {"warehouse": "YARD", "bin_code": "B-01"}
    [position] = floor.erp.get("/warehouse-positions", query=query).data
    return [
        lambda: _transfer(floor, 2, "A-01"),
        lambda: floor.erp.delete(f"/warehouse-positions/{position['id']}"),
    ]


def a_haul_that_is_picked_and_cancelled(stack: Stack) -> Acts:
    haul = Haul(stack.erp())
    haul.floor.stock("BRICK", 5)
    number = haul.order(("BRICK", 3))
    picked = {"item_code": "BRICK", "qty": 3, "bin_code": "A-01"}
    return [
        lambda: haul.act(number, "picks", **picked),
        lambda: haul.act(number, "cancel"),
        lambda: haul.act(number, "dispatch"),
    ]


def a_haul_that_is_released_twice(stack: Stack) -> Acts:
    haul = Haul(stack.erp())
    haul.floor.stock("BRICK", 5)
    number = haul.draft(("BRICK", 3)).data["id"]
    return [
        lambda: haul.act(number, "release", picker_id=7),
        lambda: haul.act(number, "release", picker_id=7),
        lambda: haul.act(number, "cancel"),
    ]


def goods_of_two_hauls_that_arrive(stack: Stack) -> Acts:
    haul = Haul(stack.erp())
    haul.floor.stock("BRICK", 9)
    first, second = haul.underway(("BRICK", 4)), haul.underway(("BRICK", 5))
    return [
        lambda: haul.receive(first, {"item_code": "BRICK", "qty": 4}),
        lambda: haul.receive(second, {"item_code": "BRICK", "qty": 5}),
    ]


def goods_of_a_haul_that_arrive_twice(stack: Stack) -> Acts:
    haul = Haul(stack.erp())
    haul.floor.stock("BRICK", 9)
    number, _ = haul.underway(("BRICK", 4)), haul.underway(("BRICK", 5))
    return [
        lambda: haul.receive(number, {"item_code": "BRICK", "qty": 3}),
        lambda: haul.receive(number, {"item_code": "BRICK", "qty": 3}),
        lambda: haul.receive(number, {"item_code": "BRICK", "qty": 1}, final=True),
    ]


def a_haul_that_is_closed_twice(stack: Stack) -> Acts:
    haul = Haul(stack.erp())
    haul.floor.stock("BRICK", 4)
    number = haul.underway(("BRICK", 4))
    haul.receive(number, {"item_code": "BRICK", "qty": 1}, final=True)
    return [
        lambda: haul.act(number, "close", reason="Lost"),
        lambda: haul.act(number, "close", reason="Stolen"),
    ]


def two_waves_and_one_picking(stack: Stack) -> Acts:
    swell = Swell(_floor(stack))
    first, both, third = swell.pickings(3)
    return [lambda: swell.create([first, both]), lambda: swell.create([both, third])]


def a_wave_that_is_released_while_a_picking_is_cancelled(stack: Stack) -> Acts:
    swell = Swell(_floor(stack))
    swell.floor.stock("BRICK", 1)
    first, second = swell.pickings(2)
    number = swell.wave([first, second], "plan")
    return [lambda: swell.act(number, "release"), lambda: swell.floor.act(first, "cancel")]


def a_wave_that_is_cancelled_while_its_last_picking_ends(stack: Stack) -> Acts:
    swell = Swell(_floor(stack))
    swell.floor.stock("BRICK", 1)
    [picking] = swell.pickings(1)
    number = swell.wave([picking], "plan", "release")
    swell.floor.act(picking, "start")
    swell.floor.pick(picking, "BRICK", 1)
    return [
        lambda: swell.floor.act(picking, "finalize"),
        lambda: swell.act(number, "cancel"),
        lambda: swell.act(number, "complete"),
    ]


def _transfer(floor: Floor, qty: int, from_bin: str, **more: object) -> Response:
    """Move BRICK to B-01."""
    line = {"item_code": "BRICK", "qty": qty, "from_bin": from_bin, "to_bin": "B-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line], **more}
    return floor.erp.post("/transfers", body)


def _adjust(floor: Floor, **changes: object) -> Response:
    body = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "reason": "Counted"}
    return floor.erp.post("/stock-adjustments", body | changes)


SCENES: list[Callable[[Stack], Acts]] = [
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

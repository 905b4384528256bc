"""Scenarios of two or three concurrent warehouse operations.

Each public function prepares a warehouse and returns the actions, which may run concurrently.
"""

from tests.gateway import Response
from tests.interleaving import Act
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

type Acts = list[Act[Response]]

_BRICK, _B_01 = "/products/1", "/warehouse-positions/2"


def _receiving(stack: Stack) -> ReceivingScenario:
    return ReceivingScenario(stack.erp())


def _warehouse(stack: Stack, *, bricks: int = 0) -> WarehouseScenario:
    """Return a company with bricks at A-01."""
    warehouse = WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
    if bricks:
        warehouse.stock("BRICK", bricks)
    return warehouse


def two_receipts_of_one_line(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    order = receiving.order({"qty": 10})
    first, second = receiving.started(order), receiving.started(order)
    return [lambda: receiving.receive(first, 6), lambda: receiving.receive(second, 6)]


def one_serial_on_two_receipts(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    goods = {"item_code": "DRILL", "qty": 1}
    first, second = (
        receiving.started(receiving.order(goods)),
        receiving.started(receiving.order(goods)),
    )
    return [
        lambda: receiving.receive(first, 1, item_code="DRILL", serials=["S"]),
        lambda: receiving.receive(second, 1, item_code="DRILL", serials=["S"], bin_code="B-01"),
    ]


def receiving_on_a_receipt_during_its_cancellation(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    receipt = receiving.started(receiving.order({"qty": 10}))
    receiving.receive(receipt, 2)
    return [
        lambda: receiving.receive(receipt, 3),
        lambda: receiving.act(receipt, "cancel"),
        lambda: receiving.act(receipt, "finalize"),
    ]


def undo_of_a_line_during_a_pick_and_the_end_of_the_receipt(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    receipt = receiving.started(receiving.order({"qty": 5}))
    receiving.receive(receipt, 5)
    order = receiving.yard.order(("BRICK", 3))
    return [
        lambda: receiving.undo(receipt, 3),
        lambda: receiving.erp.post("/pickings", {"document_id": order}),
        lambda: receiving.act(receipt, "finalize"),
    ]


def allocation_during_the_revert_of_the_receipt(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    receipt = receiving.started(receiving.order({"qty": 5}))
    receiving.receive(receipt, 5)
    receiving.act(receipt, "finalize")
    order = receiving.yard.order(("BRICK", 3))
    return [
        lambda: receiving.act(receipt, "revert"),
        lambda: receiving.erp.post("/pickings", {"document_id": order}),
    ]


def receiving_during_the_close_of_the_document(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    order = receiving.order({"qty": 10})
    receipt = receiving.started(order)
    return [
        lambda: receiving.receive(receipt, 4),
        lambda: receiving.erp.post(f"/entry-documents/{order}/close"),
    ]


def two_counts_of_one_position(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=10)
    return [lambda: warehouse.adjust(counted_qty=7), lambda: warehouse.adjust(counted_qty=4)]


def two_decreases_of_the_last_stock(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=10)
    return [lambda: warehouse.adjust(decrease=6), lambda: warehouse.adjust(decrease=7)]


def first_stock_at_one_position(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    return [lambda: warehouse.adjust(increase=2), lambda: warehouse.adjust(increase=3)]


def first_stock_in_two_warehouses(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    return [
        lambda: warehouse.adjust(increase=2),
        lambda: warehouse.adjust(increase=3, warehouse="SHOP"),
    ]


def adjustments_in_two_warehouses(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    warehouse.stock("BRICK", 5, warehouse="SHOP")
    return [
        lambda: warehouse.adjust(increase=2),
        lambda: warehouse.adjust(decrease=3, warehouse="SHOP"),
    ]


def adjustment_during_allocation(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    order = warehouse.order(("BRICK", 3))
    return [
        lambda: warehouse.erp.post("/pickings", {"document_id": order}),
        lambda: warehouse.adjust(decrease=4),
        lambda: warehouse.adjust(to_status="damaged", qty=1),
    ]


def two_pickings_of_one_order(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    order = warehouse.order(("BRICK", 3))
    body = {"document_id": order}
    return [
        lambda: warehouse.erp.post("/pickings", body),
        lambda: warehouse.erp.post("/pickings", body),
    ]


def two_pickings_from_one_position(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    first, second = (warehouse.started(warehouse.order(("BRICK", qty))) for qty in (2, 3))
    return [lambda: warehouse.pick(first, "BRICK", 2), lambda: warehouse.pick(second, "BRICK", 3)]


def allocation_during_the_cancellation_of_the_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=2)
    number = warehouse.started(warehouse.order(("BRICK", 5)))
    warehouse.stock("BRICK", 9, "B-01")
    return [lambda: warehouse.act(number, "allocate"), lambda: warehouse.act(number, "cancel")]


def allocation_during_the_release_of_stock(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    holder, order = warehouse.started(warehouse.order(("BRICK", 5))), warehouse.order(("BRICK", 4))
    return [
        lambda: warehouse.act(holder, "cancel"),
        lambda: warehouse.erp.post("/pickings", {"document_id": order}),
    ]


def picks_during_the_end_of_the_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    number = warehouse.started(warehouse.order(("BRICK", 5)))
    warehouse.pick(number, "BRICK", 1)
    return [
        lambda: warehouse.pick(number, "BRICK", 4),
        lambda: warehouse.act(number, "finalize", shortage_reason="damaged"),
        lambda: warehouse.act(number, "cancel"),
    ]


def undo_of_a_pick_during_a_pick_and_the_end_of_the_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    number = warehouse.started(warehouse.order(("BRICK", 5)))
    warehouse.pick(number, "BRICK", 3)
    return [
        lambda: warehouse.undo(number, "BRICK", 2),
        lambda: warehouse.pick(number, "BRICK", 2),
        lambda: warehouse.act(number, "finalize", shortage_reason="damaged"),
    ]


def two_undos_of_one_pick(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    number = warehouse.started(warehouse.order(("BRICK", 5)))
    warehouse.pick(number, "BRICK", 3)
    return [lambda: warehouse.undo(number, "BRICK", 2)] * 2


def two_pickings_of_one_serial(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    warehouse.stock_serials("S-1", "S-2", "S-3")
    first, second = (warehouse.started(warehouse.order(("DRILL", 1))) for _ in range(2))
    return [
        lambda: warehouse.pick(first, "DRILL", 1, serials=["S-3"]),
        lambda: warehouse.pick(second, "DRILL", 1, serials=["S-3"]),
    ]


def two_pickings_of_the_serial_of_the_other(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    warehouse.stock_serials("S-1", "S-2")
    first, second = (warehouse.started(warehouse.order(("DRILL", 1))) for _ in range(2))
    return [
        lambda: warehouse.pick(first, "DRILL", 1, serials=["S-2"]),
        lambda: warehouse.pick(second, "DRILL", 1, serials=["S-1"]),
        lambda: warehouse.act(second, "cancel"),
    ]


def dispatch_that_keeps_the_rest_during_a_picking_of_it_and_a_close(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=9)
    order = warehouse.order(("BRICK", 5))
    warehouse.picked(order, qty=2)
    return [
        lambda: warehouse.erp.post(f"/exit-documents/{order}/dispatch", {"rest": "keep"}),
        lambda: warehouse.erp.post("/pickings", {"document_id": order}),
        lambda: warehouse.erp.post(f"/exit-documents/{order}/close"),
    ]


def change_of_an_order_during_a_receipt_of_it_and_a_close(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    order = receiving.order({"qty": 10}, {"qty": 3})
    path = f"/entry-documents/{order}"
    lines = [
        {"line_num": 1, "qty": 8},
        {"line_num": 2, "qty": 0},
        {"item_code": "CEMENT", "qty": 1},
    ]
    return [
        lambda: receiving.erp.patch(path, {"lines": lines}),
        lambda: receiving.erp.post("/receipts", {"document_id": order}),
        lambda: receiving.erp.post(f"{path}/close"),
    ]


def change_of_an_order_during_the_undo_of_its_receipt(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    order = receiving.order({"qty": 10})
    receipt = receiving.started(order)
    receiving.receive(receipt, 6)
    receiving.act(receipt, "finalize")
    lines = [{"line_num": 1, "qty": 6}]
    return [
        lambda: receiving.erp.patch(f"/entry-documents/{order}", {"lines": lines}),
        lambda: receiving.act(receipt, "revert"),
        lambda: receiving.erp.post("/receipts", {"document_id": order}),
    ]


def change_of_an_order_during_its_dispatch_and_a_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=9)
    order = warehouse.order(("BRICK", 5))
    warehouse.picked(order, qty=2)
    path = f"/exit-documents/{order}"
    lines = [{"line_num": 1, "qty": 2}, {"item_code": "BRICK", "qty": 1}]
    return [
        lambda: warehouse.erp.patch(path, {"lines": lines}),
        lambda: warehouse.erp.post(f"{path}/dispatch", {"rest": "keep"}),
        lambda: warehouse.erp.post("/pickings", {"document_id": order}),
    ]


def change_of_the_priority_during_a_pick_and_the_end_of_the_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    order = warehouse.order(("BRICK", 5))
    number = warehouse.started(order)
    return [
        lambda: warehouse.erp.patch(f"/exit-documents/{order}", {"priority": "Alta"}),
        lambda: warehouse.pick(number, "BRICK", 4),
        lambda: warehouse.act(number, "finalize", shortage_reason="damaged"),
    ]


def dispatch_during_the_revert_of_the_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    order = warehouse.order(("BRICK", 4))
    number = warehouse.picked(order, qty=4)
    return [
        lambda: warehouse.erp.post(f"/exit-documents/{order}/dispatch"),
        lambda: warehouse.act(number, "revert"),
    ]


def two_dispatches_of_one_document(stack: Stack) -> Acts:
    [leave, _] = dispatch_during_the_revert_of_the_picking(stack)
    return [leave, leave]


def dispatches_of_two_documents_of_one_picking(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    orders = [warehouse.order(("BRICK", 2)), warehouse.order(("BRICK", 3))]
    number = warehouse.picked(*orders, qty=5)
    return [
        lambda: warehouse.erp.post(f"/exit-documents/{orders[0]}/dispatch"),
        lambda: warehouse.erp.post(f"/exit-documents/{orders[1]}/dispatch"),
        lambda: warehouse.act(number, "revert"),
    ]


def adjustment_during_the_deletion_of_the_product(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    return [
        lambda: warehouse.adjust(increase=2),
        lambda: warehouse.erp.delete(_BRICK),
    ]


def revert_of_the_receipt_during_the_deletion_of_the_product(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    receipt = receiving.started(receiving.order({"qty": 5}))
    receiving.receive(receipt, 5)
    receiving.act(receipt, "finalize")
    return [
        lambda: receiving.act(receipt, "revert"),
        lambda: receiving.erp.delete(_BRICK),
    ]


def receiving_during_the_deletion_of_the_position(stack: Stack) -> Acts:
    receiving = _receiving(stack)
    receipt = receiving.started(receiving.order({"qty": 10}))
    return [
        lambda: receiving.receive(receipt, 2, bin_code="B-01"),
        lambda: receiving.erp.delete(_B_01),
    ]


def two_transfers_to_an_empty_position(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    warehouse.stock("BRICK", 5, "A-01")
    warehouse.stock("BRICK", 5, "F-01")
    return [lambda: _transfer(warehouse, 2, "A-01"), lambda: _transfer(warehouse, 3, "F-01")]


def transfer_during_allocation(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    order = warehouse.order(("BRICK", 3))
    return [
        lambda: _transfer(warehouse, 4, "A-01"),
        lambda: warehouse.erp.post("/pickings", {"document_id": order}),
        lambda: warehouse.adjust(decrease=2),
    ]


def two_executions_of_one_transfer(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    number = _transfer(warehouse, 2, "A-01", execute=False).data["id"]
    execute = lambda: warehouse.erp.post(f"/transfers/{number}/execute")  # noqa: E731
    return [execute, execute]


def deletions_of_a_transfer_during_its_execution(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    number = _transfer(warehouse, 2, "A-01", execute=False).data["id"]
    delete = lambda: warehouse.erp.delete(f"/transfers/{number}")  # noqa: E731
    return [lambda: warehouse.erp.post(f"/transfers/{number}/execute"), delete, delete]


def transfer_during_the_deletion_of_the_position(stack: Stack) -> Acts:
    warehouse = _warehouse(stack, bricks=5)
    return [
        lambda: _transfer(warehouse, 2, "A-01"),
        lambda: warehouse.erp.delete(_B_01),
    ]


def pick_and_cancellation_of_a_transfer_order(stack: Stack) -> Acts:
    transfers = TransferScenario(stack.erp())
    transfers.yard.stock("BRICK", 5)
    number = transfers.order(("BRICK", 3))
    picked = {"item_code": "BRICK", "qty": 3, "bin_code": "A-01"}
    return [
        lambda: transfers.act(number, "picks", **picked),
        lambda: transfers.act(number, "cancel"),
        lambda: transfers.act(number, "dispatch"),
    ]


def undo_of_a_pick_during_the_dispatch_of_a_transfer_order(stack: Stack) -> Acts:
    transfers = TransferScenario(stack.erp())
    transfers.yard.stock("BRICK", 5)
    number = transfers.order(("BRICK", 3))
    transfers.pick(number, "BRICK", 3)
    undone = {"item_code": "BRICK", "qty": 2, "bin_code": "A-01"}
    return [
        lambda: transfers.act(number, "picks/undo", **undone),
        lambda: transfers.act(number, "dispatch"),
        lambda: transfers.act(number, "cancel"),
    ]


def two_releases_of_one_transfer_order(stack: Stack) -> Acts:
    transfers = TransferScenario(stack.erp())
    transfers.yard.stock("BRICK", 5)
    number = transfers.draft(("BRICK", 3)).data["id"]
    return [
        lambda: transfers.act(number, "release", picker_id=7),
        lambda: transfers.act(number, "release", picker_id=7),
        lambda: transfers.act(number, "cancel"),
    ]


def receipts_of_two_transfer_orders(stack: Stack) -> Acts:
    transfers = TransferScenario(stack.erp())
    transfers.yard.stock("BRICK", 9)
    first, second = (transfers.underway(("BRICK", 4)), transfers.underway(("BRICK", 5)))
    return [
        lambda: transfers.receive(first, {"item_code": "BRICK", "qty": 4}),
        lambda: transfers.receive(second, {"item_code": "BRICK", "qty": 5}),
    ]


def two_receipts_of_one_transfer_order(stack: Stack) -> Acts:
    transfers = TransferScenario(stack.erp())
    transfers.yard.stock("BRICK", 9)
    number, _ = transfers.underway(("BRICK", 4)), transfers.underway(("BRICK", 5))
    return [
        lambda: transfers.receive(number, {"item_code": "BRICK", "qty": 3}),
        lambda: transfers.receive(number, {"item_code": "BRICK", "qty": 3}),
        lambda: transfers.receive(number, {"item_code": "BRICK", "qty": 1}, final=True),
    ]


def two_closes_of_one_transfer_order(stack: Stack) -> Acts:
    transfers = TransferScenario(stack.erp())
    transfers.yard.stock("BRICK", 4)
    number = transfers.underway(("BRICK", 4))
    transfers.receive(number, {"item_code": "BRICK", "qty": 1}, final=True)
    return [
        lambda: transfers.act(number, "close", reason="Lost"),
        lambda: transfers.act(number, "close", reason="Stolen"),
    ]


def two_waves_with_one_picking(stack: Stack) -> Acts:
    waves = WaveScenario(_warehouse(stack))
    first, both, third = waves.pickings(3)
    return [lambda: waves.create([first, both]), lambda: waves.create([both, third])]


def release_of_a_wave_during_the_cancellation_of_a_picking(stack: Stack) -> Acts:
    waves = WaveScenario(_warehouse(stack, bricks=1))
    first, second = waves.pickings(2)
    number = waves.wave([first, second], "plan")
    return [lambda: waves.act(number, "release"), lambda: waves.yard.act(first, "cancel")]


def two_releases_of_one_wave(stack: Stack) -> Acts:
    waves = WaveScenario(_warehouse(stack, bricks=1))
    number = waves.wave(waves.pickings(2), "plan")
    return [lambda: waves.act(number, "release"), lambda: waves.act(number, "release")]


def cancellation_of_a_wave_during_the_end_of_its_last_picking(stack: Stack) -> Acts:
    waves = WaveScenario(_warehouse(stack, bricks=1))
    [picking] = waves.pickings(1)
    number = waves.wave([picking], "plan", "release")
    waves.yard.act(picking, "start")
    waves.yard.pick(picking, "BRICK", 1)
    return [
        lambda: waves.yard.act(picking, "finalize"),
        lambda: waves.act(number, "cancel"),
        lambda: waves.act(number, "complete"),
    ]


def two_dates_of_one_batch(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    return [
        lambda: _add_cement(warehouse, "A-01", "2030-01-31"),
        lambda: _add_cement(warehouse, "B-01", "2031-01-31"),
        lambda: _add_cement(warehouse, "F-01"),
    ]


def another_date_of_a_batch_while_its_last_stock_moves_and_leaves(stack: Stack) -> Acts:
    warehouse = _warehouse(stack)
    warehouse.stock("CEMENT", 2, batch="L1", expiry_date="2030-01-31")
    return [
        lambda: _transfer(warehouse, 2, "A-01", item_code="CEMENT", batch="L1"),
        lambda: warehouse.adjust("CEMENT", batch="L1", decrease=2),
        lambda: _add_cement(warehouse, "F-01", "2031-01-31"),
    ]


def _add_cement(
    warehouse: WarehouseScenario, bin_code: str, expiry_date: str | None = None
) -> Response:
    goods = {"batch": "L1", "expiry_date": expiry_date}
    return warehouse.adjust("CEMENT", bin_code, **goods, increase=1)


def _transfer(
    warehouse: WarehouseScenario, qty: int, from_bin: str, *, execute: bool = True, **goods: object
) -> Response:
    """Transfer BRICK, or other `goods`, to B-01."""
    line = {"item_code": "BRICK", "qty": qty, "from_bin": from_bin, "to_bin": "B-01", **goods}
    ends = {"from_warehouse": "YARD", "to_warehouse": "YARD"}
    body = {**ends, "lines": [line], "execute": execute}
    return warehouse.erp.post("/transfers", body)

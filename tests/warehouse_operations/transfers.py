"""The cost of every operation on transfers, transfer orders and waves."""

from collections.abc import Iterator

from tests.dynamodb.request_cost import Gauge, Measurement
from tests.people import PICKER
from tests.warehouse_operations.stock import goods_at, lines_of
from tests.warehouse_operations.warehouse import (
    AWAY,
    DRILLS,
    HOME,
    TRACED,
    BenchWarehouse,
    bin_of,
    code,
    serial,
)

WITHIN, ACROSS = 11, 6
"""Largest numbers of lines of a transfer within a warehouse and between two warehouses."""
ARRIVALS = 8
"""Largest number of lines of a transfer order that one request receives."""
_QTY = 4


def transfers(meter: Gauge) -> Iterator[Measurement]:
    """Measure immediate and later execution of transfers."""
    warehouse = BenchWarehouse(meter, WITHIN)
    warehouse.stock_drills()
    for away, lines in ((HOME, 1), (HOME, WITHIN), (AWAY, 1), (AWAY, ACROSS)):
        where = "within a warehouse" if away == HOME else "between warehouses"
        size = f"{lines_of(lines)} {where}"
        with meter.rolled_back():
            yield meter.measure(size, "/transfers", _transfer(away, lines))
        with meter.rolled_back():
            meter.post("/transfers", {**_transfer(away, lines), "execute": False})
            yield meter.measure(size, "/transfers/1/execute")
    drills = {
        "item_code": TRACED,
        "qty": DRILLS,
        "from_bin": bin_of(0),
        "to_bin": bin_of(1),
        "serials": [serial(number) for number in range(DRILLS)],
    }
    body = {**_transfer(AWAY, 0), "lines": [drills]}
    yield meter.measure(f"{DRILLS} serials between warehouses", "/transfers", body)


def _transfer(away: str, lines: int) -> dict[str, object]:
    moves = [
        {"item_code": code(line), "qty": _QTY, "from_bin": bin_of(line), "to_bin": bin_of(line + 1)}
        for line in range(1, lines + 1)
    ]
    return {"from_warehouse": HOME, "to_warehouse": away, "reason": "Refill", "lines": moves}


def transfer_orders(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of a transfer order with `lines` lines."""
    BenchWarehouse(meter, lines)
    size, path = lines_of(lines), "/transfer-orders/1"
    wanted = [{"item_code": code(line), "qty": _QTY} for line in range(1, lines + 1)]
    draft = {"from_warehouse": HOME, "to_warehouse": AWAY, "lines": wanted}
    yield meter.measure(size, "/transfer-orders", draft)
    yield meter.measure(size, f"{path}/release", {"picker_id": PICKER})
    yield meter.measure(f"1 of {size}", f"{path}/picks", goods_at(1, 1))
    # Two pieces of the first line are picked, so that one is received and one is lost.
    for line in range(1, lines + 1):
        meter.post(f"{path}/picks", goods_at(line, 1))
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/cancel")
    yield meter.measure(f"{size} short", f"{path}/finish-picking")
    yield meter.measure(size, f"{path}/dispatch", {})
    come = [goods_at(line, 1) for line in range(1, min(lines, ARRIVALS) + 1)]
    with meter.rolled_back():
        yield meter.measure(f"{len(come)} of {size}", f"{path}/receive", {"lines": come})
    meter.post(f"{path}/receive", {"lines": come[:1], "final": True})
    yield meter.measure(f"loss on {size}", f"{path}/close", {"reason": "Lost in transit"})


def serials_away(meter: Gauge) -> Iterator[Measurement]:
    """Measure a transfer order of serial-managed goods."""
    BenchWarehouse(meter, 0).stock_drills()
    size, path = f"{DRILLS} serials", "/transfer-orders/1"
    wanted = [{"item_code": TRACED, "qty": DRILLS}]
    draft = {"from_warehouse": HOME, "to_warehouse": AWAY, "lines": wanted}
    meter.post("/transfer-orders", draft)
    yield meter.measure(size, f"{path}/release", {"picker_id": PICKER})
    serials = [serial(number) for number in range(DRILLS)]
    goods = {"item_code": TRACED, "qty": DRILLS, "bin_code": bin_of(0), "serials": serials}
    yield meter.measure(size, f"{path}/picks", goods)
    yield meter.measure(size, f"{path}/dispatch", {})
    yield meter.measure(size, f"{path}/receive", {"lines": [goods]})
    yield meter.measure(size, f"{path}/close", {})


def waves(meter: Gauge, pickings: int) -> Iterator[Measurement]:
    """Measure every step of a wave with `pickings` pickings of one line each."""
    warehouse = BenchWarehouse(meter, 10)
    size = "1 picking" if pickings == 1 else f"{pickings} pickings"
    numbers = [waiting(warehouse, [turn % 10 + 1]) for turn in range(pickings)]
    body = {"warehouse_code": HOME, "strategy": "batch", "picking_ids": numbers}
    yield meter.measure(size, "/waves", body)
    path = meter.only_resource("/waves")
    yield meter.measure(size, f"{path}/plan")
    yield meter.measure(size, f"{path}/release")
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/cancel")
    yield meter.measure(f"in a wave of {pickings}", f"/pickings/{numbers[0]}/start")
    for number in numbers:
        meter.post(f"/pickings/{number}/cancel")
    yield meter.measure(size, f"{path}/complete")
    yield meter.measure(size, f"{path}/close")


def waiting(warehouse: BenchWarehouse, lines: list[int]) -> int:
    """Create an unallocated picking of an order of these products; return its id."""
    wanted: list[dict[str, object]] = [{"item_code": code(line), "qty": 1} for line in lines]
    body = {"document_id": warehouse.sale_of(wanted), "allocate": False}
    return warehouse.meter.create("/pickings", body)

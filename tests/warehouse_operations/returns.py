"""The cost of every operation on returns."""

from collections.abc import Iterator

from tests.dynamodb.request_cost import Gauge, Measurement
from tests.warehouse_operations.stock import goods_at, lines_of
from tests.warehouse_operations.warehouse import (
    DRILLS,
    TRACED,
    BenchWarehouse,
    bin_of,
    code,
    serial,
)

ARRIVALS, DISPOSITIONS = 8, 6
"""Largest numbers of lines of one request that receives goods, or decides on them."""
_QTY = 4


def returns(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of a return of `lines` lines; each line is received in part."""
    warehouse, size = BenchWarehouse(meter, lines), lines_of(lines)
    picks = [goods_at(line, _QTY) for line in range(1, lines + 1)]
    order = _dispatched(warehouse, warehouse.sale(lines, _QTY), picks)
    wanted = [{"item_code": code(line), "qty": 2} for line in range(1, lines + 1)]
    draft = {"exit_document_id": order, "lines": wanted}
    yield meter.measure(f"{size}, first of its document", "/returns", draft)
    meter.post("/returns/1/cancel")
    yield meter.measure(size, "/returns", draft)
    path = "/returns/2"
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/cancel")
    one = {"lines": [goods_at(1, 1)]}
    yield meter.measure(f"first goods, 1 of {size}", f"{path}/lines", one)
    yield meter.measure(f"more goods, 1 of {size}", f"{path}/lines", one)
    with meter.rolled_back():
        yield meter.measure(f"more than announced, 1 of {size}", f"{path}/lines", one)
    some = [goods_at(line, 1) for line in range(2, min(lines, ARRIVALS + 1) + 1)]
    if some:
        come = f"first goods, {len(some)} of {size}"
        yield meter.measure(come, f"{path}/lines", {"lines": some})
    yield meter.measure(f"{size} short", f"{path}/finish")
    for action in ("restock", "quarantine", "scrap", "return_to_provider"):
        for count in sorted({1, min(lines, DISPOSITIONS)}):
            decided = [
                {"item_code": code(line), "qty": 1, "action": action}
                for line in range(1, count + 1)
            ]
            with meter.rolled_back():
                part = f"{action}, {count} of {size}"
                yield meter.measure(part, f"{path}/dispositions", {"lines": decided})


def serials_returned(meter: Gauge) -> Iterator[Measurement]:
    """Measure a return of serial-managed goods."""
    warehouse = BenchWarehouse(meter, 0)
    warehouse.stock_drills()
    serials = [serial(number) for number in range(DRILLS)]
    goods = {"item_code": TRACED, "qty": DRILLS, "serials": serials}
    order = warehouse.sale_of([{"item_code": TRACED, "qty": DRILLS}])
    order = _dispatched(warehouse, order, [{**goods, "bin_code": bin_of(0)}])
    size, path = f"{DRILLS} serials", "/returns/1"
    draft = {"exit_document_id": order, "lines": [goods]}
    yield meter.measure(size, "/returns", draft)
    yield meter.measure(size, f"{path}/lines", {"lines": [{**goods, "bin_code": bin_of(0)}]})
    meter.post(f"{path}/finish")
    for action in ("restock", "return_to_provider"):
        with meter.rolled_back():
            decided = {"lines": [{**goods, "action": action}]}
            yield meter.measure(f"{action}, {size}", f"{path}/dispositions", decided)


def _dispatched(warehouse: BenchWarehouse, order: int, picks: list[dict[str, object]]) -> int:
    """Pick and dispatch an exit document; return its id."""
    meter = warehouse.meter
    path = f"/pickings/{meter.create('/pickings', {'document_id': order})}"
    meter.post(f"{path}/start")
    for goods in picks:
        meter.post(f"{path}/picks", goods)
    meter.post(f"{path}/finalize")
    meter.post(f"/exit-documents/{order}/dispatch")
    return order

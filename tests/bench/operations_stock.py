"""Every operation on stock, receipts and pickings, told as the work of a day and read off."""

from collections.abc import Iterator

from tests.bench.request_cost import Gauge, Reading
from tests.bench.warehouse import (
    BATCHED,
    DRILLS,
    PLENTY,
    TRACED,
    BenchWarehouse,
    bin_of,
    code,
    serial,
)

type Measurement = tuple[str, str, Reading]
"""Operation, its size in words, what it asked of AWS."""

_QTY = 4


def lines_of(count: int) -> str:
    """So many lines, in words."""
    return "1 line" if count == 1 else f"{count} lines"


def adjustments(meter: Gauge) -> Iterator[Measurement]:
    """Stock is corrected where there was none, where there is some, in its status."""
    warehouse = BenchWarehouse(meter, 1, stocked=False)
    path, body = "/stock-adjustments", warehouse.found(1, PLENTY)
    yield "POST /stock-adjustments", "first stock", meter.read(path, body)
    yield "POST /stock-adjustments", "more of it", meter.read(path, body)
    status: dict[str, object] = {**body, "to_status": "quarantine", "qty": 5}
    del status["increase"]
    yield "POST /stock-adjustments", "status of some", meter.read(path, status)
    drill = {**body, "item_code": TRACED, "increase": 1, "serial": serial(1)}
    yield "POST /stock-adjustments", "a serial", meter.read(path, drill)


def receipts(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """An order of so many lines is received, and everything that may become of that."""
    warehouse = BenchWarehouse(meter, lines, stocked=False)
    order, size = warehouse.purchase_of(lines), lines_of(lines)
    created = meter.read("/receipts", {"document_id": order})
    yield "POST /receipts", size, created
    path = "/receipts/1"
    yield "POST /receipts/{id}/start", size, meter.read(f"{path}/start")
    for goods in ("first", "more"):
        read = meter.read(f"{path}/lines", arrival(1, 40))
        yield "POST /receipts/{id}/lines", f"{goods} goods, 1 of {size}", read
    for line in range(2, lines + 1):
        meter.post(f"{path}/lines", arrival(line, 100))
    with meter.rolled_back():
        yield "POST /receipts/{id}/cancel", size, meter.read(f"{path}/cancel")
    yield "POST /receipts/{id}/finalize", size, meter.read(f"{path}/finalize")
    yield "POST /receipts/{id}/revert", size, meter.read(f"{path}/revert")


def arrival(line: int, qty: int) -> dict[str, object]:
    """Body of goods that arrive."""
    return {"item_code": code(line), "qty": qty, "bin_code": bin_of(line)}


def lots_received(meter: Gauge) -> Iterator[Measurement]:
    """Goods that are managed by batch and by serial are received."""
    warehouse = BenchWarehouse(meter, 0)
    order = warehouse.purchase(
        [{"item_code": BATCHED, "qty": 100}, {"item_code": TRACED, "qty": DRILLS + 1}]
    )
    meter.post("/receipts", {"document_id": order})
    meter.post("/receipts/1/start")
    name, path = "POST /receipts/{id}/lines", "/receipts/1/lines"
    batch = {"item_code": BATCHED, "qty": 100, "bin_code": bin_of(1), "batch": "LOT-1"}
    yield name, "a batch", meter.read(path, {**batch, "expiry_date": "2030-01-31"})
    for numbers in (range(1), range(1, DRILLS + 1)):
        serials = [serial(number) for number in numbers]
        body = {"item_code": TRACED, "qty": len(serials), "bin_code": bin_of(1)}
        yield name, _serials(len(serials)), meter.read(path, {**body, "serials": serials})


def _serials(count: int) -> str:
    return "1 serial" if count == 1 else f"{count} serials"


def pickings(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """An order of so many lines is picked, and everything that may become of that."""
    warehouse, size = BenchWarehouse(meter, lines), lines_of(lines)
    order = warehouse.sale(lines, _QTY)
    yield "POST /pickings", size, meter.read("/pickings", {"document_id": order})
    path = meter.only_resource("/pickings")
    yield "POST /pickings/{id}/start", size, meter.read(f"{path}/start")
    for line in range(1, lines + 1):
        cost = meter.read(f"{path}/picks", taken(line, 1))
        if line == 1:
            yield "POST /pickings/{id}/picks", f"first goods, 1 of {size}", cost
            more = meter.read(f"{path}/picks", taken(line, 1))
            yield "POST /pickings/{id}/picks", f"more goods, 1 of {size}", more
    short = {"shortage_reason": "could_not_locate"}
    # Of each line some is picked and some is not: all that a line can hold is taken back.
    with meter.rolled_back():
        yield "POST /pickings/{id}/cancel", size, meter.read(f"{path}/cancel")
    yield "POST /pickings/{id}/finalize", f"{size} short", meter.read(f"{path}/finalize", short)
    with meter.rolled_back():
        yield "POST /pickings/{id}/revert", size, meter.read(f"{path}/revert")
    leave = "/exit-documents/1/dispatch"
    yield "POST /exit-documents/{id}/dispatch", size, meter.read(leave)


def taken(line: int, qty: int) -> dict[str, object]:
    """Body of a pick."""
    return {"item_code": code(line), "qty": qty, "bin_code": bin_of(line)}


def serials_picked(meter: Gauge) -> Iterator[Measurement]:
    """An order of goods that are managed by serial is picked."""
    warehouse = BenchWarehouse(meter, 0)
    warehouse.stock_drills()
    order = warehouse.sale_of([{"item_code": TRACED, "qty": DRILLS}])
    size = _serials(DRILLS)
    yield "POST /pickings", size, meter.read("/pickings", {"document_id": order})
    meter.post("/pickings/1/start")
    for count in (1, DRILLS):
        serials = [serial(number) for number in range(count)]
        body = {"item_code": TRACED, "qty": count, "bin_code": bin_of(0), "serials": serials}
        with meter.rolled_back():
            read = meter.read("/pickings/1/picks", body)
            yield "POST /pickings/{id}/picks", _serials(count), read
    meter.post("/pickings/1/picks", body)
    meter.post("/pickings/1/finalize")
    leave = "/exit-documents/1/dispatch"
    yield "POST /exit-documents/{id}/dispatch", size, meter.read(leave)

"""The cost of every operation on stock, receipts and pickings."""

from collections.abc import Iterator

from tests.dynamodb.request_cost import Gauge, Reading
from tests.gateway import Erp
from tests.warehouse_operations.warehouse import (
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
"""Operation, size as text, cost."""

_QTY = 4


def lines_of(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def adjustments(meter: Gauge) -> Iterator[Measurement]:
    """Measure adjustments of an empty position, of existing stock, of a status and of a serial."""
    warehouse = BenchWarehouse(meter, 1, stocked=False)
    path, body = "/stock-adjustments", warehouse.found(1, PLENTY)
    yield "POST /stock-adjustments", "new stock row", meter.read(path, body)
    yield "POST /stock-adjustments", "existing stock row", meter.read(path, body)
    status: dict[str, object] = {**body, "to_status": "quarantine", "qty": 5}
    del status["increase"]
    yield "POST /stock-adjustments", "change of status", meter.read(path, status)
    drill = {**body, "item_code": TRACED, "increase": 1, "serial": serial(1)}
    yield "POST /stock-adjustments", "1 serial", meter.read(path, drill)


def receipts(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of a receipt of `lines` lines."""
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
    return {"item_code": code(line), "qty": qty, "bin_code": bin_of(line)}


def approvals(meter: Gauge) -> Iterator[Measurement]:
    """Measure the refusals of an over-receipt, and its repeat after the grant."""
    order = BenchWarehouse(meter, 1, stocked=False).purchase_of(1)
    meter.post("/receipts", {"document_id": order})
    meter.post("/receipts/1/start")
    meter.post("/receipts/1/lines", arrival(1, 1))
    name, path, more = "POST /receipts/{id}/lines", "/receipts/1/lines", arrival(1, 1_000_000)
    supervisor = Erp(meter.erp.gateway, meter.stack.user_token(permissions="approvals.grant"))
    for turn in ("first", "repeated"):
        cost = meter.read(path, more, refused="approval_required")
        yield name, f"more than ordered, {turn} refusal", cost
    assert supervisor.post("/approvals/1/grant").status == 200
    yield name, "more than ordered, granted", meter.read(path, more)


def lots_received(meter: Gauge) -> Iterator[Measurement]:
    """Measure the receiving of goods managed by batch and by serial."""
    warehouse = BenchWarehouse(meter, 0)
    order = warehouse.purchase(
        [{"item_code": BATCHED, "qty": 100}, {"item_code": TRACED, "qty": DRILLS + 1}]
    )
    meter.post("/receipts", {"document_id": order})
    meter.post("/receipts/1/start")
    name, path = "POST /receipts/{id}/lines", "/receipts/1/lines"
    batch = {"item_code": BATCHED, "qty": 100, "bin_code": bin_of(1), "batch": "LOT-1"}
    yield name, "1 batch", meter.read(path, {**batch, "expiry_date": "2030-01-31"})
    for numbers in (range(1), range(1, DRILLS + 1)):
        serials = [serial(number) for number in numbers]
        body = {"item_code": TRACED, "qty": len(serials), "bin_code": bin_of(1)}
        yield name, _serials(len(serials)), meter.read(path, {**body, "serials": serials})


def _serials(count: int) -> str:
    return "1 serial" if count == 1 else f"{count} serials"


def pickings(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of a picking of `lines` lines."""
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
    # Each line is picked in part, so that picks and allocations of every line are undone.
    with meter.rolled_back():
        yield "POST /pickings/{id}/cancel", size, meter.read(f"{path}/cancel")
    yield "POST /pickings/{id}/finalize", f"{size} short", meter.read(f"{path}/finalize", short)
    with meter.rolled_back():
        yield "POST /pickings/{id}/revert", size, meter.read(f"{path}/revert")
    leave = "/exit-documents/1/dispatch"
    yield "POST /exit-documents/{id}/dispatch", size, meter.read(leave)


def taken(line: int, qty: int) -> dict[str, object]:
    return {"item_code": code(line), "qty": qty, "bin_code": bin_of(line)}


def serials_picked(meter: Gauge) -> Iterator[Measurement]:
    """Measure the picking of serial-managed goods."""
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

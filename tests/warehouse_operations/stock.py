"""The cost of every operation on stock, receipts and pickings."""

from collections.abc import Iterator, Sequence
from itertools import batched

from operations.scenarios import order_of
from tests.dynamodb.request_cost import Gauge, Measurement, Reading
from tests.gateway import Erp
from tests.warehouse_operations.warehouse import (
    BATCHED,
    BINS,
    DRILLS,
    HOME,
    PLENTY,
    TRACED,
    BenchWarehouse,
    bin_of,
    code,
    serial,
)

_QTY = 4


def lines_of(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def adjustments(meter: Gauge) -> Iterator[Measurement]:
    """Measure adjustments of an empty position, of existing stock, of a status and of a serial."""
    warehouse = BenchWarehouse(meter, 1, stocked=False)
    path, body = "/stock-adjustments", warehouse.found(1, PLENTY)
    yield meter.measure("new stock row", path, body)
    yield meter.measure("existing stock row", path, body)
    status: dict[str, object] = {**body, "to_status": "quarantine", "qty": 5}
    del status["increase"]
    yield meter.measure("change of status", path, status)
    drill = {**body, "item_code": TRACED, "increase": 1, "serial": serial(1)}
    yield meter.measure("1 serial", path, drill)


def counts(meter: Gauge) -> Iterator[Measurement]:
    """Measure 1,000 counts in 5 requests, of new stock and of known stock; and 20 stale of 200."""
    BenchWarehouse(meter, 1000 // BINS, stocked=False)
    stocks = [(line, place) for line in range(1000 // BINS) for place in range(BINS)]

    def lines(counted: int, expected: int) -> list[dict[str, object]]:
        return [
            {
                "item_code": code(line + 1),
                "warehouse": HOME,
                "bin_code": bin_of(place),
                "counted_qty": counted,
                "expected_qty": expected,
            }
            for line, place in stocks
        ]

    def body(part: Sequence[dict[str, object]]) -> dict[str, object]:
        return {"lines": part, "reason": "Count"}

    path = "/stock-adjustments"
    for size, counted, expected in (("new", 7, 0), ("known", 9, 7)):
        cost = Reading()
        for part in batched(lines(counted, expected), 200, strict=True):
            meter.read(path, body(part), into=cost)
        yield f"POST {path}", f"1,000 counts of {size} stock in 5 requests", cost
    stale = [*lines(9, 9)[:180], *lines(9, 7)[180:200]]
    yield meter.measure("200 counts, 20 of them stale", path, body(stale), refused="stale_state")


def line_counts(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure a count of `lines` products, which all differ, from its creation to its posting."""
    BenchWarehouse(meter, lines)
    size = lines_of(lines)
    codes = [code(line) for line in range(1, lines + 1)]
    yield meter.measure(size, "/counts", {"warehouse_code": HOME, "item_codes": codes})
    listed = meter.erp.get("/counts/1").ok()["lines"]
    goods = [
        {"bin_code": one["bin_code"], "item_code": one["item_code"], "qty": one["expected_qty"] - 1}
        for one in listed
    ]
    path = "/counts/1"
    yield meter.measure(f"first of {size}", f"{path}/lines", goods[0])
    yield meter.measure(f"again, 1 of {size}", f"{path}/lines", goods[0])
    for one in goods[1:]:
        meter.erp.post(f"{path}/lines", one).ok()
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/cancel")
    yield meter.measure(size, f"{path}/finish")
    with meter.rolled_back():
        yield meter.measure(f"1 of {size}", f"{path}/recount", {"lines": [1]})
    yield meter.measure(size, f"{path}/post")


def receipts(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of a receipt of `lines` lines."""
    warehouse = BenchWarehouse(meter, lines, stocked=False)
    order, size = warehouse.purchase_of(lines), lines_of(lines)
    yield meter.measure(size, "/receipts", {"document_id": order})
    path = "/receipts/1"
    yield meter.measure(size, f"{path}/start")
    for goods in ("first", "more"):
        yield meter.measure(f"{goods} goods, 1 of {size}", f"{path}/lines", goods_at(1, 40))
    for line in range(2, lines + 1):
        meter.post(f"{path}/lines", goods_at(line, 100))
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/cancel")
    yield meter.measure(size, f"{path}/finalize")
    yield meter.measure(size, f"{path}/revert")


def holds(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure a hold of `lines` lines from its creation on, and the order that uses it."""
    BenchWarehouse(meter, lines)
    size = lines_of(lines)
    goods = [{"item_code": code(line), "qty": 1} for line in range(1, lines + 1)]
    body = {"warehouse_code": HOME, "ttl_seconds": 600, "lines": goods}
    yield meter.measure(size, "/holds", body)
    yield meter.measure(size, "/holds/1/extend", {"ttl_seconds": 900})
    with meter.rolled_back():
        yield meter.measure(size, "/holds/1/release")
    order = order_of("sale_order", "HELD-1", HOME, goods, partner_code="C-1")
    yield meter.measure(f"{size} of a hold", "/exit-documents", {**order, "hold_id": 1})


def approvals(meter: Gauge) -> Iterator[Measurement]:
    """Measure the refusals of an over-receipt, and its repeat after the grant."""
    order = BenchWarehouse(meter, 1, stocked=False).purchase_of(1)
    meter.post("/receipts", {"document_id": order})
    meter.post("/receipts/1/start")
    meter.post("/receipts/1/lines", goods_at(1, 1))
    path, more = "/receipts/1/lines", goods_at(1, 1_000_000)
    supervisor = Erp(meter.erp.gateway, meter.stack.user_token(permissions="approvals.grant"))
    for turn in ("first", "repeated"):
        size = f"more than ordered, {turn} refusal"
        yield meter.measure(size, path, more, refused="approval_required")
    assert supervisor.post("/approvals/1/grant").status == 200
    yield meter.measure("more than ordered, granted", path, more)


def lots_received(meter: Gauge) -> Iterator[Measurement]:
    """Measure the receiving of goods managed by batch and by serial."""
    warehouse = BenchWarehouse(meter, 0)
    order = warehouse.purchase(
        [{"item_code": BATCHED, "qty": 100}, {"item_code": TRACED, "qty": DRILLS + 1}]
    )
    meter.post("/receipts", {"document_id": order})
    meter.post("/receipts/1/start")
    path = "/receipts/1/lines"
    batch = {"item_code": BATCHED, "qty": 100, "bin_code": bin_of(1), "batch": "LOT-1"}
    yield meter.measure("1 batch", path, {**batch, "expiry_date": "2030-01-31"})
    for numbers in (range(1), range(1, DRILLS + 1)):
        serials = [serial(number) for number in numbers]
        body = {"item_code": TRACED, "qty": len(serials), "bin_code": bin_of(1)}
        yield meter.measure(_serials(len(serials)), path, {**body, "serials": serials})


def _serials(count: int) -> str:
    return "1 serial" if count == 1 else f"{count} serials"


def pickings(meter: Gauge, lines: int) -> Iterator[Measurement]:
    """Measure every step of a picking of `lines` lines."""
    warehouse, size = BenchWarehouse(meter, lines), lines_of(lines)
    order = warehouse.sale(lines, _QTY)
    yield meter.measure(size, "/pickings", {"document_id": order})
    path = meter.only_resource("/pickings")
    yield meter.measure(size, f"{path}/start")
    for goods in ("first", "more"):
        yield meter.measure(f"{goods} goods, 1 of {size}", f"{path}/picks", goods_at(1, 1))
    for line in range(2, lines + 1):
        meter.post(f"{path}/picks", goods_at(line, 1))
    short = {"shortage_reason": "could_not_locate"}
    # Each line is picked in part, so that picks and allocations of every line are undone.
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/cancel")
    yield meter.measure(f"{size} short", f"{path}/finalize", short)
    with meter.rolled_back():
        yield meter.measure(size, f"{path}/revert")
    yield meter.measure(size, "/exit-documents/1/dispatch")


def goods_at(line: int, qty: int) -> dict[str, object]:
    """Return a quantity of the product of a line, at its position."""
    return {"item_code": code(line), "qty": qty, "bin_code": bin_of(line)}


def serials_picked(meter: Gauge) -> Iterator[Measurement]:
    """Measure the picking of serial-managed goods."""
    warehouse = BenchWarehouse(meter, 0)
    warehouse.stock_drills()
    order = warehouse.sale_of([{"item_code": TRACED, "qty": DRILLS}])
    size = _serials(DRILLS)
    yield meter.measure(size, "/pickings", {"document_id": order})
    meter.post("/pickings/1/start")
    for count in (1, DRILLS):
        serials = [serial(number) for number in range(count)]
        body = {"item_code": TRACED, "qty": count, "bin_code": bin_of(0), "serials": serials}
        with meter.rolled_back():
            yield meter.measure(_serials(count), "/pickings/1/picks", body)
    meter.post("/pickings/1/picks", body)
    meter.post("/pickings/1/finalize")
    yield meter.measure(size, "/exit-documents/1/dispatch")

"""The cost of bulk operations: long orders, long receipts and large waves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench.operations_stock import arrival, taken
from tests.bench.operations_transfers import waiting
from tests.bench.report import Row, Table
from tests.bench.request_cost import Gauge, Reading
from tests.bench.warehouse import HOME, BenchWarehouse

ORDER, PURCHASE, WAVE = 50, 200, 200
"""Lines of a sales order, lines of a purchase order, pickings of a wave."""
_QUICK = 5
"""Divisor of the sizes with --quick."""
_PER_CALL_MS = (5, 10)
_INVOCATION_S = 25
"""Time limit of a request in seconds; that of the gateway is 29 s."""
_WAVE_PRODUCTS, _WAVE_LINES = 60, 3

type Task = Callable[[Gauge, int], Reading]


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """Bulk work in one or more requests."""

    title: str
    size: int
    task: Task


def _allocated(meter: Gauge, lines: int) -> Reading:
    order = BenchWarehouse(meter, lines).sale(lines)
    return meter.read("/pickings", {"document_id": order})


def _picked(meter: Gauge, lines: int) -> Reading:
    """Continue after `_allocated`."""
    path, cost = meter.only_resource("/pickings"), Reading()
    meter.read(f"{path}/start", into=cost)
    for line in range(1, lines + 1):
        meter.read(f"{path}/picks", taken(line, 4), into=cost)
    return meter.read(f"{path}/finalize", into=cost)


def _dispatched(meter: Gauge, _lines: int) -> Reading:
    """Continue after `_picked`."""
    return meter.read("/exit-documents/1/dispatch")


def _received(meter: Gauge, lines: int) -> Reading:
    warehouse = BenchWarehouse(meter, lines, stocked=False)
    cost = meter.read("/receipts", {"document_id": warehouse.purchase_of(lines)})
    meter.read("/receipts/1/start", into=cost)
    for line in range(1, lines + 1):
        meter.read("/receipts/1/lines", arrival(line, 100), into=cost)
    return meter.read("/receipts/1/finalize", into=cost)


def _taken_back(meter: Gauge, _lines: int) -> Reading:
    """Continue after `_received`."""
    return meter.read("/receipts/1/revert")


def _wave_of_one_product(meter: Gauge, pickings: int) -> Reading:
    warehouse = BenchWarehouse(meter, 1)
    return _wave(meter, [waiting(warehouse, [1]) for _ in range(pickings)])


def _wave_of_many_products(meter: Gauge, pickings: int) -> Reading:
    warehouse = BenchWarehouse(meter, _WAVE_PRODUCTS)
    numbers = []
    for turn in range(pickings):
        lines = [(turn * 7 + at * 23) % _WAVE_PRODUCTS + 1 for at in range(_WAVE_LINES)]
        numbers.append(waiting(warehouse, lines))
    return _wave(meter, numbers)


def _wave(meter: Gauge, pickings: Sequence[int]) -> Reading:
    body = {"warehouse_code": HOME, "strategy": "batch", "picking_ids": pickings}
    return meter.read("/waves", body)


def _released(meter: Gauge, _pickings: int) -> Reading:
    """Continue after the creation of a wave."""
    path = meter.only_resource("/waves")
    meter.post(f"{path}/plan")
    return meter.read(f"{path}/release")


BULK_OPERATIONS = (
    BulkOperation("allocate an order of {} lines", ORDER, _allocated),
    BulkOperation("pick and finalize it line by line", ORDER, _picked),
    BulkOperation("dispatch it", ORDER, _dispatched),
    BulkOperation("receive a purchase order of {} lines, line by line", PURCHASE, _received),
    BulkOperation("revert that receipt", PURCHASE, _taken_back),
    BulkOperation("create a wave of {} pickings of one product", WAVE, _wave_of_one_product),
    BulkOperation("release the wave of one product", WAVE, _released),
    BulkOperation(
        f"create a wave of {{}} pickings of {_WAVE_LINES} of {_WAVE_PRODUCTS} products",
        WAVE,
        _wave_of_many_products,
    ),
    BulkOperation("release the wave of many products", WAVE, _released),
)
"""The operations in order; some continue the one before."""


def table(meter: Gauge, *, quick: bool) -> Table:
    """Measure all bulk operations."""
    found = Table(
        "Bulk operations",
        [
            "operation",
            "requests",
            "transactions",
            "actions",
            "write units",
            "round trips",
            "slowest request, round trips",
            *(f"its time at {ms} ms per call" for ms in _PER_CALL_MS),
        ],
        "The requests of an operation are sent one after the other; each product has sufficient"
        " stock at one position. Round trips are sequential calls, given for all requests and for"
        " the request with the most of them. The estimated time of that request is its round trips"
        f" times the duration of a call; a request must end within {_INVOCATION_S} s. When work"
        " in several steps is interrupted, repeating the request continues it.",
    )
    found.rows = [_row(meter, one, one.size // (_QUICK if quick else 1)) for one in BULK_OPERATIONS]
    return found


def _row(meter: Gauge, operation: BulkOperation, size: int) -> Row:
    cost = operation.task(meter, size)
    seconds = [cost.most_round_trips * ms / 1000 for ms in _PER_CALL_MS]
    cells = [
        operation.title.format(size),
        f"{cost.requests}",
        f"{cost.transactions}",
        f"{cost.actions}",
        f"{cost.units.writes:,g}",
        f"{cost.round_trips}",
        f"{cost.most_round_trips}",
        *(f"{one:.2f} s" for one in seconds),
    ]
    return Row(cells, f"≤ {_INVOCATION_S} s", max(seconds) <= _INVOCATION_S, cost.figures)

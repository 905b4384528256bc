"""Work of a whole day in one go: long orders, long receipts, large waves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.bench.operations_stock import arrival, taken
from tests.bench.operations_transfers import waiting
from tests.bench.report import Row, Table
from tests.bench.request_cost import Gauge, Reading
from tests.bench.warehouse import HOME, BenchWarehouse

ORDER, PURCHASE, WAVE = 50, 200, 200
"""Lines of an order and of a purchase order, pickings of a wave."""
_QUICK = 5
"""A quick look takes so many times less."""
_PER_CALL_MS = (5, 10)
_INVOCATION_S = 25
"""What the door lets one request take of the gateway's 29 s."""
_WAVE_PRODUCTS, _WAVE_LINES = 60, 3

type Task = Callable[[Gauge, int], Reading]


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """Much work of one kind, in one request or many.

    `transactions` and `trips` are at most those of all its requests.
    """

    title: str
    size: int
    task: Task
    transactions: int
    trips: int


def _allocated(meter: Gauge, lines: int) -> Reading:
    order = BenchWarehouse(meter, lines).sale(lines)
    return meter.read("/pickings", {"document_id": order})


def _picked(meter: Gauge, lines: int) -> Reading:
    """Follow on `_allocated`."""
    path, cost = meter.only_resource("/pickings"), Reading()
    meter.read(f"{path}/start", into=cost)
    for line in range(1, lines + 1):
        meter.read(f"{path}/picks", taken(line, 4), into=cost)
    return meter.read(f"{path}/finalize", into=cost)


def _dispatched(meter: Gauge, _lines: int) -> Reading:
    """Follow on `_picked`."""
    return meter.read("/exit-documents/1/dispatch")


def _received(meter: Gauge, lines: int) -> Reading:
    warehouse = BenchWarehouse(meter, lines, stocked=False)
    cost = meter.read("/receipts", {"document_id": warehouse.purchase_of(lines)})
    meter.read("/receipts/1/start", into=cost)
    for line in range(1, lines + 1):
        meter.read("/receipts/1/lines", arrival(line, 100), into=cost)
    return meter.read("/receipts/1/finalize", into=cost)


def _taken_back(meter: Gauge, _lines: int) -> Reading:
    """Follow on `_received`."""
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
    """Follow on a wave."""
    path = meter.only_resource("/waves")
    meter.post(f"{path}/plan")
    return meter.read(f"{path}/release")


BULK_OPERATIONS = (
    BulkOperation("allocate an order of {} lines", ORDER, _allocated, 7, 28),
    BulkOperation("pick it, line by line, and finalize", ORDER, _picked, 52, 257),
    BulkOperation("dispatch it", ORDER, _dispatched, 5, 29),
    BulkOperation(
        "receive a purchase order of {} lines, line by line", PURCHASE, _received, 203, 1210
    ),
    BulkOperation("revert that receipt", PURCHASE, _taken_back, 19, 116),
    BulkOperation("create a wave of {} pickings of one product", WAVE, _wave_of_one_product, 7, 18),
    BulkOperation("release it", WAVE, _released, 11, 46),
    BulkOperation(
        f"create a wave of {{}} pickings of {_WAVE_LINES} of {_WAVE_PRODUCTS} products",
        WAVE,
        _wave_of_many_products,
        7,
        18,
    ),
    BulkOperation("release it", WAVE, _released, 51, 206),
)
"""In this order: some follow on the one before."""


def table(meter: Gauge, *, quick: bool) -> Table:
    """Carry all of it out."""
    found = Table(
        "Large work on the floor",
        [
            "work",
            "requests",
            "transactions",
            "actions",
            "write units",
            "round trips",
            "of one request",
            *(f"its time at {ms} ms a call" for ms in _PER_CALL_MS),
        ],
        "Every request of the work, sent one after the other; each product has a position with"
        " plenty of it. Round trips are the calls that wait for one another, of all requests and of"
        " the one that waits most often. What this one would take is these round trips times what"
        f" a call takes; a request must end within {_INVOCATION_S} s. Work that is made in steps"
        " and is cut off goes on where it ended when the request is repeated.",
    )
    found.rows = [_row(meter, one, one.size // (_QUICK if quick else 1)) for one in BULK_OPERATIONS]
    return found


def _row(meter: Gauge, campaign: BulkOperation, size: int) -> Row:
    cost = campaign.task(meter, size)
    seconds = [cost.most_round_trips * ms / 1000 for ms in _PER_CALL_MS]
    cells = [
        campaign.title.format(size),
        f"{cost.requests}",
        f"{cost.transactions}",
        f"{cost.actions}",
        f"{cost.units.writes:,g}",
        f"{cost.round_trips}",
        f"{cost.most_round_trips}",
        *(f"{one:.2f} s" for one in seconds),
    ]
    bound = f"≤ {campaign.transactions} transactions, {campaign.trips} trips, {_INVOCATION_S} s"
    holds = (
        cost.transactions <= campaign.transactions
        and cost.round_trips <= campaign.trips
        and max(seconds) <= _INVOCATION_S
    )
    return Row(cells, bound, holds)

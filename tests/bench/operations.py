"""Cost of warehouse operations in several sizes."""

from collections.abc import Iterator

from tests.bench.bench_stack import bench_stack
from tests.bench.report import Table
from tests.dynamodb.request_cost import Gauge, Measurement
from tests.warehouse_operations import orders, packing, returns, stock, transfers

TITLE = "Warehouse operations"
SIZES = 1, 10
"""Numbers of lines of a document, and of pickings of a wave."""
BARRED = "calls", "round trips", "read units", "write units"
"""The figures that bars may hold."""


def compared() -> list[Table]:
    """Measure the operations that CI compares with the baseline.

    One request each, with an Idempotency-Key, in a warm execution environment. Each line of a
    document has a different product, and the products are stored at ten positions. Work that is
    cancelled or reverted has received or picked goods on every line; a picking that is finalized
    short also releases an allocation on every line.
    """
    table = Table(TITLE, {"operation": "", orders.MORE: "g", **dict.fromkeys(BARRED, "g")})
    with bench_stack() as bench:
        for measured in measurements(bench.gauge):
            _add(table, measured)
        for measured, more in orders.orders_compared(bench.gauge):
            _add(table, measured, more)
    return [table]


def _add(table: Table, measured: Measurement, more: float | None = None) -> None:
    name, size, cost = measured
    figures = {**cost.figures, "most actions": cost.largest_transaction}
    if more is not None:
        figures[orders.MORE] = more
    table.add(f"{name}, {size}", more, *(figures[one] for one in BARRED), figures=figures)


def measurements(meter: Gauge) -> Iterator[Measurement]:
    """Yield the cost of every operation in several sizes."""
    yield from stock.adjustments(meter)
    yield from stock.counts(meter)
    yield from stock.lots_received(meter)
    yield from stock.approvals(meter)
    yield from stock.serials_picked(meter)
    yield from transfers.transfers(meter)
    yield from transfers.serials_away(meter)
    yield from returns.serials_returned(meter)
    yield from orders.whole_order(meter)
    for size in SIZES:
        yield from stock.receipts(meter, size)
        yield from stock.holds(meter, size)
        yield from stock.line_counts(meter, size)
        yield from stock.pickings(meter, size)
        yield from packing.packing(meter, size)
        yield from transfers.transfer_orders(meter, size)
        yield from returns.returns(meter, size)
        yield from transfers.waves(meter, size)

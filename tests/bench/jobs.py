"""Whole jobs of a document of ten lines: requests, round trips, and how long they take."""

from collections.abc import Iterator

from operations.scenarios import PATHS, order_of
from tests.bench.bench_stack import bench_stack
from tests.bench.report import Table
from tests.dynamodb.request_cost import Gauge, Reading
from tests.warehouse_operations.warehouse import HOME, BenchWarehouse, bin_of, code

TITLE = "Jobs of ten lines"
_LINES = 10
_TRIP_MS = 4, 8
_REQUEST_MS = 20
"""Assumed milliseconds of a request besides its round trips: 10 to pass the gateway and Lambda, and
10 of processor time, as for the day."""


def measure() -> list[Table]:
    """Measure every job once, in a warm execution environment."""
    fast, slow = _TRIP_MS
    table = Table(
        TITLE,
        {
            "job": "", "requests": "", "round trips": "", "write units": "g",
            f"ms at {fast} ms a round trip": ",.0f", f"ms at {slow} ms": ",.0f",
        },
        "Each line has another product, at ten positions. The time is calculated:"
        f" {_REQUEST_MS} ms a request for the gateway, Lambda and the processor, and {fast} or"
        f" {slow} ms a round trip. [What others need for the same jobs](comparison.md).",
    )  # fmt: skip
    with bench_stack() as bench:
        for job, cost in _jobs(bench.gauge):
            base = cost.requests * _REQUEST_MS
            times = (base + cost.round_trips * one for one in _TRIP_MS)
            figures = {"requests": cost.requests, **cost.figures}
            counts = cost.requests, cost.round_trips, cost.units.writes
            table.add(job, *counts, *times, figures=figures)
    return [table]


def _jobs(meter: Gauge) -> Iterator[tuple[str, Reading]]:
    BenchWarehouse(meter, _LINES)
    goods = [{"item_code": code(line), "qty": 4} for line in range(1, _LINES + 1)]
    sale = order_of("sale_order", "SO-1", HOME, goods, partner_code="C-1")
    yield "order", meter.read(PATHS["sale_order"], sale)
    yield (
        "reserve and pick, as allocated",
        _all(
            meter,
            ("/pickings", {"document_id": 1}),
            ("/pickings/1/start", None),
            ("/pickings/1/picks", {"as_allocated": True}),
            ("/pickings/1/finalize", None),
        ),
    )
    yield "ship", meter.read("/exit-documents/1/dispatch")
    order = BenchWarehouse(meter, _LINES, stocked=False).purchase(goods)
    yield (
        "receive, as ordered",
        _all(
            meter,
            ("/receipts", {"document_id": order}),
            ("/receipts/1/start", None),
            ("/receipts/1/lines", {"as_ordered": True, "bin_code": bin_of(1)}),
            ("/receipts/1/finalize", None),
        ),
    )


def _all(meter: Gauge, *requests: tuple[str, object]) -> Reading:
    cost = Reading()
    for path, body in requests:
        meter.read(path, body, into=cost)
    return cost

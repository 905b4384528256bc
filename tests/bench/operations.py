"""What the work of the floor costs: each operation, long orders and large waves, a crowd."""

from collections.abc import Iterator

import pytest

from tests import faults
from tests.bench import bulk_operations, concurrent_picking, operations_stock, operations_transfers
from tests.bench.capacity import USD_PER_MILLION_READS, USD_PER_MILLION_WRITES
from tests.bench.operation_bounds import BOUNDS, Bound
from tests.bench.operations_stock import Measurement
from tests.bench.report import Row, Table
from tests.bench.request_cost import Gauge, Reading
from tests.stack import deployed

SIZES, QUICK_SIZES = (1, 10, 50), (1, 10)
"""Lines of documents, pickings of waves."""


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Let a day's work be done, several times over."""
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            meter = Gauge(stack, aws_faults)
            return [
                _operations(meter, quick=quick),
                bulk_operations.table(meter, quick=quick),
                concurrent_picking.table(meter, aws_faults),
            ]


def _operations(meter: Gauge, *, quick: bool) -> Table:
    table = Table(
        "Operations of the floor",
        [
            "operation",
            "of",
            "transactions",
            "actions",
            "fullest",
            "read units",
            "write units",
            "round trips",
            "calls",
            "USD per million",
        ],
        "One request each, with an Idempotency-Key, in a warm execution environment. Each line of a"
        " document is of another product, and ten positions share the products. Fullest is the"
        " transaction with the most actions, of which DynamoDB takes 100. Read and write units are"
        " computed by DynamoDB's rules, index entries included;"
        f" {USD_PER_MILLION_READS} USD per million reads, {USD_PER_MILLION_WRITES} per million"
        " writes, on demand. What is cancelled or reverted holds goods of every line; what is"
        " finalized short also gives back promises of every line.",
    )
    found = {(name, size): cost for name, size, cost in _measurements(meter, quick=quick)}
    unbounded = found.keys() - {(name, size) for name, sizes in BOUNDS.items() for size in sizes}
    assert not unbounded, f"no bound: {unbounded}"
    for name, sizes in BOUNDS.items():
        for size, most in sizes.items():
            cost = found.get((name, size))
            assert cost or quick, f"not measured: {name}, {size}"
            table.rows += [_row(name, size, cost, most)] if cost else []
    return table


def _measurements(meter: Gauge, *, quick: bool) -> Iterator[Measurement]:
    sizes = QUICK_SIZES if quick else SIZES
    yield from operations_stock.adjustments(meter)
    yield from operations_stock.lots_received(meter)
    yield from operations_stock.serials_picked(meter)
    yield from operations_transfers.transfers(meter)
    yield from operations_transfers.serials_away(meter)
    for size in sizes:
        yield from operations_stock.receipts(meter, size)
        yield from operations_stock.pickings(meter, size)
        yield from operations_transfers.transfer_orders(meter, size)
        yield from operations_transfers.waves(meter, size)


def _row(name: str, size: str, cost: Reading, most: Bound) -> Row:
    transactions, trips, writes = most
    units = cost.units
    cells = [
        name,
        size,
        f"{cost.transactions}",
        f"{cost.actions}",
        f"{cost.largest_transaction}",
        f"{units.reads:g}",
        f"{units.writes:g}",
        f"{cost.round_trips}",
        f"{cost.calls}",
        f"{units.usd_per_million:.2f}",
    ]
    bound = f"≤ {transactions} tx, {trips} trips, {writes} write units"
    holds = (
        cost.transactions <= transactions and cost.round_trips <= trips and units.writes <= writes
    )
    return Row(cells, bound, holds)

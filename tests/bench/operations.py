"""Cost of warehouse operations in several sizes."""

from collections.abc import Iterator

import pytest

from tests import faults
from tests.bench.report import Row, Table
from tests.dynamodb.request_cost import Gauge, Reading
from tests.prices import READ_UNITS, WRITE_UNITS
from tests.stack import deployed
from tests.warehouse_operations import packing, returns, stock, transfers
from tests.warehouse_operations.stock import Measurement

SIZES = 1, 10
"""Numbers of lines of a document, and of pickings of a wave."""


def compared(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure the operations that CI compares with the baseline."""
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            return [_operations(Gauge(stack, aws_faults))]


def _operations(meter: Gauge) -> Table:
    table = Table(
        "Warehouse operations",
        [
            "operation",
            "size",
            "transactions",
            "actions",
            "most actions",
            "read units",
            "write units",
            "round trips",
            "calls",
            "USD per million",
        ],
        "One request each, with an Idempotency-Key, in a warm execution environment. Each line of a"
        " document has a different product, and the products are stored at ten positions. Most"
        " actions is the number of actions of the largest transaction; DynamoDB allows 100. Read"
        " and write units are computed by DynamoDB's rules, including index entries, at"
        f" {READ_UNITS} USD per million reads and {WRITE_UNITS} USD per"
        " million writes (on-demand capacity). Work that is cancelled or reverted has received or"
        " picked goods on every line; a picking that is finalized short also releases an"
        " allocation on every line.",
    )
    found: dict[str, list[Row]] = {}
    for name, size, cost in measurements(meter):
        found.setdefault(name, []).append(_row(name, size, cost))
    table.rows = [row for rows in found.values() for row in rows]
    return table


def measurements(meter: Gauge) -> Iterator[Measurement]:
    """Yield the cost of every operation in several sizes."""
    yield from stock.adjustments(meter)
    yield from stock.lots_received(meter)
    yield from stock.approvals(meter)
    yield from stock.serials_picked(meter)
    yield from transfers.transfers(meter)
    yield from transfers.serials_away(meter)
    yield from returns.serials_returned(meter)
    for size in SIZES:
        yield from stock.receipts(meter, size)
        yield from stock.pickings(meter, size)
        yield from packing.packing(meter, size)
        yield from transfers.transfer_orders(meter, size)
        yield from returns.returns(meter, size)
        yield from transfers.waves(meter, size)


def _row(name: str, size: str, cost: Reading) -> Row:
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
    figures = {**cost.figures, "most actions": cost.largest_transaction}
    return Row(cells, figures, f"{name}, {size}")

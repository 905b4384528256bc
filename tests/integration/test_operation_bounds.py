"""Warehouse operations keep the bounds that the benchmark states for them.

The benchmark measures further sizes, which take longer.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest

from tests.bench import operations_stock, operations_transfers
from tests.bench.operation_bounds import BOUNDS, holds
from tests.bench.operations_stock import Measurement
from tests.bench.request_cost import Gauge
from tests.faults import AwsFaults
from tests.stack import Stack

_LINES, _PICKINGS = 10, 50

_PARTS: Mapping[str, Callable[[Gauge], Iterator[Measurement]]] = {
    "adjustments": operations_stock.adjustments,
    "lots received": operations_stock.lots_received,
    "serials picked": operations_stock.serials_picked,
    "transfers": operations_transfers.transfers,
    "serials transferred": operations_transfers.serials_away,
    "receipts": partial(operations_stock.receipts, lines=_LINES),
    "pickings": partial(operations_stock.pickings, lines=_LINES),
    "transfer orders": partial(operations_transfers.transfer_orders, lines=_LINES),
    "waves": partial(operations_transfers.waves, pickings=_PICKINGS),
}


@pytest.mark.parametrize("part", _PARTS)
def test_operations_keep_their_bounds(part: str, stack: Stack, aws_faults: AwsFaults) -> None:
    measured = list(_PARTS[part](Gauge(stack, aws_faults)))

    above = [
        f"{name}, {size}: {BOUNDS[name][size]} allowed, {cost}"
        for name, size, cost in measured
        if not holds(BOUNDS[name][size], cost)
    ]
    assert measured
    assert not above

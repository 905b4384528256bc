"""Upper bounds of the cost of each warehouse operation.

The bounds of transactions and round trips are exact. Those of write units allow about 5 % more,
since write units grow with the stored fields.
"""

from collections.abc import Mapping

from tests.bench.request_cost import Reading

type Bound = tuple[int, int, int]
"""Transactions, round trips, write units."""

BOUNDS: Mapping[str, Mapping[str, Bound]] = {
    "POST /stock-adjustments": {
        "new stock row": (1, 6, 75),
        "existing stock row": (1, 6, 75),
        "change of status": (1, 6, 105),
        "1 serial": (1, 6, 75),
    },
    "POST /receipts": {"1 line": (1, 3, 40), "10 lines": (1, 3, 40), "50 lines": (1, 3, 40)},
    "POST /receipts/{id}/start": {
        "1 line": (1, 3, 25),
        "10 lines": (1, 3, 25),
        "50 lines": (1, 3, 25),
    },
    "POST /receipts/{id}/lines": {
        "first goods, 1 of 1 line": (1, 6, 100),
        "first goods, 1 of 10 lines": (1, 6, 100),
        "first goods, 1 of 50 lines": (1, 6, 100),
        "more goods, 1 of 1 line": (1, 6, 100),
        "more goods, 1 of 10 lines": (1, 6, 100),
        "more goods, 1 of 50 lines": (1, 6, 100),
        "1 serial": (1, 6, 100),
        "20 serials": (1, 6, 890),
        "1 batch": (1, 6, 105),
    },
    "POST /receipts/{id}/finalize": {
        "1 line": (1, 4, 45),
        "10 lines": (1, 4, 45),
        "50 lines": (1, 4, 45),
    },
    "POST /receipts/{id}/cancel": {
        "1 line": (1, 6, 120),
        "10 lines": (1, 6, 650),
        "50 lines": (5, 28, 3200),
    },
    "POST /receipts/{id}/revert": {
        "1 line": (1, 6, 120),
        "10 lines": (1, 6, 650),
        "50 lines": (5, 28, 3200),
    },
    "POST /pickings": {
        "1 line": (1, 5, 95),
        "10 lines": (1, 5, 480),
        "50 lines": (5, 19, 2250),
        "20 serials": (1, 5, 700),
    },
    "POST /pickings/{id}/start": {
        "1 line": (1, 3, 30),
        "10 lines": (1, 3, 30),
        "50 lines": (1, 3, 30),
        "in a wave of 1": (1, 4, 40),
        "in a wave of 10": (1, 4, 40),
        "in a wave of 50": (1, 4, 45),
    },
    "POST /pickings/{id}/picks": {
        "first goods, 1 of 1 line": (1, 5, 115),
        "first goods, 1 of 10 lines": (1, 5, 115),
        "first goods, 1 of 50 lines": (1, 5, 115),
        "more goods, 1 of 1 line": (1, 5, 110),
        "more goods, 1 of 10 lines": (1, 5, 110),
        "more goods, 1 of 50 lines": (1, 5, 110),
        "1 serial": (1, 4, 85),
        "20 serials": (1, 4, 900),
    },
    "POST /pickings/{id}/finalize": {
        "1 line short": (1, 5, 100),
        "10 lines short": (1, 5, 480),
        "50 lines short": (3, 11, 2250),
    },
    "POST /pickings/{id}/cancel": {
        "1 line": (1, 5, 145),
        "10 lines": (2, 9, 970),
        "50 lines": (6, 25, 4600),
    },
    "POST /pickings/{id}/revert": {
        "1 line": (1, 6, 145),
        "10 lines": (2, 11, 920),
        "50 lines": (6, 31, 4600),
    },
    "POST /exit-documents/{id}/dispatch": {
        "1 line": (1, 5, 120),
        "10 lines": (1, 5, 640),
        "50 lines": (5, 21, 3150),
        "20 serials": (1, 5, 1025),
    },
    "POST /transfers": {
        "1 line within a warehouse": (1, 6, 95),
        "12 lines within a warehouse": (1, 6, 790),
        "1 line between warehouses": (1, 6, 120),
        "7 lines between warehouses": (1, 6, 710),
        "20 serials between warehouses": (1, 6, 1150),
    },
    "POST /transfers/{id}/execute": {
        "1 line within a warehouse": (1, 7, 100),
        "12 lines within a warehouse": (1, 7, 790),
        "1 line between warehouses": (1, 7, 120),
        "7 lines between warehouses": (1, 7, 710),
    },
    "POST /transfer-orders": {"1 line": (1, 4, 25), "10 lines": (1, 4, 25), "50 lines": (1, 4, 30)},
    "POST /transfer-orders/{id}/release": {
        "1 line": (2, 7, 95),
        "10 lines": (2, 7, 470),
        "50 lines": (4, 15, 2250),
        "20 serials": (2, 7, 700),
    },
    "POST /transfer-orders/{id}/picks": {
        "1 of 1 line": (1, 6, 115),
        "1 of 10 lines": (1, 6, 115),
        "1 of 50 lines": (1, 6, 115),
        "20 serials": (1, 5, 900),
    },
    "POST /transfer-orders/{id}/finish-picking": {
        "1 line short": (1, 5, 100),
        "10 lines short": (1, 5, 480),
        "50 lines short": (3, 11, 2250),
    },
    "POST /transfer-orders/{id}/dispatch": {
        "1 line": (1, 6, 140),
        "10 lines": (2, 11, 970),
        "50 lines": (8, 41, 4700),
        "20 serials": (1, 6, 1025),
    },
    "POST /transfer-orders/{id}/receive": {
        "1 of 1 line": (1, 6, 115),
        "8 of 10 lines": (1, 6, 820),
        "8 of 50 lines": (1, 6, 820),
        "20 serials": (1, 6, 900),
    },
    "POST /transfer-orders/{id}/close": {
        "loss on 1 line": (1, 5, 95),
        "loss on 10 lines": (1, 5, 580),
        "loss on 50 lines": (5, 21, 2850),
        "20 serials": (1, 3, 30),
    },
    "POST /transfer-orders/{id}/cancel": {
        "1 line": (1, 5, 145),
        "10 lines": (2, 9, 970),
        "50 lines": (6, 25, 4600),
    },
    "POST /waves": {
        "1 picking": (1, 4, 35),
        "10 pickings": (1, 4, 165),
        "50 pickings": (1, 4, 770),
    },
    "POST /waves/{id}/plan": {
        "1 picking": (1, 4, 20),
        "10 pickings": (1, 4, 20),
        "50 pickings": (1, 4, 25),
    },
    "POST /waves/{id}/release": {
        "1 picking": (2, 9, 75),
        "10 pickings": (2, 9, 500),
        "50 pickings": (3, 13, 1090),
    },
    "POST /waves/{id}/complete": {
        "1 picking": (1, 4, 20),
        "10 pickings": (1, 4, 20),
        "50 pickings": (1, 4, 25),
    },
    "POST /waves/{id}/close": {
        "1 picking": (1, 4, 20),
        "10 pickings": (1, 4, 20),
        "50 pickings": (1, 4, 20),
    },
    "POST /waves/{id}/cancel": {
        "1 picking": (1, 4, 20),
        "10 pickings": (1, 4, 20),
        "50 pickings": (1, 4, 25),
    },
}
"""Operation → its size in words → bound, in the order in which they are shown."""


def holds(bound: Bound, cost: Reading) -> bool:
    """Return whether a measured cost is within a bound."""
    transactions, trips, writes = bound
    return (
        cost.transactions <= transactions
        and cost.round_trips <= trips
        and cost.units.writes <= writes
    )

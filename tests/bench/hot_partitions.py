"""Write units of the busiest partition keys of warehouse operations.

A partition takes 1 000 write units per second, of the table and of each index. DynamoDB splits the
items of a partition key over several partitions, but not if their sort keys rise with the time.
"""

import re
from collections import Counter

import pytest

from shared.kernel.events.outbox import SHARDS
from tests import faults
from tests.bench.capacity import Units
from tests.bench.operations import measurements
from tests.bench.report import Row, Table
from tests.bench.request_cost import Gauge
from tests.stack import deployed

PARTITION_WRITES = 1_000
"""Write units of a partition per second."""

_KEYS = 3
_OF_ONE_RECORD = re.compile(r"[a-z_]+#[0-9]{12}|idempotency#.*")
_OUTBOX, _OUTBOX_KEY = "outbox", re.compile(r"[a-z0-9-]+#[0-9a-f]")

_OPERATIONS = (
    ("POST /stock-adjustments", "existing stock row"),
    ("POST /receipts/{id}/start", "10 lines"),
    ("POST /receipts/{id}/lines", "more goods, 1 of 10 lines"),
    ("POST /pickings", "1 line"),
    ("POST /pickings", "10 lines"),
    ("POST /pickings/{id}/picks", "more goods, 1 of 10 lines"),
    ("POST /exit-documents/{id}/dispatch", "10 lines"),
    ("POST /transfers", "1 line within a warehouse"),
)
"""Operation and size."""


def measure(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure the busiest partition keys of some operations."""
    table = Table(
        "Busiest partition keys",
        [
            "operation",
            "size",
            "write units",
            "not of indexes",
            "outbox, all partitions",
            "busiest other keys: units",
            "per second",
        ],
        "Write units of one request, those of them that are not for index entries, those for"
        f" events in the {len(SHARDS)} partitions of the outbox, and the other partition keys with"
        " the most units: an index and the partition in it, or a partition of the tenant's table"
        " that does not belong to one record."
        " Per second is the number of such requests of one tenant that write"
        f" {PARTITION_WRITES:,} units, the limit of a partition, to the busiest of these keys.",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            gauge = Gauge(stack, aws_faults)
            readings = {(name, size): reading.units for name, size, reading in measurements(gauge)}
    table.rows = [_row(*which, readings[which]) for which in _OPERATIONS]
    return [table]


def _row(name: str, size: str, units: Units) -> Row:
    keys = Counter[str]()
    for key, written in units.partitions.items():
        keys[_OUTBOX if _OUTBOX_KEY.fullmatch(key) else key] += written
    events = keys.pop(_OUTBOX, 0)
    base = events + sum(written for key, written in keys.items() if not key.startswith("GSI"))
    shared = [(key, written) for key, written in keys.items() if not _OF_ONE_RECORD.fullmatch(key)]
    busiest = sorted(shared, key=lambda pair: (-pair[1], len(pair[0]), pair[0]))[:_KEYS]
    written = busiest[0][1]
    return Row(
        [
            name,
            size,
            f"{units.writes:g}",
            f"{base}",
            f"{events}",
            ", ".join(f"`{key}` {number}" for key, number in busiest),
            f"{PARTITION_WRITES // written}",
        ]
    )

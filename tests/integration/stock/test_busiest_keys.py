"""Changes per second that the partition keys of a tenant take, as docs/operating/scale.md says.

A partition takes 1,000 write units per second, of the table and of each index. DynamoDB splits the
items of a partition key over several partitions, but not if their sort keys rise with the time.
"""

import re
from collections import Counter
from pathlib import Path

from tests.dynamodb.capacity import Units
from tests.dynamodb.request_cost import Gauge
from tests.faults import AwsFaults
from tests.stack import Stack
from tests.warehouse_operations.stock import pickings

_PARTITION_WRITES = 1_000
"""Write units of a partition per second."""
_OUTBOX = re.compile(r"[a-z0-9-]+#[0-9a-f]")
_OF_ONE_RECORD = re.compile(r"[a-z_]+#[0-9]{12}|idempotency#.*")
_PAGE = Path(__file__).parents[3] / "docs" / "operating" / "scale.md"


def _events(units: Units) -> int:
    """Return the write units of the events, which are in 16 partitions."""
    return sum(written for key, written in units.partitions.items() if _OUTBOX.fullmatch(key))


def _busiest(units: Units) -> int:
    """Return the units of the busiest key that belongs neither to one record nor to events."""
    shared = Counter(units.partitions)
    for key in units.partitions:
        if _OUTBOX.fullmatch(key) or _OF_ONE_RECORD.fullmatch(key):
            del shared[key]
    [(_, written)] = shared.most_common(1)
    return written


def _per_second(units: Units) -> int:
    """Return how many such changes of one tenant the busiest key takes."""
    return _PARTITION_WRITES // _busiest(units)


def test_document_of_ten_lines_writes_what_the_page_on_scale_calculates_with(
    stack: Stack, aws_faults: AwsFaults
) -> None:
    gauge = Gauge(stack, aws_faults)
    found = {f"{name}, {size}": reading.units for name, size, reading in pickings(gauge, 10)}
    pick = found["POST /pickings/{id}/picks, more goods, 1 of 10 lines"]
    dispatch = found["POST /exit-documents/{id}/dispatch, 10 lines"]
    create = found["POST /pickings, 10 lines"]
    of_table = sum(written for key, written in pick.partitions.items() if key[:3] != "GSI")

    assert [_per_second(one) for one in (pick, dispatch, create)] == [250, 50, 50]
    page = " ".join(_PAGE.read_text(encoding="utf-8").split())
    for quoted in (
        f"write units | {pick.writes:g}, of which {of_table} are not of indexes",
        f"index key (\N{MULTIPLICATION SIGN} {_busiest(pick)}) |",
        f"of ten lines writes {_busiest(dispatch)} units to",
        f"= {_per_second(dispatch)} such documents per second",
        f"of ten lines writes {_events(create)} units of events",
    ):
        assert quoted in page

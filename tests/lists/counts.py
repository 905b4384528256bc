"""The list of counts."""

from typing import Any

from shared.warehouse.counts.models import StoredCount
from shared.warehouse.counts.repository import COUNTS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, by_warehouse, warehouse_of

_STATUSES = ("open", "counting", "counted", "posted", "cancelled")
_USERS = 40


def _user(number: int) -> int:
    return number % _USERS + 1


def _count(number: int, times: spec.Times) -> StoredCount:
    values: dict[str, Any] = {
        **times.of(number),
        "status": _STATUSES[number % len(_STATUSES)],
        "warehouse_id": warehouse_of(number),
        "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
        "blind": number % 3 > 0,
        "assigned_to": spec.unless(number, 4, {"id": _user(number), "name": "Ann"}),
        "due_at": spec.unless(number, 2, "2026-03-02T09:00:00.000Z"),
        "comments": spec.unless(number, 5, "Yearly"),
        "lines": number % 9,
    }
    return StoredCount.model_validate(values)


COUNT_LIST = spec.Listed(
    path="/counts",
    collection=COUNTS,
    make=_count,
    period=True,
    fields=spec.fields("""
        integer: id assigned_to.id progress.lines progress.counted progress.differences
        string: object code status warehouse_code assigned_to.name comments?
        boolean: blind
        number: progress.units
        object: assigned_to? progress
        date-time: due_at? created_at updated_at
    """),
    filters={
        "status": spec.one_of("status", _STATUSES, wrong=("", "Open", "ended")),
        "warehouse": by_warehouse("warehouse_code"),
        "assigned_to": spec.Filter(
            lambda count: (str(_user(count)), str(_user(1)), "999999999"),
            lambda row, value: (row["assigned_to"] or {}).get("id") == int(value),
            spec.INVALID_IDS,
        ),
    },
    sorts=spec.sorted_by("created_at updated_at"),
)

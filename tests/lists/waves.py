"""The list of waves."""

from shared.warehouse.waves.models import StoredWave
from shared.warehouse.waves.repository import WAVES
from tests.lists.spec import INVALID_TEXTS, Filter, Listed, Times, among, by, fields, unless
from tests.lists.warehouses import WAREHOUSE_CODES, warehouse_of

_STATUSES = (
    "draft", "planned", "released", "in_progress", "picked", "completed", "closed", "cancelled",
)  # fmt: skip
_STRATEGIES = ("discrete", "by_customer", "batch", "cluster", "zone", "pick_and_pass")


def _wave(number: int, times: Times) -> StoredWave:
    return StoredWave.model_validate(
        {
            "id": number,
            "warehouse_code": unless(number, 5, WAREHOUSE_CODES[warehouse_of(number)]),
            "strategy": _STRATEGIES[number % 6],
            "status": _STATUSES[number % 8],
            "carrier_code": unless(number, 2, "DHL"),
            "cutoff_at": unless(number, 3, "2026-03-02T15:00:00.000Z"),
            "released_at": unless(number, 4, times.updated(number)),
            "metrics": {
                "orders": 3,
                "lines": 8,
                "units": 40.5,
                "trips": 2,
                **({"allocated_units": 40, "short_units": 0.5} if number % 4 else {}),
            },
            "created_at": times.created(number),
            "updated_at": times.updated(number),
            "picking_ids": [9],
        }
    )


WAVE_LIST = Listed(
    path="/waves",
    collection=WAVES,
    make=_wave,
    period=True,
    fields=fields("""
        id integer
        code string
        warehouse_code string?
        strategy string
        status string
        carrier_code string?
        cutoff_at date-time?
        released_at date-time?
        metrics object
        metrics.orders number
        metrics.lines number
        metrics.units number
        metrics.trips number
        metrics.standard_minutes number
        metrics.ended_orders number
        metrics.allocated_units number?
        metrics.short_units number?
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=frozenset({"created_at", "updated_at"}),
    filters={
        "status": among("status", _STATUSES, wrong=("", "Draft", "started"), narrow=True),
        "warehouse": Filter(
            lambda _: ("W2", "W1", "W4"),
            lambda row, value: row["warehouse_code"] == value,
            INVALID_TEXTS,
            selective=True,
        ),
    },
    sorts={"created_at": by("created_at"), "updated_at": by("updated_at")},
    default_sort="-created_at",
)

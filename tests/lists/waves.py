"""The list of waves."""

from shared.warehouse.waves.models import StoredWave
from shared.warehouse.waves.repository import WAVES
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, by_warehouse, warehouse_of

_STATUSES = (
    "draft", "planned", "released", "in_progress", "picked", "completed", "closed", "cancelled",
)  # fmt: skip
_STRATEGIES = ("discrete", "by_customer", "batch", "cluster", "zone", "pick_and_pass")


def _wave(number: int, times: spec.Times) -> StoredWave:
    return StoredWave.model_validate(
        {
            **times.of(number),
            "warehouse_code": spec.unless(number, 5, WAREHOUSE_CODES[warehouse_of(number)]),
            "strategy": _STRATEGIES[number % 6],
            "status": _STATUSES[number % 8],
            "carrier_code": spec.unless(number, 2, "DHL"),
            "cutoff_at": spec.unless(number, 3, "2026-03-02T15:00:00.000Z"),
            "released_at": spec.unless(number, 4, times.updated(number)),
            "metrics": {
                "orders": 3,
                "lines": 8,
                "units": 40.5,
                "trips": 2,
                **({"allocated_units": 40, "short_units": 0.5} if number % 4 else {}),
            },
            "picking_ids": [9],
        }
    )


WAVE_LIST = spec.Listed(
    path="/waves",
    collection=WAVES,
    make=_wave,
    period=True,
    fields=spec.fields("""
        integer: id
        number: metrics.orders metrics.lines metrics.units metrics.trips metrics.standard_minutes
        number: metrics.ended_orders metrics.allocated_units? metrics.short_units?
        string: code warehouse_code? strategy status carrier_code?
        object: metrics
        date-time: cutoff_at? released_at? created_at?! updated_at?!
    """),
    filters={
        "status": spec.one_of("status", _STATUSES, wrong=("", "Draft", "started")),
        "warehouse": by_warehouse("warehouse_code"),
    },
)

"""Packing orders read together with their handling units."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.errors import ServiceUnavailable
from shared.warehouse.packing import rules
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS

_TRIES = 5
"""Attempts to read a packing order whose units change meanwhile."""


@dataclass(frozen=True, slots=True)
class OrderWithUnits:
    """A packing order with its handling units."""

    record: Record[StoredPackingOrder]
    units: Sequence[Record[StoredUnit]] = ()


def get_packing_order(store: Store, number: int) -> OrderWithUnits:
    """Read a consistent state of a packing order and its units; NotFound when there is none."""
    for _ in range(_TRIES):
        record = PACKING_ORDERS.get(store, number)
        found = with_units(store, record)
        if [rules.entry_for(unit.entity) for unit in found.units] == record.entity.units:
            return found
        store.clear_cache()
    raise ServiceUnavailable


def with_units(store: Store, record: Record[StoredPackingOrder]) -> OrderWithUnits:
    """Return a packing order with its units."""
    units = UNITS.get_many(store, [entry.id for entry in record.entity.units])
    return OrderWithUnits(record, units)

"""Packing orders read together with their handling units."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.errors import Gone, ServiceUnavailable
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


def get_unit_with_content(store: Store, number: int) -> list[StoredUnit]:
    """Read a consistent state of a unit and of the units in it.

    Raises:
        NotFound, Gone: The unit does not exist, or it was deleted.
    """
    unit = UNITS.get(store, number)
    order = get_packing_order(store, unit.entity.packing_order_id)
    inside: dict[int, StoredUnit] = {}
    for one in order.units:  # in the order of their creation: those inside come after it
        if one.id == number or one.entity.parent_id in inside:
            inside[one.id] = one.entity
    if not inside:  # deleted since it was read
        raise Gone(f"{UNITS.noun} {number}")
    return list(inside.values())


def with_units(store: Store, record: Record[StoredPackingOrder]) -> OrderWithUnits:
    """Return a packing order with its units."""
    units = UNITS.get_many(store, [entry.id for entry in record.entity.units])
    return OrderWithUnits(record, units)

"""Packing orders read together with their handling units."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.errors import ServiceUnavailable
from shared.warehouse.packing import rules
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS

_TRIES = 5
"""Attempts to read a packing order whose units change meanwhile."""


@dataclass(frozen=True, slots=True)
class OrderWithUnits:
    """A packing order with its handling units.

    `is_leaving` is whether some of its goods are dispatched, so that it cannot be cancelled.
    """

    record: Record[StoredPackingOrder]
    units: Sequence[Record[StoredUnit]] = ()
    is_leaving: bool = False


@dataclass(frozen=True, slots=True)
class UnitInOrder:
    """A handling unit with its packing order, which decides with it about the actions."""

    record: Record[StoredUnit]
    order: StoredPackingOrder


def get_packing_order(store: Store, number: int) -> OrderWithUnits:
    """Read a consistent state of a packing order and its units; NotFound when there is none.

    `is_leaving` is not read.
    """
    for _ in range(_TRIES):
        found = with_units(store, PACKING_ORDERS.get(store, number))
        record = found.record
        if [rules.entry_for(unit.entity) for unit in found.units] == record.entity.units:
            return found
        store.clear_cache()
    raise ServiceUnavailable


def get_unit_with_content(store: Store, number: int) -> list[StoredUnit]:
    """Read a consistent state of a unit and of the units in it; the unit is the first.

    Raises:
        ServiceUnavailable: The units changed during every attempt.
    """
    fresh = store.uncached()
    for _ in range(_TRIES):
        unit = UNITS.get(fresh, number).entity
        found = _with_open_units(fresh, unit) if unit.inside is None else _with_closed(fresh, unit)
        if found:
            return found
    raise ServiceUnavailable


def _with_closed(store: Store, unit: StoredUnit) -> list[StoredUnit]:
    """Return a closed unit and those in it; nothing when it was reopened, and they have changed.

    Units in a closed unit are closed, and do not change.
    """
    if not unit.inside:
        return [unit]
    inside = [record.entity for record in UNITS.get_many(store, unit.inside)]
    is_same = len(inside) == len(unit.inside) and all(one.status != "open" for one in inside)
    return [unit, *inside] if is_same else []


def _with_open_units(store: Store, unit: StoredUnit) -> list[StoredUnit]:
    """Return an open unit and those in it; nothing when one of them has changed meanwhile.

    Every change of a unit is also one of its packing order, which names the units.
    """
    before = PACKING_ORDERS.get(store, unit.packing_order_id)
    inside = rules.units_inside(before.entity, unit.id)
    if not inside:
        return [unit]
    found = UNITS.get_many(store, [unit.id, *inside])
    after = PACKING_ORDERS.get(store, unit.packing_order_id)
    return [record.entity for record in found] if after.version == before.version else []


def with_units(store: Store, record: Record[StoredPackingOrder]) -> OrderWithUnits:
    """Return a packing order with its units."""
    units = UNITS.get_many(store, [entry.id for entry in record.entity.units])
    return OrderWithUnits(record, units)

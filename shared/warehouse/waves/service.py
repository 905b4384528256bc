"""Use cases of waves: read them, and take them from draft to closed."""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import ServiceUnavailable
from shared.kernel.events.kinds import EventKind
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.list_parameters import list_of
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.service import allocate_pickings, get_pickings
from shared.warehouse.waves import rules, views
from shared.warehouse.waves.actions import ACTIONS
from shared.warehouse.waves.models import StoredWave, WaveOrder, WaveStatus
from shared.warehouse.waves.repository import WAVES

_TRIES = 5
"""Attempts to read a wave whose pickings change meanwhile."""


@dataclass(frozen=True, slots=True)
class WaveWithOrders:
    """A wave with the statuses of its pickings."""

    record: Record[StoredWave]
    orders: list[WaveOrder]


def with_orders(
    record: Record[StoredWave], pickings: Iterable[Record[StoredPicking]]
) -> WaveWithOrders:
    """Return a wave with the statuses of its pickings."""
    orders = [WaveOrder(picking_id=one.id, status=one.entity.status) for one in pickings]
    return WaveWithOrders(record, orders)


def get_wave(store: Store, number: int) -> WaveWithOrders:
    """Read a consistent state of a wave and its pickings; NotFound when there is no such wave."""
    for _ in range(_TRIES):
        record = WAVES.get(store, number)
        pickings = get_pickings(store, record.entity.picking_ids)
        if rules.is_consistent(record.entity, [picking.entity for picking in pickings]):
            return with_orders(record, pickings)
        store.clear_cache()
    raise ServiceUnavailable


list_waves = list_of(WAVES)


def plan_wave(tx: Transaction, number: int) -> WaveWithOrders:
    """Plan a draft wave and raise wave.planned."""
    return _change_status(tx, number, "plan", "planned", "wave.planned")


def release_wave(tx: Transaction, number: int) -> WaveWithOrders:
    """Allocate stock to the pickings of a planned wave, release it and raise wave.released.

    Goods that were allocated before and may not be picked any more are released first. The most
    urgent picking gets stock first, then the oldest. Both take steps; a repeated request continues
    after the last one.
    """
    record = _planned(tx, number)
    pickings = get_pickings(tx.store, record.entity.picking_ids)
    allocate_pickings(tx, *(one.id for one in rules.by_priority(one.entity for one in pickings)))
    record = _planned(tx, number)
    pickings = get_pickings(tx.store, record.entity.picking_ids)
    metrics = rules.with_allocation(record.entity.metrics, [one.entity for one in pickings])
    status = rules.status_from_pickings(record.entity)
    released = WAVES.save(
        tx, record, record.entity, status=status, released_at=tx.now, metrics=metrics
    )
    raise_record_event(tx, "wave.released", views.WAVE_EVENTS, released)
    return with_orders(released, pickings)


def _planned(tx: Transaction, number: int) -> Record[StoredWave]:
    record = WAVES.get(tx.store, number)
    ACTIONS.ensure(record.entity, "release")
    return record


def cancel_wave(tx: Transaction, number: int) -> WaveWithOrders:
    """Cancel a wave and raise wave.cancelled; its pickings continue and can be in another wave."""
    return _change_status(tx, number, "cancel", "cancelled", "wave.cancelled")


def complete_wave(tx: Transaction, number: int) -> WaveWithOrders:
    """Complete a picked wave and raise wave.completed."""
    return _change_status(tx, number, "complete", "completed", "wave.completed")


def close_wave(tx: Transaction, number: int) -> WaveWithOrders:
    """Close a completed wave."""
    return _change_status(tx, number, "close", "closed", None)


def _change_status(
    tx: Transaction,
    number: int,
    action: str,
    status: WaveStatus,
    event: EventKind | None,
) -> WaveWithOrders:
    record = WAVES.get(tx.store, number)
    ACTIONS.ensure(record.entity, action)
    changed = WAVES.save(tx, record, record.entity, status=status)
    if event:
        raise_record_event(tx, event, views.WAVE_EVENTS, changed)
    return with_orders(changed, get_pickings(tx.store, record.entity.picking_ids))

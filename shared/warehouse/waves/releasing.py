"""Release waves: allocate stock to their pickings and hand them to the pickers."""

from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import raise_record_event
from shared.warehouse.picking import wave_pickings
from shared.warehouse.picking.allocation import allocate_rest
from shared.warehouse.waves import rules, views
from shared.warehouse.waves.models import StoredWave
from shared.warehouse.waves.repository import WAVES
from shared.warehouse.waves.service import WaveWithOrders, with_orders


def release_wave(tx: Transaction, number: int) -> WaveWithOrders:
    """Allocate stock to the pickings of a wave that lack some, release it, raise wave.released.

    The most urgent picking gets stock first, then the oldest. Stock is allocated in steps; a
    repeated request continues after the last one. Raises Conflict unless the wave is planned.
    """
    record = _planned(tx, number)
    pickings = wave_pickings.read_pickings(tx.store, record.entity.picking_ids)
    allocate_rest(tx, *rules.ids_by_priority([one.entity for one in pickings]))
    record = _planned(tx, number)
    pickings = wave_pickings.read_pickings(tx.store, record.entity.picking_ids)
    metrics = rules.with_allocation(record.entity.metrics, [one.entity for one in pickings])
    wave = record.entity.model_copy(
        update={
            "status": rules.status_from_pickings(record.entity),
            "released_at": tx.now,
            "updated_at": tx.now,
            "metrics": metrics,
        }
    )
    released = WAVES.replace(tx, record, wave)
    raise_record_event(tx, "wave.released", views.WAVE_EVENTS, released)
    return with_orders(released, pickings)


def _planned(tx: Transaction, number: int) -> Record[StoredWave]:
    record = WAVES.get(tx.store, number)
    rules.ensure_status(record.entity, "planned")
    return record

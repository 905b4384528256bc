"""A wave goes to the floor: what its pickings lack is allocated first, as far as there is any."""

from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import raise_record_event
from shared.warehouse.picking import wave_pickings
from shared.warehouse.picking.allocation import allocate_rest
from shared.warehouse.waves import rules, views
from shared.warehouse.waves.models import StoredWave
from shared.warehouse.waves.repository import WAVES
from shared.warehouse.waves.service import Opened, opened


def release_wave(tx: Transaction, number: int) -> Opened:
    """Allocate what the pickings of a wave lack; release it; raise wave.released.

    Stock goes to the most urgent picking first, then to the oldest. It is promised in steps;
    repeated after an interruption, the release goes on where it ended. Raises Conflict
    unless the wave is planned.
    """
    record = _planned(tx, number)
    pickings = wave_pickings.read_pickings(tx.store, record.entity.picking_ids)
    allocate_rest(tx, *rules.by_urgency([one.entity for one in pickings]))
    record = _planned(tx, number)
    pickings = wave_pickings.read_pickings(tx.store, record.entity.picking_ids)
    metrics = rules.with_allocation(record.entity.metrics, [one.entity for one in pickings])
    wave = record.entity.model_copy(
        update={
            "status": rules.progress_of(record.entity),
            "released_at": tx.now,
            "updated_at": tx.now,
            "metrics": metrics,
        }
    )
    released = WAVES.replace(tx, record, wave)
    raise_record_event(tx, "wave.released", views.WAVE_EVENTS, released)
    return opened(released, pickings)


def _planned(tx: Transaction, number: int) -> Record[StoredWave]:
    record = WAVES.get(tx.store, number)
    rules.ensure_status(record.entity, "planned")
    return record

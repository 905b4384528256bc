"""The progress of waves, updated in the transactions that start and end their pickings."""

from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.repository import WAVES


def update_wave(tx: Transaction, picking: Record[StoredPicking]) -> None:
    """Update a picking's wave after the picking was started or has ended."""
    number = picking.entity.wave_id
    if number is None:
        return
    found = repository.find_waves(tx.store, [number])
    if number in found.pending:
        repository.touch_pending(tx, number)
        return
    wave = found.waves.get(number)
    if wave is None:
        return
    after = rules.with_picking_status(wave.entity, picking.id, picking.entity.status, tx.now)
    if after != wave.entity:
        WAVES.replace(tx, wave, after)

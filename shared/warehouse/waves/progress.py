"""A wave follows its pickings: their own transactions tell it when they start and end."""

from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.repository import WAVES


def tell_wave(tx: Transaction, picking: Record[StoredPicking]) -> None:
    """Stage what it means for its wave that a picking has just been started or has ended."""
    number = picking.entity.wave_id
    if number is None:
        return
    known = repository.look_up(tx.store, [number])
    if number in known.forming:
        repository.stir(tx, number)
        return
    wave = known.waves.get(number)
    if wave is None:
        return
    after = rules.told(wave.entity, picking.id, picking.entity.status, tx.now)
    if after != wave.entity:
        WAVES.replace(tx, wave, after)

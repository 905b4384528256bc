"""Record in a wave that one of its pickings was started or has ended."""

from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking import service as pickings
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.settings.values import settings_of
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.repository import WAVES


def record_in_wave(tx: Transaction, picking: Record[StoredPicking]) -> None:
    """Record the status of a picking in its wave, if it has one: the `PickingHook` of waves.

    A cancelled picking leaves the metrics of the wave.
    """
    number = picking.entity.wave_id
    if number is None:
        return
    found = repository.find_waves(tx.store, [number])
    if number in found.pending:
        repository.touch_pending(tx, number)
    elif wave := found.waves.get(number):
        after = rules.with_picking_status(wave.entity, picking.id, picking.entity.status)
        if picking.entity.status == "cancelled" and after.status != "cancelled":
            others = [one for one in after.picking_ids if one != picking.id]
            read = [one.entity for one in pickings.get_pickings(tx.store, others)]
            settings = settings_of(tx.company)
            after = rules.after_cancellation(after, [picking.entity, *read], settings)
        if after != wave.entity:
            WAVES.save(tx, wave, after)

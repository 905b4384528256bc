"""Use cases that start or end a picking, and record it in its wave in the same transaction."""

from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.picking import service as pickings
from shared.warehouse.picking.models import PickingEnd, StoredPicking
from shared.warehouse.settings.values import Settings
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.repository import WAVES


def start_picking(tx: Transaction, number: int) -> Record[StoredPicking]:
    """Start a pending picking."""
    return _recorded(tx, pickings.start_picking(tx, number))


def finalize_picking(
    tx: Transaction,
    number: int,
    end: Checked[PickingEnd],
    shortage_limit: Decimal | None = None,
) -> Record[StoredPicking]:
    """Finalize a picking; see `finalize_picking` of pickings."""
    return _recorded(tx, pickings.finalize_picking(tx, number, end, shortage_limit))


def cancel_picking(tx: Transaction, number: int, settings: Settings) -> Record[StoredPicking]:
    """Cancel a picking, which leaves the metrics of its wave; see `cancel_picking` of pickings."""
    return _recorded(tx, pickings.cancel_picking(tx, number), settings)


def _recorded(
    tx: Transaction, picking: Record[StoredPicking], settings: Settings | None = None
) -> Record[StoredPicking]:
    """Record in a picking's wave that the picking was started or has ended; return the picking.

    `settings` are given for a cancellation.
    """
    number = picking.entity.wave_id
    if number is None:
        return picking
    found = repository.find_waves(tx.store, [number])
    if number in found.pending:
        repository.touch_pending(tx, number)
    elif wave := found.waves.get(number):
        after = rules.with_picking_status(wave.entity, picking.id, picking.entity.status)
        if settings is not None and after.status != "cancelled":
            others = [one for one in after.picking_ids if one != picking.id]
            read = [one.entity for one in pickings.get_pickings(tx.store, others)]
            after = rules.after_cancellation(after, [picking.entity, *read], settings)
        if after != wave.entity:
            WAVES.save(tx, wave, after)
    return picking

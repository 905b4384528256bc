"""Operations of waves on pickings: find pending pickings, assign them, sum up their units."""

from dataclasses import dataclass
from decimal import Decimal
from itertools import starmap

from shared.kernel.db.facets import integer_of
from shared.kernel.db.items import Item
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.picking import repository, rules
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS

ENDED_STATUSES = frozenset({"finalized", "synchronized", "cancelled", "reverted"})
"""Statuses of a picking that needs no more work."""


@dataclass(frozen=True, slots=True)
class PendingPicking:
    """A pending picking as an index shows it; the index may lag by moments."""

    id: int
    priority: int | None
    due_date: str | None
    carrier_code: str | None
    wave_id: int | None


def pending_pickings(store: Store, whs_code: str) -> list[PendingPicking]:
    """Find the pending pickings of exit documents in a warehouse, in no particular order."""
    found = repository.pending_pickings(store, whs_code)
    return list(
        starmap(_pending_picking, (one for one in found if not _is_for_transfer_order(one[1])))
    )


def _is_for_transfer_order(attributes: Item) -> bool:
    return bool(attributes.get("document_type") == "transfer_order")


def _pending_picking(number: int, attributes: Item) -> PendingPicking:
    return PendingPicking(
        id=number,
        priority=integer_of(attributes["priority"]) if "priority" in attributes else None,
        due_date=attributes.get("due_date"),
        carrier_code=attributes.get("carrier"),
        wave_id=int(attributes["wave"]) if "wave" in attributes else None,
    )


read_pickings = PICKINGS.get_many


def assign_to_wave(tx: Transaction, record: Record[StoredPicking], wave: int) -> None:
    """Record that a picking is in a wave; StaleRead when it has changed since it was read."""
    PICKINGS.replace(tx, record, record.entity.model_copy(update={"wave_id": wave}))


def units_of(picking: StoredPicking) -> Decimal:
    """Return the number of units to pick."""
    return sum((line.qty for line in picking.lines), ZERO)


def units_short(picking: StoredPicking) -> Decimal:
    """Return the number of units that are neither picked nor allocated."""
    return sum((rules.unallocated(line) for line in picking.lines), ZERO)

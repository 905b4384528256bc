"""What waves do with pickings: find those that wait, take them, promise stock to them."""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from itertools import starmap

from shared.kernel.db.collection import Record
from shared.kernel.db.facets import integer_of
from shared.kernel.db.items import Item
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking import repository, rules
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS

ENDED = frozenset({"finalized", "synchronized", "cancelled", "reverted"})
"""States in which nothing of a picking is left to do on the floor."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pending picking as an index shows it, which may lag for moments."""

    id: int
    priority: int | None
    due_date: str | None
    carrier_code: str | None
    wave_id: int | None


def waiting_pickings(store: Store, whs_code: str) -> list[Waiting]:
    """Find the pending pickings of exit documents in a warehouse, in no order."""
    found = repository.pending_pickings(store, whs_code)
    return list(starmap(_waiting, (one for one in found if not _of_transfer(one[1]))))


def _of_transfer(slim: Item) -> bool:
    return bool(slim.get("document_type") == "transfer_order")


def _waiting(number: int, slim: Item) -> Waiting:
    return Waiting(
        id=number,
        priority=integer_of(slim["priority"]) if "priority" in slim else None,
        due_date=slim.get("due_date"),
        carrier_code=slim.get("carrier"),
        wave_id=int(slim["wave"]) if "wave" in slim else None,
    )


def read_pickings(store: Store, numbers: Collection[int]) -> list[Record[StoredPicking]]:
    """Read pickings in the order of their ids given; those that are not there are left out."""
    return PICKINGS.get_many(store, numbers)


def assign_to_wave(tx: Transaction, record: Record[StoredPicking], wave: int) -> None:
    """Stage that a picking belongs to a wave now; overtaken when it changed since it was read."""
    PICKINGS.replace(tx, record, record.entity.model_copy(update={"wave_id": wave}))


def units_of(picking: StoredPicking) -> Decimal:
    """Units that are to be picked."""
    return sum((line.qty for line in picking.lines), rules.NONE)


def units_short(picking: StoredPicking) -> Decimal:
    """Units that have neither been picked nor been promised any stock."""
    return sum((rules.unallocated(line) for line in picking.lines), rules.NONE)

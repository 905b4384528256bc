"""Release the allocations of goods that may not be picked any more, such as expired ones."""

from collections.abc import Iterable, Sequence
from functools import partial

from shared.kernel.db.actions import Cost
from shared.kernel.db.steps import commit_in_steps
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking.expiry import ExpiryRule
from shared.warehouse.picking.models import ENDED_STATUSES, Allocation, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.undo_picking import undo_parts, without_parts
from shared.warehouse.stock import service as stock

type _Named = tuple[int, int]
"""Index of a line, and the id of a stock row that is allocated to it."""


def release_refused(tx: Transaction, *numbers: int) -> None:
    """Release the allocations of pickings whose goods may not be picked, because of their dates.

    Everything is committed, in steps; a repeated call does the rest. Nothing may be added to `tx`
    before.
    """
    for number, refused in _refused(tx, numbers).items():
        commit_in_steps(tx, refused, partial(_release_step, tx, number))


def _refused(tx: Transaction, numbers: Iterable[int]) -> dict[int, list[_Named]]:
    """Return the allocations of goods that may not be picked, by picking."""
    expiry = ExpiryRule(tx)
    found = [record.entity for record in PICKINGS.get_many(tx.store, numbers)]
    pickings = [one for one in found if _allocations(one) and expiry.applies_to(one)]
    parts = [part for one in pickings for part in _allocations(one)]
    rows = stock.rows_by_id(tx.store, {one.stock_id for _, one in parts}) if parts else {}
    for picking in pickings:
        expiry.read_ahead(picking, rows.values())
    return {
        picking.id: [
            (at, one.stock_id)
            for at, one in _allocations(picking)
            if expiry.picking_refusal(picking, picking.lines[at], rows[one.stock_id])
        ]
        for picking in pickings
    }


def _allocations(picking: StoredPicking) -> list[tuple[int, Allocation]]:
    return [(at, one) for at, line in enumerate(picking.lines) for one in line.allocations]


def _release_step(tx: Transaction, number: int, left: Sequence[_Named]) -> int:
    """Release as many of the allocations as fit; return how many of `left` are done."""
    record = PICKINGS.get(tx.store, number)
    picking = record.entity
    if picking.status in ENDED_STATUSES:
        return len(left)
    there = {(at, one.stock_id): (at, one) for at, one in _allocations(picking)}
    parts = [there[named] for named in left if named in there]
    if not parts:
        return len(left)
    released = undo_parts(tx, picking, parts, Cost())
    PICKINGS.save(tx, record, without_parts(picking, released))
    if len(released) == len(parts):
        return len(left)
    at, first = parts[len(released)]
    return left.index((at, first.stock_id))

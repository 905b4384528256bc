"""Undo single picks: goods return to the position they came from, allocated as before."""

from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog.gtins import goods_resolved
from shared.warehouse.picking import actions, rules, undo_rules
from shared.warehouse.picking.models import PickDraft, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.service import record_exit_progress
from shared.warehouse.picking.undo_picking import (
    ensure_may_be_undone,
    return_to_shelf,
    shelf_key,
)
from shared.warehouse.stock.models import MovementCause
from shared.warehouse.stock.posting import StockPosting


def undo_pick(tx: Transaction, number: int, draft: Checked[PickDraft]) -> Record[StoredPicking]:
    """Undo what was picked for the exit documents of a started picking; see `put_back`."""
    record = PICKINGS.get(tx.store, number)
    actions.ensure(record.entity, "undo")
    picking = put_back(tx, record.entity, draft)
    record_exit_progress(tx, picking, rules.document_progress(record.entity, picking))
    return PICKINGS.save(tx, record, picking)


def undo_pick_for_transfer_order(
    tx: Transaction, record: Record[StoredPicking], draft: Checked[PickDraft]
) -> Record[StoredPicking]:
    """Undo what was picked for a transfer order; see `put_back`.

    Its picking is started again if it had ended. What it lacked then is not allocated again.

    Raises:
        Conflict: Goods of the order are dispatched.
    """
    ensure_may_be_undone(record.entity)
    picking = put_back(tx, record.entity, draft)
    return PICKINGS.save(
        tx,
        record,
        picking,
        status="started",
        finalized_at=None,
        has_shortage=False,
        shortage_reason=None,
        lines=rules.lines_as_started(picking),
    )


def put_back(tx: Transaction, picking: StoredPicking, draft: Checked[PickDraft]) -> StoredPicking:
    """Return picked goods to their position and allocate them to the picking again.

    Returns the picking afterwards, whose changed lines are open or partial. The caller has checked
    its status, records the progress of its documents, and saves it. Goods that were picked instead
    of the allocated ones are allocated where they were picked.
    """
    with goods_resolved(tx.store, [draft]) as [named]:
        valid = ensure_valid(named, undo_rules.undo_problems(picking, named))
        parts = list(undo_rules.split_undo(picking, valid, valid.qty))
    posting = StockPosting(tx, cause=MovementCause(type="picking", id=picking.id))
    posting.load(
        rows=list({part.pick.staged_id for part in parts}),
        targets=[shelf_key(picking, part.line, part.pick) for part in parts],
        movements=len(parts),
    )
    shelves = [return_to_shelf(posting, part.pick, part.qty) for part in parts]
    for part, shelf in zip(parts, shelves, strict=True):
        posting.changes.allocate(shelf, part.qty)
    posting.post()
    for part, shelf in zip(parts, shelves, strict=True):
        row = shelf.model_copy(update={"id": posting.row_id(shelf)})
        picking = undo_rules.unpicked(picking, part, row)
    return picking

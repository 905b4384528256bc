"""Dispatch of picked goods for an exit document: they leave the warehouse."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.kernel.db.actions import Cost
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document
from shared.warehouse.picking.models import Pick, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.models import MovementCause
from shared.warehouse.stock.posting import StockPosting, read_ahead

_ACTIONS_PER_PICK = 2
"""Actions that a pick takes at least: its stock row and the movement."""

type _StagedPick = tuple[int, int, Pick]
"""Id of the picking, index of its line, and the pick."""


@dataclass(frozen=True, slots=True)
class StagedDocument:
    """An exit document that can be dispatched, with the pickings that hold goods for it."""

    document: Record[Document]
    pickings: Sequence[Record[StoredPicking]]


def read_staged(tx: Transaction, number: int) -> StagedDocument:
    """Read an exit document that can be dispatched, and the pickings that hold goods for it."""
    document = documents.get_document(tx.store, "exit", number)
    documents.ensure("exit", document.entity, "dispatch")
    return StagedDocument(document, PICKINGS.get_many(tx.store, document.entity.finished))


def _picks_for(pickings: Sequence[Record[StoredPicking]], document: int) -> Iterator[_StagedPick]:
    for record in pickings:
        for at, line in enumerate(record.entity.lines):
            if line.document_id == document:
                yield from ((record.id, at, pick) for pick in line.picks)


def dispatch_picks(tx: Transaction, staged: StagedDocument, *, closes: bool) -> bool:
    """Dispatch as many picks for a document as fit; return whether all are dispatched.

    `closes` is whether the last step closes the document, which gives up its open quantities.
    """
    pickings, document = staged.pickings, staged.document.id
    picks = [one for one in _picks_for(pickings, document) if not one[2].dispatched]
    posting = StockPosting(tx, cause=MovementCause(type="exit_document", id=document))
    by_id = {record.id: record.entity for record in pickings}
    ahead = read_ahead(
        picks,
        lambda one: by_id[one[0]].lines[one[1]].product_id,
        lambda _: _ACTIONS_PER_PICK,
    )
    posting.load(
        rows=[pick.staged_id for _, _, pick in ahead],
        levels=[(by_id[one].lines[at].product_id, by_id[one].warehouse_id) for one, at, _ in ahead],
        movements=len(ahead),
    )

    costs = {record.id: record.cost for record in pickings}
    changed: set[int] = set()

    def book(one: _StagedPick) -> None:
        number, _, pick = one
        changed.add(number)
        posting.changes.move(
            "dispatch", pick.qty, source=posting.row(pick.staged_id), allocated=True
        )

    dispatched = posting.add_while_fitting(
        ahead, book, lambda: sum((costs[number] for number in changed), Cost())
    )
    left = picks[len(dispatched) :]
    later = {by_id[one].lines[at].product_id for one, at, _ in left}
    if left and closes:
        later |= {line.product_id for line in staged.document.entity.lines if line.open_qty}
    posting.post(later=later)
    for record in pickings:
        of_picking = [pick for number, _, pick in dispatched if number == record.id]
        if of_picking:
            mark_dispatched(tx, record, of_picking)
    return len(dispatched) == len(picks)


def mark_dispatched(
    tx: Transaction, record: Record[StoredPicking], picks: Sequence[Pick]
) -> Record[StoredPicking]:
    """Mark picks of a picking as dispatched."""
    gone = {id(pick) for pick in picks}
    lines = [
        line.model_copy(
            update={
                "picks": [
                    one.model_copy(update={"dispatched": True}) if id(one) in gone else one
                    for one in line.picks
                ]
            }
        )
        for line in record.entity.lines
    ]
    return PICKINGS.save(tx, record, record.entity, lines=lines)

"""What was picked for an exit document leaves the warehouse, and the document is closed."""

from collections.abc import Iterator, Sequence
from itertools import islice

from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, Progress
from shared.warehouse.picking.models import Pick, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.ledger import Ledger
from shared.warehouse.stock.models import MovementCause

_PER_STEP = 10
"""Picks that one transaction dispatches: each changes a row, a level and two counts."""

type _Part = tuple[int, int, Pick]
"""Picking, line and pick."""


def dispatch_exit_document(tx: Transaction, number: int) -> Record[Document]:
    """Let the staged goods of an exit document leave; close it; raise shipment.dispatched.

    What was not picked is given up. Raises Conflict while it is being picked, and when
    nothing is picked or it is closed.
    """
    while True:
        document = documents.get_document(tx.store, "exit", number)
        pickings = _ready(tx, document)
        parts = list(islice(_parts(pickings, number), _PER_STEP + 1))
        if len(parts) <= _PER_STEP:
            break
        run_transaction(tx.store, lambda own: _step(own, number), caller=tx.caller)
        tx.store.clear_cache()
    _leave(tx, pickings, parts, number)
    return documents.close_dispatched(tx, document)


def _ready(tx: Transaction, document: Record[Document]) -> list[Record[StoredPicking]]:
    """Read the pickings whose goods wait for the document."""
    found = document.entity
    if found.status == "closed":
        message = "The document is closed already."
        raise Conflict(message)
    if found.works:
        codes = ", ".join(f"PKG-{work}" for work in found.works)
        message = f"The document is {found.status} and still being picked: {codes}."
        raise Conflict(message)
    pickings = PICKINGS.get_many(tx.store, found.finished)
    if not any(True for _ in _all_parts(pickings, document.id)):
        message = f"Nothing is picked for the document; it is {found.status}."
        raise Conflict(message)
    return pickings


def _all_parts(pickings: Sequence[Record[StoredPicking]], document: int) -> Iterator[_Part]:
    for record in pickings:
        for at, line in enumerate(record.entity.lines):
            if line.document_id == document:
                yield from ((record.id, at, pick) for pick in line.picks)


def _parts(pickings: Sequence[Record[StoredPicking]], document: int) -> Iterator[_Part]:
    return (part for part in _all_parts(pickings, document) if not part[2].dispatched)


def _step(own: Transaction, number: int) -> None:
    document = documents.get_document(own.store, "exit", number)
    pickings = _ready(own, document)
    _leave(own, pickings, list(islice(_parts(pickings, number), _PER_STEP)), number)
    # Bound to the document: whoever acts on it meanwhile is decided again.
    documents.advance_document(own, "exit", document, Progress())


def _leave(
    tx: Transaction,
    pickings: Sequence[Record[StoredPicking]],
    parts: Sequence[_Part],
    document: int,
) -> None:
    ledger = Ledger(tx, cause=MovementCause(type="exit_document", id=document))
    of = {record.id: record.entity for record in pickings}
    ledger.load(
        rows=[pick.staged_id for _, _, pick in parts],
        levels=[(of[one].lines[at].product_id, of[one].warehouse_id) for one, at, _ in parts],
        movements=len(parts),
    )
    for _, _, pick in parts:
        row = ledger.row(pick.staged_id)
        ledger.book.move("dispatch", pick.qty, source=row, promised=True)
    ledger.stage()
    for record in pickings:
        gone = [pick for number, _, pick in parts if number == record.id]
        if gone:
            mark_dispatched(tx, record, gone)


def mark_dispatched(
    tx: Transaction, record: Record[StoredPicking], picks: Sequence[Pick]
) -> Record[StoredPicking]:
    """Stage that these picks of a picking have left."""
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
    after = record.entity.model_copy(update={"lines": lines, "updated_at": tx.now})
    return PICKINGS.replace(tx, record, after)

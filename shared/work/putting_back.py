"""Take back what a picking holds: promises, and goods that wait staged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from shared.db.transaction import Transaction
from shared.db.unit_of_work import perform
from shared.documents.models import Progress
from shared.errors import Conflict
from shared.stock.ledger import Ledger, place_of
from shared.stock.models import MovementCause
from shared.work import picking_rules as rules
from shared.work.models import Allocation, Pick, StoredPicking
from shared.work.repository import PICKINGS

type Tell = Callable[[Transaction, StoredPicking, Mapping[int, Progress]], None]
"""Stages what a picking did to the documents (by id) that it serves."""

_PER_STEP = 5
"""Parts of a picking that one transaction takes back. Each may change two rows, a level, its total
and two counts, with a movement and an event; the last step also changes up to twenty documents."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A picking after something was taken back, and how much less of which line is done."""

    picking: StoredPicking
    less: Mapping[int, Mapping[int, Decimal]]

    def progress(
        self, *, ends: int | None = None, finishes: int | None = None
    ) -> dict[int, Progress]:
        """Tell each document of the picking what was taken back, and how its work ends."""
        return {
            one.id: Progress(done=self.less.get(one.id, {}), ends=ends, finishes=finishes)
            for one in self.picking.documents
        }


def put_back(tx: Transaction, number: int, tell: Tell, *, picks: bool) -> TakenBack:
    """Stage what releases every promise of a picking and, with `picks`, unpicks its goods.

    What is more than one transaction holds is taken back before, in steps of their own;
    repeated, they go on where they ended. The caller stages the picking that is returned.
    """
    while True:
        picking = PICKINGS.get(tx.store, number).entity
        parts = list(islice(_parts(picking, picks=picks), _PER_STEP + 1))
        if len(parts) <= _PER_STEP:
            return _take_back(tx, picking, picks=picks)
        perform(tx.store, lambda own: _step(own, number, tell, picks=picks), caller=tx.caller)
        tx.store.forget()


def _step(own: Transaction, number: int, tell: Tell, *, picks: bool) -> None:
    record = PICKINGS.get(own.store, number)
    back = _take_back(own, record.entity, picks=picks)
    PICKINGS.replace(own, record, back.picking.model_copy(update={"updated_at": own.now}))
    tell(own, back.picking, {id_: one for id_, one in back.progress().items() if one.done})


def _parts(picking: StoredPicking, *, picks: bool) -> Iterator[tuple[int, Allocation | Pick]]:
    for at, line in enumerate(picking.lines):
        yield from ((at, allocation) for allocation in line.allocations)
        if picks:
            yield from ((at, pick) for pick in line.picks)


def _take_back(tx: Transaction, picking: StoredPicking, *, picks: bool) -> TakenBack:
    parts = list(islice(_parts(picking, picks=picks), _PER_STEP))
    _ensure_still_here(part for _, part in parts)
    ledger = Ledger(tx, cause=MovementCause(type="picking", id=picking.id))
    staged = [(at, part) for at, part in parts if isinstance(part, Pick)]
    ledger.load(
        rows=[part.staged_id if isinstance(part, Pick) else part.stock_id for _, part in parts],
        targets=[
            place_of(
                product_id=picking.lines[at].product_id,
                warehouse_id=picking.warehouse_id,
                position_id=pick.position_id,
                bin_code=pick.bin_code,
                status="available",
                batch=pick.batch_num,
                serial=pick.serial,
            )
            for at, pick in staged
        ],
        movements=len(staged),
    )
    less: dict[int, dict[int, Decimal]] = {}
    for at, part in parts:
        line = picking.lines[at]
        if isinstance(part, Allocation):
            ledger.book.release(ledger.row(part.stock_id), part.qty)
            kept = [one for one in line.allocations if one != part]
            picking = rules.with_line(picking, at, line.model_copy(update={"allocations": kept}))
            continue
        row = ledger.row(part.staged_id)
        shelf = row.model_copy(update={"inventory_status": "available"})
        ledger.book.move("pick_undone", part.qty, source=row, target=shelf, promised=True)
        update = {
            "picks": [one for one in line.picks if one is not part],
            "picked_qty": line.picked_qty - part.qty,
        }
        picking = rules.with_line(picking, at, line.model_copy(update=update))
        of_document = less.setdefault(line.document_id, {})
        done = of_document.get(line.document_line, rules.NONE)
        of_document[line.document_line] = done - part.qty
    ledger.stage()
    return TakenBack(picking, less)


def _ensure_still_here(parts: Iterator[Allocation | Pick]) -> None:
    if any(isinstance(part, Pick) and part.dispatched for part in parts):
        message = "Goods of the picking have been dispatched already."
        raise Conflict(message)

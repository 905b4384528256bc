"""Release the allocations of a picking, and put its staged goods back on the shelf."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.actions import Cost
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.fields import ZERO
from shared.warehouse.documents.models import DocumentProgress
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import (
    Allocation,
    Pick,
    StoredPicking,
    packing_order_code,
    picking_code,
)
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.models import MovementCause, RowKey
from shared.warehouse.stock.posting import StockPosting, read_ahead

type RecordProgress = Callable[[Transaction, StoredPicking, Mapping[int, DocumentProgress]], None]
"""Records the progress that a picking made on the documents it serves, by document id."""

type _Part = tuple[int, Allocation | Pick]
"""Index of a line, and an allocation or a pick of it."""

_ACTIONS_PER_DOCUMENT = 2
"""A document, and its entry in the register of open documents."""


@dataclass(frozen=True, slots=True)
class UndoneWork:
    """A picking without some of its allocations and picks.

    `quantities` are the changes of the picked quantities, all negative, by document id and line
    number.
    """

    picking: StoredPicking
    quantities: Mapping[int, Mapping[int, Decimal]]

    def progress(
        self, ended_work: int | None = None, *, with_goods: bool = False
    ) -> dict[int, DocumentProgress]:
        """Return the progress of each document of the picking, by document id."""
        return {
            one.id: DocumentProgress(
                self.quantities.get(one.id, {}), ended_work=ended_work, with_goods=with_goods
            )
            for one in self.picking.documents
        }


def undo_work(
    tx: Transaction,
    number: int,
    record_progress: RecordProgress,
    *,
    picks: bool,
    also: Cost | None = None,
) -> UndoneWork:
    """Release every allocation of a picking and, with `picks`, undo its picks.

    What does not fit into one transaction is undone before, in steps. The caller adds the
    picking that is returned; `also` is what it adds besides, more than every caller does.
    """

    def step() -> UndoneWork | None:
        record = PICKINGS.get(tx.store, number)
        parts = list(_parts(record.entity, picks=picks))
        undone_parts = _undo(tx, record.entity, parts, also or Cost())
        undone = _without(record.entity, undone_parts)
        if len(undone_parts) == len(parts):
            return undone
        PICKINGS.replace(tx, record, undone.picking.model_copy(update={"updated_at": tx.now}))
        progress = {document: one for document, one in undone.progress().items() if one.done}
        record_progress(tx, undone.picking, progress)
        return None

    return run_steps(tx, step)


def _parts(picking: StoredPicking, *, picks: bool) -> Iterator[_Part]:
    for at, line in enumerate(picking.lines):
        yield from ((at, allocation) for allocation in line.allocations)
        if picks:
            yield from ((at, pick) for pick in line.picks)


def _undo(
    tx: Transaction, picking: StoredPicking, parts: Sequence[_Part], also: Cost
) -> list[_Part]:
    """Undo as many parts as fit in the stock; return these parts."""
    if any(isinstance(part, Pick) and part.dispatched for _, part in parts):
        code = picking_code(picking.id)
        message = f"{code} cannot be undone: some of its goods are already dispatched."
        raise Conflict(message)
    if picking.packing_order_id is not None:
        code = picking_code(picking.id)
        message = (
            f"{code} cannot be undone: its goods are in"
            f" {packing_order_code(picking.packing_order_id)}; cancel that first."
        )
        raise Conflict(message)
    posting = StockPosting(tx, cause=MovementCause(type="picking", id=picking.id))
    ahead = read_ahead(
        parts,
        lambda one: picking.lines[one[0]].product_id,
        # The row of an allocation; the row of a pick and its movement.
        lambda one: 2 if isinstance(one[1], Pick) else 1,
    )
    staged = [(at, part) for at, part in ahead if isinstance(part, Pick)]
    posting.load(
        rows=[part.staged_id if isinstance(part, Pick) else part.stock_id for _, part in ahead],
        targets=[
            RowKey(
                picking.lines[at].product_id,
                picking.warehouse_id,
                pick.bin_code,
                "available",
                pick.batch_num,
                pick.serial,
            )
            for at, pick in staged
        ],
        levels=[(picking.lines[at].product_id, picking.warehouse_id) for at, _ in ahead],
        movements=len(staged),
    )

    def book(one: _Part) -> None:
        part = one[1]
        if isinstance(part, Allocation):
            posting.changes.release(posting.row(part.stock_id), part.qty)
            return
        row = posting.row(part.staged_id)
        shelf = row.model_copy(update={"inventory_status": "available"})
        posting.changes.move("pick_undone", part.qty, source=row, target=shelf, allocated=True)

    # The first document is among what every step may add; see STEP_ACTIONS.
    more = Cost(_ACTIONS_PER_DOCUMENT * (len(picking.documents) - 1)) + also
    undone = posting.add_while_fitting(ahead, book, lambda: more)
    posting.post(later={picking.lines[at].product_id for at, _ in parts[len(undone) :]})
    return undone


def _without(picking: StoredPicking, parts: Iterable[_Part]) -> UndoneWork:
    """Return the picking without these parts."""
    quantities: dict[int, dict[int, Decimal]] = {}
    for at, part in parts:
        line = picking.lines[at]
        if isinstance(part, Allocation):
            kept = [one for one in line.allocations if one is not part]
            picking = rules.with_line(picking, at, line.model_copy(update={"allocations": kept}))
            continue
        update = {
            "picks": [one for one in line.picks if one is not part],
            "picked_qty": line.picked_qty - part.qty,
        }
        picking = rules.with_line(picking, at, line.model_copy(update=update))
        of_document = quantities.setdefault(line.document_id, {})
        done = of_document.get(line.document_line, ZERO)
        of_document[line.document_line] = done - part.qty
    return UndoneWork(picking, quantities)

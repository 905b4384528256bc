"""Release the allocations of a picking, and put its staged goods back on the shelf."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from shared.kernel.db.actions import Cost
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.warehouse.documents.models import DocumentProgress
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import Allocation, Pick, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.models import MovementCause, RowKey, StockRow
from shared.warehouse.stock.posting import StockPosting, read_ahead

type RecordProgress = Callable[[Transaction, StoredPicking, Mapping[int, DocumentProgress]], None]
"""Records the progress that a picking made on the documents it serves, by document id."""

type Part = tuple[int, Allocation | Pick]
"""Index of a line, and an allocation or a pick of it."""

_ACTIONS_PER_DOCUMENT = 2
"""A document, and its entry in the register of open documents."""


def undo_work(
    tx: Transaction,
    number: int,
    record_progress: RecordProgress,
    *,
    picks: bool,
    also: Cost | None = None,
) -> StoredPicking:
    """Release every allocation of a picking and, with `picks`, undo its picks that are staged.

    What does not fit into one transaction is undone before, in steps. The caller adds the
    picking that is returned; `also` is the cost of what else it adds, unlike other callers.
    """

    def step() -> StoredPicking | None:
        record = PICKINGS.get(tx.store, number)
        parts = list(_parts(record.entity, picks=picks))
        undone_parts = undo_parts(tx, record.entity, parts, also or Cost())
        picking = without_parts(record.entity, undone_parts)
        if len(undone_parts) == len(parts):
            return picking
        PICKINGS.save(tx, record, picking)
        record_progress(tx, picking, rules.document_progress(record.entity, picking))
        return None

    return run_steps(tx, step)


def _parts(picking: StoredPicking, *, picks: bool) -> Iterator[Part]:
    for at, line in enumerate(picking.lines):
        yield from ((at, allocation) for allocation in line.allocations)
        if picks:
            yield from ((at, pick) for pick in line.picks if not pick.dispatched)


def undo_parts(
    tx: Transaction, picking: StoredPicking, parts: Sequence[Part], also: Cost
) -> list[Part]:
    """Undo as many parts as fit in the stock; return these parts."""
    ensure_may_be_undone(picking)
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
        targets=[shelf_key(picking, at, pick) for at, pick in staged],
        levels=[(picking.lines[at].product_id, picking.warehouse_id) for at, _ in ahead],
        movements=len(staged),
    )

    def book(one: Part) -> None:
        part = one[1]
        if isinstance(part, Allocation):
            posting.changes.release(posting.row(part.stock_id), part.qty)
            return
        return_to_shelf(posting, part, part.qty)

    # The first document is among what every step may add; see STEP_ACTIONS.
    more = Cost(_ACTIONS_PER_DOCUMENT * (len(picking.documents) - 1)) + also
    undone = posting.add_while_fitting(ahead, book, lambda: more)
    posting.post(later={picking.lines[at].product_id for at, _ in parts[len(undone) :]})
    return undone


def ensure_may_be_undone(picking: StoredPicking) -> None:
    """Raise Conflict when staged goods of a picking are packed, or partly dispatched."""
    if refusal := rules.refusal_to_undo(picking):
        raise Conflict(refusal)


def shelf_key(picking: StoredPicking, at: int, pick: Pick) -> RowKey:
    """Return the key of the row that a pick of the line with the index `at` came from."""
    return RowKey(
        picking.lines[at].product_id,
        picking.warehouse_id,
        pick.bin_code,
        "available",
        pick.batch_num,
        pick.serial,
    )


def return_to_shelf(posting: StockPosting, pick: Pick, qty: Decimal) -> StockRow:
    """Move `qty` of a staged pick back to available stock at its position; return that row."""
    row = posting.row(pick.staged_id)
    shelf = row.model_copy(update={"inventory_status": "available"})
    posting.changes.move("pick_undone", qty, source=row, target=shelf, allocated=True)
    return shelf


def without_parts(picking: StoredPicking, parts: Iterable[Part]) -> StoredPicking:
    """Return the picking without these parts."""
    for at, part in parts:
        line = picking.lines[at]
        update: dict[str, object]
        if isinstance(part, Allocation):
            update = {"allocations": [one for one in line.allocations if one is not part]}
        else:
            picks = [one for one in line.picks if one is not part]
            update = {"picks": picks, "picked_qty": line.picked_qty - part.qty}
        picking = rules.with_line(picking, at, line.model_copy(update=update))
    return picking

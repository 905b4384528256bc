"""Take back what a picking holds: promises, and goods that wait staged."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from shared.warehouse.documents.models import Progress
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import Allocation, Pick, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock.ledger import Ledger, place_of
from shared.warehouse.stock.models import MovementCause

type Tell = Callable[[Transaction, StoredPicking, Mapping[int, Progress]], None]
"""Stages what a picking did to the documents (by id) that it serves."""

type _Part = tuple[int, Allocation | Pick]
"""Index of the line, and what it holds."""

_ROOM = 84
"""Actions of a transaction for what it takes back; the picking, its event, its wave, the counts of
collections and the answer need the others."""
_PER_DOCUMENT = 2
"""A document, and its entry in the register of what is open."""
_PER_PRODUCT = 4
"""A level, its total, its event, the count of rows of the product."""
_PER_PICK = 4
"""Two rows, a movement, the count of rows at the position."""
_PER_PROMISE = 1


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
        parts = _next_step(picking, picks=picks)
        if len(parts) == sum(1 for _ in _parts(picking, picks=picks)):
            return _take_back(tx, picking, parts)
        run_transaction(
            tx.store, lambda own: _step(own, number, tell, picks=picks), caller=tx.caller
        )
        tx.store.clear_cache()


def _step(own: Transaction, number: int, tell: Tell, *, picks: bool) -> None:
    record = PICKINGS.get(own.store, number)
    back = _take_back(own, record.entity, _next_step(record.entity, picks=picks))
    PICKINGS.replace(own, record, back.picking.model_copy(update={"updated_at": own.now}))
    tell(own, back.picking, {id_: one for id_, one in back.progress().items() if one.done})


def _next_step(picking: StoredPicking, *, picks: bool) -> list[_Part]:
    """Take as many parts from the front as one transaction surely holds, one at least."""
    room = _ROOM - _PER_DOCUMENT * len(picking.documents)
    products: set[int] = set()
    found: list[_Part] = []
    for at, part in _parts(picking, picks=picks):
        product = picking.lines[at].product_id
        room -= _PER_PICK if isinstance(part, Pick) else _PER_PROMISE
        room -= 0 if product in products else _PER_PRODUCT
        if room < 0 and found:
            break
        products.add(product)
        found.append((at, part))
    return found


def _parts(picking: StoredPicking, *, picks: bool) -> Iterator[_Part]:
    for at, line in enumerate(picking.lines):
        yield from ((at, allocation) for allocation in line.allocations)
        if picks:
            yield from ((at, pick) for pick in line.picks)


def _take_back(tx: Transaction, picking: StoredPicking, parts: Sequence[_Part]) -> TakenBack:
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
        levels=[(picking.lines[at].product_id, picking.warehouse_id) for at, _ in parts],
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

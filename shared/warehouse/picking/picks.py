"""What a picker takes from the shelf: it stays there, staged, until it is dispatched."""

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from shared.kernel.db.collection import Record
from shared.kernel.db.parallel import run_both
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Progress
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import Pick, PickDraft, PickingEnd, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.rules import Substitution, Taking
from shared.warehouse.picking.service import finished, record_exit_progress, work_of_exits
from shared.warehouse.stock.ledger import Ledger, place_of
from shared.warehouse.stock.models import MovementCause, StockRefused, StockRow
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.work_records import ensure_status

if TYPE_CHECKING:
    from decimal import Decimal


def pick(
    tx: Transaction,
    number: int,
    draft: PickDraft,
    substitution: Substitution,
) -> Record[StoredPicking]:
    """Note what was picked for the exit documents of a picking; its stock is staged now.

    Raises ValidationFailed when it is not what was allocated (or may be picked instead of
    it), Conflict unless the picking is started, or when someone else holds the goods.
    """
    record = work_of_exits(tx.store, number)
    ensure_status("picking", record.entity, "started")
    (picking, done), _ = run_both(
        lambda: _pick(tx, record.entity, draft, substitution),
        # For `record_exit_progress`, which finds what has been read.
        lambda: documents.get_documents(tx.store, "exit", _expected(record.entity, draft)),
    )
    record_exit_progress(tx, picking, {number: Progress(done=one) for number, one in done.items()})
    return PICKINGS.replace(tx, record, picking.model_copy(update={"updated_at": tx.now}))


def _expected(picking: StoredPicking, draft: PickDraft) -> list[int]:
    """Guess the document that a pick is for: the first that lacks the product."""
    waiting = (
        line.document_id
        for line in picking.lines
        if line.item_code == draft.item_code and line.picked_qty < line.qty
    )
    return list(islice(waiting, 1))


def pick_through(
    tx: Transaction, record: Record[StoredPicking], draft: PickDraft, substitution: Substitution
) -> Record[StoredPicking]:
    """Stage a pick of a picking that starts with its first pick and ends with its last.

    Such is the picking of a transfer order, whose own state follows; see `pick`.
    """
    ensure_status("picking", record.entity, "pending", "started")
    picking, _ = _pick(tx, record.entity, draft, substitution)
    started_at = record.entity.started_at or tx.now
    picking = picking.model_copy(
        update={"status": "started", "started_at": started_at, "updated_at": tx.now}
    )
    if not rules.missing(picking):
        return finished(tx, record, picking, PickingEnd())
    return PICKINGS.replace(tx, record, picking)


def _pick(
    tx: Transaction, picking: StoredPicking, draft: PickDraft, substitution: Substitution
) -> tuple[StoredPicking, dict[int, dict[int, "Decimal"]]]:
    """Stage what a pick does to stock; the picking after it, and how much of which line it is."""
    wrong = rules.serial_problems(picking, draft)
    if wrong:
        raise ValidationFailed(wrong)
    found = rules.takings(picking, draft, substitution)
    source = _source(picking, found[0], draft)
    ledger = Ledger(tx, cause=MovementCause(type="picking", id=picking.id))
    spots = [spot for taking in found for spot in _spots(source, taking)]
    ledger.load(
        rows=list({taking.allocation.stock_id for taking in found}),
        targets=spots,
        movements=len(found),
    )
    if any(not taking.exact for taking in found):
        _ensure_pickable(tx, picking, draft)
    done: dict[int, dict[int, Decimal]] = {}
    moved = [(taking, _take(ledger, source, taking)) for taking in found]
    ledger.stage()
    for taking, staged in moved:
        picking = rules.picked(picking, taking, _kept(ledger, taking, staged))
        line = picking.lines[taking.line]
        of_document = done.setdefault(line.document_id, {})
        before = of_document.get(line.document_line, rules.NONE)
        of_document[line.document_line] = before + taking.qty
    return picking, done


@dataclass(frozen=True, slots=True)
class _Source:
    """The shelf that was picked from, as rows are found there."""

    product_id: int
    warehouse_id: int
    position_id: int
    bin_code: str
    batch: str | None

    def at(self, status: str, serial: str | None) -> StockRow:
        return place_of(
            product_id=self.product_id,
            warehouse_id=self.warehouse_id,
            position_id=self.position_id,
            bin_code=self.bin_code,
            status="staged" if status == "staged" else "available",
            batch=self.batch,
            serial=serial,
        )


def _source(picking: StoredPicking, taking: Taking, draft: PickDraft) -> _Source:
    line = picking.lines[taking.line]
    # The position's id is not part of the key; a row that is found has its own.
    position = taking.allocation.position_id
    return _Source(line.product_id, picking.warehouse_id, position, draft.bin_code, draft.batch)


def _spots(source: _Source, taking: Taking) -> list[StockRow]:
    spots = [source.at("staged", taking.serial)]
    return spots if taking.exact else [*spots, source.at("available", taking.serial)]


def _take(ledger: Ledger, source: _Source, taking: Taking) -> StockRow:
    """Move a taking from its shelf to the staged goods there; the staged row."""
    promised = ledger.row(taking.allocation.stock_id)
    if taking.exact:
        row = promised
    else:
        ledger.book.release(promised, taking.qty)
        row = _free_row(ledger, source, taking)
    staged = row.model_copy(update={"inventory_status": "staged"})
    try:
        came = ledger.book.move(
            "pick", taking.qty, source=row, target=staged, promised=taking.exact
        )
    except StockRefused as refused:
        raise Conflict(f"{row.item_code} {refused.message}") from refused
    return came or staged


def _free_row(ledger: Ledger, source: _Source, taking: Taking) -> StockRow:
    row = ledger.book.at(source.at("available", taking.serial))
    here = row is not None and (row.bin_code, row.batch_num, row.inventory_status) == (
        source.bin_code, source.batch, "available",
    )  # fmt: skip
    if row is None or not here or row.qty < taking.qty:
        if taking.serial is not None:
            message = f"serial {taking.serial} is not available at {source.bin_code}"
            raise ValidationFailed([Problem("serials", message)])
        message = f"is not there: {source.bin_code} has too little of it that is available"
        raise ValidationFailed([Problem("qty", message)])
    if row.qty - row.allocated < taking.qty:
        message = f"What is at {source.bin_code} is allocated to other work."
        raise Conflict(message)
    return row


def _ensure_pickable(tx: Transaction, picking: StoredPicking, draft: PickDraft) -> None:
    """What nobody was sent to must not be picked from where nobody may pick."""
    pair = (picking.whs_code, draft.bin_code)
    items = tx.store.get_many([warehouses.position_key(*pair)])
    position = warehouses.known_positions(tx, [pair], items).get(pair)
    wrong = None
    if position is None:
        wrong = f"is no position of warehouse {picking.whs_code}"
    elif position.disabled or position.blocked or not position.pickable:
        wrong = "is disabled or blocked for picking"
    if wrong:
        raise ValidationFailed([Problem("bin_code", wrong)])


def _kept(ledger: Ledger, taking: Taking, staged: StockRow) -> Pick:
    return Pick(
        staged_id=ledger.number_of(staged),
        position_id=staged.position_id or 0,
        bin_code=staged.bin_code or "",
        batch_num=staged.batch_num,
        serial=taking.serial,
        qty=taking.qty,
    )

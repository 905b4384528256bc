"""Picks: move allocated goods to staged stock at their position, where they await dispatch."""

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from shared.identity.tenancy.tenant import Substitution
from shared.kernel.db.collection import Record
from shared.kernel.db.parallel import run_both
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import DocumentProgress
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import Pick, PickDraft, PickingEnd, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.rules import PickPart
from shared.warehouse.picking.service import finalize, get_exit_picking, record_exit_progress
from shared.warehouse.stock.ledger import Ledger, row_at
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
    """Stage a pick for the exit documents of a picking; its goods become staged stock.

    Raises ValidationFailed when the goods are not allocated to the picking and may not be picked
    instead, Conflict unless the picking is started, or when the goods are allocated to other work.
    """
    record = get_exit_picking(tx.store, number)
    ensure_status("Picking", record.entity, "started")
    (picking, done), _ = run_both(
        lambda: _pick(tx, record.entity, draft, substitution),
        # Read at the same time for `record_exit_progress`, which then finds it in the cache.
        lambda: documents.get_documents(tx.store, "exit", _probable_document(record.entity, draft)),
    )
    record_exit_progress(
        tx, picking, {number: DocumentProgress(done=one) for number, one in done.items()}
    )
    return PICKINGS.replace(tx, record, picking.model_copy(update={"updated_at": tx.now}))


def _probable_document(picking: StoredPicking, draft: PickDraft) -> list[int]:
    """Return the document a pick is probably for: the first with an open line of the product."""
    waiting = (
        line.document_id
        for line in picking.lines
        if line.item_code == draft.item_code and line.picked_qty < line.qty
    )
    return list(islice(waiting, 1))


def pick_for_transfer_order(
    tx: Transaction, record: Record[StoredPicking], draft: PickDraft, substitution: Substitution
) -> Record[StoredPicking]:
    """Stage a pick for a transfer order; see `pick`.

    Its picking is started by its first pick and finalized by its last one.
    """
    ensure_status("Picking", record.entity, "pending", "started")
    picking, _ = _pick(tx, record.entity, draft, substitution)
    started_at = record.entity.started_at or tx.now
    picking = picking.model_copy(
        update={"status": "started", "started_at": started_at, "updated_at": tx.now}
    )
    if not rules.has_shortage(picking):
        return finalize(tx, record, picking, PickingEnd())
    return PICKINGS.replace(tx, record, picking)


def _pick(
    tx: Transaction, picking: StoredPicking, draft: PickDraft, substitution: Substitution
) -> tuple[StoredPicking, dict[int, dict[int, "Decimal"]]]:
    """Stage the stock changes of a pick.

    Returns the picking after it, and the picked quantities by document id and line number.
    """
    wrong = rules.serial_problems(picking, draft)
    if wrong:
        raise ValidationFailed(wrong)
    found = rules.split_pick(picking, draft, substitution)
    source = _source(picking, found[0], draft)
    ledger = Ledger(tx, cause=MovementCause(type="picking", id=picking.id))
    places = [place for part in found for place in _places(source, part)]
    ledger.load(
        rows=list({part.allocation.stock_id for part in found}),
        targets=places,
        movements=len(found),
    )
    if any(not part.exact for part in found):
        _ensure_pickable(tx, picking, draft)
    done: dict[int, dict[int, Decimal]] = {}
    moved = [(part, _stage_goods(ledger, source, part)) for part in found]
    ledger.post()
    for part, staged in moved:
        picking = rules.picked(picking, part, _stored_pick(ledger, part, staged))
        line = picking.lines[part.line]
        of_document = done.setdefault(line.document_id, {})
        before = of_document.get(line.document_line, rules.NONE)
        of_document[line.document_line] = before + part.qty
    return picking, done


@dataclass(frozen=True, slots=True)
class _Source:
    """The position and batch that were picked from."""

    product_id: int
    warehouse_id: int
    position_id: int
    bin_code: str
    batch: str | None

    def at(self, status: str, serial: str | None) -> StockRow:
        return row_at(
            product_id=self.product_id,
            warehouse_id=self.warehouse_id,
            position_id=self.position_id,
            bin_code=self.bin_code,
            status="staged" if status == "staged" else "available",
            batch=self.batch,
            serial=serial,
        )


def _source(picking: StoredPicking, part: PickPart, draft: PickDraft) -> _Source:
    line = picking.lines[part.line]
    # The id of the position is not part of a row's key; a row that is found has its own.
    position = part.allocation.position_id
    return _Source(line.product_id, picking.warehouse_id, position, draft.bin_code, draft.batch)


def _places(source: _Source, part: PickPart) -> list[StockRow]:
    places = [source.at("staged", part.serial)]
    return places if part.exact else [*places, source.at("available", part.serial)]


def _stage_goods(ledger: Ledger, source: _Source, part: PickPart) -> StockRow:
    """Move a part of a pick from available to staged stock; return the staged row."""
    allocated = ledger.row(part.allocation.stock_id)
    if part.exact:
        row = allocated
    else:
        ledger.changes.release(allocated, part.qty)
        row = _free_row(ledger, source, part)
    staged = row.model_copy(update={"inventory_status": "staged"})
    try:
        moved = ledger.changes.move(
            "pick", part.qty, source=row, target=staged, allocated=part.exact
        )
    except StockRefused as refused:
        message = f"The goods cannot be picked: {refused.message}."
        raise Conflict(message) from refused
    return moved or staged


def _free_row(ledger: Ledger, source: _Source, part: PickPart) -> StockRow:
    row = ledger.changes.find(source.at("available", part.serial))
    here = row is not None and (row.bin_code, row.batch_num, row.inventory_status) == (
        source.bin_code, source.batch, "available",
    )  # fmt: skip
    if row is None or not here or row.qty < part.qty:
        if part.serial is not None:
            message = f"serial {part.serial} is not available at {source.bin_code}"
            raise ValidationFailed([Problem("serials", message)])
        there = f"{row.qty.normalize():f}" if row and here else "0"
        message = f"{part.qty.normalize():f} picked, {there} available at {source.bin_code}"
        raise ValidationFailed([Problem("qty", message)])
    if row.qty - row.allocated < part.qty:
        free = (row.qty - row.allocated).normalize()
        message = (
            f"{part.qty.normalize():f} of {row.item_code} picked at {source.bin_code},"
            f" {free:f} free there; the rest is allocated to other work."
        )
        raise Conflict(message)
    return row


def _ensure_pickable(tx: Transaction, picking: StoredPicking, draft: PickDraft) -> None:
    """Raise ValidationFailed when goods may not be picked at the position of a pick."""
    pair = (picking.whs_code, draft.bin_code)
    items = tx.store.get_many([warehouses.position_key(*pair)])
    position = warehouses.known_positions(tx, [pair], items).get(pair)
    wrong = None
    if position is None:
        wrong = f"warehouse {picking.whs_code} has no position {draft.bin_code}"
    elif position.disabled or position.blocked or not position.pickable:
        wrong = f"position {draft.bin_code} is disabled, blocked or not pickable"
    if wrong:
        raise ValidationFailed([Problem("bin_code", wrong)])


def _stored_pick(ledger: Ledger, part: PickPart, staged: StockRow) -> Pick:
    return Pick(
        staged_id=ledger.row_id(staged),
        position_id=staged.position_id or 0,
        bin_code=staged.bin_code or "",
        batch_num=staged.batch_num,
        serial=part.serial,
        qty=part.qty,
    )

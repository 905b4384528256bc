"""Picks: move allocated goods to staged stock at their position, where they await dispatch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from shared.identity.tenancy.tenant import Substitution
from shared.kernel.db.collection import Record
from shared.kernel.db.parallel import run_all
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog.gtins import by_item_code
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import DocumentProgress
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import Pick, PickDraft, PickingEnd, StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.rules import PickPart
from shared.warehouse.picking.service import get_exit_picking, mark_finalized, record_exit_progress
from shared.warehouse.stock.models import (
    InventoryStatus,
    MovementCause,
    RowKey,
    StockRefused,
    StockRow,
)
from shared.warehouse.stock.posting import StockPosting
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.work_records import ensure_status, operator_from_start, read_operator

if TYPE_CHECKING:
    from decimal import Decimal


def pick(
    tx: Transaction,
    number: int,
    draft: Checked[PickDraft],
    substitution: Substitution,
) -> Record[StoredPicking]:
    """Pick goods for the exit documents of a picking; they become staged stock.

    Raises:
        ValidationFailed: The draft is invalid, or the goods are not allocated to the picking and
            may not be picked instead; with all problems.
        Conflict: The picking is not started, or the goods are allocated to other work.
    """
    return by_item_code(
        tx.store, draft, lambda named: _pick_for_documents(tx, number, named, substitution)
    )


def _pick_for_documents(
    tx: Transaction, number: int, draft: Checked[PickDraft], substitution: Substitution
) -> Record[StoredPicking]:
    record = get_exit_picking(tx.store, number)
    ensure_status("Picking", record.entity, "started")
    (picking, done), _ = run_all(
        lambda: _pick(tx, record.entity, draft, substitution),
        # Read at the same time for `record_exit_progress`, which then finds it in the cache.
        lambda: documents.get_documents(tx.store, "exit", _probable_document(record.entity, draft)),
    )
    progress = {
        document: DocumentProgress(done=quantities) for document, quantities in done.items()
    }
    record_exit_progress(tx, picking, progress)
    update = {"updated_at": tx.now, "operator": picking.operator or read_operator(tx)}
    return PICKINGS.replace(tx, record, picking.model_copy(update=update))


def _probable_document(picking: StoredPicking, draft: Checked[PickDraft]) -> list[int]:
    """Return the document a pick is probably for: the first with an open line of the product."""
    waiting = (
        line.document_id
        for line in picking.lines
        if line.item_code == draft.item_code and line.picked_qty < line.qty
    )
    return list(islice(waiting, 1))


def pick_for_transfer_order(
    tx: Transaction,
    record: Record[StoredPicking],
    draft: Checked[PickDraft],
    substitution: Substitution,
) -> Record[StoredPicking]:
    """Pick goods for a transfer order; see `pick`.

    Its picking is started by its first pick and finalized by its last one.
    """
    before = record.entity
    ensure_status("Picking", before, "pending", "started")
    (picking, _), acting = run_all(
        lambda: by_item_code(tx.store, draft, lambda named: _pick(tx, before, named, substitution)),
        lambda: read_operator(tx),
    )
    operator = before.operator or acting
    if before.status == "pending":
        operator = operator_from_start(before.operator, before.user_id, acting)
    picking = picking.model_copy(
        update={
            "status": "started",
            "started_at": before.started_at or tx.now,
            "updated_at": tx.now,
            "operator": operator,
        }
    )
    if not rules.has_shortage(picking):
        return mark_finalized(tx, record, picking, PickingEnd())
    return PICKINGS.replace(tx, record, picking)


def _pick(
    tx: Transaction,
    picking: StoredPicking,
    checked: Checked[PickDraft],
    substitution: Substitution,
) -> tuple[StoredPicking, dict[int, dict[int, "Decimal"]]]:
    """Make the stock changes of a pick.

    Returns the picking after it, and the picked quantities by document id and line number.
    """
    problems = list(rules.pick_problems(picking, checked, substitution))
    if not rules.is_allocated_at(picking, checked):
        problems += _position_problems(tx, picking, checked)
    draft = ensure_valid(checked, problems)
    found = rules.split_pick(picking, draft, substitution)
    if any(not part.exact for part in found):
        ensure_valid(draft, _position_problems(tx, picking, draft))
    product = picking.lines[found[0].line].product_id
    source = _Source(product, picking.warehouse_id, draft.bin_code, draft.batch)
    posting = StockPosting(tx, cause=MovementCause(type="picking", id=picking.id))
    posting.load(
        rows=list({part.allocation.stock_id for part in found}),
        targets=[key for part in found for key in _row_keys(source, part)],
        movements=len(found),
    )
    done: dict[int, dict[int, Decimal]] = {}
    moved = _stage_all(posting, source, found)
    posting.post()
    for part, staged in moved:
        picking = rules.picked(picking, part, _stored_pick(posting, part, staged))
        line = picking.lines[part.line]
        of_document = done.setdefault(line.document_id, {})
        before = of_document.get(line.document_line, ZERO)
        of_document[line.document_line] = before + part.qty
    return picking, done


@dataclass(frozen=True, slots=True)
class _Source:
    """The position and batch that were picked from."""

    product_id: int
    warehouse_id: int
    bin_code: str
    batch: str | None

    def row(self, status: InventoryStatus, serial: str | None) -> RowKey:
        return RowKey(self.product_id, self.warehouse_id, self.bin_code, status, self.batch, serial)


def _row_keys(source: _Source, part: PickPart) -> list[RowKey]:
    staged = source.row("staged", part.serial)
    return [staged] if part.exact else [staged, source.row("available", part.serial)]


def _stage_all(
    posting: StockPosting, source: _Source, parts: Sequence[PickPart]
) -> list[tuple[PickPart, StockRow]]:
    """Move the parts of a pick to staged stock; raise ValidationFailed with all problems."""
    moved: list[tuple[PickPart, StockRow]] = []
    problems: list[Problem] = []
    for part in parts:
        try:
            moved.append((part, _stage_goods(posting, source, part)))
        except ValidationFailed as error:
            problems += error.problems
    if problems:
        raise ValidationFailed(problems)
    return moved


def _stage_goods(posting: StockPosting, source: _Source, part: PickPart) -> StockRow:
    """Move a part of a pick from available to staged stock; return the staged row."""
    allocated = posting.row(part.allocation.stock_id)
    if part.exact:
        row = allocated
    else:
        posting.changes.release(allocated, part.qty)
        row = _free_row(posting, source, part)
    staged = row.model_copy(update={"inventory_status": "staged"})
    try:
        moved = posting.changes.move(
            "pick", part.qty, source=row, target=staged, allocated=part.exact
        )
    except StockRefused as refused:
        message = f"The goods cannot be picked: {refused.message}."
        raise Conflict(message) from refused
    return moved or staged


def _free_row(posting: StockPosting, source: _Source, part: PickPart) -> StockRow:
    row = posting.changes.find(source.row("available", part.serial))
    here = row is not None and (row.bin_code, row.batch_num, row.inventory_status) == (
        source.bin_code, source.batch, "available",
    )  # fmt: skip
    if row is None or not here or row.qty < part.qty:
        if part.serial is not None:
            message = f"serial {part.serial} is not available at {source.bin_code}"
            raise ValidationFailed([Problem("serials", message)])
        there = plain(row.qty) if row and here else "0"
        message = f"{plain(part.qty)} picked, {there} available at {source.bin_code}"
        raise ValidationFailed([Problem("qty", message)])
    if row.qty - row.allocated < part.qty:
        free = (row.qty - row.allocated).normalize()
        message = (
            f"{plain(part.qty)} of {row.item_code} picked at {source.bin_code},"
            f" {free:f} free there; the rest is allocated to other work."
        )
        raise Conflict(message)
    return row


def _position_problems(
    tx: Transaction, picking: StoredPicking, draft: Checked[PickDraft]
) -> Iterator[Problem]:
    """Yield why goods may not be picked at the position of a pick."""
    if draft.bin_code is None:
        return
    pair = (picking.whs_code, draft.bin_code)
    items = tx.store.get_many([warehouses.position_key(*pair)])
    position = warehouses.known_positions(tx, [pair], items).get(pair)
    if position is None:
        message = f"warehouse {picking.whs_code} has no position {draft.bin_code}"
        yield Problem("bin_code", message)
    elif position.disabled or position.blocked or not position.pickable:
        message = f"position {draft.bin_code} is disabled, blocked or not pickable"
        yield Problem("bin_code", message)


def _stored_pick(posting: StockPosting, part: PickPart, staged: StockRow) -> Pick:
    return Pick(
        staged_id=posting.row_id(staged),
        position_id=staged.position_id or 0,
        bin_code=staged.bin_code or "",
        batch_num=staged.batch_num,
        serial=part.serial,
        qty=part.qty,
    )

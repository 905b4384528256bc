"""Cancel and revert receipts, or undo a line: goods they received leave the stock again."""

from collections.abc import Sequence
from decimal import Decimal

from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog.gtins import goods_resolved
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.receiving import rules
from shared.warehouse.receiving.actions import ACTIONS
from shared.warehouse.receiving.models import ReceiptLineDraft, StoredReceipt, StoredReceiptLine
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.receiving.service import entry_document_of
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import MovementCause, StockRefused
from shared.warehouse.stock.posting import StockPosting, fence_master_data, read_ahead
from shared.warehouse.work.models import WorkStatus

_ACTIONS_PER_ROW = 2
"""Actions that a stock row takes at least: itself and its movement."""


def cancel_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Cancel a receipt that has not ended; the goods it received leave the stock.

    Raises:
        Conflict: Some of its goods are not there any more, or are allocated.
    """
    return _undo(tx, number, "cancel", "cancelled")


def revert_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Revert a receipt that was finalized; the goods it received leave the stock.

    Raises:
        Conflict: Some of its goods are not there any more, or are allocated.
    """
    return _undo(tx, number, "revert", "reverted")


def undo_line(
    tx: Transaction, number: int, draft: Checked[ReceiptLineDraft]
) -> tuple[Record[StoredReceipt], Record[Document]]:
    """Take goods that a started receipt received out of the stock; return receipt and document.

    The last ones are taken first. What was approved of them stays recorded.

    Raises:
        Conflict: Some of the goods are not there any more, or are allocated.
    """
    with goods_resolved(tx.store, [draft]) as [named]:
        record = RECEIPTS.get(tx.store, number)
        receipt = record.entity
        ACTIONS.ensure(receipt, "undo")
        document = entry_document_of(tx.store, receipt)
        valid = ensure_valid(named, rules.undo_problems(receipt, document.entity, named))
    parts = rules.split_undo(receipt, valid)
    rows = rules.undone_rows(receipt, parts)
    posting = StockPosting(tx, cause=MovementCause(type="receipt", id=number))
    posting.load(rows=list(rows), movements=len(rows))
    for goods in rows.items():
        _book_row(tx, posting, receipt.lines[parts[0].line], goods)
    posting.post()
    lines = rules.without_parts(receipt, parts)
    progress = DocumentProgress(done=rules.quantities_between(receipt.lines, lines))
    advanced = documents.advance_document(tx, "entry", document, progress)
    return RECEIPTS.save(tx, record, receipt, lines=lines), advanced


def _undo(tx: Transaction, number: int, action: str, status: WorkStatus) -> Record[StoredReceipt]:
    """Record that a receipt that admits `action` has received nothing and is `status`.

    Goods that do not fit into one transaction leave the stock before, in steps. The first step
    is committed only when all of the goods can leave.
    """
    is_first = True

    def step() -> Record[StoredReceipt] | None:
        nonlocal is_first
        # Without the fence, a deletion that reads open documents before this commit, and stock
        # after it, would find neither.
        record, _ = run_all(lambda: RECEIPTS.get(tx.store, number), lambda: fence_master_data(tx))
        receipt = record.entity
        ACTIONS.ensure(receipt, action)
        lines = rules.lines_to_undo(receipt)
        undone, item_codes = _undo_lines(tx, receipt, lines)
        is_last = len(undone) == len(lines)
        if is_first and not is_last:
            _ensure_can_leave(tx, receipt, lines)
        is_first = False
        progress = DocumentProgress(
            done=rules.undone_quantities(receipt, undone),
            ended_work=number if is_last else None,
            item_codes=item_codes,
        )
        documents.advance_document(tx, "entry", entry_document_of(tx.store, receipt), progress)
        changed = rules.with_undone(receipt, undone)
        if is_last:
            return RECEIPTS.save(tx, record, receipt, lines=changed, status=status)
        RECEIPTS.save(tx, record, receipt, lines=changed)
        return None

    return run_steps(tx, step)


def _undo_lines(
    tx: Transaction, receipt: StoredReceipt, lines: Sequence[int]
) -> tuple[list[int], dict[int, str]]:
    """Record that the goods of as many lines as fit leave the stock.

    Returns:
        These lines, and the present codes of their products, which may have got others since.
    """
    posting = StockPosting(tx, cause=MovementCause(type="receipt", id=receipt.id))

    def rows_of(at: int) -> int:
        return len(receipt.lines[at].stock_ids)

    ahead = read_ahead(
        lines, lambda at: receipt.lines[at].product_id, lambda at: _ACTIONS_PER_ROW * rows_of(at)
    )
    posting.load(rows=_stock_ids(receipt, ahead), movements=sum(map(rows_of, ahead)))
    undone = posting.add_while_fitting(ahead, lambda at: _book_line(tx, posting, receipt.lines[at]))
    posting.post(later={receipt.lines[at].product_id for at in lines[len(undone) :]})
    rows = map(posting.row, _stock_ids(receipt, undone))
    return undone, {row.product_id: row.item_code for row in rows}


def _ensure_can_leave(tx: Transaction, receipt: StoredReceipt, lines: Sequence[int]) -> None:
    """Raise Conflict when the goods of one of the lines are not there or not free."""
    posting = StockPosting(tx)
    posting.load(rows=_stock_ids(receipt, lines), movements=0)
    for at in lines:
        _book_line(tx, posting, receipt.lines[at])


def _stock_ids(receipt: StoredReceipt, lines: Sequence[int]) -> list[int]:
    return [number for at in lines for number in receipt.lines[at].stock_ids]


def _book_line(tx: Transaction, posting: StockPosting, line: StoredReceiptLine) -> None:
    for number in line.stock_ids:
        _book_row(tx, posting, line, (number, line.qty / len(line.stock_ids)))


def _book_row(
    tx: Transaction, posting: StockPosting, line: StoredReceiptLine, goods: tuple[int, Decimal]
) -> None:
    """Take a quantity of a line out of a stock row; Conflict when it is not there or not free."""
    number, qty = goods
    row = posting.row(number)
    if (row.position_id, row.inventory_status) != (line.position_id, line.inventory_status):
        name = row.item_code
        if row.serial_number is not None:
            name = f"Serial {row.serial_number} of {name}"
        raise Conflict(
            f"{name} is no longer at {line.bin_code} with the status {line.inventory_status};"
            f" in stock: {stock.places_text(tx.store, row)}."
        )
    try:
        posting.changes.move("receipt_undone", qty, source=row)
    except StockRefused as refused:
        places = stock.places_text(tx.store, row)
        raise Conflict(
            f"The received goods are no longer available: {refused}; in stock: {places}."
        ) from refused

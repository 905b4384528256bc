"""Putting received goods back out of stock: cancelled and reverted receipts."""

from collections.abc import Iterable

from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Progress
from shared.warehouse.receiving import rules
from shared.warehouse.receiving.models import StoredReceipt, StoredReceiptLine
from shared.warehouse.receiving.service import changed, document_of, receipt_of_entry
from shared.warehouse.stock.ledger import Ledger
from shared.warehouse.stock.models import MovementCause, StockRefused
from shared.warehouse.work_records import WorkStatus, ensure_status


def cancel_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Give a receipt up; what it received is put back.

    Raises Conflict unless it is pending or started, and its goods are still there and free.
    """
    return _undo(tx, number, "cancelled", "pending", "started")


def revert_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Take a receipt back that had ended; what it received is put back.

    Raises Conflict unless it is finalized or synchronized, and its goods are still there and
    free.
    """
    return _undo(tx, number, "reverted", "finalized", "synchronized")


def _undo(
    tx: Transaction, number: int, status: WorkStatus, *allowed: WorkStatus
) -> Record[StoredReceipt]:
    """Stage the end of a receipt without goods.

    What is more than one transaction holds is put back before, in steps of their own, once
    it is known that all of it can be; repeated, they go on where they ended.
    """
    record = receipt_of_entry(tx.store, number)
    ensure_status("receipt", record.entity, *allowed)
    if _is_long(record.entity):
        trial = Ledger(tx)
        _put_back(trial, record.entity, rules.standing(record.entity), movements=0)
    while _is_long(record.entity):
        run_transaction(tx.store, lambda own: _step(own, number, *allowed), caller=tx.caller)
        tx.store.clear_cache()
        record = receipt_of_entry(tx.store, number)
        ensure_status("receipt", record.entity, *allowed)
    receipt = _taken_back(tx, record.entity, Progress(ends=number))
    return changed(tx, record, receipt, status=status)


def _is_long(receipt: StoredReceipt) -> bool:
    return len(rules.next_step(receipt)) < len(rules.standing(receipt))


def _step(own: Transaction, number: int, *allowed: WorkStatus) -> None:
    record = receipt_of_entry(own.store, number)
    ensure_status("receipt", record.entity, *allowed)
    changed(own, record, _taken_back(own, record.entity, Progress()))


def _taken_back(tx: Transaction, receipt: StoredReceipt, progress: Progress) -> StoredReceipt:
    """Stage that the goods of the next lines leave, and what that means to the document."""
    lines = rules.next_step(receipt)
    ledger = Ledger(tx, cause=MovementCause(type="receipt", id=receipt.id))
    rows = sum(len(receipt.lines[at].stock_ids) for at in lines)
    _put_back(ledger, receipt, lines, movements=rows)
    ledger.stage()
    told = Progress(done=rules.less_done(receipt, lines), ends=progress.ends)
    documents.advance_document(tx, "entry", document_of(tx.store, receipt), told)
    return rules.undone(receipt, lines)


def _put_back(
    ledger: Ledger, receipt: StoredReceipt, lines: Iterable[int], *, movements: int
) -> None:
    """Book the goods of some lines out. Raises Conflict when they are not there or not free."""
    goods = [receipt.lines[at] for at in lines]
    numbers = [number for line in goods for number in line.stock_ids]
    ledger.load(rows=numbers, movements=movements)
    for line in goods:
        for number in line.stock_ids:
            _put_row_back(ledger, line, number)


def _put_row_back(ledger: Ledger, line: StoredReceiptLine, number: int) -> None:
    row = ledger.row(number)
    if (row.position_id, row.inventory_status) != (line.position_id, line.inventory_status):
        message = (
            f"Serial {row.serial_number} of {row.item_code} is no longer at {line.bin_code}"
            f" as {line.inventory_status}."
        )
        raise Conflict(message)
    qty = line.qty / len(line.stock_ids)
    try:
        ledger.book.move("receipt_undone", qty, source=row)
    except StockRefused as refused:
        message = f"What was received is not free any more: {qty.normalize():f} {refused.message}."
        raise Conflict(message) from refused

"""Responses that show receipts."""

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.kernel.fields import dict_of
from shared.warehouse.documents.models import Difference
from shared.warehouse.receiving.actions import ACTIONS
from shared.warehouse.receiving.models import (
    Receipt,
    ReceiptDetail,
    ReceiptLine,
    StoredReceipt,
    StoredReceiptLine,
)
from shared.warehouse.work.models import Fill


def receipt_in_list(record: Record[StoredReceipt]) -> Receipt:
    """Return the response for a receipt in a list, without its lines."""
    return Receipt.from_stored(record.entity)


RECEIPT_EVENTS = EventResource("receipt", "/receipts/{record.id}", receipt_in_list)


def receipt_in_detail(
    record: Record[StoredReceipt], differences: list[Difference]
) -> ReceiptDetail:
    """Return the response for one receipt, with its lines.

    A cancelled or reverted receipt shows all lines it ever had, any other those in stock.
    """
    receipt = record.entity
    is_undone = receipt.status in {"cancelled", "reverted"}
    lines = [_line(receipt, line) for line in receipt.lines if is_undone or not line.undone]
    admitted = ACTIONS.admitted(receipt)
    return ReceiptDetail.from_stored(
        receipt, lines=lines, differences=differences, actions=admitted
    )


def _line(receipt: StoredReceipt, line: StoredReceiptLine) -> ReceiptLine:
    document, references = receipt.document.id, receipt.external_refs
    fills = [
        Fill(document_id=document, line_num=number, external_ref=references.get(number), qty=qty)
        for number, qty in line.document_lines.items()
    ]
    return dict_of(ReceiptLine, line, fills=fills)

"""Work records as the interface shows them."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from shared.db.collection import Record
from shared.work.models import (
    Allocation,
    DocumentReference,
    Pick,
    Picking,
    PickingDetail,
    PickingLine,
    Receipt,
    ReceiptDetail,
    ReceiptLine,
    StoredPicking,
    StoredPickingLine,
    StoredReceipt,
    StoredReceiptLine,
    StoredTransfer,
    Transfer,
    TransferDetail,
)


def receipt_in_list(record: Record[StoredReceipt]) -> Receipt:
    """Show a receipt without its lines."""
    return Receipt.model_construct(**_receipt(record.entity))


def receipt_in_detail(record: Record[StoredReceipt]) -> ReceiptDetail:
    """Show a receipt with its lines; once it is taken back, with those that it had."""
    receipt = record.entity
    taken_back = receipt.status in {"cancelled", "reverted"}
    lines = [_receipt_line(line) for line in receipt.lines if taken_back or not line.undone]
    return ReceiptDetail.model_construct(**_receipt(receipt), lines=lines)


def picking_in_list(record: Record[StoredPicking]) -> Picking:
    """Show a picking without its lines."""
    return Picking.model_construct(**_picking(record.entity))


def picking_in_detail(record: Record[StoredPicking]) -> PickingDetail:
    """Show a picking with its lines."""
    picking = record.entity
    lines = [shown for line in picking.lines for shown in _picking_lines(line)]
    return PickingDetail.model_construct(
        **_picking(picking), carrier_code=picking.carrier_code, lines=lines
    )


def transfer_in_list(record: Record[StoredTransfer]) -> Transfer:
    """Show a transfer without its lines."""
    return Transfer.model_construct(**_transfer(record.entity))


def transfer_in_detail(record: Record[StoredTransfer]) -> TransferDetail:
    """Show a transfer with its lines."""
    transfer = record.entity
    return TransferDetail.model_construct(**_transfer(transfer), lines=transfer.lines)


def _receipt(receipt: StoredReceipt) -> dict[str, Any]:
    return _work(receipt, receipt.document)


def _picking(picking: StoredPicking) -> dict[str, Any]:
    first = next(iter(picking.documents), None)
    return {
        **_work(picking, first),
        "code": f"PKG-{picking.id}",
        "priority": picking.priority,
        "has_shortage": picking.has_shortage,
    }


def _work(
    work: StoredReceipt | StoredPicking, document: DocumentReference | None
) -> dict[str, Any]:
    return {
        "id": work.id,
        "uuid": work.uuid,
        "concept": work.concept,
        "status": work.status,
        "comments": work.comments,
        "user_id": work.user_id,
        "operator": work.operator,
        "document": document,
        "started_at": work.started_at,
        "finalized_at": work.finalized_at,
        "created_at": work.created_at,
        "updated_at": work.updated_at,
    }


def _receipt_line(line: StoredReceiptLine) -> ReceiptLine:
    return ReceiptLine.model_construct(
        product_id=line.product_id,
        item_code=line.item_code,
        qty=line.qty,
        batch_num=line.batch_num,
        serials=line.serials,
    )


def _picking_lines(line: StoredPickingLine) -> Iterator[PickingLine]:
    """Show a line once per position and batch, and once more for what no stock was found for."""
    places: dict[tuple[str | None, str | None], list[Allocation | Pick]] = {}
    parts: list[Allocation | Pick] = [*line.picks, *line.allocations]
    for part in parts:
        places.setdefault((part.bin_code, part.batch_num), []).append(part)
    placed = Decimal(0)
    for (bin_code, batch), found in places.items():
        qty = sum((part.qty for part in found), Decimal(0))
        picked = sum((part.qty for part in found if isinstance(part, Pick)), Decimal(0))
        placed += qty
        yield PickingLine.model_construct(
            product_id=line.product_id,
            item_code=line.item_code,
            qty=qty,
            picked_qty=picked,
            bin_code=bin_code,
            batch_num=batch,
            serials=[part.serial for part in found if part.serial is not None],
            status="picked" if picked == qty else "partial" if picked else "open",
        )
    if placed < line.qty:
        yield PickingLine.model_construct(
            product_id=line.product_id,
            item_code=line.item_code,
            qty=line.qty - placed,
            picked_qty=Decimal(0),
            bin_code=None,
            batch_num=line.batch_num,
            serials=[],
            status="short" if line.status == "short" else "open",
        )


def _transfer(transfer: StoredTransfer) -> dict[str, Any]:
    return {
        "id": transfer.id,
        "status": transfer.status,
        "wms_status": transfer.status,
        "sap_status": transfer.sap_status,
        "from_whs_code": transfer.from_whs_code,
        "to_whs_code": transfer.to_whs_code,
        "doc_entry": transfer.doc_entry,
        "message": transfer.message,
        "user_id": transfer.user_id,
        "operator": transfer.operator,
        "created_at": transfer.created_at,
        "updated_at": transfer.updated_at,
    }

"""Responses that show transfers."""

from typing import Any

from shared.kernel.db.collection import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.transfers.models import StoredTransfer, Transfer, TransferDetail


def transfer_in_list(record: Record[StoredTransfer]) -> Transfer:
    """Return the response for a transfer in a list, without its lines."""
    return Transfer.model_construct(**_transfer(record.entity))


TRANSFER_EVENTS = EventResource("transfer", "/transfers/{record.id}", transfer_in_list)


def transfer_in_detail(record: Record[StoredTransfer]) -> TransferDetail:
    """Return the response for one transfer, with its lines."""
    transfer = record.entity
    return TransferDetail.model_construct(**_transfer(transfer), lines=transfer.lines)


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

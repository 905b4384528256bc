"""Responses that show transfers."""

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.transfers.actions import ACTIONS
from shared.warehouse.transfers.models import StoredTransfer, Transfer, TransferDetail


def transfer_in_list(record: Record[StoredTransfer]) -> Transfer:
    """Return the response for a transfer in a list, without its lines."""
    return Transfer.from_stored(record.entity, wms_status=record.entity.status)


TRANSFER_EVENTS = EventResource("transfer", "/transfers/{record.id}", transfer_in_list)


def transfer_in_detail(record: Record[StoredTransfer]) -> TransferDetail:
    """Return the response for one transfer, with its lines."""
    transfer = record.entity
    admitted = ACTIONS.admitted(transfer)
    return TransferDetail.from_stored(transfer, wms_status=transfer.status, actions=admitted)

"""Use cases of work records."""

from shared.db.collection import Record
from shared.db.listing import Page
from shared.db.store import Store
from shared.work import repository
from shared.work.models import (
    PickingParameters,
    ReceiptParameters,
    StoredPicking,
    StoredReceipt,
    StoredTransfer,
    TransferParameters,
)
from shared.work.repository import PICKINGS, RECEIPTS, TRANSFERS


def get_receipt(store: Store, number: int) -> Record[StoredReceipt]:
    """Read a receipt; NotFound when there is none."""
    return RECEIPTS.get(store, number)


def list_receipts(
    store: Store, parameters: ReceiptParameters, timezone: str
) -> Page[StoredReceipt]:
    """Read a page of receipts; `from` and `to` are days in the time zone."""
    return repository.list_receipts(store, parameters, timezone)


def get_picking(store: Store, number: int) -> Record[StoredPicking]:
    """Read a picking; NotFound when there is none."""
    return PICKINGS.get(store, number)


def list_pickings(
    store: Store, parameters: PickingParameters, timezone: str
) -> Page[StoredPicking]:
    """Read a page of pickings; `from` and `to` are days in the time zone."""
    return repository.list_pickings(store, parameters, timezone)


def get_transfer(store: Store, number: int) -> Record[StoredTransfer]:
    """Read a transfer; NotFound when there is none."""
    return TRANSFERS.get(store, number)


def list_transfers(
    store: Store, parameters: TransferParameters, timezone: str
) -> Page[StoredTransfer]:
    """Read a page of transfers; `from` and `to` are days in the time zone."""
    return repository.list_transfers(store, parameters, timezone)

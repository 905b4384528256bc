"""Transfers that replenish pick faces.

Those that wait for their execution are in an item for each product and warehouse: for each pick
face, the id of its transfer. Whoever creates one replaces the item as it was read. So a pick face
never has two, and two pick faces never count on the same stock.
"""

from collections.abc import Iterable, Mapping, Sequence

from shared.kernel import references
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.outbox import raise_record_event
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.transfers import views
from shared.warehouse.transfers.models import StoredTransfer, TransferLine
from shared.warehouse.transfers.repository import TRANSFERS, replenished_key

REASON = "replenishment"


def waiting(store: Store, whs_code: str, products: Iterable[int]) -> dict[int, dict[int, int]]:
    """Return the waiting replenishments: product → pick face → transfer."""
    keys = {product: replenished_key(whs_code, product) for product in products}
    found = store.get_many(keys.values())
    return {product: waiting_in(found.get(key)) for product, key in keys.items()}


def create(
    tx: Transaction,
    whs_code: str,
    pick_face_id: int,
    lines: Sequence[TransferLine],
    known: MasterData,
) -> Record[StoredTransfer]:
    """Create a waiting transfer to a pick face, and raise transfer.created.

    `known` is the master data that the lines name; `record_waiting` follows.
    """
    number = tx.next_id(TRANSFERS.kind)
    transfer = StoredTransfer(
        id=number,
        status="pending",
        from_whs_code=whs_code,
        to_whs_code=whs_code,
        reason=REASON,
        user_id=tx.caller.user_id if tx.caller else None,
        pick_face_id=pick_face_id,
        created_at=tx.now,
        updated_at=tx.now,
        lines=list(lines),
    )
    return insert_waiting(tx, transfer, known)


def insert_waiting(
    tx: Transaction, transfer: StoredTransfer, known: MasterData
) -> Record[StoredTransfer]:
    """Insert a transfer that is not executed yet, with what it refers to."""
    ids = {
        "product": [line.product_id for line in transfer.lines],
        "warehouse": [warehouse.id for warehouse in known.warehouses.values()],
        "position": [position.id for position in known.positions.values()],
    }
    references.register_references(tx, TRANSFERS.kind, transfer.id, ids)
    record = TRANSFERS.insert(tx, transfer.id, transfer)
    raise_record_event(tx, "transfer.created", views.TRANSFER_EVENTS, record)
    return record


def record_waiting(
    tx: Transaction, whs_code: str, product_id: int, transfers: Mapping[int, int]
) -> None:
    """Add waiting replenishments of a product, pick face → transfer, to those that were read."""
    key = replenished_key(whs_code, product_id)
    stored = tx.store.get(key)
    replace_waiting(tx, key, stored, {**waiting_in(stored), **transfers})


def waiting_key(transfer: StoredTransfer) -> list[Key]:
    """Return the key of the item that has a transfer, if it replenishes a pick face."""
    if transfer.pick_face_id is None:
        return []
    return [replenished_key(transfer.to_whs_code or "", transfer.lines[0].product_id)]


def end_waiting(tx: Transaction, transfer: StoredTransfer) -> None:
    """Remove a transfer that waits no more, if it replenishes a pick face."""
    for key in waiting_key(transfer):
        stored = tx.store.get(key)
        left = {face: one for face, one in waiting_in(stored).items() if one != transfer.id}
        replace_waiting(tx, key, stored, left)


def replace_waiting(
    tx: Transaction, key: Key, stored: Item | None, transfers: Mapping[int, int]
) -> None:
    """Replace the waiting replenishments of a product by others, pick face → transfer."""
    version = int(stored["version"]) if stored else 0
    if transfers:
        shown = {str(face): one for face, one in transfers.items()}
        tx.replace(item_at(key, version=version + 1, transfers=shown), version=version)
    elif stored:
        tx.delete(key, condition="version = :seen", values={":seen": version}, as_read=True)


def waiting_in(stored: Item | None) -> dict[int, int]:
    """Return the waiting replenishments of a product that its item has, pick face → transfer."""
    found = stored["transfers"] if stored else {}
    return {int(face): int(one) for face, one in found.items()}

"""The stored items of reconciliations, which expire.

No list shows them, so they have no index entries. docs/internals/storage.md lists their keys.
"""

from shared.integration.reconciliations.models import KEPT_DAYS, StoredReconciliation
from shared.kernel.clock import now_ms
from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Key
from shared.kernel.db.records import HEAD, Record, decode_entity, encode_entity, tail_keys_of
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound

KIND = "reconciliation"
"""Kind of the items, and of the sequence of their ids."""
_SECONDS = KEPT_DAYS * 86_400


def _key(number: int) -> Key:
    return (f"{KIND}#{id_text(number)}", HEAD)


def get_reconciliation(store: Store, number: int) -> Record[StoredReconciliation]:
    """Read a reconciliation.

    Raises:
        NotFound: There is none with this id, or it has expired.
    """
    head = store.get(_key(number))
    record = None
    if head and head[EXPIRY] > now_ms() // 1000:
        record = decode_entity(StoredReconciliation, head, store.get_many(tail_keys_of(head)))
    if record is None:
        raise NotFound(f"Reconciliation {number}")
    return record


def put_reconciliation(
    tx: Transaction, stored: StoredReconciliation, former: Record[StoredReconciliation] | None
) -> Record[StoredReconciliation]:
    """Add a reconciliation, or replace the former one unless it has changed since it was read."""
    record = Record(stored.id, former.version + 1 if former else 1, stored)
    record, head, tails = encode_entity(_key(stored.id), f"Reconciliation {stored.id}", record)
    expiry = {EXPIRY: tx.now_ms // 1000 + _SECONDS}
    if former is None:
        tx.insert(head | expiry)
    else:
        tx.put(
            head | expiry,
            condition="version = :seen",
            values={":seen": former.version},
            as_read=True,
        )
    for tail in tails:
        tx.put(tail | expiry)
    return record

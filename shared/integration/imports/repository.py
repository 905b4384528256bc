"""The stored items of imports. docs/internals/storage.md lists their keys and indexes."""

from shared.integration.imports.models import StoredImport
from shared.kernel.clock import now_ms
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import facets_of
from shared.kernel.db.indexes import Partition
from shared.kernel.db.items import Key, alias_key, item_at
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY
from shared.kernel.db.transaction import Transaction

REQUEST_ALIAS_SECONDS = 86_400
"""Lifetime of the alias of a request: as long as its Idempotency-Key."""
_FILE_ALIAS_SECONDS = 90 * 86_400
"""Lifetime of the aliases of files: as long as the files are kept."""


IMPORTS = Collection(
    kind="import",
    noun="Import",
    listed_as="import",
    model=StoredImport,
    facets=facets_of("status", "kind", "created_at", "updated_at"),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "kind": Partition({"created_at": 4}),
    },
)


def contents_alias_key(digest: str) -> Key:
    """Return the key of the alias from a file's SHA-256 to the last import of this content."""
    return alias_key("import_contents", digest)


def origin_alias_key(origin: str) -> Key:
    """Return the key of the alias from a request or a received file to its import."""
    return alias_key("import_origin", origin)


def find_by_alias(store: Store, key: Key) -> int | None:
    """Return the id of the import that an alias refers to, or None."""
    item = store.get(key)
    return int(item["id"]) if item and item[EXPIRY] > now_ms() // 1000 else None


def put_alias(
    tx: Transaction,
    key: Key,
    import_id: int,
    *,
    must_be_new: bool = False,
    seconds: int = _FILE_ALIAS_SECONDS,
) -> None:
    """Add an alias of an import.

    If it `must_be_new`, the transaction is retried if the alias exists. `seconds` is its lifetime.
    """
    expiry = tx.now_ms // 1000 + seconds
    item = item_at(key, id=import_id, **{EXPIRY: expiry})
    if must_be_new:
        tx.insert(item)
    else:
        tx.put(item)

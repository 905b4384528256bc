"""The items of imports. Keys and indexes: see docs/storage.md."""

from shared.integration.imports.models import ImportParameters, StoredImport
from shared.kernel.clock import now_ms
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.items import Key, alias_key
from shared.kernel.db.listing import Page, read_page
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction

REPEATED_SECONDS = 86_400
"""How long a request may be repeated under its Idempotency-Key."""
_REMEMBERED_SECONDS = 90 * 86_400
"""How long files and arrivals are recognised; as long as the files are kept."""


def _facets(one: StoredImport) -> Facets:
    return {
        "status": one.status,
        "kind": one.kind,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }


IMPORTS = Collection(
    kind="import",
    noun="Import",
    model=StoredImport,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": {"created_at": 3, "updated_at": 4},
        "kind": {"created_at": 5, "updated_at": 6},
    },
)


def list_imports(store: Store, parameters: ImportParameters, timezone: str) -> Page[StoredImport]:
    """Read a page of imports; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={"status": parameters.status, "kind": parameters.kind},
        between=parameters.created(timezone),
    )
    return read_page(store, IMPORTS, query)


def contents_key(digest: str) -> Key:
    """Key of what leads from the contents of a file to the import that had them last."""
    return alias_key("import_contents", digest)


def origin_key(origin: str) -> Key:
    """Key of what leads from what began an import, a request or an arrival, to the import."""
    return alias_key("import_origin", origin)


def found_import(store: Store, key: Key) -> int | None:
    """Id of the import that a key leads to; None when it leads to none."""
    item = store.get(key)
    return int(item["id"]) if item and item[EXPIRY] > now_ms() // 1000 else None


def lead_to(
    tx: Transaction,
    key: Key,
    number: int,
    *,
    new: bool = False,
    seconds: int = _REMEMBERED_SECONDS,
) -> None:
    """Stage that a key leads to an import, for so long.

    `new`: overtaken when it leads somewhere already.
    """
    partition, sort = key
    expiry = tx.now_ms // 1000 + seconds
    item = {PARTITION_KEY: partition, SORT_KEY: sort, "id": number, EXPIRY: expiry}
    if new:
        tx.insert(item)
    else:
        tx.put(item)

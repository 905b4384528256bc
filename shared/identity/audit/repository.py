"""The items of the audit log. Entries are inserted and read, never changed or deleted."""

from shared.identity.audit.models import AuditParameters, StoredEntry
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.listing import read_page
from shared.kernel.db.page import Page
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction


def _facets(entry: StoredEntry) -> Facets:
    return {
        "action": entry.action,
        "actor_type": entry.actor.type,
        "actor": entry.actor.id,
        "target_type": entry.target.type,
        "target": entry.target.id,
        "created_at": entry.created_at,
        # an entry never changes
        "updated_at": entry.created_at,
    }


AUDIT = Collection(
    kind="audit",
    noun="Audit entry",
    model=StoredEntry,
    facets=_facets,
    sorts={"created_at": 1},
    partitions={"action": Partition({"created_at": 3})},
    # no counters per actor: there may be thousands, and each first page would read them all
    lookups={"target": Lookup(4), "actor": Lookup(5)},
)


def reserve_entry_ids(tx: Transaction, count: int) -> None:
    """Reserve the ids of the next `count` entries."""
    tx.reserve_ids(AUDIT.kind, count)


def allocate_entry_id(store: Store) -> dict[str, list[int]]:
    """Allocate the id of one entry; return sequence → ids."""
    return {AUDIT.kind: [allocate_ids(store, AUDIT.kind, 1)]}


def insert(tx: Transaction, entry: StoredEntry) -> None:
    """Add an entry with the next id."""
    AUDIT.insert(tx, tx.next_id(AUDIT.kind), entry)


def list_entries(store: Store, parameters: AuditParameters, timezone: str) -> Page[StoredEntry]:
    """Read a page of the audit log; `from` and `to` are days in `timezone`."""
    query = parameters.list_query(
        equal={
            "action": parameters.action,
            "actor_type": parameters.actor_type,
            "actor": parameters.actor,
            "target_type": parameters.target_type,
            "target": parameters.target,
        },
        between=parameters.created_once(timezone),
    )
    return read_page(store, AUDIT, query)

"""The items of the audit log. Entries are added and read; nothing changes or removes one."""

from shared.identity.audit.models import AuditParameters, StoredEntry
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.listing import Page, read_page
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
        # What never changes was changed last when it was made.
        "updated_at": entry.created_at,
    }


AUDIT = Collection(
    kind="audit",
    noun="Audit entry",
    model=StoredEntry,
    facets=_facets,
    sorts={"created_at": 1},
    partitions={"action": {"created_at": 2}},
    # No totals of actors: there may be thousands, and each first page would read them all.
    lookup_indexes={"target": 3, "actor": 4},
)


def reserve_entry_id(tx: Transaction) -> None:
    """Draw the id of one entry."""
    tx.reserve_ids(AUDIT.kind, 1)


def insert(tx: Transaction, entry: StoredEntry) -> None:
    """Stage an entry under the next id."""
    AUDIT.insert(tx, tx.next_id(AUDIT.kind), entry)


def list_entries(store: Store, parameters: AuditParameters, timezone: str) -> Page[StoredEntry]:
    """Read a page of the log; `from` and `to` are days in the time zone."""
    low, high = parameters.created(timezone).get("created_at", (None, None))
    if parameters.updated_since:
        # Both times of an entry are the same, and the list has an order by this one.
        low = max(low or "", parameters.updated_since)
    query = parameters.list_query(
        equal={
            "action": parameters.action,
            "actor_type": parameters.actor_type,
            "actor": parameters.actor,
            "target_type": parameters.target_type,
            "target": parameters.target,
        },
        between={"created_at": (low, high)} if low or high else None,
    )
    return read_page(store, AUDIT, query)

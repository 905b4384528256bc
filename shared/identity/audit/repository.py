"""The items of the audit log. Entries are inserted and read, never changed or deleted."""

from shared.identity.audit.models import StoredEntry
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Lookup, Partition


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

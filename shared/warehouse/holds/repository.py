"""The items of holds. Keys and indexes: see docs/internals/storage.md."""

from dataclasses import replace

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import Facets, facets_of, joined
from shared.kernel.db.indexes import Partition, Range
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.store import Store
from shared.kernel.references import ExternalReferences
from shared.warehouse.holds import rules
from shared.warehouse.holds.level_shares import held_shares
from shared.warehouse.holds.models import HoldParameters, StoredHold
from shared.warehouse.stock.level_book import add_held

REFERENCES = ExternalReferences("hold_ref")

_facets = facets_of("stage", "external_ref", "whs_code", "created_at", "updated_at", "expires_at")


def _with_items(hold: StoredHold) -> Facets:
    return {**_facets(hold), "items": joined(line.item_code for line in hold.lines)}


HOLDS = Collection(
    kind="hold",
    noun="Hold",
    listed_as="hold",
    model=StoredHold,
    facets=_with_items,
    sorts={"created_at": 1, "updated_at": 2, "expires_at": 3},
    partitions={
        # Holds that have expired stay among the active ones.
        "stage": Partition({"expires_at": 4, "created_at": 5, "updated_at": 6}),
        "whs_code": Partition({"created_at": 7}, own_totals=SHARDS),
    },
    lookups={"external_ref": REFERENCES.keys},
    # Only to keep the codes of up to 100 lines out of all indexes but one.
    volatile=frozenset({"items"}),
    add_shares=add_held(held_shares),
)


def list_holds(store: Store, parameters: HoldParameters, now_ms: int) -> Page[StoredHold]:
    """Read a page of holds with their status at `now_ms`."""
    wanted, item_code = parameters.status or (), parameters.item_code
    equal = parameters.filters(status=None, warehouse="whs_code", item_code=None)
    moving: dict[str, Range] = {}
    ended = [one for one in wanted if one in {"used", "released"}]
    if wanted:
        equal["stage"] = (*(["active"] if len(ended) < len(wanted) else []), *ended)
    if "expired" not in wanted and "active" in wanted:
        moving = {"expires_at": (rules.first_unexpired(now_ms), None)}
    elif "expired" in wanted and "active" not in wanted:
        moving = {"expires_at": (None, rules.last_expired(now_ms))}
    query = parameters.list_query(
        equal=equal,
        contains={"items": joined([item_code]) if item_code else None},
        between=parameters.created(store.company.timezone),
        moving=moving,
    )
    unless = ("stage", tuple(ended)) if moving and ended else None
    return read_page(store, HOLDS, replace(query, unless=unless))

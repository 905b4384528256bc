"""How much a list request may read: what takes about three seconds."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.search import INDEXED_LENGTH, SEARCH
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import Stored

MAX_PAGES = 20
"""Pages of 1 MB of an index, each 100 to 200 ms: some 70 000 entries."""
SURE_ENTRIES = 40_000
"""Entries that are certainly within MAX_PAGES, at up to 500 bytes each."""
MAX_ITEMS = 10_000
"""Whole items, in 100 calls."""

_TOO_MANY = (
    "matches too much in a list of this size; search for more characters, at least one word of"
    f" {INDEXED_LENGTH}"
)


def search_too_much() -> ValidationFailed:
    """Return the refusal of a search that matches too much."""
    return ValidationFailed([Problem(SEARCH, _TOO_MANY)])


def filters_too_much[E: Stored](
    query: ListQuery, collection: Collection[E], covered: frozenset[str]
) -> ValidationFailed:
    """Return the refusal of filters that leave too much to read.

    It names the first filter that the entries were not selected by (`covered`), the ranges that are
    to be shortened, and the filters of the list that select few entries or ranges of them.
    """
    if SEARCH in query.asked:
        return search_too_much()
    ranges = [name for name in query.asked if name in _RANGES]
    others = [name for name in query.asked if name not in {*covered, *_RANGES}]
    field = next(iter([*others, *ranges]), "sort")
    indexed = {
        *collection.lookups,
        *(facet for facet, partition in collection.partitions.items() if partition.sorts),
    }
    narrower = [
        name
        for name in query.parameters
        if name not in query.asked and (name in indexed or name in _RANGES)
    ]
    ways = [
        *(["leave it out"] if others else []),
        *([f"shorten the range of {', '.join(ranges)}"] if ranges else []),
        *([f"add a filter that selects less: {', '.join(narrower)}"] if narrower else []),
    ]
    hint = f"; {', or '.join(ways)}" if ways else ""
    return ValidationFailed(
        [Problem(field, f"leaves too much to examine in a list of this size{hint}")]
    )


_RANGES = frozenset({"from", "to", "updated_since"})

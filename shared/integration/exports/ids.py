"""Which ids the resources of an object may have.

Everything that exists at a position of the feed has an id of a sequence that was allocated before
the position was read. So reading all ids up to the last one, strongly consistent, misses nothing;
indexes, which lag, are not used. What is created later is behind the position.

The id of a level is a pair of a product and a warehouse. Its places are the products: one that has
no total has no level.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from shared.identity.auth import clients
from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.db.facets import pair_id
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.db.sequences import last_id
from shared.kernel.db.store import Store
from shared.warehouse.stock.service import products_with_levels

_LEVELS = "stock_level"
_MOST_PAIRS = 5_000
"""Levels that places at once may have, unless one product has more."""


def last_ids(store: Store, objects: Sequence[str]) -> dict[str, int]:
    """Return the last id of each sequence from which objects have their ids, by kind."""
    kinds = chain.from_iterable(_sequences(name) for name in objects)
    return {kind: last_id(store, kind) for kind in sorted(set(kinds))}


def _sequences(name: str) -> tuple[str, ...]:
    if name == clients.LISTED_AS:
        return ()
    return ("product", "warehouse") if name == _LEVELS else (LISTED_OBJECTS[name].kind,)


def places(name: str, last: Mapping[str, int]) -> int:
    """Return the number of places of an object, each of which may have resources."""
    if name == clients.LISTED_AS:  # few; their only place has all
        return 1
    return last[_sequences(name)[0]]


def places_at_once(name: str, last: Mapping[str, int], most: int) -> int:
    """Return how many places are read at once, if they may be `most`."""
    if name == _LEVELS:
        return max(1, min(most, _MOST_PAIRS // max(1, last["warehouse"])))
    return most


def ids_at(
    store: Store, name: str, last: Mapping[str, int], first: int, end: int
) -> Sequence[ResourceId]:
    """Return the ids of the records that may be at places from `first` up to before `end`.

    Not of API clients, whose ids have no sequence.
    """
    numbers = range(first + 1, end + 1)
    if name == _LEVELS:
        warehouses = range(1, last["warehouse"] + 1)
        products = products_with_levels(store, numbers)
        return [pair_id(product, one) for product in products for one in warehouses]
    return numbers

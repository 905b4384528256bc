"""Which ids the resources of an object may have.

Everything that exists at a position of the feed has an id of a sequence that was allocated before
the position was read. So reading all ids up to the last one, strongly consistent, misses nothing;
indexes, which lag, are not used. What is created later is behind the position.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from shared.identity.auth import client_service, clients
from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.db.facets import pair_id
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.db.sequences import last_id
from shared.kernel.db.store import Store

_PAIRS: Mapping[str, tuple[str, str]] = {"level": ("product", "warehouse")}
"""Kind whose ids are pairs → the kinds whose ids they consist of."""


def last_ids(store: Store, objects: Sequence[str]) -> dict[str, int]:
    """Return the last id of each sequence from which objects have their ids, by kind."""
    kinds = chain.from_iterable(_sequences(name) for name in objects)
    return {kind: last_id(store, kind) for kind in sorted(set(kinds))}


def _sequences(name: str) -> tuple[str, ...]:
    if name == clients.LISTED_AS:
        return ()
    kind = LISTED_OBJECTS[name].kind
    return _PAIRS.get(kind, (kind,))


def places(name: str, last: Mapping[str, int]) -> int:
    """Return the number of places of an object, each of which may have a resource."""
    if name == clients.LISTED_AS:
        return 1
    count = 1
    for kind in _sequences(name):
        count *= last[kind]
    return count


def ids_at(
    store: Store, name: str, last: Mapping[str, int], first: int, end: int
) -> Sequence[ResourceId]:
    """Return the ids of the records that may be at places from `first` up to before `end`."""
    if name == clients.LISTED_AS:  # few; their only place has all
        return client_service.active_ids(store)
    sequences = _sequences(name)
    if len(sequences) == 1:
        return range(first + 1, end + 1)
    width = last[sequences[1]]
    return [pair_id(place // width + 1, place % width + 1) for place in range(first, end)]

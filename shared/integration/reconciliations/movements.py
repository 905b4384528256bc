"""The movements after a position of the feed that changed what is on hand at some places."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.integration.reconciliations.figures import (
    changed_levels,
    effects_of,
    movement_ids,
    movements_by_id,
)
from shared.kernel.clock import instant, milliseconds_of
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.events.feed import FeedHead
from shared.kernel.events.feed_order import FeedPlace, entries_since
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import Movement, Place
from shared.warehouse.warehouses import service as warehouses

INDEX_LAG_MS = 30_000
"""Longest time from the beginning of a transaction until its commit is in the indexes, as for
followers of lists."""
MAX_OF_PRODUCT = 2_000
MAX_MOVEMENTS = 20_000
"""Movements of a product, and of all products, that are looked at: the largest differences first.
"""
MAX_ENTRIES = 50_000
"""Entries of the feed that are read to find movements in front of a position. A transaction that
was appended late lets those of its delay before the position be doubtful."""


@dataclass(frozen=True, slots=True)
class PlaceMovement:
    """A movement, and what it changes at one place of a batch."""

    movement: Movement
    batch: str | None
    qty: Decimal


type MovementsOfPlaces = Mapping[Place, Sequence[PlaceMovement]]


def movements_after(
    store: Store, head: FeedHead, after: FeedPlace, started_ms: int, places: Iterable[Place]
) -> MovementsOfPlaces:
    """Return the movements behind a position up to that of the head, oldest first, by place.

    The most important places come first. Places of products with too many movements are left out.
    The levels of the places were read at `started_ms` or later, and the head includes them.

    The transactions that change a level are in the feed in their order. So what began long before
    the levels were read is in it up to the head, and is found by the index of its product. What
    began later is found in the feed, and so is what precedes the position `after`.
    """
    wanted = dict.fromkeys(places)
    products = list(dict.fromkeys(product_id for product_id, _ in wanted))
    recent_ms = started_ms - INDEX_LAG_MS
    recent: set[int] = set()
    oldest = head.position + 1
    for entry in entries_since(
        store, head, head.position, since_ms=recent_ms, after=after.position
    ):
        oldest = entry.position
        if any(place in wanted for place, _ in changed_levels(entry)):
            recent.update(movement_ids(entry))
    found = dict(movements_by_id(store, list(recent)))
    if oldest > after.position + 1:
        earlier, left_out = _earlier(store, head, after, recent_ms, products)
        found |= earlier
        wanted = dict.fromkeys(place for place in wanted if place[0] not in left_out)
    codes = warehouses.warehouse_ids(store)
    by_place = defaultdict[Place, list[PlaceMovement]](list)
    for record in sorted(found.values(), key=lambda one: (one.entity.created_at, one.id)):
        for place, batch, qty in effects_of(record.entity, codes):
            if place in wanted:
                by_place[place].append(PlaceMovement(record.entity, batch, qty))
    return by_place


def _earlier(
    store: Store, head: FeedHead, after: FeedPlace, until_ms: int, products: Sequence[int]
) -> tuple[dict[int, Record[Movement]], Collection[int]]:
    """Return the movements behind a position that began before `until_ms`, from the indexes.

    The other value are the products with too many movements, and those of which too much would be
    read to know which are behind the position.
    """
    # What began before the feed counts as part of its first sums, although some of it may have been
    # appended: it precedes every position that anybody was given.
    since_ms = max(head.epoch, after.newest_ms - head.delay_behind(after.position))
    since = instant(since_ms)
    numbers = map_concurrently(
        lambda one: stock.movement_ids_since(store, one, since, most=MAX_OF_PRODUCT), [*products]
    )
    chosen: list[int] = []
    left_out: set[int] = set()
    for product_id, ids in zip(products, numbers, strict=True):
        if ids is None or len(chosen) + len(ids) > MAX_MOVEMENTS:
            left_out.add(product_id)
        else:
            chosen += ids
    found = {
        number: one
        for number, one in movements_by_id(store, chosen).items()
        if since_ms <= _began_ms(one) < until_ms
    }
    # No entry up to the position began later than its newest.
    doubtful = {
        number: began
        for number, one in found.items()
        if (began := _began_ms(one)) <= after.newest_ms
    }
    before, unknown = _up_to(store, head, after, doubtful)
    left_out |= {found[number].entity.product_id for number in unknown}
    return {number: one for number, one in found.items() if number not in before}, left_out


def _up_to(
    store: Store, head: FeedHead, place: FeedPlace, doubtful: Mapping[int, int]
) -> tuple[Collection[int], Collection[int]]:
    """Return which movements the feed has up to a position, and of which this is not known.

    `doubtful` has the movements, with the times at which their transactions began.
    """
    before: set[int] = set()
    waiting = set(doubtful)
    since_ms = min(doubtful.values(), default=0)
    entries = entries_since(store, head, place.position, since_ms=since_ms)
    for read, entry in enumerate(entries if doubtful else ()):
        if read == MAX_ENTRIES:
            return before, waiting
        before |= waiting.intersection(movement_ids(entry))
        waiting -= before
        if not waiting:
            break
    return before, ()


def _began_ms(record: Record[Movement]) -> int:
    """Return when the transaction of a movement began, as its item of the outbox says."""
    if record.written_by is None:
        return milliseconds_of(record.entity.created_at)
    return int.from_bytes(record.written_by[:6])

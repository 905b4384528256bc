"""What is on hand at one position of the feed, although writers go on.

Each place is read in some version of its level. Then the feed is read up to a position that
includes all these versions, and the movements are added that a place got after its own version. So
the quantities of all places are those of the position.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from shared.kernel.db.facets import ids_of_pair
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.events.feed import FeedEntry, FeedHead, read_entries
from shared.kernel.events.feed_order import head_with
from shared.kernel.fields import ZERO
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import Movement, Place
from shared.warehouse.stock.service import OnHand
from shared.warehouse.warehouses import service as warehouses

type Effect = tuple[Place, str | None, Decimal]
"""A place, a batch, and by how much a movement changes what is on hand of it there."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is on hand at the position of the head, by place."""

    head: FeedHead
    on_hand: Mapping[Place, OnHand]


def figures_after(
    store: Store,
    started: FeedHead,
    read: Mapping[Place, OnHand],
    is_wanted: Callable[[Place], bool],
) -> Figures:
    """Return the quantities at a position, of places that were read behind the head `started`.

    Places that are wanted and were not read had no stock then.

    Raises:
        Conflict: A new feed has begun meanwhile.
        ServiceUnavailable: The relay has not appended what was read until the deadline.
    """
    written_by = [one.written_by for one in read.values() if one.written_by]
    head = head_with(store, started, written_by)
    later: list[tuple[set[Place], list[int]]] = []
    for entry in read_entries(store, head, started.position):
        places = {
            place
            for place, version in changed_levels(entry)
            if is_wanted(place) and version > read.get(place, OnHand()).version
        }
        if places:
            later.append((places, movement_ids(entry)))
    found = movements_by_id(store, [number for _, numbers in later for number in numbers])
    codes = warehouses.warehouse_ids(store) if later else {}
    on_hand = dict(read)
    for places, numbers in later:
        for number in numbers:
            movement = found[number].entity
            for place, batch, qty in effects_of(movement, codes):
                if place in places:
                    before = on_hand.get(place, OnHand(item_code=movement.item_code))
                    on_hand[place] = _changed(before, batch, qty)
    return Figures(head, on_hand)


def _changed(one: OnHand, batch: str | None, qty: Decimal) -> OnHand:
    batches = {**one.batches, batch: one.batches.get(batch, ZERO) + qty}
    return replace(one, qty=one.qty + qty, batches=batches)


def changed_levels(entry: FeedEntry) -> Iterator[tuple[Place, int]]:
    """Yield the places whose levels a transaction changed, with their versions after it."""
    for change in entry.changes:
        if change.object == "stock_level" and change.after is not None:
            yield ids_of_pair(int(change.record_id)), change.after


def movement_ids(entry: FeedEntry) -> list[int]:
    """Return the ids of the movements of a transaction."""
    return [int(change.id) for change in entry.changes if change.object == "stock_movement"]


def movements_by_id(store: Store, numbers: Sequence[ResourceId]) -> dict[int, Record[Movement]]:
    """Return movements by their ids."""
    found = stock.get_movements(store.uncached(), [int(number) for number in numbers])
    return {one.id: one for one in found}


def effects_of(movement: Movement, codes: Mapping[str, int]) -> Iterator[Effect]:
    """Yield by how much a movement changes what is on hand; `codes` are ids of warehouses."""
    for code, qty in stock.on_hand_effects(movement).items():
        if code in codes:
            yield (movement.product_id, codes[code]), movement.batch_num, qty

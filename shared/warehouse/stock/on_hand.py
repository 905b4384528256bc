"""What is on hand of products by warehouse and batch, each in one state of its level.

The level of a product and warehouse changes with every movement that changes what is on hand there.
So its version says which movements a quantity includes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from shared.kernel.clock import Instant, instant, milliseconds_of
from shared.kernel.db.facets import id_of, id_text
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import STABLE_FACETS, index_keys, index_name
from shared.kernel.fields import ZERO
from shared.warehouse.stock.models import Movement, Place, StockRow, StoredLevel
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK, level_id

type Batch = str | None
"""Number of a batch; None of stock without one."""

_IN_TRANSIT = "in_transit"
_ROWS = 5_000
"""Rows that are read at once."""
_MOVEMENTS = 500
"""Movements of a product that are looked for at once."""
_IDS_KEPT_MS = 15 * 60_000
"""Longest time for which an invocation keeps an id of a movement before it uses it."""


@dataclass(frozen=True, slots=True)
class OnHand:
    """What is on hand of a product in a warehouse, in one version of its level.

    The version is 0 if there is no level, and `item_code` None. `written_by` is the item of the
    outbox that notes the version. `batches` has the quantities by batch, if they were asked for.
    """

    qty: Decimal = ZERO
    version: int = 0
    item_code: str | None = None
    written_by: bytes | None = None
    batches: Mapping[Batch, Decimal] = field(default_factory=dict)


def read_on_hand(
    store: Store, places: Collection[Place], *, by_batch: Collection[Place] = ()
) -> dict[Place, OnHand]:
    """Return what is on hand at places, at those in `by_batch` also by batch.

    Raises:
        ServiceUnavailable: The stock of a place changed at each attempt until the deadline.
    """
    store, wanted = store.uncached(), set(by_batch)
    found = {
        place: _of_level(level)
        for place, level in _levels(store, [one for one in places if one not in wanted]).items()
    }
    attempt = 0
    left = [one for one in places if one in wanted]
    while left:
        found |= _by_batch(store, left)
        left = [one for one in left if one not in found]
        if left:
            attempt = store.back_off(attempt)
    return found


def _levels(store: Store, places: Sequence[Place]) -> dict[Place, Record[StoredLevel] | None]:
    ids = {place: level_id(*place) for place in places}
    records = {one.id: one for one in LEVELS.get_many(store, ids.values())}
    return {place: records.get(number) for place, number in ids.items()}


def _of_level(level: Record[StoredLevel] | None) -> OnHand:
    if level is None:
        return OnHand()
    entity = level.entity
    return OnHand(entity.on_hand, level.version, entity.item_code, level.written_by)


def _by_batch(store: Store, places: Sequence[Place]) -> dict[Place, OnHand]:
    """Return what is on hand at those of the places whose stock did not change meanwhile.

    The rows are read before and after the levels: those with the same versions were so when the
    level was read. A row that the index does not show yet makes the sum less than the level.
    """
    ids = dict(
        zip(places, map_concurrently(lambda one: _row_ids(store, one), [*places]), strict=True)
    )
    found: dict[Place, OnHand] = {}
    for part in _parts(ids):
        numbers = [number for place in part for number in ids[place]]
        before = _versions(store, numbers)
        levels = _levels(store, part)
        rows = {one.id: one for one in STOCK.get_many(store, numbers)}
        for place in part:
            own = [rows[number] for number in ids[place] if number in rows]
            on_hand = _of_level(levels[place])
            batches = _sums(one.entity for one in own)
            is_same = all(before.get(one.id) == one.version for one in own)
            if is_same and sum(batches.values(), ZERO) == on_hand.qty:
                found[place] = replace(on_hand, batches=batches)
    return found


def _row_ids(store: Store, place: Place) -> list[int]:
    product_id, warehouse_id = place
    pages = id_pages(
        store, STOCK, "product_id", id_text(product_id), warehouse_id=id_text(warehouse_id)
    )
    return [number for page in pages for number in page]


def _versions(store: Store, numbers: Sequence[int]) -> dict[int, int]:
    return {one.id: one.version for one in STOCK.get_many(store, numbers)}


def _parts(ids: Mapping[Place, Sequence[int]]) -> Iterator[list[Place]]:
    """Yield places with at most `_ROWS` rows together; at least one."""
    part: list[Place] = []
    rows = 0
    for place, numbers in ids.items():
        if part and rows + len(numbers) > _ROWS:
            yield part
            part, rows = [], 0
        part.append(place)
        rows += len(numbers)
    if part:
        yield part


def _sums(rows: Iterable[StockRow]) -> dict[Batch, Decimal]:
    sums: dict[Batch, Decimal] = {}
    for row in rows:
        if row.inventory_status != _IN_TRANSIT and row.qty:
            sums[row.batch_num] = sums.get(row.batch_num, ZERO) + row.qty
    return sums


def on_hand_effects(movement: Movement) -> dict[str, Decimal]:
    """Return by how much a movement changes what is on hand, by code of the warehouse."""
    effects: dict[str, Decimal] = {}
    for place, sign in ((movement.origin, -1), (movement.target, 1)):
        if place and place.inventory_status != _IN_TRANSIT:
            effects[place.whs_code] = effects.get(place.whs_code, ZERO) + sign * movement.qty
    return {code: qty for code, qty in effects.items() if qty}


def movement_ids_since(
    store: Store, product_id: int, since: Instant, *, most: int
) -> list[int] | None:
    """Return the ids of the movements of a product since a time; None if they exceed `most`.

    They come from an index that may lag, in the order of the ids, which an invocation may keep for
    some time before it uses them.
    """
    index = MOVEMENTS.index_of("product_id")
    partition, sort = index_keys(index)
    oldest = instant(milliseconds_of(since) - _IDS_KEPT_MS)
    numbers: list[int] = []
    more: dict[str, object] = {}
    while True:
        page = store.query(
            IndexName=index_name(index),
            KeyConditionExpression=f"{partition} = :product",
            values={":product": MOVEMENTS.partition("product_id", id_text(product_id))},
            ProjectionExpression=f"{sort}, #facets.#created",
            ExpressionAttributeNames={"#facets": STABLE_FACETS, "#created": "created_at"},
            ScanIndexForward=False,
            Limit=_MOVEMENTS,
            **more,
        )
        for item in page.items:
            created_at = item[STABLE_FACETS]["created_at"]
            if created_at < oldest:
                return numbers
            if created_at >= since:
                numbers.append(id_of(item[sort]))
        if len(numbers) > most:
            return None
        if page.last_key is None:
            return numbers
        more = {"ExclusiveStartKey": page.last_key}

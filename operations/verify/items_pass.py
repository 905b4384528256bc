"""First pass: every item of the table, compared with the entities that it follows from.

The table is scanned page by page, consistently. Each page is held with the items that its own are
compared with.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from operations.stored_collections import COLLECTIONS, IDS_OF_OTHERS
from operations.verify import entities
from operations.verify.alias_drifts import alias_drifts
from operations.verify.counters_pass import Total, add_to_total
from operations.verify.entity_drifts import head_drifts, lookup_drifts, part_drifts
from operations.verify.findings import Drift, Fix
from operations.verify.read_items import (
    OWNERS,
    ReadItems,
    basis_of,
    kind_of,
    name_of,
)
from operations.verify.register_drifts import (
    register_entry_drifts,
    webhooks_register_drifts,
)
from operations.verify.table_access import (
    read_entries,
    set_number,
)
from shared.integration.webhooks.repository import REGISTER_KEY
from shared.kernel import references
from shared.kernel.clock import now_ms
from shared.kernel.db.counters import read_totals
from shared.kernel.db.facets import ID_DIGITS
from shared.kernel.db.items import Item, Key, from_attributes, key_of
from shared.kernel.db.records import HEAD
from shared.kernel.db.search import SEARCH_ITEM
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.events.feed import HEAD_KEY, PARTITION
from shared.warehouse.transfers import replenishments
from shared.warehouse.transfers.repository import TRANSFERS

PAGE = 200
"""Items of a page."""
_LASTS = f"attribute_exists({PARTITION_KEY}) AND attribute_not_exists(#expiry)"
_PART, _LOOKUP, _PLACE = "PART#", "LOOKUP#", "QUEUE#"
_EXPIRING = frozenset(
    {"delivery", "idempotency", "import_contents", "import_origin", "rate", "reconciliation",
     "session", "snapshot", "transfer_order_request"}
)  # fmt: skip
"""Beginnings of the partition keys of items that expire."""
_SEQUENCE = "sequence"
_LEVEL_MARK = "level_mark"
_KEPT = frozenset(
    {
        *("administrators", "batch", "counted", "export_newest", PARTITION, "held"),
        *("schema", _LEVEL_MARK, _SEQUENCE),
    }
)
"""Beginnings of the partition keys of items that other passes check, or that nothing follows."""
_KINDS_BY_SEQUENCE = COLLECTIONS.keys() - IDS_OF_OTHERS.keys()


@dataclass(slots=True)
class ItemsPass:
    """Checks the items of a table one page after another.

    `greatest` has the greatest id of each kind that was seen: the sequences are compared with it,
    and the other passes end there. `level_marks` has the names of the marks of levels that do not
    expire.
    """

    store: Store
    greatest: dict[str, int]
    level_marks: set[str]
    name: str = "items"
    _page: dict[Key, Item] = field(default_factory=dict)

    def chunks(self, position: Any) -> Iterator[tuple[list[Key], Any]]:
        """Yield the keys of a page, and where the next one starts; then the sequences."""
        while position != "sequences":
            start = {"ExclusiveStartKey": position} if position else {}
            page = self.store.client.scan(
                TableName=self.store.table, ConsistentRead=True, Limit=PAGE, **start
            )
            items = [from_attributes(item) for item in page["Items"]]
            # the sequences follow, once all ids are known
            self._page = {key_of(item): item for item in items if key_of(item)[0] != _SEQUENCE}
            for item in items:
                self._remember_ids(item)
            position = page.get("LastEvaluatedKey") or "sequences"
            yield list(self._page), position
        yield [(_SEQUENCE, kind) for kind in sorted(self.greatest)], None

    def _remember_ids(self, item: Item) -> None:
        kind = kind_of(item)
        begin, _, rest = str(item[PARTITION_KEY]).partition("#")
        if begin == _LEVEL_MARK and EXPIRY not in item:
            self.level_marks.add(rest)
        if item[SORT_KEY] == HEAD and kind in _KINDS_BY_SEQUENCE:
            number = int(item[PARTITION_KEY].partition("#")[2])
            self.greatest[kind] = max(number, self.greatest.get(kind, 0))
        elif item[SORT_KEY] == HEAD and kind in {"level", "level_total"}:
            digits = str(item[PARTITION_KEY]).partition("#")[2][:ID_DIGITS]
            self.greatest["product"] = max(int(digits), self.greatest.get("product", 0))

    def look(self, keys: Sequence[Key]) -> Mapping[Key, list[Drift]]:
        """Return the drifts of items; the first time, of the scanned page without reading again."""
        page, self._page = self._page, {}
        items = page if list(page) == list(keys) else self.store.get_many(keys)
        read = ReadItems(self.store, items)
        found = {key: list(_drifts(read, key, self.greatest)) for key in keys}
        return {key: drifts for key, drifts in found.items() if drifts}


def _is_expired(item: Item) -> bool:
    return EXPIRY in item and int(item[EXPIRY]) <= now_ms() // 1000


def _drifts(read: ReadItems, key: Key, greatest: Mapping[str, int]) -> Iterator[Drift]:
    """Yield the drifts of one of the items that are looked at."""
    item = read.looked_at.get(key)
    if key[0] == _SEQUENCE:
        yield from _sequence_drifts(key, item, greatest)
    if item is None or _is_expired(item):
        return
    kind = kind_of(item)
    if kind and key[1] == HEAD:
        yield from head_drifts(read, kind, item)
    elif kind and key[1].startswith(_PART):
        yield from part_drifts(read, kind, item)
    elif kind and key[1].startswith((_LOOKUP, SEARCH_ITEM)):
        yield from lookup_drifts(read, kind, item)
    else:
        yield from _other_drifts(read, item)


def _other_drifts(read: ReadItems, item: Item) -> Iterator[Drift]:
    """Yield the drifts of an item that is no part of an entity."""
    key = key_of(item)
    begin = key[0].partition("#")[0]
    if begin == "approval_request" and item.get("stage") == "used":
        yield from _expiring_drifts(item)
    elif kind := entities.alias_kind(key):
        yield from alias_drifts(read, kind, item)
    elif key[0] == references.REGISTER:
        yield from register_entry_drifts(read, item)
    elif key == REGISTER_KEY:
        yield from webhooks_register_drifts(read, item)
    elif begin in {*OWNERS, "webhooks"} and read.target(item)[0]:
        yield from _owned_drifts(read, item)
    elif (
        begin in _EXPIRING
        or begin == "position"
        or key[1].startswith(_PLACE)
        or begin == "pending_wave"
        or (begin == PARTITION and key != HEAD_KEY)
    ):
        yield from _expiring_drifts(item)
    elif begin == "count":
        yield from _own_total_drifts(read, key)
    elif begin == "replenished":
        yield from _replenishment_drifts(read.store, item)
    elif begin not in _KEPT:
        yield Drift("item.unknown", name_of(key), "item", "stored", None, basis_of(item))


def _owned_drifts(read: ReadItems, item: Item) -> Iterator[Drift]:
    """Yield a drift if the entity does not exist that an item belongs to."""
    key = key_of(item)
    kind, number = read.target(item)
    if not read.is_live(kind, number):
        fix = Fix(("item", key), lambda tx: tx.delete(key))
        yield Drift("item.orphan", name_of(key), "item", f"{kind} {number}", None, basis_of(item),
                    fix)  # fmt: skip


def _expiring_drifts(item: Item) -> Iterator[Drift]:
    """Yield a drift if an item that must expire has no expiry."""
    key = key_of(item)
    if EXPIRY not in item and not key[1].startswith(_PART):
        fix = Fix(
            ("expiry", key),
            lambda tx: tx.update(
                key, "SET #expiry = :soon", names={"#expiry": EXPIRY},
                condition=_LASTS,
                values={":soon": tx.now_ms // 1000 + 86_400},
            ),
        )  # fmt: skip
        yield Drift("mark.endless", name_of(key), EXPIRY, None, "a time", basis_of(item), fix)


def _own_total_drifts(read: ReadItems, key: Key) -> Iterator[Drift]:
    """Yield a drift if a total is not zero of a warehouse that no entity is in."""
    counter = key[0].removeprefix("count#")
    kind, _, name = counter.partition("#")
    facet, _, value = name.partition("=")
    collection = COLLECTIONS.get(kind)
    shards = collection.own_shards(facet) if collection and name else None
    if collection is None or shards is None:
        return
    totals = read_totals(read.store, counter)
    index = collection.index_of(facet)
    partition = collection.partition(facet, value)
    if not totals.of(None) or next(read_entries(read.store, index, partition, Limit=1), None):
        return
    total = Total(counter, "n", shards)
    fix = Fix(
        ("total", counter),
        lambda tx: add_to_total(read.store, tx, total, -totals.of(None)),
    )
    yield Drift("counter.orphan", f"totals of {kind}", name, str(totals.of(None)), "0",
                totals.version, fix)  # fmt: skip


def _replenishment_drifts(store: Store, item: Item) -> Iterator[Drift]:
    """Yield a drift for each pick face that has a waiting transfer, which waits no more."""
    key, faces = key_of(item), replenishments.waiting_in(item)
    records = TRANSFERS.get_many(store, sorted(set(faces.values())))
    waiting = {one.id for one in records if one.entity.status != "transferred"}
    left = {face: one for face, one in faces.items() if one in waiting}
    fix = Fix(("replenished", key), lambda tx: replenishments.replace_waiting(tx, key, item, left))
    for face, number in faces.items():
        if face not in left:
            yield Drift("replenishment.ended", name_of(key), f"pick face {face}",
                        f"transfer {number}", None, basis_of(item), fix)  # fmt: skip


def _sequence_drifts(key: Key, item: Item | None, greatest: Mapping[str, int]) -> Iterator[Drift]:
    """Yield a drift if a sequence would allocate an id that exists."""
    kind, last = key[1], int(item["last"]) if item else 0
    known = greatest.get(kind, 0)
    if last < known:
        seen = last if item else None
        fix = Fix(("sequence", kind), lambda tx: set_number(tx, key, "last", seen, known))
        yield Drift("sequence.low", f"sequence {kind}", "last", str(last),
                    f"at least {known}", (), fix)  # fmt: skip

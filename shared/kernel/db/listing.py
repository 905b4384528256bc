"""Lists with page numbers, exact totals, sorts and filters on DynamoDB, at a known cost.

There are two kinds of lists. An *ordered* list has one of the collection's own sorts, of all
entities or of one partition: it is read directly from its index, and its total is a counter. A
*gathered* list has any other filter: it reads the index entries of the smallest partition or range
that covers the filter, once for all its pages. In both kinds, the first page and every page of
`links.next` need two sequential round trips: entries and totals concurrently, then the items.

The mark in a cursor, which `links.next` contains, continues exactly where the previous page ended,
whatever has changed since. A page number without a mark always counts on the current list.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from shared.kernel.db import bookmarks
from shared.kernel.db.bookmarks import Position
from shared.kernel.db.collection import Collection, Record
from shared.kernel.db.counters import Totals, read_totals
from shared.kernel.db.cursor import InvalidCursor, Mark
from shared.kernel.db.facets import Facets, id_of
from shared.kernel.db.items import Item
from shared.kernel.db.parallel import run_both
from shared.kernel.db.plan import AccessPath, ListQuery, choose_access_path
from shared.kernel.db.store import Store
from shared.kernel.db.table import INDEX_ATTRIBUTES, PARTITION_KEY, SORT_KEY, index_keys, index_name

_MARK = re.compile("[^\x00-\x1f\ud800-\udfff]{0,800}\x1f[0-9]{12}")
_MARK_BYTES = 1024
"""Size of a sort key that is accepted as a mark, which the caller may have invented."""
_MAX_VERSION = 10**15


@dataclass(frozen=True, slots=True)
class Page[E]:
    """One page: its records, the exact total, and where the next page begins."""

    records: list[Record[E]]
    total: int
    page: int
    per_page: int
    next_mark: Mark | None
    """None when there is no next page."""


def read_page[E: BaseModel](store: Store, collection: Collection[E], query: ListQuery) -> Page[E]:
    """Read one page of a list."""
    access, ordered = choose_access_path(
        collection, query, lambda: read_totals(store, collection.kind)
    )
    if ordered:
        return _OrderedList(store, collection, query, access).page()
    if access.lookup and collection.more_lookups:
        return _LookedUpList(store, collection, query, access).page()
    return _GatheredList(store, collection, query, access).page()


class _List[E: BaseModel]:
    """What ordered and gathered lists share."""

    def __init__(
        self, store: Store, collection: Collection[E], query: ListQuery, access: AccessPath
    ) -> None:
        self.store = store
        self.collection = collection
        self.query = query
        self.access = access
        self.listing = self._name()

    def _name(self) -> str:
        query = self.query
        asked = [
            query.sort, query.descending, sorted(query.equal.items()),
            sorted(query.contains.items()), sorted(query.between.items()),
        ]  # fmt: skip
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]
        return f"{self.collection.kind}#{digest}"

    def totals(self) -> Totals:
        return read_totals(self.store, self.collection.kind)

    def records(self, ids: list[int]) -> list[Record[E]]:
        return self.collection.get_many(self.store, ids)

    def result(self, records: list[Record[E]], total: int, next_mark: Mark | None) -> Page[E]:
        return Page(records, total, self.query.page, self.query.per_page, next_mark)


class _OrderedList[E: BaseModel](_List[E]):
    def page(self) -> Page[E]:
        query = self.query
        if query.after is not None:
            return self._page_after(self._checked(query.after))
        if query.offset:
            totals, keys = self._page_by_number()
        else:
            totals, keys = run_both(
                self.totals, lambda: self._scan(None, 0, query.per_page, query.descending)
            )
        total = totals.of(self.access.total_name)
        ids = [id_of(key) for key in keys]
        if not keys:
            return self.result([], total, None)
        position = Position(
            query.offset + len(keys), keys[-1], totals.version, bookmarks.valid_until(totals)
        )
        bookmarks.cache_position(self.store, self.listing, position)
        if query.offset and position.offset < total:
            records, _ = run_both(
                lambda: self.records(ids),
                lambda: bookmarks.store_position(self.store, self.listing, position),
            )
        else:
            records = self.records(ids)
        more = position.offset < total
        return self.result(records, total, keys[-1] if more else None)

    @staticmethod
    def _checked(mark: Mark) -> str:
        """Return a mark that is a sort key of an index."""
        is_key = isinstance(mark, str) and _MARK.fullmatch(mark)
        if not is_key or len(str(mark).encode()) > _MARK_BYTES:
            raise InvalidCursor
        return str(mark)

    def _page_after(self, after: str) -> Page[E]:
        """Read the page after an entry.

        Entities that were created or deleted since the first page may have moved this page away
        from its number. So no position is stored, and when the total says that this is the last
        page, the list ends only if no entry follows.
        """
        query = self.query
        totals, keys = run_both(
            self.totals, lambda: self._scan(after, 0, query.per_page, query.descending)
        )
        total = totals.of(self.access.total_name)
        if not keys:
            return self.result([], total, None)
        ids, last = [id_of(key) for key in keys], keys[-1]
        if query.offset + len(keys) < total or len(keys) < query.per_page:
            records, more = self.records(ids), query.offset + len(keys) < total
        else:
            records, behind = run_both(
                lambda: self.records(ids), lambda: self._scan(last, 0, 1, query.descending)
            )
            more = bool(behind)
        return self.result(records, total, last if more else None)

    def _page_by_number(self) -> tuple[Totals, list[str]]:
        """Return the entries of a page, from the nearest position or the nearer end of the list."""
        query = self.query
        known = bookmarks.cached_position(self.store, self.listing, query.offset)
        position: Position | None
        if known:
            totals, keys = run_both(
                self.totals,
                lambda: self._scan(known.after, 0, query.per_page, query.descending),
            )
            if known.is_valid(totals):
                return totals, keys
            bookmarks.evict_position(self.store, self.listing, query.offset)
            position = None
        else:
            totals, position = run_both(
                self.totals,
                lambda: bookmarks.find_position(self.store, self.listing, query.offset),
            )
        wanted = min(query.per_page, totals.of(self.access.total_name) - query.offset)
        if wanted <= 0:
            return totals, []
        start = position if position and position.is_valid(totals) else None
        from_start = query.offset - (start.offset if start else 0)
        from_end = totals.of(self.access.total_name) - query.offset - wanted
        if from_end < from_start:
            backwards = self._scan(None, from_end, wanted, not query.descending)
            return totals, backwards[::-1]
        after = start.after if start else None
        return totals, self._scan(after, from_start, wanted, query.descending)

    def _scan(self, after: str | None, skip: int, take: int, descending: bool) -> list[str]:  # noqa: FBT001
        """Return the sort keys of `take` entries, starting `skip` entries after `after`."""
        condition, values = self.access.key_condition()
        sort_name = index_keys(self.access.index)[1]
        start = self._start_key(after) if after else None
        keys: list[str] = []
        while len(keys) < skip + take:
            more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
            page = self.store.query(
                IndexName=index_name(self.access.index),
                KeyConditionExpression=condition,
                values=values,
                ProjectionExpression=sort_name,
                ScanIndexForward=not descending,
                Limit=skip + take - len(keys),
                **more,
            )
            keys += [item[sort_name] for item in page.items]
            start = page.last_key
            if start is None:
                break
        return keys[skip:]

    def _start_key(self, after: str) -> dict[str, dict[str, str]]:
        partition_name, sort_name = index_keys(self.access.index)
        head = self.collection.key(id_of(after))
        return {
            PARTITION_KEY: {"S": head[0]},
            SORT_KEY: {"S": head[1]},
            partition_name: {"S": self.access.partition},
            sort_name: {"S": after},
        }


class _GatheredList[E: BaseModel](_List[E]):
    def page(self) -> Page[E]:
        query = self.query
        mark = query.after
        if mark is not None:
            if not isinstance(mark, int) or not 0 <= mark < _MAX_VERSION:
                raise InvalidCursor
            walked = bookmarks.find_snapshot(self.store, self.listing, query.offset, mark)
            if walked:
                return self._from_snapshot(walked)
        if not query.offset:
            totals, ids = run_both(self.totals, self._gather)
        else:
            totals, snapshot = run_both(
                self.totals,
                lambda: bookmarks.find_snapshot(self.store, self.listing, query.offset, None),
            )
            if snapshot and snapshot.is_valid(totals):
                return self._from_snapshot(snapshot)
            ids = self._gather()
        shown = ids[query.offset : query.offset + query.per_page]
        if len(ids) > query.per_page:
            records, _ = run_both(
                lambda: self.records(shown),
                lambda: bookmarks.store_snapshot(self.store, self.listing, ids, totals),
            )
        else:
            records = self.records(shown)
        more = 0 < len(shown) < len(ids) - query.offset
        return self.result(records, len(ids), totals.version if more else None)

    def _from_snapshot(self, snapshot: bookmarks.Snapshot) -> Page[E]:
        first = self.query.offset - snapshot.first
        shown = list(snapshot.ids[first : first + self.query.per_page])
        missing = min(self.query.per_page, snapshot.total - self.query.offset) - len(shown)
        if missing > 0:
            rest = bookmarks.find_snapshot(
                self.store, self.listing, self.query.offset + len(shown), snapshot.version
            )
            shown += rest.ids[:missing] if rest else []
        more = 0 < len(shown) < snapshot.total - self.query.offset
        version = snapshot.version if more else None
        return self.result(self.records(shown), snapshot.total, version)

    def _gather(self) -> list[int]:
        """Return the ids of all entries that match the filters, in the order of the query."""
        condition, values = self.access.key_condition()
        filters, names = self._filters(values)
        arguments: dict[str, Any] = {"FilterExpression": filters} if filters else {}
        sort_name, sort = index_keys(self.access.index)[1], self.query.sort
        entries = self._entries(
            KeyConditionExpression=condition,
            values=values,
            ProjectionExpression=f"{sort_name}, #slim.#sort",
            ExpressionAttributeNames={**names, "#slim": INDEX_ATTRIBUTES, "#sort": sort},
            **arguments,
        )
        found = [
            (entry.get(INDEX_ATTRIBUTES, {}).get(sort, ""), id_of(entry[sort_name]))
            for entry in entries
        ]
        return self._sorted(found)

    def _entries(self, **arguments: Any) -> Iterator[Item]:
        """Yield all index entries of a query."""
        start = None
        while True:
            more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
            page = self.store.query(IndexName=index_name(self.access.index), **arguments, **more)
            yield from page.items
            start = page.last_key
            if start is None:
                return

    def _sorted(self, found: Iterable[tuple[str, int]]) -> list[int]:
        """Return the ids of pairs of sort text and id, in the order of the query."""
        return [number for _, number in sorted(found, reverse=self.query.descending)]

    def _filters(self, values: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Return the filter expression; a filter that the access path covers is always true."""
        terms: list[str] = []
        names: dict[str, str] = {}

        def value(text: str) -> str:
            name = f":v{len(values)}"
            values[name] = text
            return name

        def facet(name: str) -> str:
            names[f"#f{len(names)}"] = name
            return f"#slim.#f{len(names) - 1}"

        for name, text in self.query.equal.items():
            terms.append(f"{facet(name)} = {value(text)}")
        for name, text in self.query.contains.items():
            terms.append(f"contains({facet(name)}, {value(text)})")
        for name, (low, high) in self.query.between.items():
            path = facet(name)
            terms += [f"{path} >= {value(low)}"] if low is not None else []
            terms += [f"{path} <= {value(high)}"] if high is not None else []
        return " AND ".join(terms), names


class _LookedUpList[E: BaseModel](_GatheredList[E]):
    """A gathered list of a lookup index in which an entity can have several entries.

    Only one of them has index attributes. An entity that another entry leads to is read before
    the filters are applied, together with all others that were found, since few share a value.
    """

    _read: Mapping[int, Record[E]] | None = None

    def records(self, ids: list[int]) -> list[Record[E]]:
        if self._read is None:
            return super().records(ids)
        return [self._read[number] for number in ids]

    def _gather(self) -> list[int]:
        condition, values = self.access.key_condition()
        sort_name = index_keys(self.access.index)[1]
        entries = self._entries(
            KeyConditionExpression=condition,
            values=values,
            ProjectionExpression=f"{sort_name}, #slim",
            ExpressionAttributeNames={"#slim": INDEX_ATTRIBUTES},
        )
        found: dict[int, Facets] = {}
        for entry in entries:
            number, facets = id_of(entry[sort_name]), entry.get(INDEX_ATTRIBUTES, {})
            found[number] = facets or found.get(number, {})
        if not all(found.values()):
            records = self.collection.get_many(self.store, found)
            self._read = {record.id: record for record in records}
            found = {record.id: self.collection.facets(record.entity) for record in records}
        return self._sorted(
            (facets.get(self.query.sort) or "", number)
            for number, facets in found.items()
            if self._matches(facets)
        )

    def _matches(self, facets: Facets) -> bool:
        """Return whether the facets of an entity match the filters besides the lookup."""
        query = self.query
        return (
            all(
                facets.get(name) == text
                for name, text in query.equal.items()
                if name != self.access.lookup
            )
            and all(text in (facets.get(name) or "") for name, text in query.contains.items())
            and all(
                text is not None and (low is None or low <= text) and (high is None or text <= high)
                for text, (low, high) in (
                    (facets.get(name), bounds) for name, bounds in query.between.items()
                )
            )
        )

"""Ordered lists: a page is read directly from the index that has the order of the list.

Where several partitions of the index have the entries, such as those of several statuses, each is
read from the same sort key on, and they are merged: a mark or a position is one sort key. A page
number is found from the nearest stored position or from the nearer end of the list.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from shared.kernel.db.counters import Totals
from shared.kernel.db.facets import AFTER_SEPARATOR, id_of, sort_text
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.lists import bookmarks, bounds
from shared.kernel.db.lists.bookmarks import ListPosition, State
from shared.kernel.db.lists.cursor import InvalidCursor, Mark, sort_key_of
from shared.kernel.db.lists.list_request import ListRequest
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.plan import PAGE_ENTRIES, AccessPath, OrderedPlan
from shared.kernel.db.parallel import map_concurrently, once, run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import key_attributes
from shared.kernel.db.table import index_keys, index_name
from shared.kernel.fields import Stored

_FIXED_SORTS = frozenset({"id", "created_at"})
"""Orders in which only new and deleted entities change the pages; every total shows these."""


@dataclass(slots=True)
class _Source:
    """The sort keys of a path that were read and not merged yet, and where the next ones begin.

    Without a path, those of the entries beside the ordered ones.
    """

    path: AccessPath | None
    start: AttributeMap | None = None
    keys: deque[str] = field(default_factory=deque)
    is_complete: bool = False


def _merge(sources: list[_Source], most: int, *, descending: bool) -> list[str]:
    """Take the first sort keys of all sources, until one is empty that may have more."""
    filled = [one for one in sources if one.keys]
    merged: list[str] = []
    while filled and len(merged) < most:
        if len(filled) == len(sources) == 1:
            merged += filled[0].keys
            filled[0].keys.clear()
            break
        source = (max if descending else min)(filled, key=lambda one: one.keys[0])
        merged.append(source.keys.popleft())
        if not source.keys:
            if not source.is_complete:
                break
            filled.remove(source)
    return merged


class OrderedList[E: Stored]:
    """One page of an ordered list."""

    def __init__(self, request: ListRequest[E], plan: OrderedPlan) -> None:
        self._request = request
        self._store, self._collection = request.store, request.collection
        self._query, self._listing = request.query, request.listing
        self._plan = plan
        self._beside = once(self._read_beside)

    def page(self) -> Page[E]:
        """Read the page; raise InvalidCursor if the mark of the query is not one of this list."""
        query = self._query
        if query.after is not None:
            return self._page_after(self._checked(query.after))
        if query.offset:
            return self._page_by_number()
        totals, keys = self._with(
            self._request.totals, lambda: self._scan(None, 0, query.per_page, query.descending)
        )
        total = self._total(totals)
        more = 0 < len(keys) < total
        return self._request.page(self._records_of(keys), total, keys[-1] if more else None)

    def _total(self, totals: Totals) -> int:
        counted = sum(map(totals.of, self._plan.total_names))
        return max(0, counted) + len(self._beside())

    def _with[A](self, read: Callable[[], A], scan: Callable[[], list[str]]) -> tuple[A, list[str]]:
        """Read concurrently; a scan of several paths does so itself, which the first call may."""
        if len(self._plan.paths) == 1 and not self._plan.beside:
            return run_all(read, scan)
        keys, found = run_all(scan, read)
        return found, keys

    def _records_of(self, keys: list[str]) -> list[Record[E]]:
        # An entity that changes its partition while several are read may be found in both.
        return self._request.records(dict.fromkeys(map(id_of, keys)))

    def _checked(self, mark: Mark) -> str:
        """Return a mark that is a sort key of an index."""
        key = sort_key_of(mark, self._collection.id_digits)
        low, high = self._plan.path.bounds
        if key < (low or "") or (high is not None and key > high + AFTER_SEPARATOR):
            raise InvalidCursor  # DynamoDB refuses to start outside the range
        return key

    def _page_after(self, after: str) -> Page[E]:
        """Read the page after an entry.

        Entities that were created or deleted since the first page may have moved this page away
        from its number. So no position is stored, and when the total says that this is the last
        page, the list ends only if no entry follows.
        """
        query = self._query
        totals, keys = self._with(
            self._request.totals, lambda: self._scan(after, 0, query.per_page, query.descending)
        )
        total = self._total(totals)
        if not keys:
            return self._request.page([], total, None)
        last = keys[-1]
        if query.offset + len(keys) < total or len(keys) < query.per_page:
            records, more = self._records_of(keys), query.offset + len(keys) < total
        else:
            records, behind = self._with(
                lambda: self._records_of(keys), lambda: self._scan(last, 0, 1, query.descending)
            )
            more = bool(behind)
        return self._request.page(records, total, last if more else None)

    def _page_by_number(self) -> Page[E]:
        """Read a page, from the nearest position or the nearer end of the list."""
        query = self._query
        totals, state, keys = self._keys_by_number()
        total = self._total(totals)
        if not keys:
            return self._request.page([], total, None)
        end = query.offset + len(keys)
        position = ListPosition(state.text, state.valid_until, end, keys[-1])
        bookmarks.cache_position(self._store, self._listing, position)
        if end >= total:
            return self._request.page(self._records_of(keys), total, None)
        records, _ = run_all(
            lambda: self._records_of(keys),
            lambda: bookmarks.store_position(self._store, self._listing, position),
        )
        return self._request.page(records, total, keys[-1])

    def _keys_by_number(self) -> tuple[Totals, State, list[str]]:
        query = self._query
        known = bookmarks.cached_position(self._store, self._listing, query.offset)
        position: ListPosition | None
        if known:
            (totals, state), keys = self._with(
                self._state,
                lambda: self._scan(known.after, 0, query.per_page, query.descending),
            )
            if known.is_valid(state):
                return totals, state, keys
            bookmarks.evict_position(self._store, self._listing, query.offset)
            position = None
        else:
            (totals, state), position = run_all(
                self._state,
                lambda: bookmarks.find_position(self._store, self._listing, query.offset),
            )
        wanted = min(query.per_page, self._total(totals) - query.offset)
        if wanted <= 0:
            return totals, state, []
        start = position if position and position.is_valid(state) else None
        from_start = query.offset - (start.offset if start else 0)
        from_end = self._total(totals) - query.offset - wanted
        if from_end < from_start:
            backwards = self._scan(None, from_end, wanted, not query.descending)
            return totals, state, backwards[::-1]
        after = start.after if start else None
        return totals, state, self._scan(after, from_start, wanted, query.descending)

    def _state(self) -> tuple[Totals, State]:
        """Return the totals and the state of the list.

        A list with a moving range leaves out few entities, and with time they only come to it: its
        total shows that.
        """
        query = self._query
        totals, state = self._request.state(by_totals=query.sort in _FIXED_SORTS)
        if query.moving:
            state = replace(state, text=f"{state.text}/{self._total(totals)}")
        return totals, state

    def _scan(self, after: str | None, skip: int, take: int, descending: bool) -> list[str]:  # noqa: FBT001
        """Return the sort keys of `take` entries, starting `skip` entries after `after`."""
        wanted = skip + take
        sources = [
            _Source(path, self._start_key(path, after) if after else None)
            for path in self._plan.paths
        ]
        if self._plan.beside:
            sources.append(_Source(None))
        keys: list[str] = []
        examined = 0
        while len(keys) < wanted:
            empty = [one for one in sources if not one.keys and not one.is_complete]
            if not empty:
                merged = _merge(sources, wanted - len(keys), descending=descending)
                if not merged:
                    break
                keys += merged
                continue
            # Filters may find the next match far behind; the pages of a whole list are all of use.
            path = self._plan.path
            has_filters = bool(self._request.filters(path, {}))
            if has_filters and examined > bounds.MAX_PAGES * PAGE_ENTRIES:
                raise bounds.filters_too_much(self._query, self._collection, path.covered)
            limit = min((wanted - len(keys)) * self._plan.reads, PAGE_ENTRIES)
            examined += limit

            def read(source: _Source, limit: int = limit) -> None:
                if source.path:
                    self._read(source, source.path, limit, descending=descending)
                else:
                    source.keys += self._following(after, descending=descending)
                    source.is_complete = True

            map_concurrently(read, empty)
        return keys[skip:wanted]

    def _read(self, source: _Source, path: AccessPath, limit: int, *, descending: bool) -> None:
        """Read at most `limit` further entries of a source."""
        condition, values = path.key_condition()
        filters = self._request.filters(path, values)
        sort_name = index_keys(path.index)[1]
        more: dict[str, Any] = {"ExclusiveStartKey": source.start} if source.start else {}
        page = self._store.query(
            IndexName=index_name(path.index),
            KeyConditionExpression=condition,
            values=values,
            ProjectionExpression=sort_name,
            ScanIndexForward=not descending,
            Limit=limit,
            **filters,
            **more,
        )
        source.keys += (item[sort_name] for item in page.items)
        source.start, source.is_complete = page.last_key, page.last_key is None

    def _read_beside(self) -> list[str]:
        """Return the sort keys in this list of the entries beside the ordered ones, in order."""
        found = map_concurrently(self._keys_beside, list(self._plan.beside))
        return sorted(key for keys in found for key in keys)

    def _keys_beside(self, path: AccessPath) -> list[str]:
        sort, request = self._query.sort, self._request
        condition, values = path.key_condition()
        sort_name = index_keys(path.index)[1]
        attribute, name = request.facet_path(path, sort)
        is_shown = request.shows(path, sort) and sort != path.sort
        more: dict[str, Any] = {"ProjectionExpression": sort_name}
        if is_shown:
            more["ProjectionExpression"] = f"{sort_name}, #{attribute}.#{name}"
            more["ExpressionAttributeNames"] = {f"#{attribute}": attribute, f"#{name}": name}
        entries = self._store.query_all(
            IndexName=index_name(path.index), KeyConditionExpression=condition, values=values,
            **more,
        )  # fmt: skip
        keys = {entry[sort_name]: entry.get(attribute, {}).get(name) for entry in entries}
        if sort == path.sort:
            return [*keys]
        if is_shown:
            return [sort_text(shown, id_of(key)) for key, shown in keys.items()]
        facets = self._collection.stored_facets
        return [
            sort_text(facets(record.entity)[sort], record.id)
            for record in request.records(map(id_of, keys))
        ]

    def _following(self, after: str | None, *, descending: bool) -> list[str]:
        """Return the keys beside the ordered ones that follow a sort key."""
        keys = self._beside()[:: -1 if descending else 1]
        return [
            key for key in keys if after is None or (key < after if descending else key > after)
        ]

    def _start_key(self, path: AccessPath, after: str) -> dict[str, dict[str, str]]:
        partition_name, sort_name = index_keys(path.index)
        item = key_attributes(self._collection.entry_key(path.index, id_of(after)))
        return {**item, partition_name: {"S": path.partition}, sort_name: {"S": after}}

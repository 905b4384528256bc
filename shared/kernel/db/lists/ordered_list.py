"""Ordered lists: a page is read directly from the index that has the order of the list.

A page number is found from the nearest stored position or from the nearer end of the list.
"""

import re
from dataclasses import replace
from typing import Any

from shared.kernel.db.counters import Totals
from shared.kernel.db.facets import AFTER_SEPARATOR, id_of
from shared.kernel.db.lists import bookmarks, bounds
from shared.kernel.db.lists.bookmarks import ListPosition, State
from shared.kernel.db.lists.cursor import InvalidCursor, Mark
from shared.kernel.db.lists.list_request import ListRequest
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.plan import PAGE_ENTRIES, OrderedPlan
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import key_attributes
from shared.kernel.db.table import index_keys, index_name
from shared.kernel.fields import Stored

_MARK = re.compile("[^\x00-\x1f\ud800-\udfff]{0,800}\x1f([0-9]+)")
_MARK_BYTES = 1024
"""Size of a sort key that is accepted as a mark, which the caller may have invented."""
_FIXED_SORTS = frozenset({"id", "created_at"})
"""Orders in which only new and deleted entities change the pages; every total shows these."""


class OrderedList[E: Stored]:
    """One page of an ordered list."""

    def __init__(self, request: ListRequest[E], plan: OrderedPlan) -> None:
        self._request = request
        self._store, self._collection = request.store, request.collection
        self._query, self._listing = request.query, request.listing
        self._plan = plan

    def page(self) -> Page[E]:
        """Read the page; raise InvalidCursor if the mark of the query is not one of this list."""
        query = self._query
        if query.after is not None:
            return self._page_after(self._checked(query.after))
        if query.offset:
            return self._page_by_number()
        totals, keys = run_all(
            self._request.totals, lambda: self._scan(None, 0, query.per_page, query.descending)
        )
        total = totals.of(self._plan.total_name)
        more = 0 < len(keys) < total
        return self._request.page(self._records_of(keys), total, keys[-1] if more else None)

    def _records_of(self, keys: list[str]) -> list[Record[E]]:
        return self._request.records([id_of(key) for key in keys])

    def _checked(self, mark: Mark) -> str:
        """Return a mark that is a sort key of an index."""
        key = _MARK.fullmatch(mark) if isinstance(mark, str) else None
        if not key or len(key[1]) != self._collection.id_digits:
            raise InvalidCursor
        if len(key[0].encode()) > _MARK_BYTES:
            raise InvalidCursor
        low, high = self._plan.path.bounds
        if key[0] < (low or "") or (high is not None and key[0] > high + AFTER_SEPARATOR):
            raise InvalidCursor  # DynamoDB refuses to start outside the range
        return key[0]

    def _page_after(self, after: str) -> Page[E]:
        """Read the page after an entry.

        Entities that were created or deleted since the first page may have moved this page away
        from its number. So no position is stored, and when the total says that this is the last
        page, the list ends only if no entry follows.
        """
        query = self._query
        totals, keys = run_all(
            self._request.totals, lambda: self._scan(after, 0, query.per_page, query.descending)
        )
        total = totals.of(self._plan.total_name)
        if not keys:
            return self._request.page([], total, None)
        last = keys[-1]
        if query.offset + len(keys) < total or len(keys) < query.per_page:
            records, more = self._records_of(keys), query.offset + len(keys) < total
        else:
            records, behind = run_all(
                lambda: self._records_of(keys), lambda: self._scan(last, 0, 1, query.descending)
            )
            more = bool(behind)
        return self._request.page(records, total, last if more else None)

    def _page_by_number(self) -> Page[E]:
        """Read a page, from the nearest position or the nearer end of the list."""
        query = self._query
        totals, state, keys = self._keys_by_number()
        total = totals.of(self._plan.total_name)
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
            (totals, state), keys = run_all(
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
        wanted = min(query.per_page, totals.of(self._plan.total_name) - query.offset)
        if wanted <= 0:
            return totals, state, []
        start = position if position and position.is_valid(state) else None
        from_start = query.offset - (start.offset if start else 0)
        from_end = totals.of(self._plan.total_name) - query.offset - wanted
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
            state = replace(state, text=f"{state.text}/{totals.of(self._plan.total_name)}")
        return totals, state

    def _scan(self, after: str | None, skip: int, take: int, descending: bool) -> list[str]:  # noqa: FBT001
        """Return the sort keys of `take` entries, starting `skip` entries after `after`."""
        path = self._plan.path
        condition, values = path.key_condition()
        filters = self._request.filters(path, values)
        sort_name = index_keys(path.index)[1]
        start = self._start_key(after) if after else None
        keys: list[str] = []
        examined = 0
        while len(keys) < skip + take:
            missing = skip + take - len(keys)
            # Filters may find the next match far behind; the pages of a whole list are all of use.
            if filters and examined > bounds.MAX_PAGES * PAGE_ENTRIES:
                raise bounds.filters_too_much(self._query, self._collection, path.covered)
            limit = min(missing * self._plan.reads, PAGE_ENTRIES)
            examined += limit
            more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
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
            keys += [item[sort_name] for item in page.items]
            start = page.last_key
            if start is None:
                break
        return keys[skip : skip + take]

    def _start_key(self, after: str) -> dict[str, dict[str, str]]:
        path = self._plan.path
        partition_name, sort_name = index_keys(path.index)
        item = key_attributes(self._collection.entry_key(path.index, id_of(after)))
        return {**item, partition_name: {"S": path.partition}, sort_name: {"S": after}}

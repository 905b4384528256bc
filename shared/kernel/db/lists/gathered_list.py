"""Gathered lists: the matching index entries or items are read once for all pages, and sorted.

What is read is the smallest partition or range that covers the filters; of a search, the entries of
the word that has the fewest. The ids in order are stored as a snapshot for the next pages.
A search, or a filter without an index, that needs more than three seconds is refused: `bounds`.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from shared.kernel.clock import now_ms
from shared.kernel.db.counters import Totals
from shared.kernel.db.entity_items import UPDATED_AT
from shared.kernel.db.facets import ID, id_of, value_of
from shared.kernel.db.items import AttributeMap, Item
from shared.kernel.db.lists import bookmarks, bounds
from shared.kernel.db.lists.bookmarks import State
from shared.kernel.db.lists.cursor import InvalidCursor
from shared.kernel.db.lists.list_request import ListRequest
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.plan import (
    ITEM_COST,
    PAGE_ENTRIES,
    AccessPath,
    AliasPlan,
    GatheredPlan,
    SearchPlan,
    Words,
)
from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.records import Record
from shared.kernel.db.search import SEARCH
from shared.kernel.db.store import QueryPage
from shared.kernel.db.table import UPDATES, index_keys, index_name
from shared.kernel.fields import Stored

_FIRST_ENTRIES = 400
"""Entries that the first Queries of a search with several words examine together."""
_GROWTH = 4
type Read = Callable[[AccessPath, AttributeMap | None, int | None], QueryPage]
"""Reads a page of a path from a start key on, with at most so many entries."""


@dataclass(slots=True)
class _Reading:
    path: AccessPath
    items: list[Item] = field(default_factory=list)
    start: AttributeMap | None = None
    is_complete: bool = False

    def add(self, page: QueryPage) -> None:
        self.items += page.items
        self.start, self.is_complete = page.last_key, page.last_key is None


def read_rarest_word(
    words: Sequence[Sequence[AccessPath]], read: Read
) -> Mapping[AccessPath, Sequence[Item]]:
    """Return all entries of the paths of one word, of the one with the fewest entries.

    Nobody knows which word that is, so all are read concurrently, in growing portions, until the
    entries of one are complete. A single word is read in whole pages.

    Raises:
        ValidationFailed: No word is complete after MAX_PAGES.
    """
    readings = [[_Reading(path) for path in paths] for paths in words]
    first = _FIRST_ENTRIES // sum(map(len, words))
    pages = 0.0
    for turn in count():
        waiting = [one for word in readings for one in word if not one.is_complete]
        limit = min(first * _GROWTH**turn, PAGE_ENTRIES) if len(words) > 1 else None
        pages += len(waiting) * (limit or PAGE_ENTRIES) / PAGE_ENTRIES
        if pages > bounds.MAX_PAGES:
            raise bounds.search_too_much()

        def read_next(one: _Reading, limit: int | None = limit) -> None:
            one.add(read(one.path, one.start, limit))

        map_concurrently(read_next, waiting)
        for word in readings:
            if all(one.is_complete for one in word):
                return {one.path: one.items for one in word}
    raise AssertionError


_MAX_TIME = 10**15
_FEW = 200
"""Items that are read without comparing their number with the total of the collection."""

type _Plan = GatheredPlan | AliasPlan | SearchPlan


class GatheredList[E: Stored]:
    """One page of a gathered list."""

    _found: Mapping[int, Record[E]] | None = None
    """The records by id, when they were read to filter them."""

    def __init__(self, request: ListRequest[E], plan: _Plan) -> None:
        self._request = request
        self._store, self._collection = request.store, request.collection
        self._query, self._listing = request.query, request.listing
        self._plan = plan

    def page(self) -> Page[E]:
        """Read the page.

        Raises:
            InvalidCursor: The mark of the query is not one of a gathered list.
            ValidationFailed: The filters or the search need more than a request may read.
        """
        query = self._query
        mark = query.after
        if mark is not None:
            if not isinstance(mark, int) or not 0 <= mark < _MAX_TIME:
                raise InvalidCursor
            walked = bookmarks.find_snapshot(self._store, self._listing, query.offset, mark)
            if walked:
                return self._from_snapshot(walked)
        if not query.offset:
            # Only the first call may read two indexes concurrently, as a search does.
            ids, _, _ = run_all(self._gather, self._request.newest_change, self._request.totals)
            _, state = self._state()
        else:
            (_, state), snapshot = run_all(
                self._state,
                lambda: bookmarks.find_snapshot(self._store, self._listing, query.offset, None),
            )
            if snapshot and snapshot.is_valid(state):
                return self._from_snapshot(snapshot)
            ids = self._gather()
        shown = ids[query.offset : query.offset + query.per_page]
        taken_ms = now_ms()
        if len(ids) > query.per_page:
            records, _ = run_all(
                lambda: self._records(shown),
                lambda: bookmarks.store_snapshot(self._store, self._listing, ids, state, taken_ms),
            )
        else:
            records = self._records(shown)
        if not 0 < len(shown) < len(ids) - query.offset:
            return self._request.page(records, len(ids), None)
        digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()
        return self._request.page(records, len(ids), taken_ms, digest)

    def _state(self) -> tuple[Totals, State]:
        """Return the totals and the state; another one at each moment if the list depends on it."""
        totals, state = self._request.state()
        moments = [one for one in (self._query.moving, self._query.doubt) if one]
        if moments:
            state = replace(state, text=f"{state.text}/{json.dumps(moments)}")
        return totals, state

    def _from_snapshot(self, snapshot: bookmarks.Snapshot) -> Page[E]:
        offset, per_page = self._query.offset, self._query.per_page
        first = offset - snapshot.first
        shown = list(snapshot.ids[first : first + per_page])
        missing = min(per_page, snapshot.total - offset) - len(shown)
        if missing > 0:
            rest = bookmarks.find_snapshot(
                self._store, self._listing, offset + len(shown), snapshot.taken_ms
            )
            shown += rest.ids[:missing] if rest else []
        more = 0 < len(shown) < snapshot.total - offset
        taken_ms = snapshot.taken_ms if more else None
        return self._request.page(self._records(shown), snapshot.total, taken_ms)

    def _records(self, ids: list[int]) -> list[Record[E]]:
        if self._found is None:
            return self._request.records(ids)
        return [self._found[number] for number in ids]

    def _gather(self) -> list[int]:
        """Return the ids of all entities that match the filters, in the order of the query."""
        plan = self._plan
        if isinstance(plan, AliasPlan):
            aliases = self._store.get_many(plan.aliases).values()
            return self._matching_items({int(alias["id"]) for alias in aliases})
        words = plan.words if isinstance(plan, SearchPlan) else [plan.paths]
        if not plan.reads_items:
            return self._matching_entries(words)
        ids = self._entities(words)
        updates = self._collection.sorts.get(UPDATED_AT)
        needed = {self._query.sort, *self._query.facets} - {ID}
        is_shown = all(self._collection.carries(UPDATES, UPDATED_AT, facet) for facet in needed)
        is_large = len(ids) > _FEW and len(ids) > self._request.totals().of(None) // ITEM_COST
        if is_large and len(ids) <= bounds.MAX_ITEMS:
            is_large = self._request.totals().of(None) <= bounds.SURE_ENTRIES
        if updates and is_shown and is_large:
            changed = self._query.ranges.get(UPDATED_AT, (None, None))
            covered = frozenset({UPDATED_AT})
            path = AccessPath(updates, self._collection.kind, UPDATED_AT, changed, covered)
            return self._matching_entries([[path]])
        return self._matching_items(ids)

    def _matching_entries(self, words: Words) -> list[int]:
        """Filter and sort by what the entries show.

        An entity may have several entries, of which some are of its former name while it changes.
        """
        sort, found, doubtful = self._query.sort, dict[int, str](), set[int]()
        facet, moment = self._query.doubt or (sort, None)
        for path, entries in self._read(words, self._arguments):
            sort_name = index_keys(path.index)[1]
            attribute, name = self._request.facet_path(path, sort)
            in_doubt, _ = self._request.facet_path(path, facet)
            for entry in entries:
                key = entry[sort_name]
                shown = entry.get(attribute, {}).get(name, "")
                found[id_of(key)] = value_of(key) if sort == path.sort else shown
                if moment is not None and entry.get(in_doubt, {}).get(facet):
                    doubtful.add(id_of(key))
        for number in doubtful - self._matching_of(doubtful):
            del found[number]
        return self._sorted((text, number) for number, text in found.items())

    def _matching_of(self, ids: set[int]) -> set[int]:
        """Read entities whose entries match, and return the ids of those that match themselves."""
        if len(ids) > bounds.MAX_ITEMS:
            raise bounds.filters_too_much(self._query, self._collection, frozenset())
        stored_facets, matches = self._collection.stored_facets, self._query.matches
        return {
            record.id
            for record in self._request.records(ids)
            if matches(stored_facets(record.entity), covered=frozenset())
        }

    def _entities(self, words: Words) -> set[int]:
        """Return the ids of the entities that match as far as the entries show it."""
        return {
            id_of(entry[index_keys(path.index)[1]])
            for path, entries in self._read(words, partial(self._arguments, only_ids=True))
            for entry in entries
        }

    def _arguments(self, path: AccessPath, *, only_ids: bool = False) -> dict[str, Any]:
        """Return the arguments of a Query for the matching entries with the text to sort by.

        With `only_ids`, those that match as far as they show it, and without the text.
        """
        condition, values = path.key_condition()
        # The further entries of an entity in a lookup index do not show all facets, so a filter
        # would drop them.
        is_lookup = path.sort is None and path.prefix is None
        several = only_ids and is_lookup and self._collection.more_lookups
        arguments = {} if several else self._request.filters(path, values, only_shown=only_ids)
        shown, sort = [index_keys(path.index)[1]], self._query.sort
        compared = () if only_ids else dict.fromkeys((sort, *(self._query.doubt or ())[:1]))
        for facet in (one for one in compared if one not in {ID, path.sort}):
            attribute, name = self._request.facet_path(path, facet)
            names = arguments.setdefault("ExpressionAttributeNames", {})
            names |= {f"#{attribute}": attribute, f"#{name}": name}
            shown.append(f"#{attribute}.#{name}")
        return {
            "KeyConditionExpression": condition,
            "values": values,
            "ProjectionExpression": ", ".join(shown),
            **arguments,
        }

    def _read(
        self, words: Words, arguments_of: Callable[[AccessPath], dict[str, Any]]
    ) -> Iterable[tuple[AccessPath, Iterable[Item]]]:
        """Return the entries of one of the words, by path."""
        if SEARCH not in self._query.contains:
            [paths] = words
            if len(paths) == 1:
                return [(paths[0], self._entries(paths[0], arguments_of))]
            return map_concurrently(
                lambda path: (path, [*self._entries(path, arguments_of)]), list(paths)
            )
        arguments = {path: arguments_of(path) for paths in words for path in paths}

        def read(path: AccessPath, start: AttributeMap | None, limit: int | None) -> QueryPage:
            more: dict[str, Any] = {}
            if start:
                more["ExclusiveStartKey"] = start
                if self._has_too_many(path):
                    raise bounds.search_too_much()
            if limit:
                more["Limit"] = limit
            return self._store.query(IndexName=index_name(path.index), **arguments[path], **more)

        return read_rarest_word(words, read).items()

    def _entries(
        self, path: AccessPath, arguments_of: Callable[[AccessPath], dict[str, Any]]
    ) -> Iterable[Item]:
        """Yield the matching entries of a path.

        Raises:
            ValidationFailed: The path has too many others. If all of them match, none is too many:
                an incremental read must work however much has changed.
        """
        arguments, more = arguments_of(path), dict[str, Any]()
        has_others = bool(self._query.facets - path.covered)
        for pages in count(1):
            page = self._store.query(IndexName=index_name(path.index), **arguments, **more)
            yield from page.items
            if page.last_key is None:
                return
            if has_others and (pages == bounds.MAX_PAGES or self._has_too_many(path)):
                raise bounds.filters_too_much(self._query, self._collection, path.covered)
            more["ExclusiveStartKey"] = page.last_key

    def _has_too_many(self, path: AccessPath) -> bool:
        """Return whether a counter says that the entries of a path are more than MAX_PAGES.

        Only a page after the first one asks, when the totals are known.
        """
        if path.sort is None or path.bounds != (None, None):
            return False
        query, partition = self._query, self._collection.partition
        names = [
            f"{facet}={value}"
            for facet in path.covered
            for value in query.values(facet)
            if len(query.values(facet)) == 1 or partition(facet, value) == path.partition
        ]
        total = self._request.totals().of(names[0] if names else None)
        return total > bounds.MAX_PAGES * PAGE_ENTRIES

    def _matching_items(self, ids: Iterable[int]) -> list[int]:
        """Read entities, filter and sort them."""
        ids = list(ids)
        covered = self._plan.path.covered if isinstance(self._plan, GatheredPlan) else frozenset()
        if len(ids) > bounds.MAX_ITEMS and self._query.facets - covered:
            raise bounds.filters_too_much(self._query, self._collection, covered)
        records = self._request.records(ids)
        facets = {record.id: self._collection.stored_facets(record.entity) for record in records}
        self._found = {
            record.id: record
            for record in records
            if self._query.matches(facets[record.id], covered=covered)
        }
        return self._sorted(
            (facets[number].get(self._query.sort) or "", number) for number in self._found
        )

    def _sorted(self, found: Iterable[tuple[str, int]]) -> list[int]:
        """Return the ids of pairs of sort text and id, in the order of the query."""
        return [number for _, number in sorted(found, reverse=self._query.descending)]

"""Lists with page numbers, exact totals, sorts and filters on DynamoDB, at a known cost.

There are two kinds of lists. An *ordered* list has one of the collection's own sorts, of all
entities or of one partition: it is read directly from its index, and its total is a counter. A
*gathered* list has any other filter: it reads the index entries of the smallest partition or range
that covers the filter, once for all its pages. In both kinds, the first page and every page of
`links.next` need two sequential round trips: entries and totals concurrently, then the items. A
partition in an order of which only the whole collection has an index needs a third one.

The mark in a cursor, which `links.next` contains, continues exactly where the previous page ended,
whatever has changed since. A page number without a mark always counts on the current list.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import BaseModel

from shared.kernel.clock import milliseconds_of, now_ms
from shared.kernel.db import bookmarks
from shared.kernel.db.bookmarks import ListPosition, State
from shared.kernel.db.collection import ID, UPDATED_AT, Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.cursor import InvalidCursor, Mark
from shared.kernel.db.entries import read_entries, totals_without
from shared.kernel.db.facets import ID_DIGITS, PAIR_DIGITS, id_of, value_of
from shared.kernel.db.items import AttributeMap, Item, Key
from shared.kernel.db.parallel import once, run_all
from shared.kernel.db.plan import (
    ITEM_COST,
    AccessPath,
    AliasPlan,
    GatheredPlan,
    ListQuery,
    OrderedPlan,
    SearchPlan,
    Words,
    ensure_upgraded,
    plan_list,
)
from shared.kernel.db.records import Record
from shared.kernel.db.search import SEARCH
from shared.kernel.db.search_reading import read_rarest_word
from shared.kernel.db.store import QueryPage, Store
from shared.kernel.db.table import (
    PARTITION_KEY,
    SORT_KEY,
    STABLE_FACETS,
    UPDATES,
    index_keys,
    index_name,
)

_MARK = re.compile("[^\x00-\x1f\ud800-\udfff]{0,800}\x1f([0-9]+)")
_MARK_BYTES = 1024
"""Size of a sort key that is accepted as a mark, which the caller may have invented."""
_MAX_TIME = 10**15
_FIXED_SORTS = frozenset({"id", "created_at"})
"""Orders in which only new and deleted entities change the pages; every total shows these."""
_PAGE_ENTRIES = 5_000
"""More index entries than a Query returns at once, at most 1 MB."""
_FEW = 200
"""Items that are read without comparing their number with the total of the collection."""


type ReadWith = Callable[[int], Key]
"""Returns the key of an item that is read together with the entity of an id."""


@dataclass(frozen=True, slots=True)
class Page[E]:
    """One page: its records, the exact total, and where the next page begins."""

    records: list[Record[E]]
    total: int
    page: int
    per_page: int
    next_mark: Mark | None
    """None when there is no next page."""


def read_page[E: BaseModel](
    store: Store, collection: Collection[E], query: ListQuery, *, read_with: ReadWith | None = None
) -> Page[E]:
    """Read one page of a list.

    Args:
        store: The tenant's table.
        collection: What the list shows.
        query: Sort, filters and page.
        read_with: Names an item that is read together with each entity of the page, into the cache
            of a repeatable store.

    Raises:
        UnservedTable: The table is being upgraded, and lacks a facet or an order until then.
    """
    ensure_upgraded(store, collection, query)
    if query.is_empty:
        return Page([], 0, query.page, query.per_page, None)
    collection = collection.at(store.version.complete)
    own = [
        f"{facet}={query.equal[facet]}"
        for facet in query.equal
        if collection.own_shards(facet) is not None
    ]
    totals = once(lambda: collection.totals(store, own))
    plan = plan_list(collection, query, totals)
    if isinstance(plan, OrderedPlan):
        if plan.left_out:
            name = plan.total_name or "n"
            totals = once(partial(totals_without, store, plan.left_out, name, totals))
        return _OrderedList(store, collection, query, totals, plan, read_with).page()
    return _GatheredList(store, collection, query, totals, plan, read_with).page()


@dataclass(slots=True)
class _List[E: BaseModel, P]:
    """What ordered and gathered lists share."""

    store: Store
    collection: Collection[E]
    query: ListQuery
    totals: Callable[[], Totals]
    plan: P
    read_with: ReadWith | None
    listing: str = field(init=False)
    newest_change: Callable[[], str | None] = field(init=False)

    def __post_init__(self) -> None:
        self.listing = self._name()
        self.newest_change = once(self._newest_change)

    def _name(self) -> str:
        query = self.query
        asked = [
            query.sort, query.descending, sorted(query.equal.items()),
            sorted(query.contains.items()), sorted(query.between.items()),
        ]  # fmt: skip
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]
        return f"{self.collection.kind}#{digest}"

    def state(self) -> tuple[Totals, State]:
        """Return the totals and the state of the collection.

        Most changes alter no total. They show in the entry that was updated last.
        """
        fixed = isinstance(self.plan, OrderedPlan) and self.query.sort in _FIXED_SORTS
        totals, newest = run_all(self.totals, (lambda: None) if fixed else self.newest_change)
        changed_ms = milliseconds_of(value_of(newest)) if newest else 0
        text = f"{totals.version}/{newest or ''}{self._moment(totals)}"
        return totals, State(text, max(totals.touched_ms, changed_ms))

    def _moment(self, totals: Totals) -> str:
        """Return what the state of a list with moving ranges has besides: it differs each time."""
        del totals
        return f"/{json.dumps(self.query.moving)}" if self.query.moving else ""

    def _newest_change(self) -> str | None:
        if UPDATED_AT not in self.collection.sorts:
            return None
        partition, sort = index_keys(UPDATES)
        page = self.store.query(
            IndexName=index_name(UPDATES),
            KeyConditionExpression=f"{partition} = :partition",
            values={":partition": self.collection.kind},
            ProjectionExpression=sort,
            ScanIndexForward=False,
            Limit=1,
        )
        return page.items[0][sort] if page.items else None

    def filters(
        self, path: AccessPath, values: dict[str, str], *, only_shown: bool = False
    ) -> dict[str, Any]:
        """Return the arguments of a Query for the filters that its key condition does not cover.

        `values` gets their values. With `only_shown`, filters by facets that the entries do not
        show are left out.
        """
        terms: list[str] = []
        names: dict[str, str] = {}
        for facet, operator, text in self.query.comparisons():
            if facet in path.covered:
                continue
            if only_shown and not self.shows(path, facet):
                continue
            attribute, name = self.facet_path(path, facet)
            names |= {f"#{attribute}": attribute, f"#{name}": name}
            value = f":v{len(values)}"
            values[value] = text
            terms.append(operator.format(f"#{attribute}.#{name}", value))
        if not terms:
            return {}
        return {"FilterExpression": " AND ".join(terms), "ExpressionAttributeNames": names}

    def facet_path(self, path: AccessPath, facet: str) -> tuple[str, str]:
        """Return the attribute of the entries of a path that holds a facet, and its name in it."""
        return (
            (STABLE_FACETS, facet) if path.prefix is not None else self.collection.facet_path(facet)
        )

    def shows(self, path: AccessPath, facet: str) -> bool:
        """Return whether the entries of a path show a facet."""
        if path.prefix is not None:
            return facet == SEARCH or facet in (self.collection.searched or ())
        return self.collection.carries(path.index, path.sort, facet)

    def records(self, ids: list[int]) -> list[Record[E]]:
        also = map(self.read_with, ids) if self.read_with else ()
        return self.collection.get_many(self.store, ids, also=also)

    def result(self, records: list[Record[E]], total: int, next_mark: Mark | None) -> Page[E]:
        return Page(records, total, self.query.page, self.query.per_page, next_mark)


class _OrderedList[E: BaseModel](_List[E, OrderedPlan]):
    def _moment(self, totals: Totals) -> str:
        """Return the total: with time, entities only come to a list that leaves out few."""
        return f"/{totals.of(self.plan.total_name)}" if self.query.moving else ""

    def page(self) -> Page[E]:
        query = self.query
        if query.after is not None:
            return self._page_after(self._checked(query.after))
        if query.offset:
            return self._page_by_number()
        totals, keys = run_all(
            self.totals, lambda: self._scan(None, 0, query.per_page, query.descending)
        )
        total = totals.of(self.plan.total_name)
        more = 0 < len(keys) < total
        return self.result(self._records_of(keys), total, keys[-1] if more else None)

    def _records_of(self, keys: list[str]) -> list[Record[E]]:
        return self.records([id_of(key) for key in keys])

    def _checked(self, mark: Mark) -> str:
        """Return a mark that is a sort key of an index."""
        key = _MARK.fullmatch(mark) if isinstance(mark, str) else None
        if not key or len(key[1]) not in {ID_DIGITS, PAIR_DIGITS}:
            raise InvalidCursor
        if len(key[0].encode()) > _MARK_BYTES:
            raise InvalidCursor
        return key[0]

    def _page_after(self, after: str) -> Page[E]:
        """Read the page after an entry.

        Entities that were created or deleted since the first page may have moved this page away
        from its number. So no position is stored, and when the total says that this is the last
        page, the list ends only if no entry follows.
        """
        query = self.query
        totals, keys = run_all(
            self.totals, lambda: self._scan(after, 0, query.per_page, query.descending)
        )
        total = totals.of(self.plan.total_name)
        if not keys:
            return self.result([], total, None)
        last = keys[-1]
        if query.offset + len(keys) < total or len(keys) < query.per_page:
            records, more = self._records_of(keys), query.offset + len(keys) < total
        else:
            records, behind = run_all(
                lambda: self._records_of(keys), lambda: self._scan(last, 0, 1, query.descending)
            )
            more = bool(behind)
        return self.result(records, total, last if more else None)

    def _page_by_number(self) -> Page[E]:
        """Read a page, from the nearest position or the nearer end of the list."""
        query = self.query
        totals, state, keys = self._keys_by_number()
        total = totals.of(self.plan.total_name)
        if not keys:
            return self.result([], total, None)
        end = query.offset + len(keys)
        position = ListPosition(end, keys[-1], state.text, state.valid_until)
        bookmarks.cache_position(self.store, self.listing, position)
        if end >= total:
            return self.result(self._records_of(keys), total, None)
        records, _ = run_all(
            lambda: self._records_of(keys),
            lambda: bookmarks.store_position(self.store, self.listing, position),
        )
        return self.result(records, total, keys[-1])

    def _keys_by_number(self) -> tuple[Totals, State, list[str]]:
        query = self.query
        known = bookmarks.cached_position(self.store, self.listing, query.offset)
        position: ListPosition | None
        if known:
            (totals, state), keys = run_all(
                self.state,
                lambda: self._scan(known.after, 0, query.per_page, query.descending),
            )
            if known.is_valid(state):
                return totals, state, keys
            bookmarks.evict_position(self.store, self.listing, query.offset)
            position = None
        else:
            (totals, state), position = run_all(
                self.state,
                lambda: bookmarks.find_position(self.store, self.listing, query.offset),
            )
        wanted = min(query.per_page, totals.of(self.plan.total_name) - query.offset)
        if wanted <= 0:
            return totals, state, []
        start = position if position and position.is_valid(state) else None
        from_start = query.offset - (start.offset if start else 0)
        from_end = totals.of(self.plan.total_name) - query.offset - wanted
        if from_end < from_start:
            backwards = self._scan(None, from_end, wanted, not query.descending)
            return totals, state, backwards[::-1]
        after = start.after if start else None
        return totals, state, self._scan(after, from_start, wanted, query.descending)

    def _scan(self, after: str | None, skip: int, take: int, descending: bool) -> list[str]:  # noqa: FBT001
        """Return the sort keys of `take` entries, starting `skip` entries after `after`."""
        path, spacing = self.plan.path, self.plan.spacing
        condition, values = path.key_condition()
        filters = self.filters(path, values)
        sort_name = index_keys(path.index)[1]
        start = self._start_key(after) if after else None
        keys: list[str] = []
        while len(keys) < skip + take:
            missing = skip + take - len(keys)
            more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
            page = self.store.query(
                IndexName=index_name(path.index),
                KeyConditionExpression=condition,
                values=values,
                ProjectionExpression=sort_name,
                ScanIndexForward=not descending,
                Limit=min(missing * spacing * 2, _PAGE_ENTRIES) if filters else missing,
                **filters,
                **more,
            )
            keys += [item[sort_name] for item in page.items]
            start = page.last_key
            if start is None:
                break
        return keys[skip : skip + take]

    def _start_key(self, after: str) -> dict[str, dict[str, str]]:
        path = self.plan.path
        partition_name, sort_name = index_keys(path.index)
        head = self.collection.key(id_of(after))
        return {
            PARTITION_KEY: {"S": head[0]},
            SORT_KEY: {"S": head[1]},
            partition_name: {"S": path.partition},
            sort_name: {"S": after},
        }


class _GatheredList[E: BaseModel](_List[E, GatheredPlan | AliasPlan | SearchPlan]):
    _found: Mapping[int, Record[E]] | None = None
    """The records by id, when they were read to filter them."""

    def page(self) -> Page[E]:
        query = self.query
        mark = query.after
        if mark is not None:
            if not isinstance(mark, int) or not 0 <= mark < _MAX_TIME:
                raise InvalidCursor
            walked = bookmarks.find_snapshot(self.store, self.listing, query.offset, mark)
            if walked:
                return self._from_snapshot(walked)
        if not query.offset:
            # Only the first call may read two indexes concurrently, as a search does.
            ids, _, _ = run_all(self._gather, self.newest_change, self.totals)
            _, state = self.state()
        else:
            (_, state), snapshot = run_all(
                self.state,
                lambda: bookmarks.find_snapshot(self.store, self.listing, query.offset, None),
            )
            if snapshot and snapshot.is_valid(state):
                return self._from_snapshot(snapshot)
            ids = self._gather()
        shown = ids[query.offset : query.offset + query.per_page]
        taken_ms = now_ms()
        if len(ids) > query.per_page:
            records, _ = run_all(
                lambda: self.records(shown),
                lambda: bookmarks.store_snapshot(self.store, self.listing, ids, state, taken_ms),
            )
        else:
            records = self.records(shown)
        more = 0 < len(shown) < len(ids) - query.offset
        return self.result(records, len(ids), taken_ms if more else None)

    def _from_snapshot(self, snapshot: bookmarks.Snapshot) -> Page[E]:
        first = self.query.offset - snapshot.first
        shown = list(snapshot.ids[first : first + self.query.per_page])
        missing = min(self.query.per_page, snapshot.total - self.query.offset) - len(shown)
        if missing > 0:
            rest = bookmarks.find_snapshot(
                self.store, self.listing, self.query.offset + len(shown), snapshot.taken_ms
            )
            shown += rest.ids[:missing] if rest else []
        more = 0 < len(shown) < snapshot.total - self.query.offset
        taken_ms = snapshot.taken_ms if more else None
        return self.result(self.records(shown), snapshot.total, taken_ms)

    def records(self, ids: list[int]) -> list[Record[E]]:
        if self._found is None:
            return super().records(ids)
        return [self._found[number] for number in ids]

    def _gather(self) -> list[int]:
        """Return the ids of all entities that match the filters, in the order of the query."""
        plan = self.plan
        if isinstance(plan, AliasPlan):
            aliases = self.store.get_many(plan.aliases).values()
            return self._matching_items({int(alias["id"]) for alias in aliases})
        words = plan.words if isinstance(plan, SearchPlan) else [[plan.path]]
        if not plan.reads_items:
            return self._matching_entries(words)
        ids = self._entities(words)
        updates = self.collection.sorts.get(UPDATED_AT)
        is_shown = all(
            self.collection.carries(UPDATES, UPDATED_AT, facet)
            for facet in {self.query.sort, *(facet for facet, _, _ in self.query.comparisons())}
            - {ID}
        )
        is_large = len(ids) > _FEW and len(ids) > self.totals().of(None) // ITEM_COST
        if updates and is_shown and is_large:
            return self._matching_entries([[AccessPath(updates, self.collection.kind, UPDATED_AT)]])
        return self._matching_items(ids)

    def _matching_entries(self, words: Words) -> list[int]:
        """Filter and sort by what the entries show.

        An entity may have several entries, of which some are of its former name while it changes.
        """
        sort, found = self.query.sort, dict[int, str]()
        for path, entries in self._read(words, self._arguments):
            sort_name = index_keys(path.index)[1]
            attribute, name = self.facet_path(path, sort)
            for entry in entries:
                key = entry[sort_name]
                shown = entry.get(attribute, {}).get(name, "")
                found[id_of(key)] = value_of(key) if sort == path.sort else shown
        return self._sorted((text, number) for number, text in found.items())

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
        # The further entries of an entity show no facets, so a filter would drop them.
        several = only_ids and path.sort is None and self.collection.more_lookups
        arguments = {} if several else self.filters(path, values, only_shown=only_ids)
        shown, sort = [index_keys(path.index)[1]], self.query.sort
        if not only_ids and sort not in {ID, path.sort}:
            attribute, name = self.facet_path(path, sort)
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
        if SEARCH not in self.query.contains:
            [[path]] = words
            return [(path, read_entries(self.store, path, **arguments_of(path)))]
        arguments = {path: arguments_of(path) for paths in words for path in paths}

        def read(path: AccessPath, start: AttributeMap | None, limit: int | None) -> QueryPage:
            more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
            if limit:
                more["Limit"] = limit
            return self.store.query(IndexName=index_name(path.index), **arguments[path], **more)

        return read_rarest_word(words, read).items()

    def _matching_items(self, ids: Iterable[int]) -> list[int]:
        """Read entities, filter and sort them."""
        records = self.collection.get_many(self.store, ids)
        facets = {record.id: self.collection.facets(record.entity) for record in records}
        covered = self.plan.path.covered if isinstance(self.plan, GatheredPlan) else frozenset()
        self._found = {
            record.id: record
            for record in records
            if self.query.matches(facets[record.id], besides=covered)
        }
        return self._sorted(
            (facets[number].get(self.query.sort) or "", number) for number in self._found
        )

    def _sorted(self, found: Iterable[tuple[str, int]]) -> list[int]:
        """Return the ids of pairs of sort text and id, in the order of the query."""
        return [number for _, number in sorted(found, reverse=self.query.descending)]

"""What ordered and gathered lists share: the list that is asked for, its state and its filters."""

import hashlib
import json
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from shared.kernel.clock import milliseconds_of
from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import Totals
from shared.kernel.db.entity_items import UPDATED_AT
from shared.kernel.db.facets import value_of
from shared.kernel.db.items import Key
from shared.kernel.db.lists.bookmarks import State
from shared.kernel.db.lists.cursor import Mark
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.plan import AccessPath
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.parallel import once, run_all
from shared.kernel.db.records import Record
from shared.kernel.db.search import SEARCH
from shared.kernel.db.store import Store
from shared.kernel.db.table import STABLE_FACETS, UPDATES, index_keys, index_name
from shared.kernel.fields import Stored

type ReadWith = Callable[[int], Iterable[Key]]
"""Returns the keys of the items that are read together with the entity of an id."""


class ListRequest[E: Stored]:
    """A page of a list of a collection, as it is in the table.

    Attributes:
        store: The tenant's table.
        collection: The collection in the form of the table's version.
        query: Sort, filters and page.
        totals: Reads the totals, once.
        listing: Name of the list in bookmarks.
        newest_change: Reads the sort key of the entity that was updated last, once; None when there
            is none.
    """

    def __init__(
        self,
        store: Store,
        collection: Collection[E],
        query: ListQuery,
        totals: Callable[[], Totals],
        read_with: ReadWith | None,
    ) -> None:
        self.store = store
        self.collection = collection
        self.query = query
        self.totals = totals
        self.listing = self._name()
        self.newest_change = once(self._newest_change)
        self._read_with = read_with

    def _name(self) -> str:
        query = self.query
        asked = [
            query.sort, query.descending, sorted(query.equal.items()),
            sorted(query.contains.items()), sorted(query.between.items()),
            sorted((facet, sorted(texts)) for facet, texts in query.among.items()),
            sorted((facet, low is None) for facet, (low, _) in query.moving.items()), query.unless,
        ]  # fmt: skip
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]
        return f"{self.collection.kind}#{digest}"

    def state(self, *, by_totals: bool = False) -> tuple[Totals, State]:
        """Return the totals and the state of the collection.

        Most changes alter no total. They show in the entry that was updated last, which is not
        read if the totals are enough (`by_totals`).
        """
        totals, newest = run_all(self.totals, (lambda: None) if by_totals else self.newest_change)
        changed_ms = milliseconds_of(value_of(newest)) if newest else 0
        text = f"{totals.version}/{newest or ''}"
        return totals, State(text, max(totals.touched_ms, changed_ms))

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
        for form, operands in self.query.comparisons():
            facets = {facet for facet, _ in operands}
            if facets <= path.covered:
                continue
            if only_shown and not all(self.shows(path, facet) for facet in facets):
                continue
            compared: list[str] = []
            for facet, text in operands:
                attribute, name = self.facet_path(path, facet)
                names |= {f"#{attribute}": attribute, f"#{name}": name}
                value = f":v{len(values)}"
                values[value] = text
                compared += [f"#{attribute}.#{name}", value]
            terms.append(form.format(*compared))
        if not terms:
            return {}
        return {"FilterExpression": " AND ".join(terms), "ExpressionAttributeNames": names}

    def facet_path(self, path: AccessPath, facet: str) -> tuple[str, str]:
        """Return the attribute of the entries of a path that holds a facet, and its name in it."""
        if path.prefix is not None:
            return STABLE_FACETS, facet
        return self.collection.facet_path(facet)

    def shows(self, path: AccessPath, facet: str) -> bool:
        """Return whether the entries of a path show a facet."""
        if path.prefix is not None:
            return facet == SEARCH or facet in (self.collection.searched or ())
        return self.collection.carries(path.index, path.sort, facet)

    def records(self, ids: Iterable[int]) -> list[Record[E]]:
        """Read entities with what is read with them, eventually consistent."""
        ids = list(ids)
        also = chain.from_iterable(map(self._read_with, ids)) if self._read_with else ()
        return self.collection.get_many(self.store, ids, also=also, eventually=True)

    def page(
        self, records: list[Record[E]], total: int, next_mark: Mark | None, ids_digest: str = ""
    ) -> Page[E]:
        """Return the page with these records."""
        query = self.query
        return Page(records, total, query.page, query.per_page, next_mark, ids_digest)

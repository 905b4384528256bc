"""Lists with any number of rows, each in its own in-memory table, and their expected results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest
from botocore.client import BaseClient

from shared.kernel.config import config
from shared.kernel.db.lists import bookmarks
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.gateway import Erp, Response
from tests.lists.filling import fill
from tests.lists.spec import HOURLY, Filter, Listed, Row, Times
from tests.stack import Stack

MAX_PER_PAGE = 100
"""Largest page size."""

type Query = Mapping[str, object]


@dataclass
class FilledList:
    """One list with `count` rows, and an ERP that reads it."""

    spec: Listed
    count: int
    times: Times
    table: InMemoryTable
    erp: Erp

    @cached_property
    def shown_rows(self) -> dict[int, dict[str, Any]]:
        """Every row as the list shows it, by id."""
        return {self.spec.row_id(row): row for row in self.walk({})}

    @cached_property
    def rows(self) -> dict[int, Row]:
        """Every row with the values that are filtered by but not shown, by id."""
        rows: dict[int, Row] = {}
        for position in range(1, self.count + 1):
            number = self.spec.id_of(position)
            created, updated = self.times.created(position), self.times.updated(position)
            times = {
                "created_at": created,
                "updated_at": created if self.spec.immutable else updated,
            }
            unseen = self.spec.hidden_values(position)
            rows[number] = {**times, **unseen, **self.shown_rows[number]}
        return rows

    @property
    def filters(self) -> dict[str, Filter]:
        """Every filter by its parameter."""
        return self.spec.all_filters(self.times)

    def forget(self) -> None:
        """Forget what earlier requests stored and cached to continue their lists."""
        bookmarks._cached_positions.clear()
        self.table.expire()

    def get(self, query: Query) -> Response:
        """Return the response with one page."""
        return self.erp.get(self.spec.path, query={**self.spec.fixed_query, **query})

    def walk(self, query: Query, *, per_page: int = MAX_PER_PAGE) -> list[dict[str, Any]]:
        """Return all rows, read by `links.next`."""
        return self.erp.walk(
            self.spec.path, per_page=per_page, **{**self.spec.fixed_query, **query}
        )

    def expected(self, query: Mapping[str, str]) -> list[int]:
        """Return the ids that filters and sort must give, in order, computed from `rows`."""
        filters = self.filters
        wanted = {name: value for name, value in query.items() if name != "sort"}
        found = [
            number
            for number, row in self.rows.items()
            if all(filters[name].matches(row, value) for name, value in wanted.items())
        ]
        return self.ordered(found, query.get("sort", self.spec.default_sort))

    def ordered(self, numbers: Iterable[int], sort: str) -> list[int]:
        """Sort ids by a sort value: None first, equal values by id; `-` reverses the order."""
        value = self.spec.sorts[sort.removeprefix("-")]

        def key(number: int) -> tuple[bool, Any, int]:
            found = value(self.rows[number])
            return found is not None, found, number

        return sorted(numbers, key=key, reverse=sort.startswith("-"))

    def mismatch(self, query: Mapping[str, str]) -> str:
        """Read a list; return a description of what is wrong, or an empty text."""
        expected = self.expected(query)
        answer = self.get({**query, "per_page": MAX_PER_PAGE})
        if answer.status != 200:
            return f"{query}: {answer.text}"
        total = answer.json()["meta"]["total"]
        rows = answer.data
        while following := answer.json()["links"]["next"]:
            answer = self.erp.follow(following)
            rows += answer.data
        numbers = [self.spec.row_id(row) for row in rows]
        if numbers != expected or total != len(expected):
            return f"{query}: {numbers} of {total} instead of {expected}"
        changed = [n for n, row in zip(numbers, rows, strict=True) if row != self.shown_rows[n]]
        return f"{query}: rows {changed} differ from the unfiltered list" if changed else ""

    def mismatches(self, queries: Iterable[Mapping[str, str]]) -> list[str]:
        """Read many lists; return a description of each that is wrong."""
        return [found for query in queries if (found := self.mismatch(query))]


@dataclass
class FilledLists:
    """A stack whose lists are filled with as many rows as a test needs."""

    stack: Stack
    _active_table: InMemoryTable | None = None
    _tables: dict[tuple[str, int, int], InMemoryTable] = field(default_factory=dict)
    _lists: dict[tuple[str, int, int, str], FilledList] = field(default_factory=dict)

    @contextmanager
    def filled(
        self, spec: Listed, count: int, times: Times = HOURLY, tenant: str = "acme"
    ) -> Iterator[FilledList]:
        """Fill a list of the tenant with `count` rows inside the block; the table is cached."""
        name = (spec.name, count, id(times))
        if name not in self._tables:
            self._tables[name] = fill(self.stack.store(), spec, count, times)
        table = self._tables[name]
        if (*name, tenant) not in self._lists:
            erp = self.stack.erp(tenant)
            self._lists[*name, tenant] = FilledList(spec, count, times, table, erp)
        listing = self._lists[*name, tenant]
        listing.forget()  # the service reads every list from the same table name
        table.name = config().tenant_table(tenant)
        self._active_table = table
        try:
            yield listing
        finally:
            self._active_table = None

    @contextmanager
    def moto_answers(self) -> Iterator[None]:
        """Let moto answer instead of the in-memory tables inside the block."""
        answering, self._active_table = self._active_table, None
        yield
        self._active_table = answering

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Let the in-memory tables answer before botocore, which takes most of a request's time."""
        original = BaseClient._make_api_call  # type: ignore[attr-defined]

        def call(client: BaseClient, operation: str, parameters: dict[str, Any]) -> Any:
            table = self._active_table
            answer = None if table is None else table.answer(operation, parameters)
            return original(client, operation, parameters) if answer is None else answer

        patch.setattr(BaseClient, "_make_api_call", call)


def is_period(query: Mapping[str, str]) -> bool:
    """Return whether `from` is not after `to`."""
    return query.get("from", "") <= query.get("to", "9999")


def pairs(listing: FilledList) -> Iterator[Mapping[str, str]]:
    """Yield every two filters, with values that one row has and with values that differ."""
    return filter(is_period, _pairs(listing))


def _pairs(listing: FilledList) -> Iterator[Mapping[str, str]]:
    filters = list(listing.filters.items())
    for position, (first, one) in enumerate(filters):
        for second, other in filters[position + 1 :]:
            ones, others = one.values(listing.count), other.values(listing.count)
            found = _shared_by_a_row(listing.rows.values(), (one, ones), (other, others))
            if found:
                yield {first: found[0], second: found[1]}
            if found != (ones[-1], others[0]):
                yield {first: ones[-1], second: others[0]}


def _shared_by_a_row(
    rows: Iterable[Row], one: tuple[Filter, Sequence[str]], other: tuple[Filter, Sequence[str]]
) -> tuple[str, str] | None:
    for row in rows:
        ones = [value for value in one[1] if one[0].matches(row, value)]
        others = [value for value in other[1] if other[0].matches(row, value)]
        if ones and others:
            return ones[0], others[0]
    return None

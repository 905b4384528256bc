"""Round trips and examined items of a page of each list, at 1,000 to 1,000,000 rows.

The benchmark reads every list with every filter, every order, every pair of filters, and page by
page, as specified in `tests.lists`. The bounds are:

- without filters, with a status, or with a selective filter, in any order: two round trips, and
  the items of a page and of the counters, independent of the number of rows;
- stock of a warehouse by its code: three round trips, since the code is looked up first;
- reading all pages: each index entry at most twice;
- any other filter: each index entry of the list once. For two filters, the entries of the more
  selective one; a time filter (updated_since, from, to) next to another filter does not count.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import pytest

from shared.identity.tenancy.directory import directory
from shared.kernel import aws
from shared.kernel.db import bookmarks, listing
from shared.kernel.db.counters import SHARDS
from tests import faults
from tests.bench import charts
from tests.bench.in_memory_table import InMemoryTable
from tests.bench.large_table import LargeTable
from tests.bench.report import Row, Table
from tests.bench.request_cost import REQUEST_TIMEOUT_MS
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.lists import LISTS
from tests.lists.filling import fill
from tests.lists.spec import HOURLY, Listed
from tests.lists.warehouses import WAREHOUSE_CODES
from tests.stack import Stack, deployed

SMALL, MEDIUM, LARGE, QUICK_LARGE = 1_000, 10_000, (100_000, 1_000_000), (5_000,)
_MILLIONS = {
    "/products", "/entry-documents", "/exit-documents", "/receipts", "/pickings", "/stocks",
    "/stock-levels", "/stock-movements", "/audit-log",
}  # fmt: skip
"""Lists that grow with every order; the others are measured up to 100,000 rows."""
PARTS = 2
"""Numbers of parts that are measured at once."""
PER_PAGE = 25
LONG_WALK, LONG_PAGE = "/stocks", 100
"""The list of which all pages are read at the medium size, and its page size."""
_FEW = 100
"""Items that a page may examine when its cost must not depend on the number of rows: its own
entries, the counters, and the rows of a day."""
_BATCH = 25
_PROVED = ("/entry-documents", "/products")
"""Lists whose results are compared with moto; the contract tests compare all, with fewer rows."""
_LOOKED_UP = {"/stocks": "warehouse"}
"""Filters by a warehouse code, whose id is looked up first: stock rows are partitioned by the id
of the warehouse, which does not change with the code."""
_BESIDE = 2 * SHARDS + len(WAREHOUSE_CODES)
"""Items that a filtered page examines besides entries: the counters, to choose the smallest of
several partitions, and the warehouses, in lists that show them."""
_TIMES = frozenset({"updated_since", "from", "to"})
_HIDDEN = ({"warehouse_id", "status"}, {"warehouse", "status"})
"""Filters of stock rows that examine the entries of the status, which show the warehouse: the
entries of the warehouse do not show the status, because it changes often."""
_NOTE = (
    f"Sequential round trips, and items examined by Query, of pages with {PER_PAGE} rows. Every"
    f" page also reads the {SHARDS} shards of the counters; whole items are read by key. A table"
    " row for several queries shows the worst figures, and its bound holds for each query. Pairs of"
    " filters and reading all pages are measured at 1,000 rows, master data and rarer work up to"
    " 100,000, and filters that examine the whole"
    " list up to 10,000; reading all pages counts index entries only. Emulators need seconds for a"
    " Query over many rows, so an in-memory table answers; at 1,000 rows its results are compared"
    " with moto. Cells have the round trips and the examined items."
)

type Query = Mapping[str, str]
type _Request = Callable[[Erp], Response]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one request."""

    trips: int
    examined: int


@dataclass(frozen=True, slots=True)
class Bound:
    """The upper bound of the cost of a page."""

    words: str
    examined: Callable[[int], int]
    """Number of rows → upper bound of examined items."""
    trips: int | None = None

    def holds(self, cost: Cost, count: int) -> bool:
        """Return whether the cost is within the bound."""
        within = self.trips is None or cost.trips <= self.trips
        return within and cost.examined <= self.examined(count)


FIXED = Bound(f"≤ 2 round trips, ≤ {_FEW} items", lambda _: _FEW, 2)
LOOKED_UP = Bound(f"≤ 3 round trips (code lookup), ≤ {_FEW} items", lambda _: _FEW, 3)
JUMP = Bound(f"≤ 3 round trips, ≤ {_FEW} items", lambda _: _FEW, 3)
ENTRIES = Bound("≤ entries of the list", lambda count: count + 2 * SHARDS)
UP_TO_PAGE = Bound("≤ entries up to the page", lambda count: count // 2 + _FEW)


@dataclass(frozen=True, slots=True)
class Scenario:
    """The queries of one row of the result table, as a function of the number of rows."""

    title: str
    queries: Callable[[int], Iterable[Query]]
    bound: Bound
    second_page: bool = False
    """Measure the page at links.next; queries with a single page are skipped."""


def measure(quick: bool, part: int) -> list[Table]:  # noqa: FBT001 - as all groups
    """Measure every list of a part with every query."""
    sizes = ((SMALL,), QUICK_LARGE) if quick else ((SMALL, MEDIUM), LARGE)
    return _tables(part, lambda bench: bench.measure(*sizes))


def compared(_quick: bool, part: int) -> list[Table]:  # noqa: FBT001 - as all groups
    """Measure the pages of every list of a part at 1,000 rows."""
    return _tables(part, lambda bench: bench.measure((SMALL,), (), further=False))


def _tables(part: int, table: Callable[["_Bench"], Table]) -> list[Table]:
    listed = [spec for spec in LISTS.values() if not spec.bounded]
    # The second part has most of the lists with a million rows.
    each = len(listed) // PARTS + 1
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            return [
                table(_Bench(stack, aws_faults, spec))
                for spec in listed[part * each : (part + 1) * each]
            ]


def draw(tables: Sequence[Table]) -> None:
    """Add the note, and a chart of the growth of all lists, to the first table."""
    worst: dict[str, dict[float, float]] = {}
    for row in (row for table in tables for row in table.rows):
        for figure, value in row.figures.items():
            what, _, size = figure.partition(" at ")
            if what == "examined":
                line = worst.setdefault(_line(row), {})
                rows = int(size.replace(",", ""))
                line[rows] = max(line.get(rows, 0), value)
    tables[0].note = _NOTE
    title = "Items that a page examines, the most of all lists"
    tables[0].charts.append(charts.lines("lists", title, worst, across="rows of the list"))


def _line(row: Row) -> str:
    """Return the line of the chart that a row belongs to."""
    if row.name == "no filter" or row.name.startswith(("page", "last page", "each of")):
        return re.sub(r"each of \d+ |( by links.next)?, with.*| \(.*", "", row.name)
    return "other filters" if row.bound == ENTRIES.words else "selective filters"


def scenarios(spec: Listed) -> Iterator[Scenario]:
    """Yield the queries of a list."""

    def page_500(count: int) -> int:
        return min(500, count // PER_PAGE // 2)

    filters = spec.all_filters(HOURLY)
    looked_up = _LOOKED_UP.get(spec.path)
    orders = [sign + sort for sort in spec.sorts for sign in ("", "-")]

    def one_of_each_cost(count: int) -> Iterator[Query]:
        wide = [name for name, one in filters.items() if not one.selective]
        narrow = [name for name, one in filters.items() if one.selective and name != looked_up]
        return ({name: filters[name].values(count)[0]} for name in (*wide[:1], *narrow))

    yield Scenario("no filter", lambda _: [{}], FIXED)
    yield Scenario(
        f"each of {len(orders)} sort orders", lambda _: ({"sort": order} for order in orders), FIXED
    )
    for name, one in filters.items():
        yield Scenario(
            name,
            lambda count, name=name, one=one: [{name: one.values(count)[0]}],  # type: ignore[misc]
            LOOKED_UP if name == looked_up else FIXED if one.selective else ENTRIES,
        )
    yield Scenario(
        "page 2 by links.next, with and without a filter",
        lambda count: [{}, *one_of_each_cost(count)],
        FIXED,
        second_page=True,
    )
    if looked_up:
        yield Scenario(
            f"page 2 by links.next, with {looked_up}",
            lambda count: [{looked_up: filters[looked_up].values(count)[0]}],
            LOOKED_UP,
            second_page=True,
        )
    yield Scenario(
        "page 500 by number (page 20 at 1,000 rows)",
        lambda count: [{"page": str(page_500(count))}],
        UP_TO_PAGE,
    )
    yield Scenario("last page by number", lambda count: [{"page": str(count // PER_PAGE)}], JUMP)


@dataclass(slots=True)
class _Bench:
    stack: Stack
    aws_faults: AwsFaults
    spec: Listed

    def measure(self, sizes: Sequence[int], large: Sequence[int], *, further: bool = True) -> Table:
        """Measure all queries at `sizes`, and those that do not examine the list at `large`.

        `further` adds pairs of filters, reading all pages, and the comparison with moto.
        """
        counts = (*sizes, *large)
        columns = ["query", *(f"{count:,} rows" for count in counts)]
        table = Table(f"Pages of GET {self.spec.name}", columns, "")
        measured = list(scenarios(self.spec))
        costs: dict[str, dict[int, list[Cost]]] = {one.title: {} for one in measured}
        rest: list[Row] = []
        for count in sizes:
            filled = fill(self.stack.store(), self.spec, count, HOURLY)
            for one in measured:
                costs[one.title][count] = self._costs(filled, one, count)
            if further:
                rest += self._further(filled, measured, count)
        growing = LargeTable(self.stack.store(), self.spec, HOURLY)
        for count in large:
            if count > LARGE[0] and self.spec.path not in _MILLIONS:
                continue
            growing.grow(count)
            for one in measured:
                if one.bound is not ENTRIES:
                    costs[one.title][count] = self._costs(growing, one, count)
        table.rows = [_row(one, costs[one.title], counts) for one in measured]
        for row in rest:
            padding = [""] * (len(columns) - len(row.cells))
            table.rows.append(replace(row, cells=[*row.cells, *padding]))
        return table

    def _further(
        self, table: InMemoryTable, measured: Sequence[Scenario], count: int
    ) -> Iterator[Row]:
        if count == SMALL:
            yield from self._pairs(table)
            yield self._walks(table)
            if self.spec.path in _PROVED:
                yield self._proof(table, measured)
        elif self.spec.path == LONG_WALK:
            yield self._long_walk(table, count)

    def _costs(self, table: InMemoryTable, scenario: Scenario, count: int) -> list[Cost]:
        requests = (self._request(table, query, scenario) for query in scenario.queries(count))
        return [self._cost(table, send) for send in requests if send]

    def _request(self, table: InMemoryTable, query: Query, scenario: Scenario) -> _Request | None:
        """Return the request to measure; None when there is no second page."""
        _forget_bookmarks(table)
        if not scenario.second_page:
            return partial(self._get, query=query)
        with self._on(table) as erp:
            following = self._get(erp, query=query).json()["links"]["next"]
        return partial(Erp.follow, url=following) if following else None

    def _get(self, erp: Erp, query: Mapping[str, object]) -> Response:
        return _checked(erp.get(self.spec.path, query={**self.spec.fixed_query, **query}))

    def _cost(self, table: InMemoryTable, send: _Request) -> Cost:
        with self._on(table) as erp:
            self._warm(erp)
            before = table.examined
            with self.aws_faults.recorded() as recording:
                _checked(send(erp))
            return Cost(recording.round_trips, table.examined - before)

    @contextmanager
    def _on(self, table: InMemoryTable) -> Iterator[Erp]:
        with self.aws_faults.faulty(table.fault):
            erp = self.stack.erp()
            erp.gateway.remaining_ms = REQUEST_TIMEOUT_MS  # a million rows are made slowly
            yield erp

    @staticmethod
    def _warm(erp: Erp) -> None:
        """Refresh the caches of a warm execution environment, except for bookmarks."""
        directory.clear()
        _checked(erp.get("/products/1"), 200, 404)

    def _pairs(self, table: InMemoryTable) -> Iterator[Row]:
        """Measure every pair of filters: it must not examine more than the more selective one."""
        filters = self.spec.all_filters(HOURLY)
        values = {name: one.values(SMALL)[0] for name, one in filters.items()}
        worst, broken = Cost(0, 0), []
        alone = {
            name: self._total(table, {name: value}) if filters[name].selective else SMALL
            for name, value in values.items()
        }
        pairs = [pair for pair in combinations(values, 2) if pair != ("from", "to")]
        for pair in pairs:
            _forget_bookmarks(table)
            query = {name: values[name] for name in pair}
            cost = self._cost(table, partial(self._get, query=query))
            worst = Cost(max(worst.trips, cost.trips), max(worst.examined, cost.examined))
            entries = [alone[name] for name in pair if name not in _TIMES or set(pair) <= _TIMES]
            hidden = self.spec.path == "/stocks" and set(pair) in _HIDDEN
            most = max(_FEW, (max if hidden else min)(entries) + _BESIDE)
            if cost.examined > most:
                broken.append(_pair_row(" and ".join(pair), cost, f"≤ {most}", passed=False))
        if pairs:
            yield _pair_row(
                f"each of {len(pairs)} pairs of filters",
                worst,
                "≤ entries of the more selective one",
                passed=not broken,
            )
        yield from broken

    def _total(self, table: InMemoryTable, query: Query) -> int:
        with self._on(table) as erp:
            found: int = self._get(erp, query=query).json()["meta"]["total"]
            return found

    def _walks(self, table: InMemoryTable) -> Row:
        """Read all pages by number and by links, in one environment and each page in a new one."""
        examined, complete = 0, True
        for fresh in (False, True):
            for walk in (self._count_up, self._follow):
                cost, whole = self._walk(table, walk(fresh=fresh), SMALL)
                examined, complete = max(examined, cost), complete and whole
        title = "all pages, by number and by links.next, in one and in new environments"
        return _walk_row(title, [f"{examined:,}"], 2 * SMALL, complete, examined)

    def _long_walk(self, table: InMemoryTable, count: int) -> Row:
        walk = self._count_up(fresh=True, per_page=LONG_PAGE, count=count)
        examined, complete = self._walk(table, walk, count)
        title = f"all pages of {LONG_PAGE} rows by number, each in a new environment"
        return _walk_row(title, ["", f"{examined:,}"], 2 * count, complete, examined)

    def _walk(
        self, table: InMemoryTable, walk: Callable[[Erp], Iterator[Response]], count: int
    ) -> tuple[int, bool]:
        """Return the examined entries, and whether each row was returned exactly once."""
        _forget_bookmarks(table)
        with self._on(table) as erp:
            before = table.index_entries_examined
            seen = [self.spec.row_id(row) for answer in walk(erp) for row in answer.data]
        wanted = sorted(self.spec.id_of(number) for number in range(1, count + 1))
        return table.index_entries_examined - before, sorted(seen) == wanted

    def _count_up(
        self, *, fresh: bool, per_page: int = PER_PAGE, count: int = SMALL
    ) -> Callable[[Erp], Iterator[Response]]:
        def walk(erp: Erp) -> Iterator[Response]:
            for page in range(1, count // per_page + 1):
                if fresh:
                    bookmarks._cached_positions.clear()
                yield self._get(erp, query={"page": page, "per_page": per_page})

        return walk

    def _follow(self, *, fresh: bool) -> Callable[[Erp], Iterator[Response]]:
        def walk(erp: Erp) -> Iterator[Response]:
            answer = self._get(erp, query={})
            yield answer
            while following := answer.json()["links"]["next"]:
                if fresh:
                    bookmarks._cached_positions.clear()
                answer = _checked(erp.follow(following))
                yield answer

        return walk

    def _proof(self, table: InMemoryTable, measured: Iterable[Scenario]) -> Row:
        """Compare the results with those of moto for the same queries and items."""
        queries = [query for one in measured if not one.second_page for query in one.queries(SMALL)]
        _forget_bookmarks(table)
        with pytest.MonkeyPatch.context() as patch:
            # The cursor of a filtered list shows when the list was read.
            patch.setattr(listing, "now_ms", lambda: 0)
            with self._on(table) as erp:
                ours = [self._answers(erp, query) for query in queries]
            _forget_bookmarks(table)
            _write_to_moto(table)
            theirs = [self._answers(self.stack.erp(), query) for query in queries]
        self.stack.reset_tenant()
        equal = sum(one == other for one, other in zip(ours, theirs, strict=True))
        cells = ["results equal to moto", f"{equal} of {len(ours)}"]
        return Row(cells, "all", equal == len(ours))

    def _answers(self, erp: Erp, query: Query) -> list[str]:
        bookmarks._cached_positions.clear()
        answer = self._get(erp, query=query)
        following = answer.json()["links"]["next"]
        return [answer.text, _checked(erp.follow(following)).text if following else ""]


def _write_to_moto(table: InMemoryTable) -> None:
    pending = [{"PutRequest": {"Item": item}} for item in table.items()]
    for at in range(0, len(pending), _BATCH):
        batch = {table.name: pending[at : at + _BATCH]}
        aws.client("dynamodb").batch_write_item(RequestItems=batch)


def _forget_bookmarks(table: InMemoryTable) -> None:
    table.expire()
    bookmarks._cached_positions.clear()


def _checked(answer: Response, *statuses: int) -> Response:
    assert answer.status in (statuses or (200,)), answer.text
    return answer


def _row(scenario: Scenario, costs: Mapping[int, list[Cost]], counts: Sequence[int]) -> Row:
    cells = [scenario.title]
    figures: dict[str, float] = {}
    for count in counts:
        found = costs.get(count)
        if not found:
            cells.append("")
            continue
        trips = max(cost.trips for cost in found)
        examined = max(cost.examined for cost in found)
        cells.append(f"{trips} / {examined:,}")
        figures |= {f"round trips at {count:,}": trips, f"examined at {count:,}": examined}
    holds = all(
        scenario.bound.holds(cost, count) for count, found in costs.items() for cost in found
    )
    return Row(cells, scenario.bound.words, holds, figures)


def _pair_row(title: str, cost: Cost, bound: str, *, passed: bool) -> Row:
    return Row([title, f"{cost.trips} / {cost.examined:,}"], bound, passed)


def _walk_row(title: str, cells: list[str], most: int, complete: bool, examined: int) -> Row:  # noqa: FBT001
    bound = f"≤ {most:,} entries, each row once"
    return Row([title, *cells], bound, complete and examined <= most)

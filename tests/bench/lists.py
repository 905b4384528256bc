"""Round trips and examined items of a page of each list, at 10,000 to 1,000,000 rows.

The benchmark reads every list with every filter, every order and every pair of filters, as
specified in `tests.lists`. There are four kinds of queries:

- narrow ones: without filters, with a status, or with a selective filter, in any order;
- the last page by number;
- a page in the middle by number, which examines the index entries up to it;
- other filters, which examine each index entry of the list once.

Two filters examine the entries of the more selective one; a time filter (updated_since, from, to)
next to another one does not count.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

from shared.identity.auth.key_ring import key_ring
from shared.identity.tenancy.directory import directory
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.store import Store
from tests.bench.bench_stack import BenchStack, bench_stack
from tests.bench.large_table import LargeTable
from tests.bench.report import Table
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.dynamodb.request_cost import REQUEST_TIMEOUT_MS
from tests.gateway import Erp, Response
from tests.lists import LISTS
from tests.lists.filling import fill
from tests.lists.spec import HOURLY, Listed
from tests.lists.warehouses import WAREHOUSE_CODES

SMALL, MEDIUM, LARGE, MILLION = 1_000, 10_000, 100_000, 1_000_000
_LARGEST = {
    "/exit-documents": MILLION, "/stocks": MILLION,
    "/products": LARGE, "/pickings": LARGE, "/stock-movements": LARGE,
}  # fmt: skip
"""Lists that grow with every order → their largest size; the others are measured at one size."""
PARTS = 2
"""Numbers of parts that are measured at once."""
PER_PAGE = 25
_FEW = 100
"""Items that a pair of filters may examine in any case."""
_LOOKED_UP = {"/stocks": "warehouse", "/products": "gtin"}
"""Filters by a code that is looked up first: a warehouse code, because stock rows are partitioned
by the id of the warehouse, which does not change with the code; and a GTIN of a packaging."""
_BESIDE = 2 * SHARDS + len(WAREHOUSE_CODES)
"""Items that a filtered page examines, other than entries: the counters, to choose the smallest of
several partitions, and the warehouses, in lists that show them."""
_TIMES = frozenset({"updated_since", "from", "to"})
_HIDDEN = ({"warehouse_id", "status"}, {"warehouse", "status"})
"""Filters of stock rows that examine the entries of the status, which show the warehouse: the
entries of the warehouse do not show the status, because it changes often."""
NARROW, LOOKED_UP, LAST, MIDDLE, OTHER = range(5)
"""Kinds of queries; LOOKED_UP are narrow ones by a code that is looked up first."""
TITLE = "Growth of lists"
_NOTE = (
    f"Sequential round trips, and items examined by Query, of pages with {PER_PAGE} rows: the worst"
    f" of all queries of a kind. Every page also reads the {SHARDS} shards of the counters; whole"
    " items are read by key. Narrow queries have no filter, or a selective one, in every order, and"
    " the next page of each by `links.next`; they include the last page by number. Shown is what"
    " they examine beyond the counters and the rows of the page."
    f" Other filters examine the whole list; they are named and measured at {MEDIUM:,} rows. Pairs"
    f" of filters are measured at {SMALL:,} rows: the items that the worst pair examines beyond"
    " those of its more selective filter and the counters. A list with fewer than 1,000 pages is"
    " measured at its middle instead of page 500. Emulators need seconds for a Query over many"
    " rows, so an in-memory table answers; the contract tests compare its results."
)

type Query = Mapping[str, str]
type _Request = Callable[[Erp], Response]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one request, or the worst of several."""

    trips: int = 0
    examined: int = 0

    def or_worse(self, other: "Cost") -> "Cost":
        return Cost(max(self.trips, other.trips), max(self.examined, other.examined))


@dataclass(frozen=True, slots=True)
class Scenario:
    """Queries of one kind, as a function of the number of rows."""

    title: str
    queries: Callable[[int], Iterable[Query]]
    kind: int
    second_page: bool = False
    """Measure the page at links.next; queries with a single page are skipped."""


def measure(part: int) -> list[Table]:
    """Measure the growth of every list of a part."""
    table = Table(TITLE, _COLUMNS, _NOTE)
    for bench in _benches(part):
        bench.measure_growth(table)
    return [table]


def compared(part: int) -> list[Table]:
    """Measure the pages of every list of a part at 1,000 rows."""
    growth = Table(TITLE, _COLUMNS, _NOTE)
    tables = [growth]
    for bench in _benches(part):
        costs = bench.costs(fill(bench.store, bench.spec, SMALL, HOURLY), SMALL)
        _add_growth(growth, bench.spec, SMALL, costs)
        pages = Table(f"Pages of GET {bench.spec.name}", {"query": ""})
        for title, (_, cost) in costs.items():
            trips, examined = f"round trips at {SMALL:,}", f"examined at {SMALL:,}"
            pages.add(title, figures={trips: cost.trips, examined: cost.examined})
        tables.append(pages)
    return tables


def _benches(part: int) -> Iterator["ListBench"]:
    listed = [spec for spec in LISTS.values() if not spec.bounded]
    # The largest lists take longest: they are distributed first.
    listed.sort(key=lambda spec: -_LARGEST.get(spec.path, MEDIUM))
    with bench_stack() as stack:
        for spec in listed[part::PARTS]:
            yield ListBench(stack, spec)


def scenarios(spec: Listed) -> Iterator[Scenario]:
    """Yield the queries of a list."""

    filters = spec.all_filters(HOURLY)
    looked_up = _LOOKED_UP.get(spec.path)
    orders = [sign + sort for sort in spec.sorts for sign in ("", "-")]
    wide = [name for name, one in filters.items() if not one.selective]

    def first_value(name: str) -> Callable[[int], list[Query]]:
        return lambda count: [{name: filters[name].values(count)[0]}]

    def narrow(count: int) -> Iterator[Query]:
        yield {}
        for name, one in filters.items():
            if one.selective and name != looked_up:
                yield from first_value(name)(count)

    def page(number: Callable[[int], int]) -> Callable[[int], list[Query]]:
        return lambda count: [{"page": str(number(count))}]

    yield Scenario("no filter", lambda _: [{}], NARROW)
    sorted_pages = [{"sort": order} for order in orders]
    yield Scenario(f"each of {len(orders)} sort orders", lambda _: sorted_pages, NARROW)
    for name, one in filters.items():
        kind = LOOKED_UP if name == looked_up else NARROW if one.selective else OTHER
        yield Scenario(name, first_value(name), kind)
    following = "page 2 by links.next, with"
    yield Scenario(f"{following} and without a filter", narrow, NARROW, second_page=True)
    for name in wide[:1]:
        yield Scenario(f"{following} {name}", first_value(name), OTHER, second_page=True)
    if looked_up:
        title = f"{following} {looked_up}"
        yield Scenario(title, first_value(looked_up), LOOKED_UP, second_page=True)
    middle = page(lambda count: min(500, count // PER_PAGE // 2))
    yield Scenario("page 500 by number (page 20 at 1,000 rows)", middle, MIDDLE)
    yield Scenario("last page by number", page(lambda count: count // PER_PAGE), LAST)


type _Costs = Mapping[str, tuple[int, Cost]]
"""Title of a scenario → its kind and the worst cost of its queries."""


def _worst(costs: _Costs, *kinds: int) -> Cost:
    worst = Cost()
    for kind, cost in costs.values():
        if kind in kinds:
            worst = worst.or_worse(cost)
    return worst


_COLUMNS = {
    "list": "", "rows": ",", "narrow: round trips": "", "by code: round trips": "",
    "last page: round trips": "", "narrow: entries beyond": "", "page 500: round trips": "",
    "page 500: items": ",", "other filters: round trips": "", "other filters: items": ",",
    "other filters": "", "pairs: items beyond": "",
}  # fmt: skip


def _add_growth(
    table: Table, spec: Listed, count: int, costs: _Costs, beyond: int | None = None
) -> None:
    narrow, by_code, last, middle, other = (
        _worst(costs, kind) for kind in (NARROW, LOOKED_UP, LAST, MIDDLE, OTHER)
    )
    table.add(
        spec.name,
        count,
        narrow.trips,
        by_code.trips or None,
        last.trips,
        max(0, _worst(costs, NARROW, LOOKED_UP, LAST).examined - SHARDS - PER_PAGE),
        middle.trips,
        middle.examined,
        other.trips or None,
        other.examined or None,
        ", ".join(
            title for title, (kind, _) in costs.items() if kind == OTHER and " " not in title
        ),
        beyond,
    )


@dataclass(slots=True)
class ListBench:
    """Requests for pages of one list, and their cost."""

    bench: BenchStack
    spec: Listed
    scenarios: Sequence[Scenario] = field(init=False)

    def __post_init__(self) -> None:
        self.scenarios = list(scenarios(self.spec))

    @property
    def store(self) -> Store:
        """The store of the tenant."""
        return self.bench.stack.store()

    def measure_growth(self, table: Table) -> None:
        """Add all queries at a medium size, and all but the other filters at the largest."""
        beyond = self._beyond_the_more_selective(fill(self.store, self.spec, SMALL, HOURLY))
        sizes, searches = sorted({MEDIUM, _LARGEST.get(self.spec.path, MEDIUM)}), list[str]()
        if "search" in self.spec.filters:
            searches = [self.spec.filters["search"].values(count)[0] for count in sizes]
        rows = LargeTable(self.store, self.spec, HOURLY, searches)
        for count in sizes:
            rows.grow(count)
            costs = self.costs(rows, count, others=count == MEDIUM)
            _add_growth(table, self.spec, count, costs, beyond if count == MEDIUM else None)

    def costs(self, table: InMemoryTable, count: int, *, others: bool = True) -> _Costs:
        """Measure the scenarios; without `others`, not those that examine the whole list."""
        found: dict[str, tuple[int, Cost]] = {}
        for scenario in self.scenarios:
            if scenario.kind == OTHER and not others:
                continue
            for query in scenario.queries(count):
                if send := self._request(table, query, scenario):
                    cost = self._cost(table, send)
                    _, worst = found.get(scenario.title, (0, Cost()))
                    found[scenario.title] = scenario.kind, worst.or_worse(cost)
        return found

    def cost_of(self, table: InMemoryTable, query: Query) -> Cost:
        """Measure one query."""
        _forget_bookmarks(table)
        return self._cost(table, partial(self._get, query=query))

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
            with self.bench.aws_faults.recorded() as recording:
                _checked(send(erp))
            return Cost(recording.round_trips, table.examined - before)

    @contextmanager
    def _on(self, table: InMemoryTable) -> Iterator[Erp]:
        with self.bench.aws_faults.faulty(table.fault):
            erp = self.bench.stack.erp()
            erp.gateway.remaining_ms = REQUEST_TIMEOUT_MS  # a million rows are made slowly
            yield erp

    @staticmethod
    def _warm(erp: Erp) -> None:
        """Refresh the caches of a warm execution environment, except for bookmarks."""
        directory.clear()
        key_ring.clear()
        _checked(erp.get("/products/1"), 200, 404)

    def _beyond_the_more_selective(self, table: InMemoryTable) -> int:
        """Return the items that a pair of filters examines beyond its more selective filter."""
        filters = self.spec.all_filters(HOURLY)
        values = {name: one.values(SMALL)[0] for name, one in filters.items()}
        alone = {
            name: self.total(table, {name: value}) if filters[name].selective else SMALL
            for name, value in values.items()
        }
        worst = 0
        for pair in combinations(values, 2):
            if pair == ("from", "to"):
                continue
            cost = self.cost_of(table, {name: values[name] for name in pair})
            entries = [alone[name] for name in pair if name not in _TIMES or set(pair) <= _TIMES]
            hidden = self.spec.path == "/stocks" and set(pair) in _HIDDEN
            most = max(_FEW, (max if hidden else min)(entries) + _BESIDE)
            worst = max(worst, cost.examined - most)
        return worst

    def total(self, table: InMemoryTable, query: Query) -> int:
        """Return how many rows a query finds."""
        with self._on(table) as erp:
            found: int = self._get(erp, query=query).json()["meta"]["total"]
            return found


def _forget_bookmarks(table: InMemoryTable) -> None:
    table.expire()
    bookmarks._cached_positions.clear()


def _checked(answer: Response, *statuses: int) -> Response:
    assert answer.status in (statuses or (200,)), answer.text
    return answer

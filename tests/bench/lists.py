"""What a page of a list costs at 1 000 and at 100 000 rows: items examined, round trips."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import pytest

from shared import aws
from shared.db import bookmarks
from shared.db.counters import SHARDS
from shared.db.store import Store
from shared.tenancy.directory import directory
from tests import faults
from tests.bench import rows
from tests.bench.flat_table import FlatTable
from tests.bench.report import Row, Table
from tests.bench.rows import Rows
from tests.faults import Recording, Wire
from tests.gateway import Erp, Response
from tests.stack import Stack, deployed

SMALL, LARGE, QUICK_LARGE = 1_000, 100_000, 10_000
PER_PAGE = 25
_LATENCY = 0.03
"""Seconds per measured call: those made at once then overlap, however busy the machine is."""
_FEW = 20
_BATCH = 25

type Query = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request cost."""

    trips: int
    examined: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way to ask for a page.

    `query` makes the parameters from the number of rows. `most` is what may be examined
    from the number of rows; where it is left out the cost must not grow with the rows.
    """

    title: str
    query: Callable[[int], Query]
    second_page: bool = False
    trips: int | None = 2
    most: Callable[[int], int] | None = None
    most_words: str = "not growing"


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Ask for pages of documents and of products."""
    large = QUICK_LARGE if quick else LARGE
    with pytest.MonkeyPatch.context() as patch:
        wire = faults.install(patch)
        with deployed(patch) as stack:
            bench = _Bench(stack, wire, Rows())
            lists = {
                "/entry-documents": (rows.entries, _entry_scenarios(bench.rows)),
                "/products": (rows.products, _product_scenarios(bench.rows)),
            }
            return [
                bench.measure(path, fill, scenarios, large)
                for path, (fill, scenarios) in lists.items()
            ]


def _shared_scenarios(rows_: Rows) -> list[Scenario]:
    def page_500(count: int) -> int:
        return min(500, count // PER_PAGE // 2)

    return [
        Scenario("no filter, page 1", lambda _: {}),
        Scenario("no filter, page 2 by links.next", lambda _: {}, second_page=True),
        Scenario(
            "no filter, page 500 by number (of 1 000 rows: 20)",
            lambda count: {"page": page_500(count)},
            trips=None,
            most=lambda count: page_500(count) * PER_PAGE + SHARDS + 1,
            most_words="entries up to the page",
        ),
        Scenario(
            "no filter, last page by number",
            lambda count: {"page": count // PER_PAGE},
            trips=3,
        ),
        Scenario(
            "narrow updated_since", lambda count: {"updated_since": rows_.moment(count - _FEW + 1)}
        ),
    ]


def _entry_scenarios(rows_: Rows) -> list[Scenario]:
    return [
        *_shared_scenarios(rows_),
        Scenario("one status, page 1", lambda _: {"status": "open"}),
        Scenario(
            "one status, page 2 by links.next", lambda _: {"status": "open"}, second_page=True
        ),
        Scenario("external_ref", lambda count: {"external_ref": f"PO-{count // 2:07d}"}),
        Scenario("card_code", lambda _: {"card_code": "P-000007"}),
        Scenario(
            "any other: source, page 1",
            lambda _: {"source": "import"},
            trips=None,
            most=lambda count: count + SHARDS,
            most_words="entries of the list",
        ),
        Scenario(
            "any other: source, page 2 by links.next",
            lambda _: {"source": "import"},
            second_page=True,
        ),
        Scenario(
            "any other: status and source, page 1",
            lambda _: {"status": "open", "source": "import"},
            trips=None,
            most=lambda count: count // 2 + SHARDS,
            most_words="entries of the status",
        ),
    ]


def _product_scenarios(rows_: Rows) -> list[Scenario]:
    return [
        *_shared_scenarios(rows_),
        Scenario("barcode", lambda count: {"barcode": f"40063{count // 2:08d}"}),
        Scenario("item_code", lambda count: {"item_code": f"ITEM-{count // 2:07d}"}),
        Scenario(
            "search, page 1",
            lambda _: {"search": "m42"},
            trips=None,
            most=lambda count: count + SHARDS,
            most_words="entries of the list",
        ),
        Scenario("search, page 2 by links.next", lambda _: {"search": "m4"}, second_page=True),
    ]


@dataclass(slots=True)
class _Bench:
    stack: Stack
    wire: Wire
    rows: Rows

    def measure(
        self,
        path: str,
        fill: Callable[[Store, Rows, int], FlatTable],
        scenarios: Sequence[Scenario],
        large: int,
    ) -> Table:
        table = Table(
            f"Pages of GET {path}",
            ["list", *(f"{what}, {n:,}" for n in (SMALL, large) for what in ("trips", "examined"))],
            f"Sequential round trips and items examined by Query, pages of {PER_PAGE}."
            f" Every page reads the {SHARDS} shards of the counters too; whole items are fetched"
            " by key. Whole walks count index entries alone. Emulators need seconds for a Query of"
            " 100,000 rows, so a table in memory answers; at 1,000 rows moto is asked the same.",
        )
        small_table = fill(self.stack.store(), self.rows, SMALL)
        small = [self._cost(small_table, path, one, SMALL) for one in scenarios]
        large_table = fill(self.stack.store(), self.rows, large)
        for scenario, at_small in zip(scenarios, small, strict=True):
            at_large = self._cost(large_table, path, scenario, large)
            table.rows.append(_row(scenario, {SMALL: at_small, large: at_large}))
        table.rows += self._walks(small_table, path)
        table.rows.append(self._proof(small_table, path, scenarios))
        return table

    def _cost(self, table: FlatTable, path: str, scenario: Scenario, count: int) -> Cost:
        _forget_bookmarks(table)
        query = scenario.query(count)
        with self._on(table) as erp:
            if scenario.second_page:
                following = _checked(erp.get(path, query=query)).json()["links"]["next"]
                ask = partial(erp.follow, following)
            else:
                ask = partial(erp.get, path, query=query)
            self._warm(erp)
            before = table.examined
            with self._recorded() as recording:
                _checked(ask())
        return Cost(recording.round_trips, table.examined - before)

    @contextmanager
    def _on(self, table: FlatTable) -> Iterator[Erp]:
        with self.wire.faulty(table.fault):
            yield self.stack.erp()

    @contextmanager
    def _recorded(self) -> Iterator[Recording]:
        self.wire.latency = _LATENCY
        with self.wire.recorded() as recording:
            yield recording
        self.wire.latency = 0

    @staticmethod
    def _warm(erp: Erp) -> None:
        """Bring the caches of a warm execution environment up to date, bookmarks left alone."""
        directory.forget()
        _checked(erp.get("/product-categories"))

    def _walks(self, table: FlatTable, path: str) -> Iterator[Row]:
        """Walk all pages, by number or by links; in one environment, or each in a new one."""
        for fresh, words in ((False, "one environment"), (True, "each in a new environment")):
            for way, walk in (("by number", _count_up), ("by links.next", _follow)):
                title = f"all pages {way}, {words}"
                yield self._walk(table, title, partial(walk, path=path, fresh=fresh))

    def _walk(self, table: FlatTable, title: str, walk: Callable[[Erp], Iterator[Response]]) -> Row:
        _forget_bookmarks(table)
        with self._on(table) as erp:
            before = table.index_entries_examined
            seen = [row["id"] for answer in walk(erp) for row in answer.data]
        examined = table.index_entries_examined - before
        complete = sorted(seen) == list(range(1, SMALL + 1))
        bound = f"≤ {2 * SMALL:,}, each row once"
        return Row([title, "", f"{examined:,}", "", ""], bound, complete and examined <= 2 * SMALL)

    def _proof(self, table: FlatTable, path: str, scenarios: Sequence[Scenario]) -> Row:
        """Ask moto the same questions over the same items: the answers must be the same."""
        _forget_bookmarks(table)
        with self._on(table) as erp:
            ours = [_answers(erp, path, scenario) for scenario in scenarios]
        _forget_bookmarks(table)
        _write_to_moto(table)
        theirs = [_answers(self.stack.erp(), path, scenario) for scenario in scenarios]
        _forget_bookmarks(table)
        self.stack.empty()
        equal = sum(one == other for one, other in zip(ours, theirs, strict=True))
        title = "answers that are those of moto over the same items"
        cells = [title, "", f"{equal} of {len(ours)}", "", ""]
        return Row(cells, "all", equal == len(ours))


def _answers(erp: Erp, path: str, scenario: Scenario) -> list[str]:
    bookmarks._remembered.clear()
    answer = _checked(erp.get(path, query=scenario.query(SMALL)))
    if not scenario.second_page:
        return [answer.text]
    return [answer.text, _checked(erp.follow(answer.json()["links"]["next"])).text]


def _count_up(erp: Erp, path: str, *, fresh: bool) -> Iterator[Response]:
    for page in range(1, SMALL // PER_PAGE + 1):
        if fresh:
            bookmarks._remembered.clear()
        yield _checked(erp.get(path, query={"page": page}))


def _follow(erp: Erp, path: str, *, fresh: bool) -> Iterator[Response]:
    answer = _checked(erp.get(path))
    yield answer
    while following := answer.json()["links"]["next"]:
        if fresh:
            bookmarks._remembered.clear()
        answer = _checked(erp.follow(following))
        yield answer


def _write_to_moto(table: FlatTable) -> None:
    pending = [{"PutRequest": {"Item": item}} for item in table.items()]
    for at in range(0, len(pending), _BATCH):
        batch = {table.name: pending[at : at + _BATCH]}
        aws.client("dynamodb").batch_write_item(RequestItems=batch)


def _forget_bookmarks(table: FlatTable) -> None:
    table.expire()
    bookmarks._remembered.clear()


def _checked(answer: Response) -> Response:
    assert answer.status == 200, answer.text
    assert answer.data or "product-categories" in answer.text, "an empty page shows nothing"
    return answer


def _row(scenario: Scenario, costs: Mapping[int, Cost]) -> Row:
    (small, at_small), (large, at_large) = costs.items()
    if scenario.most is None:
        holds = at_large.examined <= at_small.examined
    else:
        holds = all(cost.examined <= scenario.most(count) for count, cost in costs.items())
    words = scenario.most_words
    if scenario.trips is not None:
        words = f"≤ {scenario.trips} trips, {words}"
        holds = holds and all(cost.trips <= scenario.trips for cost in costs.values())
    cells = [scenario.title]
    for count in (small, large):
        cells += [f"{costs[count].trips}", f"{costs[count].examined:,}"]
    return Row(cells, words, holds)

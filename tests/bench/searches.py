"""Round trips and examined entries of searches, at 1,000 to 1,000,000 products."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import pytest

from tests import faults
from tests.bench.large_table import LargeTable
from tests.bench.lists import LARGE, MILLION, SMALL, Bench
from tests.bench.report import Row, Table
from tests.lists import LISTS
from tests.lists.products import product_code
from tests.lists.spec import HOURLY, Listed
from tests.stack import deployed

TITLE = "Growth of searches"
_QUICK = 2_000
_EACH = 100
"""Every hundredth product has the frequent word; the others with this word are left out."""
_NOTE = (
    "Sequential round trips, and index entries and counters examined, of the first page of"
    " `GET /products` with `search`, by the number of products. The part of a code is found once or"
    " a few times, the frequent word in every hundredth product, the others in some 1,000. The"
    " exact total takes an entry of each product that is found. Products that no search examines"
    " are only counted. A letter is too short for the index: like other filters without an index it"
    " examines the whole list."
)
_LISTED = LISTS["/products"]
type _Query = Callable[[int], Mapping[str, str]]


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure searches of products."""
    table = Table(TITLE, ["search", "products", "found", "round trips", "items"], _NOTE)
    sizes = (SMALL, _QUICK) if quick else (SMALL, LARGE, MILLION)
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            bench = Bench(stack, aws_faults, _LISTED)
            searches = {count: _searches(count) for count in sizes}
            rows = LargeTable(stack.store(), _LISTED, HOURLY, chain(*searches.values()))
            for count, here in searches.items():
                rows.grow(count, keep=partial(_is_examined, searches=here))
                table.rows += _measured(bench, rows, count)
    return [table]


def _measured(bench: Bench, rows: LargeTable, count: int) -> Iterator[Row]:
    for title, query in _QUERIES.items():
        cost = bench.cost_of(rows, query(count))
        total = bench.total(rows, query(count))
        cells = [title, f"{count:,}", f"{total:,}", f"{cost.trips}", f"{cost.examined:,}"]
        yield Row(cells)


def _searches(count: int) -> list[str]:
    return [query(count)["search"] for query in _QUERIES.values()]


def _is_examined(number: int, *, searches: Sequence[str]) -> bool:
    code = product_code(number).lower()
    return number % _EACH == 0 or any(search.split()[-1] in code for search in searches)


def _code(count: int, listed: Listed = _LISTED) -> str:
    return listed.filters["search"].values(count)[0]


def _thousand(count: int) -> str:
    """Return a search that finds some 1,000 products: those whose codes begin with these zeros."""
    return "item-" + "0" * (len(f"{count // SMALL}") - 1)


_QUERIES: Mapping[str, _Query] = {
    "part of a code": lambda count: {"search": _code(count)},
    "a frequent word and part of a code": lambda count: {"search": f"hexagon {_code(count)}"},
    "1,000 found": lambda count: {"search": _thousand(count)},
    "1,000 found, by name": lambda count: {"search": _thousand(count), "sort": "-name"},
    "1,000 found, with a type": lambda count: {"search": _thousand(count), "type": "tool"},
}

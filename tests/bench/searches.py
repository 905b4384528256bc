"""Round trips and examined entries of searches, at 1,000 to 1,000,000 products."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain

from tests.bench.bench_stack import bench_stack
from tests.bench.large_table import LargeTable
from tests.bench.lists import LARGE, MILLION, SMALL, ListBench
from tests.bench.report import Table
from tests.lists import LISTS
from tests.lists.products import product_code
from tests.lists.spec import HOURLY

TITLE = "Growth of searches"
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


def measure() -> list[Table]:
    """Measure searches of products."""
    columns = {"search": "", "products": ",", "found": ",", "round trips": "", "items": ","}
    table = Table(TITLE, columns, _NOTE)
    with bench_stack() as stack:
        bench = ListBench(stack, _LISTED)
        searches = {count: _searches(count) for count in (SMALL, LARGE, MILLION)}
        rows = LargeTable(stack.stack.store(), _LISTED, HOURLY, chain(*searches.values()))
        for count, here in searches.items():
            rows.grow(count, keep=partial(_is_examined, searches=here))
            for title, query in _QUERIES.items():
                cost = bench.cost_of(rows, query(count))
                total = bench.total(rows, query(count))
                table.add(title, count, total, cost.trips, cost.examined)
    return [table]


def _searches(count: int) -> list[str]:
    return [query(count)["search"] for query in _QUERIES.values()]


def _is_examined(number: int, *, searches: Sequence[str]) -> bool:
    code = product_code(number).lower()
    return number % _EACH == 0 or any(search.split()[-1] in code for search in searches)


def _code(count: int) -> str:
    return _LISTED.filters["search"].values(count)[0]


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

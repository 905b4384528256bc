"""Upper bounds of the cost of lists: sequential round trips and examined index entries."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shared.kernel.db.items import AttributeMap
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.lists.bookmarks import LAG_MS
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.store import key_attributes
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, Recording
from tests.integration.db.crate_list import CRATES, Crate, CrateTable

if TYPE_CHECKING:
    from shared.kernel.db.lists.page import Page

_PER_PAGE = 10


def _fill(crates: CrateTable, rows: int, *, special: int = 5) -> None:
    """Add crates; `special` of them are closed, have a reference, and are the newest."""
    for first in range(0, rows, 90):
        crates.add(
            {
                "name": f"crate {number:04}",
                "color": "red",
                "status": "open",
                "updated_at": "2026-01-01T00:00:00.000Z",
            }
            for number in range(first, min(rows, first + 90))
        )
    if not special:
        return
    crates.add(
        {
            "name": f"special {number}",
            "color": "blue",
            "status": "closed",
            "reference": "R1",
            "updated_at": "2026-06-01T00:00:00.000Z",
        }
        for number in range(special)
    )


_NARROW: dict[str, ListQuery] = {
    "first page": ListQuery("id", descending=False, per_page=_PER_PAGE),
    "first page, newest first": ListQuery("updated_at", descending=True, per_page=_PER_PAGE),
    "one status": ListQuery("id", False, per_page=_PER_PAGE, equal={"status": "closed"}),
    "two statuses": ListQuery(
        "id", False, per_page=_PER_PAGE, among={"status": ("lost", "closed")}
    ),
    "a reference": ListQuery("name", False, per_page=_PER_PAGE, equal={"reference": "R1"}),
    "updated since": ListQuery(
        "id", False, per_page=_PER_PAGE, between={"updated_at": ("2026-05-01T00:00:00.000Z", None)}
    ),
    "one status, updated since": ListQuery(
        "name",
        False,
        per_page=_PER_PAGE,
        equal={"status": "closed"},
        between={"updated_at": ("2026-05-01T00:00:00.000Z", None)},
    ),
    "one name": ListQuery("id", False, per_page=_PER_PAGE, equal={"name": "special 1"}),
}


@pytest.mark.parametrize("name", _NARROW)
def test_cost_of_the_first_page_does_not_depend_on_the_size_of_the_list(
    name: str, crates: CrateTable, aws_faults: AwsFaults
) -> None:
    query = _NARROW[name]
    costs = []
    _fill(crates, 30)
    for _ in range(2):
        with aws_faults.recorded() as seen:
            page = read_page(crates.store, CRATES, query)
        assert page.total == len(crates.expected(query))
        assert seen.round_trips <= 2
        costs.append(seen.entries_examined)
        _fill(crates, 90, special=0)

    assert costs[0] == costs[1]
    assert costs[0] <= _PER_PAGE + 1  # the entry that was updated last


@pytest.mark.parametrize("sort", ["name", "updated_at"])
@pytest.mark.parametrize(("status", "examined"), [("open", 2 * _PER_PAGE), ("closed", 5 + 1)])
def test_status_in_another_order_examines_few_entries(
    status: str, examined: int, sort: str, crates: CrateTable, aws_faults: AwsFaults
) -> None:
    _fill(crates, 270)
    query = ListQuery(sort, descending=False, per_page=_PER_PAGE, equal={"status": status})

    with aws_faults.recorded() as seen:
        page = read_page(crates.store, CRATES, query)

    assert [record.id for record in page.records] == crates.expected(query)[:_PER_PAGE]
    assert page.total == len(crates.expected(query))
    assert seen.round_trips <= 3
    assert seen.entries_examined <= examined


def _walk(
    crates: CrateTable,
    query: ListQuery,
    aws_faults: AwsFaults,
    *,
    by_cursor: bool,
    each: Callable[[], None],
) -> list[Recording]:
    """Read a whole list page by page; return the calls of each page."""
    costs, ids, number = [], list[int](), 1
    page: Page[Crate] | None = None
    while page is None or len(ids) < page.total:
        each()
        mark = page.next_mark if page and by_cursor else None
        with aws_faults.recorded() as seen:
            page = read_page(crates.store, CRATES, replace(query, page=number, after=mark))
        ids += [record.id for record in page.records]
        costs.append(seen)
        number += 1
    assert ids == crates.expected(query)
    return costs


_WALKS = {
    "everything": ListQuery("name", descending=True, per_page=_PER_PAGE),
    "one status": ListQuery("id", False, per_page=_PER_PAGE, equal={"status": "open"}),
    "two statuses": ListQuery("id", False, per_page=_PER_PAGE, among={"status": ("lost", "open")}),
    "a search": ListQuery("id", False, per_page=_PER_PAGE, contains={"name": ("crate",)}),
}


# By links, each entry is examined once; the first page of a filtered list also reads the entry that
# was updated last. By page number, it is examined at most twice.
@pytest.mark.parametrize(("by_cursor", "entries", "trips"), [(True, 100 + 1, 2), (False, 200, 3)])
@pytest.mark.parametrize("name", _WALKS)
@pytest.mark.parametrize("environment", ["one", "another for each page"])
def test_reading_a_list_by_links_or_page_numbers_examines_few_entries(  # noqa: PLR0917
    name: str, environment: str, entries: int, trips: int, crates: CrateTable,
    aws_faults: AwsFaults, clock: Clock, *, by_cursor: bool,
) -> None:  # fmt: skip
    _fill(crates, 95)
    clock.advance(LAG_MS / 1000 + 1)

    costs = _walk(crates, _WALKS[name], aws_faults, by_cursor=by_cursor, each=_between(environment))

    assert max(cost.round_trips for cost in costs) <= trips
    assert sum(cost.entries_examined for cost in costs) <= entries


def _between(environment: str) -> Callable[[], None]:
    """Return the action before each page: start another environment, or do nothing."""
    return bookmarks._cached_positions.clear if environment != "one" else lambda: None


def test_last_page_is_read_from_the_end(crates: CrateTable, aws_faults: AwsFaults) -> None:
    _fill(crates, 95)
    last = ListQuery("id", descending=False, page=10, per_page=_PER_PAGE)

    with aws_faults.recorded() as seen:
        page = read_page(crates.store, CRATES, last)

    assert [record.id for record in page.records] == crates.expected(last)[90:]
    assert seen.entries_examined == _PER_PAGE


def test_pages_of_several_statuses_examine_a_page_of_each(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    crates.add(
        {
            "name": f"crate {number:02}",
            "color": "red",
            "status": ("open", "lost", "shut")[number % 3],
        }
        for number in range(75)
    )
    query = ListQuery("id", False, per_page=_PER_PAGE, among={"status": ("open", "lost", "shut")})
    for number, most in ((1, 1), (4, 4), (8, 1)):  # the last page is read from the end
        with aws_faults.recorded() as seen:
            page = read_page(crates.store, CRATES, replace(query, page=number))
        first = (number - 1) * _PER_PAGE
        found = [record.id for record in page.records]
        assert found == crates.expected(query)[first : first + _PER_PAGE]
        assert page.total == 75
        assert seen.round_trips <= 3
        assert seen.entries_examined <= 3 * most * _PER_PAGE, number


def test_ids_are_read_in_one_call(crates: CrateTable, aws_faults: AwsFaults) -> None:
    _fill(crates, 90)
    ids = (*range(90, 0, -1), 95)

    with aws_faults.recorded() as seen:
        page = read_page(crates.store, CRATES, ListQuery("name", False, per_page=50, ids=ids))

    assert (page.total, [one.id for one in page.records]) == (91, list(range(1, 51)))
    assert [one.operation for one in seen.calls] == ["BatchGetItem"]


def _lag(table: str, show: Callable[[list[AttributeMap]], list[AttributeMap]]) -> Fault:
    """Answer the first eventually consistent read of rows with what `show` makes of them."""
    answered: list[bool] = []

    def fault(call: Call, forward: Forward) -> Answer:
        answer = forward()
        if call.operation == "BatchGetItem" and not answered:
            answered.append(call.request["RequestItems"][table]["ConsistentRead"])
            found = answer[0][1]["Responses"]
            found[table] = show(found[table])
        return answer

    return fault


def test_rows_are_read_for_half_the_units_and_again_if_they_do_not_show_yet(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    _fill(crates, 5, special=0)
    lag = _lag(crates.store.table, lambda rows: rows[:-1])

    with aws_faults.recorded() as seen, aws_faults.faulty(lag):
        page = read_page(crates.store, CRATES, ListQuery("id", descending=False))

    assert [one.id for one in page.records] == list(crates.crates)
    reads = [one.request["RequestItems"] for one in seen.calls if one.operation == "BatchGetItem"]
    eventual, consistent = (read[crates.store.table] for read in reads)
    assert (eventual["ConsistentRead"], len(eventual["Keys"])) == (False, 5)
    assert (consistent["ConsistentRead"], len(consistent["Keys"])) == (True, 1)


def test_rows_are_read_without_what_lists_do_not_need_of_them(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    """Facets and index keys are most of a small row."""
    _fill(crates, 5, special=0)
    crates.remove(3)
    found: list[AttributeMap] = []

    def show(rows: list[AttributeMap]) -> list[AttributeMap]:
        found.extend(rows)
        return rows

    with aws_faults.faulty(_lag(crates.store.table, show)):
        page = read_page(crates.store, CRATES, ListQuery("name", False, ids=(1, 2, 3, 4)))

    assert page.records == [CRATES.get(crates.store, number) for number in (1, 2, 4)]
    assert len(found) == 4
    assert set().union(*found) == {
        "PK",
        "SK",
        "id",
        "version",
        "parts",
        "data",
        "schema",
        "deleted",
    }


def test_a_large_row_whose_former_parts_are_gone_is_read_again(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    """A row of several items can show its former head when its former parts are deleted."""
    content = random.Random(1).randbytes(400_000).hex()  # noqa: S311 - no secret
    crates.add([{"name": "large", "color": "red", "status": "open", "content": content}])
    (number,) = crates.crates
    former = crates.store.client.get_item(
        TableName=crates.store.table, Key=key_attributes(CRATES.key(number))
    )["Item"]
    crates.change(number, {"content": content[1:]})

    with aws_faults.faulty(_lag(crates.store.table, lambda _: [former])):
        page = read_page(crates.store, CRATES, ListQuery("id", descending=False))

    assert [one.entity for one in page.records] == list(crates.crates.values())

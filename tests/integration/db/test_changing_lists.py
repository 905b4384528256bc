"""Reading a list by links while it changes: no row is missed or repeated."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event

import pytest

from shared.kernel.db.lists.bookmarks import LAG_MS
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.query import ListQuery
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.integration.db.crate_list import CRATES, Crate, CrateTable, Draft

_BY_NAME = ListQuery("name", descending=False, per_page=3)
_OPEN = replace(_BY_NAME, equal={"status": "open"})
_SOME = replace(_BY_NAME, among={"status": ("open", "lost")})


@pytest.fixture
def twelve_crates(crates: CrateTable, clock: Clock) -> CrateTable:
    crates.add(_draft(f"crate {n:02d}") for n in range(12))
    clock.advance(LAG_MS / 1000 + 1)
    return crates


def _draft(name: str, status: str = "open") -> Draft:
    return {"name": name, "color": "red", "status": status}


def _names(page: Page[Crate]) -> list[str]:
    return [record.entity.name for record in page.records]


def _remove(crates: CrateTable, page: Page[Crate]) -> None:
    for record in page.records:
        crates.remove(record.id)


def _close(crates: CrateTable, page: Page[Crate]) -> None:
    for record in page.records:
        crates.change(record.id, {"status": "closed"})


def _add_before(crates: CrateTable, _: Page[Crate]) -> None:
    crates.add(_draft(f"a first one {n}") for n in range(7))


@pytest.mark.parametrize(
    ("query", "change"),
    [
        (_BY_NAME, _remove),
        (_OPEN, _remove),
        (_OPEN, _close),
        (_SOME, _close),
        (_BY_NAME, _add_before),
    ],
)
def test_changes_after_each_page_hide_and_repeat_no_row(
    twelve_crates: CrateTable,
    query: ListQuery,
    change: Callable[[CrateTable, Page[Crate]], None],
) -> None:
    page = read_page(twelve_crates.store, CRATES, query)
    read = _names(page)
    while page.next_mark is not None:
        change(twelve_crates, page)
        turn = replace(query, page=len(read) // 3 + 1, after=page.next_mark)
        page = read_page(twelve_crates.store, CRATES, turn)
        read += _names(page)

    assert read == [f"crate {n:02d}" for n in range(12)]


def test_reading_a_changed_list_by_links_keeps_page_numbers_right(
    twelve_crates: CrateTable, clock: Clock
) -> None:
    first = read_page(twelve_crates.store, CRATES, _BY_NAME)
    twelve_crates.add([_draft("a first one"), _draft("another one")])
    clock.advance(LAG_MS / 1000 + 1)
    read_page(twelve_crates.store, CRATES, replace(_BY_NAME, page=2, after=first.next_mark))

    third = read_page(twelve_crates.store, CRATES, replace(_BY_NAME, page=3))

    assert [record.id for record in third.records] == twelve_crates.expected(_BY_NAME)[6:9]


def test_row_whose_status_changes_while_both_are_read_is_shown_once(
    twelve_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    changed = Event()

    def change_between(call: Call, forward: Forward) -> Answer:
        is_read = call.operation == "Query" and "#status#" in str(call.request)
        if is_read and "#status#lost" in str(call.request):
            assert changed.wait(10)
        answer = forward()
        if is_read and "#status#open" in str(call.request):
            twelve_crates.change(1, {"status": "lost"})
            changed.set()
        return answer

    with aws_faults.faulty(change_between):
        page = read_page(twelve_crates.store, CRATES, replace(_SOME, sort="id", per_page=20))

    assert [one.id for one in page.records] == list(range(1, 13))

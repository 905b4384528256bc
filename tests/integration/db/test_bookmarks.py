"""Bookmarks of lists: when they are used, when they are stale, and invalid marks."""

import random
from dataclasses import replace

import pytest

from shared.kernel.db.facets import pair_id, sort_text
from shared.kernel.db.items import from_attributes
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.lists.bookmarks import LAG_MS
from shared.kernel.db.lists.cursor import Cursor, InvalidCursor, Mark
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.query import ListQuery
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.db.crate_list import CRATES, CrateTable
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION

_BY_NAME = ListQuery("name", descending=False, per_page=3)
_RED = ListQuery("name", descending=False, per_page=3, equal={"color": "red"})
_SETTLED = ListQuery(
    "updated_at",
    descending=False,
    per_page=3,
    moving={"updated_at": (None, "2026-01-01T00:00:00.000Z")},
)


@pytest.fixture
def ten_crates(crates: CrateTable, clock: Clock) -> CrateTable:
    """Ten crates, older than the lag of the indexes."""
    crates.add({"name": f"crate {n}", "color": "red", "status": "open"} for n in range(10))
    clock.advance(LAG_MS / 1000 + 1)
    return crates


def _page(crates: CrateTable, query: ListQuery, number: int) -> list[int]:
    page = read_page(crates.store, CRATES, replace(query, page=number))
    return [record.id for record in page.records]


@pytest.mark.parametrize("query", [_BY_NAME, _RED])
def test_change_makes_bookmarks_stale(ten_crates: CrateTable, query: ListQuery) -> None:
    assert (
        _page(ten_crates, query, 1) + _page(ten_crates, query, 2) == ten_crates.expected(query)[:6]
    )

    ten_crates.add([{"name": "a first one", "color": "red", "status": "open"}])

    assert _page(ten_crates, query, 3) == ten_crates.expected(query)[6:9]


@pytest.mark.parametrize("sort", ["id", "name", "updated_at"])
@pytest.mark.parametrize("equal", [{}, {"color": "red"}, {"status": "open"}])
def test_change_of_no_total_makes_bookmarks_stale(
    ten_crates: CrateTable, clock: Clock, sort: str, equal: dict[str, str]
) -> None:
    query = ListQuery(sort, descending=False, per_page=3, equal=equal)
    before = _page(ten_crates, query, 2)
    clock.advance(LAG_MS / 1000 + 1)

    ten_crates.change(before[0], {"color": "blue", "name": "zoo"})

    assert _page(ten_crates, query, 2) == ten_crates.expected(query)[3:6]
    assert _page(ten_crates, query, 3) == ten_crates.expected(query)[6:9]


@pytest.mark.parametrize("query", [_BY_NAME, _RED])
def test_mark_continues_after_the_previous_page(ten_crates: CrateTable, query: ListQuery) -> None:
    first = read_page(ten_crates.store, CRATES, query)
    rest = ten_crates.expected(query)[3:6]
    ten_crates.remove(ten_crates.expected(query)[0])

    second = read_page(ten_crates.store, CRATES, replace(query, page=2, after=first.next_mark))

    assert [record.id for record in second.records] == rest


def test_bookmark_within_the_index_lag_expires_after_the_lag(
    crates: CrateTable, clock: Clock, aws_faults: AwsFaults
) -> None:
    clock.freeze()
    crates.add({"name": f"crate {n}", "color": "red", "status": "open"} for n in range(10))
    _page(crates, _BY_NAME, 2)
    clock.advance((LAG_MS - 1) / 1000)
    with aws_faults.recorded() as believed:
        assert _page(crates, _BY_NAME, 3) == crates.expected(_BY_NAME)[6:9]
    clock.advance(LAG_MS / 1000)
    with aws_faults.recorded() as counted:
        assert _page(crates, _BY_NAME, 3) == crates.expected(_BY_NAME)[6:9]

    # both read the entry that was updated last; counting begins at the end of the list
    assert (believed.entries_examined, counted.entries_examined) == (1 + 3, 1 + 4)


def test_bookmarks_of_a_filtered_list_are_stored_in_chunks(
    ten_crates: CrateTable, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bookmarks, "_CHUNK", 4)  # pages of 3 lie across the chunks
    pages = [_page(ten_crates, _RED, number) for number in range(1, 6)]

    with aws_faults.recorded() as seen:
        again = [_page(ten_crates, _RED, number) for number in (4, 2, 3)]

    assert [number for page in pages for number in page] == ten_crates.expected(_RED)
    assert again == [pages[3], pages[1], pages[2]]
    assert seen.entries_examined == 3  # for each page, the entry that was updated last


def test_snapshot_of_the_widest_ids_fits_into_its_items(crates: CrateTable) -> None:
    digits = random.Random(1)  # noqa: S311 - no secret
    ids = [pair_id(*(digits.randrange(10**11, 10**12) for _ in "12")) for _ in range(40_000)]

    bookmarks.store_snapshot(crates.store, "crate#x", ids, bookmarks.State("1", 0), 7)

    items = stored_items(ACCOUNT, REGION, crates.store.table)
    chunks = [item for item in items if item["PK"]["S"] == "snapshot#crate#x"]
    assert max(len(from_attributes(item)["ids"]) for item in chunks) < 390_000
    found = bookmarks.find_snapshot(crates.store, "crate#x", 39_999, 7)
    assert found
    assert found.ids[39_999 - found.first] == ids[-1]


def test_marks_cross_chunks(ten_crates: CrateTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bookmarks, "_CHUNK", 4)
    ids, mark = list[int](), None
    for number in range(1, 5):
        page = read_page(ten_crates.store, CRATES, replace(_RED, page=number, after=mark))
        ids += [record.id for record in page.records]
        mark = page.next_mark

    assert ids == ten_crates.expected(_RED)


_MARKS: list[Mark] = [
    -1, 10**15, 10**30, "", "x", "\x1f", "\x1f000000000001x",
    sort_text("x" * 5000, 1), sort_text("\ud800", 1), sort_text("\x00", 1),
    "crate 3\x1f1000000000000", "crate 3\x1f" + "1" * 24, "crate 3\x1f-00000000001",
    "crate 3\x1f\u0661" + "0" * 11,
]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "mark"),
    [(query, mark) for query in (_BY_NAME, _RED) for mark in _MARKS]
    + [(_BY_NAME, 7), (_RED, sort_text("crate 3", 3))]
    + [(_SETTLED, sort_text("2026-01-01T00:00:00.001Z", 3))],
)
def test_forged_mark_is_refused(ten_crates: CrateTable, query: ListQuery, mark: Mark) -> None:
    with pytest.raises(InvalidCursor):
        read_page(ten_crates.store, CRATES, replace(query, page=2, after=mark))


@pytest.mark.parametrize("sign", ["x", "\\", "\u6f22", "\U0001f600"])
def test_cursor_of_the_longest_name_is_accepted(
    crates: CrateTable, clock: Clock, sign: str
) -> None:
    crates.add({"name": sign * 200, "color": "red", "status": "open"} for _ in range(4))
    clock.advance(LAG_MS / 1000 + 1)
    first = read_page(crates.store, CRATES, _BY_NAME)
    assert first.next_mark

    cursor = Cursor.parse(Cursor("0" * 16, 10**9, 100, first.next_mark).text())

    second = read_page(crates.store, CRATES, replace(_BY_NAME, page=2, after=cursor.mark))
    assert [record.id for record in second.records] == crates.expected(_BY_NAME)[3:]


def test_mark_of_a_missing_key_continues_after_that_key(ten_crates: CrateTable) -> None:
    after = sort_text("crate 6z", 77)

    page = read_page(ten_crates.store, CRATES, replace(_BY_NAME, page=2, after=after))

    assert [record.entity.name for record in page.records] == ["crate 7", "crate 8", "crate 9"]

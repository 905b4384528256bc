"""The pages of a list are complete, in order and without repeats; the total is exact."""

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from shared.kernel.clock import Deadline
from shared.kernel.db.facets import id_text
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.query import ListQuery
from tests.clock import Clock
from tests.integration.db.conftest import NewCrateTable
from tests.integration.db.crate_list import CRATES, Crate, CrateTable
from tests.sampling import is_complete

_LAG = bookmarks.LAG_MS / 1000 + 0.5

type _Step = tuple[str, Any]

_NAMES = st.sampled_from(
    ["Ämbar", "ambar", "amber", "A", "A!", "B", "BB", "z", "\u4e2d", "\U0001f4e6"]
)
_DRAFTS = st.fixed_dictionaries(
    {
        "name": _NAMES,
        "color": st.sampled_from(["red", "green"]),
        "status": st.sampled_from(["open", "closed"]),
        "grade": st.sampled_from(["a", "b", "c"]),
        "reference": st.sampled_from([None, "R1", "R2"]),
    }
)
_CHOICE = st.integers(0, 10_000)
_CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(_DRAFTS, min_size=1, max_size=12)),
    st.tuples(st.just("change"), st.tuples(_CHOICE, _DRAFTS)),
    st.tuples(st.just("remove"), _CHOICE),
    st.tuples(st.just("wait"), st.sampled_from([0.5, _LAG, 1000.0])),
    st.tuples(st.just("elsewhere"), st.none()),
)
_ANY = {"status": ("open", "closed")}
_RESTRICTIONS: list[dict[str, Any]] = [
    {},
    {"equal": {"status": "open"}},
    {"among": _ANY},
    {"equal": {"status": "lost"}},
    {"equal": {"reference": "R1"}},
    {"equal": {"status": "closed", "color": "red"}},
    {"contains": {"name": "amb"}},
    {"contains": {"name": "r"}, "equal": {"status": "open", "reference": "R2"}},
    {"between": {"name": ("amber", "crate 2")}},
    {"between": {"updated_at": ("2", None)}, "equal": {"status": "open"}},
    {"equal": {"name": "crate 1"}},
    {"equal": {"status": "open"}, "moving": {"id": (None, id_text(5))}},
    {"equal": {"status": "open"}, "moving": {"id": (id_text(3), None)}},
    {"moving": {"name": (None, "b")}},
    {"moving": {"name": (None, "b")}, "unless": ("status", ("open",))},
    {
        "equal": {"status": "open"},
        "moving": {"name": (None, "b")},
        "unless": ("color", ("green", "blue")),
    },
    {"among": {"status": ("open", "lost")}, "contains": {"name": "r"}},
    {"among": {"reference": ("R1", "R2")}},
    *(
        {"among": {"grade": ("a", "b")}, "moving": {"name": bounds}, "unless": ("grade", ("b",))}
        for bounds in (("b", None), (None, "b"))
    ),
    {
        "among": {"grade": ("a", "b")},
        "between": {"name": ("amber", None)},
        "moving": {"name": ("b", None)},
        "unless": ("grade", ("b",)),
    },
    {"ids": (3, 1, 8, 9, 99)},
    {"ids": tuple(range(1, 12)), "equal": {"status": "open"}, "between": {"name": ("b", None)}},
]
_QUERIES = st.builds(
    lambda restrictions, **rest: ListQuery(**restrictions, **rest),
    # Half of the lists are read in index order, half are gathered and sorted.
    st.one_of(st.sampled_from(_RESTRICTIONS[:3]), st.sampled_from(_RESTRICTIONS)),
    sort=st.sampled_from(["id", "name", "updated_at"]),
    descending=st.booleans(),
    per_page=st.sampled_from([2, 3, 5, 10, 50]),
)
_STEPS = st.lists(
    st.one_of(_CHANGES, st.tuples(st.just("list"), st.integers(0, 1))), min_size=1, max_size=10
)


@settings(
    max_examples=25 if is_complete() else 12,
    derandomize=not is_complete(),  # a sample is the same in every run
    deadline=None,
    print_blob=True,
    # Without shrinking, which takes minutes on moto; the failure shows the seed.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=_STEPS, queries=st.tuples(_QUERIES, _QUERIES), luck=st.randoms(use_true_random=False))
def test_pages_make_up_the_list_after_random_changes(
    new_crate_table: NewCrateTable,
    clock: Clock,
    steps: list[_Step],
    queries: tuple[ListQuery, ListQuery],
    luck: Random,
) -> None:
    if luck.random() < 0.5:
        clock.freeze()
    crates = new_crate_table()
    _do(crates, clock, "add", [_crate(number) for number in range(8)])
    # The same lists are read repeatedly, so that bookmarks of one reading meet later changes.
    for kind, what in [("list", 0), ("wait", _LAG), ("list", 0), *steps, ("list", 0), ("list", 1)]:
        if kind == "list":
            _assert_pages_make_up_the_list(crates, queries[what], luck)
            # Reading takes a millisecond at least, so a change after it has a later time than one
            # before it. Changes of one clock at the same millisecond have no list between them.
            clock.advance(0.001)
        else:
            _do(crates, clock, kind, what)


def _crate(number: int) -> dict[str, str | None]:
    status = "open" if number % 3 else "closed"
    return {
        "name": f"crate {number % 4}", "color": "red", "status": status, "grade": "cab"[number % 3],
        "reference": None,
    }  # fmt: skip


def _do(crates: CrateTable, clock: Clock, kind: str, what: Any) -> None:
    ids = sorted(crates.crates)
    match kind:
        case "add" if len(ids) + len(what) <= 40:
            crates.add(what)
        case "change" if ids:
            crates.change(ids[what[0] % len(ids)], what[1])
        case "remove" if ids:
            crates.remove(ids[what % len(ids)])
        case "wait":
            clock.advance(what)
            crates.store.deadline = Deadline(25_000)  # the next step is another request
        case "elsewhere":
            bookmarks._cached_positions.clear()


def _assert_pages_make_up_the_list(crates: CrateTable, query: ListQuery, luck: Random) -> None:
    # Use only one way, since its bookmarks would hide errors of the other.
    ways = [_assert_links_lead_through_it, _assert_numbers_lead_through_it]
    luck.shuffle(ways)
    for way in ways:
        way(crates, query, luck)


def _assert_links_lead_through_it(crates: CrateTable, query: ListQuery, _luck: Random) -> None:
    expected, last = crates.expected(query), _last_page(crates, query)
    walked: list[int] = []
    page = read_page(crates.store, CRATES, query)
    for number in range(1, last + 1):
        assert page.total == len(expected)
        walked += _ids(page)
        assert (page.next_mark is not None) == (number < last)
        page = read_page(
            crates.store, CRATES, replace(query, page=number + 1, after=page.next_mark)
        )
    assert walked == expected
    assert _ids(page) == []


def _assert_numbers_lead_through_it(crates: CrateTable, query: ListQuery, luck: Random) -> None:
    expected = crates.expected(query)
    numbers = list(range(1, _last_page(crates, query) + 2))
    luck.shuffle(numbers)
    pages = {
        number: read_page(crates.store, CRATES, replace(query, page=number)) for number in numbers
    }
    assert {page.total for page in pages.values()} == {len(expected)}
    assert [crate for number in sorted(pages) for crate in _ids(pages[number])] == expected


def _last_page(crates: CrateTable, query: ListQuery) -> int:
    return max(1, -(-len(crates.expected(query)) // query.per_page))


def _ids(page: Page[Crate]) -> list[int]:
    return [record.id for record in page.records]

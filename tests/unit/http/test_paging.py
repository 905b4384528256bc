"""`links` and `meta` of a page."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.http.paging import listing_name, paging
from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import Record
from shared.kernel.list_parameters import ListParameters

_URL = "https://acme.example/api/v1/products"


def _frame(page: int, per_page: int, total: int, query: dict[str, str] | None = None) -> Any:
    shown = max(0, min(per_page, total - (page - 1) * per_page))
    more = page * per_page < total
    records = [Record(number, 1, None) for number in range(shown)]
    return paging(
        Page(records, total, page, per_page, None),
        url=_URL,
        query=query or {},
        next_cursor="c" if more else None,
    )


def _page(url: str) -> int:
    return int(parse_qs(urlsplit(url).query)["page"][0])


@given(st.integers(1, 60), st.integers(1, 100), st.integers(0, 3000))
def test_meta_and_links_describe_the_page(page: int, per_page: int, total: int) -> None:
    frame = _frame(page, per_page, total)
    links, meta = frame["links"], frame["meta"]
    last = max(1, -(-total // per_page))

    assert meta["last_page"] == _page(links["last"]) == last
    assert (meta["current_page"], meta["per_page"], meta["total"]) == (page, per_page, total)
    assert (links["prev"] is None) == (page == 1)
    assert (links["next"] is None) == (page >= last)
    if page <= last and total:
        assert meta["from"] == (page - 1) * per_page + 1
        assert meta["to"] == min(page * per_page, total)
    else:
        assert meta["from"] is meta["to"] is None


@given(st.integers(1, 60), st.integers(1, 3000))
def test_page_links_ascend_without_repeats(page: int, total: int) -> None:
    links = _frame(page, 25, total)["meta"]["links"]
    numbers = [int(link["label"]) for link in links[1:-1] if link["url"]]

    assert numbers == sorted(set(numbers))
    assert numbers[0] == 1
    assert numbers[-1] == max(1, -(-total // 25))
    assert all(_page(link["url"]) == int(link["label"]) for link in links[1:-1] if link["url"])
    assert [link["active"] for link in links].count(True) <= 1


def test_links_keep_the_query_and_only_next_has_the_cursor() -> None:
    query = {"search": "a b&c=\u00e9", "page": "2", "cursor": "old", "per_page": "10"}
    links = _frame(2, 10, 45, query)["links"]

    for name, link in links.items():
        kept = parse_qs(urlsplit(link).query)
        assert kept["search"] == ["a b&c=\u00e9"]
        assert kept["per_page"] == ["10"]
        assert kept.get("cursor") == (["c"] if name == "next" else None)


@pytest.mark.parametrize(("page", "previous"), [(9, 1), (2, 1)])
def test_prev_after_the_last_page_leads_to_an_existing_page(page: int, previous: int) -> None:
    assert _page(_frame(page, 25, 10)["links"]["prev"]) == previous


def test_a_later_release_with_a_further_filter_takes_the_cursors_of_an_earlier_one() -> None:
    class Later(ListParameters):
        color: str | None = None

    before, after, other = (
        listing_name("acme", "/products", parameters)
        for parameters in (
            ListParameters(sort="id"),
            Later(sort="id"),
            Later(sort="id", color="red"),
        )
    )
    assert before == after != other

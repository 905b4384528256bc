"""`links` and `meta` of every page, and reading lists from the first page to the last."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from shared.kernel.db.lists import bookmarks
from tests.cases import each_case
from tests.contract.filled_lists import FilledList, FilledLists, Query
from tests.gateway import Response
from tests.lists import LISTS
from tests.sampling import sampled
from tests.stack import ADDRESS

DEFAULT = 25


def link_query(link: str | None) -> dict[str, str] | None:
    """Return the query of a link without the cursor, which is opaque."""
    if link is None:
        return None
    query = dict(parse_qsl(urlsplit(link).query))
    query.pop("cursor", None)
    return query


def page_errors(
    listing: FilledList, answer: Response, query: Query, per_page: int, page: int
) -> list[str]:
    """Return the deviations of links, meta and the number of rows from the documentation."""
    assert answer.status == 200, answer.text
    path, total = ADDRESS + listing.spec.path, listing.count
    last = max(1, -(-total // per_page))
    shown = max(0, min(per_page, total - (page - 1) * per_page))
    first = (page - 1) * per_page + 1
    kept = {name: str(value) for name, value in {**listing.spec.fixed_query, **query}.items()}

    def link(number: int) -> dict[str, str]:
        return {**kept, "page": str(number)}

    body = answer.json()
    links, meta = body["links"], dict(body["meta"])
    buttons = meta.pop("links")
    found = {
        "rows": len(body["data"]),
        "wrappers": set(body),
        "meta": meta,
        "links": {name: link_query(url) for name, url in links.items()},
        "paths": {url.partition("?")[0] for url in links.values() if url},
        "ends": (buttons[0]["url"], buttons[-1]["url"]),
        "active": [button["label"] for button in buttons if button["active"]],
        "buttons": {tuple(button) for button in buttons},
        "numbers": all(
            link_query(one["url"]) == link(int(one["label"])) for one in numbered(buttons)
        ),
    }
    wanted = {
        "rows": shown,
        "wrappers": {"data", "links", "meta"},
        "meta": {
            "current_page": page,
            "from": first if shown else None,
            "last_page": last,
            "path": path,
            "per_page": per_page,
            "to": first + shown - 1 if shown else None,
            "total": total,
        },
        "links": {
            "first": link(1),
            "last": link(last),
            "prev": link(min(page - 1, last)) if page > 1 else None,
            "next": link(page + 1) if page < last else None,
        },
        "paths": {path},
        "ends": (links["prev"], links["next"]),
        "active": [str(page)] if page <= last else [],
        "buttons": {("url", "label", "active")},
        "numbers": True,
    }
    return [f"{query}: {n} {found[n]}, not {wanted[n]}" for n in wanted if found[n] != wanted[n]]


def numbered(buttons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the links to numbered pages, without `previous`, `next` and the gaps."""
    return [button for button in buttons[1:-1] if button["url"]]


def test_first_page_has_the_requested_size_of_at_most_100(listing: FilledList) -> None:
    found = page_errors(listing, listing.get({}), {}, DEFAULT, 1)
    for size in (1, 24, 25, 99, 100, 101, 100_000):
        query = {"per_page": size}
        found += page_errors(listing, listing.get(query), query, min(size, 100), 1)
    assert found == []


@each_case("size", [1, 10])
def test_page_parameter_returns_the_rows_of_that_page(listing: FilledList, size: int) -> None:
    listing.forget()
    last = max(1, -(-listing.count // size))
    found: list[str] = []
    for page in sorted({1, 2, last // 2 + 1, last - 1, last, last + 1, last + 1000} - {0}):
        query = {"per_page": size, "page": page}
        answer = listing.get(query)
        given = {"per_page": size}
        found += page_errors(listing, answer, given, size, page)
        begin = (page - 1) * size
        numbers = [listing.spec.row_id(row) for row in answer.data]
        if numbers != listing.expected({})[begin : begin + size]:
            found.append(f"{query}: {numbers}")
    assert found == []


def by_links(listing: FilledList, per_page: int, query: Query) -> Iterator[Response]:
    answer = listing.get({**query, "per_page": per_page})
    yield answer
    while following := answer.json()["links"]["next"]:
        answer = listing.erp.follow(following)
        yield answer


def by_links_backwards(listing: FilledList, per_page: int, query: Query) -> Iterator[Response]:
    answer = listing.erp.follow(
        listing.get({**query, "per_page": per_page}).json()["links"]["last"]
    )
    yield answer
    while before := answer.json()["links"]["prev"]:
        answer = listing.erp.follow(before)
        yield answer


def by_number(listing: FilledList, per_page: int, query: Query) -> Iterator[Response]:
    page, last = 1, 1
    while page <= last:
        answer = listing.get({**query, "per_page": per_page, "page": page})
        yield answer
        page, last = page + 1, answer.json()["meta"]["last_page"]


def ids(listing: FilledList, answers: Iterator[Response], *, fresh: bool) -> list[list[int]]:
    """Return the ids of each page; with `fresh`, each request runs in a new environment."""
    pages = []
    for answer in answers:
        assert answer.status == 200, answer.text
        pages.append([listing.spec.row_id(row) for row in answer.data])
        if fresh:
            bookmarks._cached_positions.clear()
    return pages


@each_case("fresh", [False, True], named=["one environment", "new environments"])
def test_all_pages_return_each_row_once(listing: FilledList, fresh: bool) -> None:  # noqa: FBT001
    listing.forget()
    size = 9 if listing.count < 100 else 60
    expected = listing.expected({})
    pages = [expected[at : at + size] for at in range(0, len(expected), size)] or [[]]

    assert ids(listing, by_links(listing, size, {}), fresh=fresh) == pages
    assert ids(listing, by_number(listing, size, {}), fresh=fresh) == pages
    assert ids(listing, by_links_backwards(listing, size, {}), fresh=fresh) == pages[::-1]


@pytest.mark.parametrize("list_name", sampled("filtered pages", list(LISTS), every=3))
def test_all_filtered_pages_return_each_row_once(lists: FilledLists, list_name: str) -> None:
    with lists.filled(LISTS[list_name], 26) as listing:
        for parameter, one in listing.filters.items():
            query = {parameter: one.values(listing.count)[0]}
            expected = listing.expected(query)
            for walk in (by_links, by_number):
                pages = ids(listing, walk(listing, 4, query), fresh=True)
                assert [number for page in pages for number in page] == expected, query
                assert all(len(page) == 4 for page in pages[:-1]), query

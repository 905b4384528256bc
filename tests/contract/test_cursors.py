"""The parameter `cursor` of every list: enough by itself, and refused where it does not belong."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cases import each_case
from tests.contract.filled_lists import FilledList, FilledLists
from tests.gateway import Response
from tests.lists import LISTS

_ROWS = 26


@pytest.fixture
def filled(lists: FilledLists, list_name: str) -> Iterator[FilledList]:
    """Each list with more than two pages of ten rows."""
    with lists.filled(LISTS[list_name], _ROWS) as listing:
        yield listing


def _next_cursor(answer: Response) -> str:
    following: str = answer.json()["links"]["next"]
    return parse_qs(urlsplit(following).query)["cursor"][0]


def _first_cursor(filled: FilledList) -> str:
    return _next_cursor(filled.get({"per_page": 10}))


def _ids(filled: FilledList, answer: Response) -> list[int]:
    assert answer.status == 200, answer.text
    return [filled.spec.row_id(row) for row in answer.data]


def _is_refused(answer: Response) -> bool:
    fields = [problem["field"] for problem in answer.json().get("errors", [])]
    return (answer.status, fields) == (422, ["cursor"])


def test_cursor_alone_continues_the_list(filled: FilledList) -> None:
    expected = filled.expected({})
    cursor = _first_cursor(filled)

    second = filled.get({"cursor": cursor})

    assert _ids(filled, second) == expected[10:20]
    meta: dict[str, Any] = second.json()["meta"]
    assert (meta["current_page"], meta["per_page"], meta["from"]) == (2, 10, 11)
    # Every link keeps the page size, which only the cursor names.
    assert _ids(filled, filled.erp.follow(second.json()["links"]["prev"])) == expected[:10]
    assert _ids(filled, filled.get({"cursor": _next_cursor(second)})) == expected[20:]


def test_default_page_and_size_beside_a_cursor_mean_nothing(filled: FilledList) -> None:
    query = {"cursor": _first_cursor(filled), "page": 1, "per_page": 25}

    assert _ids(filled, filled.get(query)) == filled.expected({})[10:20]


def test_versions_may_be_asked_for_from_any_page_on(filled: FilledList) -> None:
    if filled.spec.fixed_query:  # totals have no versions
        return
    second = filled.get({"cursor": _first_cursor(filled), "include": "version"})
    assert _ids(filled, second) == filled.expected({})[10:20]
    third = filled.erp.follow(second.json()["links"]["next"])
    assert all("version" in row for row in (*second.data, *third.data))


@each_case("other", [{"page": 3}, {"per_page": 11}, {"sort": "other"}])
def test_cursor_of_another_page_is_refused(filled: FilledList, other: dict[str, object]) -> None:
    filled.forget()
    if "sort" in other:
        default = filled.spec.default_sort
        other = {"sort": default[1:] if default.startswith("-") else f"-{default}"}

    answer = filled.get({"cursor": _first_cursor(filled), **other})

    assert _is_refused(answer), answer.text


def test_cursor_of_a_list_without_the_filter_is_refused(filled: FilledList) -> None:
    cursor = _first_cursor(filled)
    for parameter, one in filled.filters.items():
        answer = filled.get({"cursor": cursor, parameter: one.values(_ROWS)[0]})
        assert _is_refused(answer), answer.text


def test_cursor_of_another_list_or_tenant_is_refused(lists: FilledLists, list_name: str) -> None:
    other = next(name for name in LISTS if name != list_name)
    with lists.filled(LISTS[other], _ROWS) as listing:
        foreign = [_first_cursor(listing)]
    with lists.filled(LISTS[list_name], _ROWS, tenant="beta") as listing:
        foreign.append(_first_cursor(listing))
    with lists.filled(LISTS[list_name], _ROWS) as listing:
        for cursor in foreign:
            answer = listing.get({"cursor": cursor})
            assert _is_refused(answer), answer.text


def _with(cursor: str, position: int, value: object) -> str:
    parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    parts[position] = value
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


_NO_CURSORS = [
    "", "%", "\u00e9", "AAAA", "bnVsbA", "W10", "W1tdXQ", "WzEsMiwz", "9" * 2000, "9" * 2001,
    "WzEsMiwzLDRd", base64.urlsafe_b64encode(b"[" * 1400).decode(),
]  # fmt: skip


def test_text_that_is_no_cursor_is_refused(filled: FilledList) -> None:
    accepted = [text for text in _NO_CURSORS if not _is_refused(filled.get({"cursor": text}))]
    assert accepted == []


_FORGED = [
    (0, "0" * 16), (0, 7), (0, None),
    (1, 1), (1, 0), (1, -2), (1, "2"), (1, True), (1, 2.0), (1, 10**12),
    (2, 0), (2, 101), (2, "10"), (2, None),
    (3, ""), (3, "x"), (3, -1), (3, 10**30), (3, None), (3, True), (3, []), (3, {}),
    (3, 1.5), (3, "\x00"), (3, "\ud800"), (3, "x" * 1000),
]  # fmt: skip
"""Part of a cursor, and a value that it never has."""


def test_forged_cursor_is_refused(filled: FilledList) -> None:
    cursor = _first_cursor(filled)
    accepted = [
        (position, value)
        for position, value in _FORGED
        if not _is_refused(filled.get({"cursor": _with(cursor, position, value)}))
    ]
    assert accepted == []


def test_all_problems_of_a_query_are_reported(filled: FilledList) -> None:
    answer = filled.get({"cursor": "AAAA", "page": 0, "sort": "color"})

    fields = {problem["field"] for problem in answer.json()["errors"]}
    assert (answer.status, fields) == (422, {"cursor", "page", "sort"})

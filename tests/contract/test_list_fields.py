"""Rows show every field that the interface names, null where there is nothing to show."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.contract.filled_lists import FilledList, FilledLists
from tests.integration.routes import operations
from tests.lists import LISTS

ROWS = 26

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


TYPE_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in {int, float},
    "boolean": lambda value: type(value) is bool,
    "string": lambda value: isinstance(value, str),
    "date": lambda value: isinstance(value, str) and bool(_DAY.fullmatch(value)),
    "date-time": lambda value: isinstance(value, str) and bool(_MOMENT.fullmatch(value)),
    "uri": lambda value: isinstance(value, str) and value.startswith("https://"),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
"""Type of the interface → whether a value that is not null is of it."""


def objects(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object of a row with the beginning of its fields' names, itself included."""
    yield prefix, row
    for name, value in row.items():
        inner: Sequence[Any] = value if isinstance(value, list) else [value]
        for one in inner:
            if isinstance(one, dict):
                yield from objects(one, f"{prefix}{name}.")


@pytest.fixture
def page_and_one(lists: FilledLists, list_name: str) -> Iterator[FilledList]:
    with lists.filled(LISTS[list_name], ROWS) as listing:
        yield listing


def test_rows_have_the_fields_of_the_interface(page_and_one: FilledList) -> None:
    fields = page_and_one.spec.fields
    wrong: set[str] = set()
    for row in page_and_one.shown_rows.values():
        for prefix, shown in objects(row):
            inside = {
                field.removeprefix(prefix)
                for field in fields
                if field.startswith(prefix) and "." not in field.removeprefix(prefix)
            }
            wrong |= {f"{prefix}{field} is left out" for field in inside - set(shown)}
            wrong |= {f"{prefix}{field} is more" for field in set(shown) - inside}
            for field in inside & set(shown):
                kind, value = fields[prefix + field], shown[field]
                nullable = kind.endswith("?")
                kinds = kind.rstrip("?").split("|")
                right = nullable if value is None else any(TYPE_CHECKS[one](value) for one in kinds)
                wrong |= set() if right else {f"{prefix}{field} is {value!r}, not {kind}"}
    assert wrong == set()


def test_nullable_fields_are_seen_null_and_filled(page_and_one: FilledList) -> None:
    listed = page_and_one.spec
    null: set[str] = set()
    filled: set[str] = set()
    for row in page_and_one.shown_rows.values():
        for prefix, shown in objects(row):
            null |= {prefix + field for field, value in shown.items() if value is None}
            filled |= {prefix + field for field, value in shown.items() if value is not None}
    nullable = {field for field, kind in listed.fields.items() if kind.endswith("?")}

    assert null == nullable - listed.always_filled
    assert nullable - filled == listed.always_null


def test_rows_show_what_is_stored(page_and_one: FilledList) -> None:
    listed, times = page_and_one.spec, page_and_one.times
    for position in range(1, ROWS + 1):
        shown = page_and_one.shown_rows[listed.id_of(position)]
        stored = json.loads(listed.make(position, times).model_dump_json())
        for field in set(shown) & set(stored):
            value = stored[field]
            if isinstance(value, str) and listed.fields[field].startswith("number"):
                value = float(value)
            if not isinstance(value, list | dict):
                assert shown[field] == value, field


def test_rows_are_what_their_details_show(lists: FilledLists, list_name: str) -> None:
    listed = LISTS[list_name]
    if f"GET {listed.path}/{{id}}" not in operations():
        assert listed.path in {"/stocks", "/stock-levels", "/stock-movements", "/audit-log"}
        return
    with lists.filled(listed, ROWS) as listing:
        for number, row in listing.shown_rows.items():
            detail = listing.erp.get(f"{listed.path}/{number}").data
            assert set(row) <= set(detail)
            differing = {field for field in row if row[field] != detail[field]}
            assert differing <= listed.always_null, number

"""Rows of lists have exactly the documented fields; a field without a value is null."""

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
"""Documented type → whether a non-null value has the type."""


def objects(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every object of a row, itself included, with the prefix of its field names."""
    yield prefix, row
    for name, value in row.items():
        inner: Sequence[Any] = value if isinstance(value, list) else [value]
        for one in inner:
            if isinstance(one, dict):
                yield from objects(one, f"{prefix}{name}.")


@pytest.fixture
def one_page_and_a_row(lists: FilledLists, list_name: str) -> Iterator[FilledList]:
    with lists.filled(LISTS[list_name], ROWS) as listing:
        yield listing


def test_rows_have_exactly_the_documented_fields_and_types(one_page_and_a_row: FilledList) -> None:
    fields = one_page_and_a_row.spec.fields
    wrong: set[str] = set()
    for row in one_page_and_a_row.shown_rows.values():
        for prefix, shown in objects(row):
            inside = {
                field.removeprefix(prefix)
                for field in fields
                if field.startswith(prefix) and "." not in field.removeprefix(prefix)
            }
            wrong |= {f"{prefix}{field} is missing" for field in inside - set(shown)}
            wrong |= {f"{prefix}{field} is not documented" for field in set(shown) - inside}
            for field in inside & set(shown):
                kind, value = fields[prefix + field], shown[field]
                kinds = kind.partition("?")[0].split("|")
                right = (
                    "?" in kind if value is None else any(TYPE_CHECKS[one](value) for one in kinds)
                )
                wrong |= set() if right else {f"{prefix}{field} is {value!r}, not {kind}"}
    assert wrong == set()


def test_nullable_fields_occur_null_and_filled(one_page_and_a_row: FilledList) -> None:
    spec = one_page_and_a_row.spec
    null: set[str] = set()
    filled: set[str] = set()
    for row in one_page_and_a_row.shown_rows.values():
        for prefix, shown in objects(row):
            null |= {prefix + field for field, value in shown.items() if value is None}
            filled |= {prefix + field for field, value in shown.items() if value is not None}

    assert null == {field for field, kind in spec.fields.items() if kind.endswith(("?", "?-"))}
    assert set(spec.fields) - filled == spec.always_null


def test_rows_show_the_stored_values(one_page_and_a_row: FilledList) -> None:
    spec, times = one_page_and_a_row.spec, one_page_and_a_row.times
    for position in range(1, ROWS + 1):
        shown = one_page_and_a_row.shown_rows[spec.id_of(position)]
        stored = json.loads(spec.make(position, times).model_dump_json())
        for field in set(shown) & set(stored):
            value = stored[field]
            if isinstance(value, str) and spec.fields[field].startswith("number"):
                value = float(value)
            if not isinstance(value, list | dict):
                assert shown[field] == value, field


def test_rows_agree_with_the_detail_route(lists: FilledLists, list_name: str) -> None:
    spec = LISTS[list_name]
    if f"GET {spec.path}/{{id}}" not in operations():
        assert spec.path in {"/stocks", "/stock-levels", "/stock-movements", "/audit-log"}
        return
    with lists.filled(spec, ROWS) as listing:
        for number, row in listing.shown_rows.items():
            detail = listing.erp.get(f"{spec.path}/{number}").data
            assert set(row) <= set(detail)
            differing = {field for field in row if row[field] != detail[field]}
            assert differing <= spec.always_null, number

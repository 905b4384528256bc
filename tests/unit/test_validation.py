"""Validation of JSON bodies: all problems are reported with the field names of the API."""

from decimal import Decimal
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import Code, Identifier, Input, Name, Quantity, distinct
from shared.kernel.validation import InvalidBody, check, ensure_valid, of_valid_fields, problems_of


class _Line(Input):
    item_code: Code
    qty: Quantity
    serials: list[Code] | None = None


class _Order(Input):
    name: Name
    lines: Annotated[list[_Line], Field(min_length=1, max_length=3)]
    note: Name | None = None


_GOOD = {"name": "Order", "lines": [{"item_code": "A", "qty": Decimal(1)}]}


def _problems(raw: object) -> dict[str, str]:
    return {problem.field: problem.message for problem in problems_of(check(_Order, raw))}


def test_valid_body_becomes_its_model() -> None:
    order = check(_Order, {**_GOOD, "unknown": 1})

    assert isinstance(order, _Order)
    assert order.lines[0].item_code == "A"
    assert order.model_fields_set == {"name", "lines"}


def test_every_problem_is_reported_with_its_path() -> None:
    lines = [
        {"item_code": 5, "qty": "5"},
        {"qty": 0},
        {"item_code": "C", "qty": 1, "serials": ["S1", None, ""]},
    ]

    assert _problems({"name": None, "lines": lines}) == {
        "name": "must be a text",
        "lines.0.item_code": "must be a text",
        "lines.0.qty": "must be a number",
        "lines.1.item_code": "is required",
        "lines.1.qty": "must be more than 0",
        "lines.2.serials.1": "must be a text",
        "lines.2.serials.2": "must not be empty",
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "must have at least 1 entry"),
        ([_GOOD["lines"][0]] * 4, "must have at most 3 entries"),
        ("AAA", "must be a list"),
        ({"0": {}}, "must be a list"),
        (None, "must be a list"),
    ],
)
def test_invalid_list_is_reported(lines: object, message: str) -> None:
    assert _problems({**_GOOD, "lines": lines}) == {"lines": message}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.decimals() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["name", "lines", "item_code", "qty", "serials", "x"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_an_invalid_body_has_the_values_of_its_valid_fields(raw: object) -> None:
    order = check(_Order, raw)

    assert isinstance(order, InvalidBody) == bool(problems_of(order))
    assert order.name is None or isinstance(order.name, str)
    assert order.lines is None or isinstance(order.lines, list)
    if isinstance(raw, dict):
        assert order.model_fields_set <= set(raw)


def test_an_invalid_body_shows_none_for_an_invalid_field_and_the_default_of_an_absent_one() -> None:
    lines = [{"item_code": "A", "qty": "5"}, {"item_code": "B", "qty": Decimal(2)}]

    order = check(_Order, {"name": 7, "lines": lines})

    assert isinstance(order, InvalidBody)
    assert (order.name, order.note, order.model_fields_set) == (None, None, {"name", "lines"})
    assert [(line.item_code, line.qty) for line in order.lines or ()] == [("A", None), ("B", 2)]
    with pytest.raises(AttributeError, match="nmae"):
        order.nmae  # noqa: B018 - reading the attribute is the test


class _Group(Input):
    ids: Annotated[list[Identifier], Field(min_length=1, max_length=3), distinct(3)] | None = None


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        ([0, "x", Decimal(9)], [None, None, 9]),
        ([7, 7, 9], [7, 7, 9]),
        ([1, 2, 3, 4], None),
        (["x"], None),
        ("x", None),
    ],
)
def test_an_invalid_body_keeps_the_valid_ids_of_a_list(ids: object, kept: object) -> None:
    group = check(_Group, {"ids": ids})

    assert isinstance(group, InvalidBody)
    assert group.ids == kept


def test_problems_of_single_entries_of_an_invalid_list_are_kept() -> None:
    found = [Problem("ids", "give either ids or all"), Problem("ids.1", "no group has the id 9")]

    assert list(of_valid_fields(check(_Group, {"ids": ["x", Decimal(9)]}), found)) == found[1:]


def test_an_invalid_body_keeps_five_thousand_entries_of_a_list() -> None:
    order = check(_Order, {"name": "Order", "lines": [{}] * 5001})

    assert isinstance(order, InvalidBody)
    assert len(order.lines or ()) == 5000


def test_the_problems_of_the_fields_come_before_those_of_the_rules() -> None:
    taken = Problem("name", "is already taken")

    with pytest.raises(ValidationFailed) as refused:
        ensure_valid(check(_Order, {**_GOOD, "note": 5}), [taken])
    assert [problem.field for problem in refused.value.problems] == ["note", "name"]

    with pytest.raises(ValidationFailed) as refused:
        ensure_valid(check(_Order, _GOOD), [taken])
    assert refused.value.problems == [taken]

    assert ensure_valid(check(_Order, _GOOD)).name == "Order"

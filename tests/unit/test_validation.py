"""Validation of JSON bodies: all problems are reported with the field names of the API."""

from decimal import Decimal
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from shared.kernel.fields import Code, Input, Name, Quantity
from shared.kernel.validation import check, what_is_valid


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
    return {problem.field: problem.message for problem in check(_Order, raw)[1]}


def test_valid_body_becomes_its_model() -> None:
    order, problems = check(_Order, {**_GOOD, "unknown": 1})

    assert problems == []
    assert order
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
def test_any_input_gives_a_model_or_problems(raw: object) -> None:
    order, problems = check(_Order, raw)
    understood = what_is_valid(_Order, raw)

    assert (order is None) == bool(problems)
    assert understood.name is None or isinstance(understood.name, str)
    assert understood.lines is None or isinstance(understood.lines, list)
    if order and isinstance(raw, dict):
        assert understood.name == order.name
        assert understood.model_fields_set <= set(raw)

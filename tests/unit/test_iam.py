"""The evaluator of policies follows the documentation of IAM."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cases import each_case
from tests.iam import Access, allows, read_policy, unused

_TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
_KEYS = "dynamodb:LeadingKeys"
_SELECT = "dynamodb:Select"


def _allowed(condition: Mapping[str, Any], *keys: str, select: str | None = None) -> bool:
    statement = {
        "Effect": "Allow",
        "Action": "dynamodb:GetItem",
        "Resource": _TABLE,
        "Condition": condition,
    }
    access = Access("dynamodb:GetItem", _TABLE, keys, select=select)
    return allows(read_policy([statement], str), access)


@each_case(
    ("operator", "values", "keys", "expected"),
    [
        ("ForAllValues:StringEquals", ["a", "b"], ["a"], True),
        ("ForAllValues:StringEquals", ["a", "b"], ["a", "b"], True),
        ("ForAllValues:StringEquals", ["a", "b"], ["a", "c"], False),
        ("ForAllValues:StringEquals", ["a", "b"], [], True),
        ("ForAllValues:StringLike", ["a*"], ["a1", "a2"], True),
        ("ForAllValues:StringLike", ["a*"], ["a1", "b1"], False),
        ("ForAllValues:StringLike", ["a*"], [], True),
        ("ForAllValues:StringNotLike", ["a*"], ["b1", "c1"], True),
        ("ForAllValues:StringNotLike", ["a*"], ["b1", "a1"], False),
        ("ForAllValues:StringNotLike", ["a*"], [], True),
        ("ForAllValues:StringEqualsIfExists", ["a"], ["b"], False),
        ("ForAllValues:StringEqualsIfExists", ["a"], [], True),
        ("ForAnyValue:StringEquals", ["a", "b"], ["a", "c"], True),
        ("ForAnyValue:StringEquals", ["a", "b"], ["c"], False),
        ("ForAnyValue:StringEquals", ["a", "b"], [], False),
        ("ForAnyValue:StringLike", ["a*"], ["b1", "a1"], True),
        ("Null", "false", ["a"], True),
        ("Null", "false", [], False),
        ("Null", "true", ["a"], False),
        ("Null", "true", [], True),
    ],
)
def test_condition_on_a_multivalued_key(
    operator: str, values: Any, keys: list[str], *, expected: bool
) -> None:
    assert _allowed({operator: {_KEYS: values}}, *keys) is expected


@each_case(
    ("operator", "value", "expected"),
    [
        ("StringEquals", "COUNT", True),
        ("StringEquals", "ALL_ATTRIBUTES", False),
        ("StringEquals", None, False),
        ("StringEqualsIfExists", None, True),
        ("StringEqualsIfExists", "ALL_ATTRIBUTES", False),
        ("StringLike", None, False),
        ("StringNotEquals", "COUNT", False),
        ("StringNotEquals", "ALL_ATTRIBUTES", True),
        ("StringNotEquals", None, True),
        ("StringNotLike", None, True),
    ],
)
def test_condition_on_a_single_valued_key(
    operator: str, value: str | None, *, expected: bool
) -> None:
    assert _allowed({operator: {_SELECT: "COUNT"}}, select=value) is expected


def test_all_conditions_of_a_statement_must_hold() -> None:
    both = {"ForAllValues:StringEquals": {_KEYS: ["a"]}, "Null": {_KEYS: "false"}}
    assert _allowed(both, "a")
    assert not _allowed(both, "b")
    assert not _allowed(both)


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEquals": {_KEYS: ["a"]}},
        {"Null": {_KEYS: "no"}},
        {"ForEachValue:StringEquals": {_KEYS: ["a"]}},
        {"Bool": {"aws:SecureTransport": "true"}},
    ],
    ids=["multivalued without set operator", "Null", "quantifier", "key"],
)
def test_what_the_evaluator_does_not_know_is_an_error(condition: Mapping[str, Any]) -> None:
    with pytest.raises(AssertionError):
        _allowed(condition, "a")


def test_unused_rights_are_named() -> None:
    statement = {
        "Effect": "Allow",
        "Action": ["dynamodb:GetItem", "dynamodb:PutItem"],
        "Resource": [_TABLE, f"{_TABLE}/index/*"],
        "Condition": {
            "ForAllValues:StringLike": {_KEYS: ["a*", "b"]},
            "Null": {_KEYS: "false"},
        },
    }
    policy = read_policy([statement], str)
    used = [Access("dynamodb:GetItem", _TABLE, ("a1",)), Access("dynamodb:PutItem", _TABLE, ("c",))]
    left = [one.partition(": ")[2] for one in unused(policy, used)]
    assert left == ["dynamodb:PutItem", f"{_TABLE}/index/*", f"{_KEYS} b"]

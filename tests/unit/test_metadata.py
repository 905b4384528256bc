"""Metadata: its names, texts and bytes, and how a change is merged."""

from typing import Any

from pydantic import Field

from shared.kernel.fields import Input
from shared.kernel.metadata import LineMetadata, Metadata, MetadataChange, merge, merge_problems
from shared.kernel.validation import check, ensure_valid, problems_of
from tests.cases import each_case


class _Line(Input):
    metadata: LineMetadata = Field(default={})


class _Body(Input):
    metadata: Metadata = Field(default={})
    lines: list[_Line] = Field(default=[])


class _Change(Input):
    metadata: MetadataChange = Field(default={})


_FIFTY = {f"n{n}": "" for n in range(50)}
_FULL = {f"n{n:02}": "é" * 250 for n in range(16)}
"""8,145 bytes."""
_NAME = "must be named with 1 to 40 letters, digits, dots, _ or -"


def _problems(body: type[Input], sent: object) -> list[tuple[str, str]]:
    return [(one.field, one.message) for one in problems_of(check(body, sent))]


def test_names_texts_and_bytes_up_to_the_limits_are_accepted() -> None:
    full = {**_FULL, "rest": "x" * 37}  # 8,192 bytes
    for sent in ({"A-z_0.9": "", "n" * 40: "x" * 500, "lines": "a\nb"}, _FIFTY, full):
        assert ensure_valid(check(_Body, {"metadata": sent})).metadata == sent
    lines = [{"metadata": {f"n{n}": "" for n in range(10)}}, {"metadata": {"a": "x" * 500}}]
    assert ensure_valid(check(_Body, {"lines": lines}))
    assert ensure_valid(check(_Body, {"metadata": {"a": "e\u0301"}})).metadata == {"a": "é"}
    parted = {name: text.replace("é", "e\u0301") for name, text in _FULL.items()}
    assert ensure_valid(check(_Body, {"metadata": parted})).metadata == _FULL


_COUNT = "must have at most 50 names, has"
_CONTROL = "must not contain control characters"


@each_case(
    ("sent", "expected"),
    [
        ({"metadata": None}, [("metadata", "must be an object")]),
        ({"metadata": ["a"]}, [("metadata", "must be an object")]),
        ({"metadata": {"a b": "x"}}, [("metadata.a b", _NAME)]),
        ({"metadata": {"": "x", "ñ": "x"}}, [("metadata.", _NAME), ("metadata.ñ", _NAME)]),
        ({"metadata": {"n" * 999: "x"}}, [("metadata." + "n" * 40, _NAME)]),
        ({"metadata": {"\ud800": "\ud800"}}, [("metadata.?", _NAME)]),
        ({"metadata": {"a": "x" * 501}}, [("metadata.a", "must have at most 500 characters")]),
        (
            {"metadata": {"a": 1, "b": None, "c": {}}},
            [(f"metadata.{name}", "must be a text") for name in "abc"],
        ),
        (
            {
                "metadata": {"a": "\x00", "b": "x\u202ey", "c": 1},
                "lines": [{"metadata": {"a": "\x1f"}}],
            },
            [
                ("metadata.a", _CONTROL),
                ("metadata.b", _CONTROL),
                ("metadata.c", "must be a text"),
                ("lines.0.metadata.a", _CONTROL),
            ],
        ),
        ({"metadata": {**_FIFTY, "more": ""}}, [("metadata", f"{_COUNT} 51")]),
        (
            {"metadata": {**_FULL, "rest": "x" * 38}},
            [("metadata", "must have at most 8192 bytes, has 8193")],
        ),
        (
            {"lines": [{}, {"metadata": {f"n{n}": "x" * 500 for n in range(11)}}]},
            [
                ("lines.1.metadata", "must have at most 10 names, has 11"),
                ("lines.1.metadata", "must have at most 1024 bytes, has 5590"),
            ],
        ),
        (
            {"metadata": {**_FIFTY, "": "x" * 9000, "a b": 1, "c": "x" * 501, "d": 2}},
            [
                ("metadata", f"{_COUNT} 54"),
                ("metadata", "must have at most 8192 bytes, has 9955"),
                ("metadata.", _NAME),
                ("metadata.a b", _NAME),
                ("metadata.c", "must have at most 500 characters"),
                ("metadata.d", "must be a text"),
            ],
        ),
    ],
)
def test_every_problem_of_new_metadata_is_reported(sent: object, expected: object) -> None:
    assert _problems(_Body, sent) == expected


@each_case(
    ("former", "sent", "after"),
    [
        ({"a": "1", "b": "2"}, {}, {"a": "1", "b": "2"}),
        ({"a": "1", "b": "2"}, {"b": "3", "c": ""}, {"a": "1", "b": "3", "c": ""}),
        ({"a": "1"}, {"a": None, "unknown": None}, {}),
        (_FIFTY, dict.fromkeys(_FIFTY) | {f"m{n}": "" for n in range(50)},
         {f"m{n}": "" for n in range(50)}),
    ],
)  # fmt: skip
def test_a_change_is_merged(former: Any, sent: Any, after: object) -> None:
    change = check(_Change, {"metadata": sent})
    assert not [*merge_problems(former, change)]
    assert merge(ensure_valid(change).model_dump(exclude_unset=True), former) == {"metadata": after}


def test_a_change_without_metadata_keeps_it() -> None:
    change = check(_Change, {})
    assert not [*merge_problems(_FIFTY, change)]
    assert merge(ensure_valid(change).model_dump(exclude_unset=True), _FIFTY) == {}


@each_case(
    ("former", "sent", "expected"),
    [
        (_FIFTY, {"more": ""}, [("metadata", f"{_COUNT} 51")]),
        (_FULL, {"rest": "x" * 38}, [("metadata", "must have at most 8192 bytes, has 8193")]),
        ({}, None, [("metadata", "must be an object")]),
        ({}, {"a b": None, "c": 1}, [("metadata.a b", _NAME), ("metadata.c", "must be a text")]),
    ],
)
def test_every_problem_of_a_change_is_reported(former: Any, sent: Any, expected: object) -> None:
    change = check(_Change, {"metadata": sent})
    found = [(one.field, one.message) for one in merge_problems(former, change)]
    assert [*_problems(_Change, {"metadata": sent}), *found] == expected

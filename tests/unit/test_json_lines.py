"""Generated JSON files: what fits into a line is on one line."""

import json
from typing import Any

from tests.cases import each_case
from tools.json_lines import WIDTH, json_lines

_ROW = {"name": "status", "choices": ["draft", "released"]}


@each_case(
    ("value", "depth", "lines"),
    [
        ({"a": [1, 2], "b": {}}, 100, ['{"a": [1, 2], "b": {}}']),
        ("é" * 2 * WIDTH, 100, [f'"{"é" * 2 * WIDTH}"']),
        (
            {"a": [_ROW, _ROW], "b": "x" * WIDTH},
            100,
            [
                "{",
                f' "a": [{json.dumps(_ROW)}, {json.dumps(_ROW)}],',
                f' "b": "{"x" * WIDTH}"',
                "}",
            ],
        ),
        (
            [[_ROW] * 3],
            2,
            ["[", " [", *[f"  {json.dumps(_ROW)},"] * 2, f"  {json.dumps(_ROW)}", " ]", "]"],
        ),
        ([[_ROW] * 3], 1, ["[", f" {json.dumps([_ROW] * 3)}", "]"]),
    ],
)
def test_what_fits_is_on_one_line(value: Any, depth: int, lines: list[str]) -> None:
    text = json_lines(value, depth=depth)
    assert text.split("\n") == lines
    assert json.loads(text) == value

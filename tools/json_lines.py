"""JSON files for people and for merges: what fits into a line is on one line."""

import json
from typing import Any

WIDTH = 110
"""Characters of a line, except where a single value or `depth` makes it longer."""


def json_lines(value: Any, *, depth: int = 100, indent: int = 0) -> str:
    """Return JSON text, in which an object or list that is too long has a line for each entry.

    Args:
        value: What is written.
        depth: Levels that are divided into lines; what is below them stays on one line.
        indent: Spaces before the lines after the first.
    """
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or depth == 0 or indent + len(line) <= WIDTH:
        return line
    names = [f"{json.dumps(name)}: " for name in value] if isinstance(value, dict) else None
    entries = value.values() if isinstance(value, dict) else value
    lines = [json_lines(one, depth=depth - 1, indent=indent + 1) for one in entries]
    if names:
        lines = [name + text for name, text in zip(names, lines, strict=True)]
    inner, outer = "\n" + " " * (indent + 1), "\n" + " " * indent
    return f"{line[0]}{inner}{f',{inner}'.join(lines)}{outer}{line[-1]}"

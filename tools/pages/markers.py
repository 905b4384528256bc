"""Replace the text between the markers of a page, and write tables."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

_BEGIN = re.compile(r"^(?: *# )?<!-- generated: (.+) -->$", re.MULTILINE)
_PART = re.compile(
    r"^((?: *# )?<!-- generated: (.+) -->\n)"
    r"(?:(?!(?: *# )?<!-- (?:generated|end): ).*\n)*"
    r"((?: *# )?<!-- end: \2 -->)$",
    re.MULTILINE,
)


def names(text: str) -> list[str]:
    """Return the names of the parts that a page has."""
    return _BEGIN.findall(text)


def replaced(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return the text of a page with the current parts.

    Raises:
        ValueError: A marker has no end, or names no part.
    """
    begun, ended = names(text), [match[2] for match in _PART.finditer(text)]
    if begun != ended:
        raise ValueError(
            f"Each part needs its line <!-- end: NAME -->: {begun} begin, {ended} end."
        )
    if unknown := set(begun) - parts.keys():
        raise ValueError(f"tools/pages/parts.py has no part {unknown}.")
    return _PART.sub(lambda match: f"{match[1]}{parts[match[2]]().strip('\n')}\n{match[3]}", text)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown; a header that ends with `:` is that of a column of numbers."""
    rules = ["---:" if name.endswith(":") else "---" for name in header]
    lines = [[name.removesuffix(":") for name in header], rules, *rows]
    return "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines).replace(
        f"| {' | '.join(rules)} |", f"|{'|'.join(rules)}|", 1
    )

"""Number formats of workbooks: what a cell displays of its number.

Only what every spreadsheet program shows equally, whatever its language, counts as shown: digits
and fixed texts, not a decimal or thousands separator.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Literal

_GENERAL, _TEXT = "General", "@"

_BUILT_IN: Mapping[int, str] = {
    0: _GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 37: "#,##0;-#,##0", 38: "#,##0;[Red]-#,##0",
    39: "#,##0.00;-#,##0.00", 40: "#,##0.00;[Red]-#,##0.00", 48: "##0.0E+0", 49: _TEXT,
}  # fmt: skip
"""Formats that a workbook uses without their code."""
_BUILT_IN_DATES = {*range(14, 23), 45, 46, 47}
_FIRST_CUSTOM = 164
_OF_A_COUNTRY = "?"
"""Stands for the other formats without code: dates and money as a country writes them."""


def format_of_cells(number: int, codes: Mapping[int, str]) -> str | None:
    """Return the code of a number format; None if cells with it have dates, or show their value.

    `codes` has the formats with a code by their number.
    """
    code = codes.get(number)
    if code is None:
        if number in _BUILT_IN_DATES or number >= _FIRST_CUSTOM:
            return None
        code = _BUILT_IN.get(number, _OF_A_COUNTRY)
    return None if code in {"", _GENERAL, _TEXT} or is_date_format(code) else code


_SHOWN_ALIKE = frozenset("$-+()!^&'~{}<>= ")
"""Characters that a format displays without quotes."""
_MAX_GENERAL_DIGITS = 11
"""Digits of a whole number that the format General displays without an exponent."""
_MAX_WITHOUT_SEPARATOR = 3
"""Digits of a whole number that has no thousands separator."""
_TOKEN = re.compile(
    r"""
    "(?P<quoted>[^"]*)(?:"|$) | \\(?P<escaped>.) | _(?P<space>.) | (?P<general>General)
  | (?P<color>\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color\ ?[0-9]+)\])
  | \[\$(?P<currency>[^\]-]*)(?:-[0-9A-Fa-f]{1,4})?\] | (?P<digit>[0\#]) | (?P<comma>,)
  | (?P<point>\.) | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ELAPSED = re.compile(r"\[([hms])\1*\]", re.IGNORECASE)
_NOT_OF_DATES = re.compile(r'"[^"]*(?:"|$)|\\.|_.|\[[^\]]*\]', re.DOTALL)
_DATE_LETTER = re.compile(r"[dmyhs]", re.IGNORECASE)

type _Token = tuple[Literal["text", "general", "digit", "comma", "point"], str]
"""A part of a section: its kind, and the text that it displays, or the placeholder of a digit."""


def is_date_format(code: str) -> bool:
    """Return whether cells with a format have dates, times or durations."""
    first = next(_sections(code))
    return bool(_ELAPSED.search(first) or _DATE_LETTER.search(_NOT_OF_DATES.sub("", first)))


def shown_number(value: Decimal, code: str) -> str | None:
    """Return what a format displays of a number; None if that depends on the program.

    It does if the format rounds the number, or if it displays a separator, unless the text is that
    of the number itself.
    """
    sections = list(islice(_sections(code), 3))
    section, sign = sections[0], "-" if value < 0 else ""
    if value < 0 and len(sections) > 1:
        section, sign = sections[1], ""
    elif value == 0 and len(sections) > 2:  # noqa: PLR2004 - positive, negative, zero
        section = sections[2]
    tokens = _tokens(section)
    shown = None if tokens is None else _shown(f"{abs(value):f}", tokens)
    if shown is None:
        return None
    text = (sign + shown).strip()
    has_decimals = value != value.to_integral_value()
    return None if has_decimals and text != f"{value:f}" else text


def _shown(plain: str, tokens: Sequence[_Token]) -> str | None:
    """Return what a section displays of a number that is not negative."""
    kinds = [kind for kind, _ in tokens]
    whole, _, decimals = plain.partition(".")
    if "general" in kinds:
        if {"digit", "comma", "point"} & {*kinds} or len(whole) > _MAX_GENERAL_DIGITS:
            return None
        return "".join(plain if kind == "general" else text for kind, text in tokens)
    point = kinds.index("point") if "point" in kinds else len(kinds)
    behind = [text for kind, text in tokens[point:] if kind == "digit"]
    if not behind.count("0") <= len(decimals) <= len(behind) or kinds.count("point") > 1:
        return None
    shown = _shown_whole(whole, tokens[:point])
    if shown is None or point == len(kinds):
        return shown
    further = "".join(text for kind, text in tokens[point:] if kind == "text")
    return f"{shown}.{decimals}{further}" if decimals else None


def _shown_whole(whole: str, tokens: Sequence[_Token]) -> str | None:
    """Return what the part of a section before its decimals displays of a whole number."""
    kinds = [kind for kind, _ in tokens]
    digits = list(whole.lstrip("0"))
    if "comma" in kinds:
        # Behind the last digit, a comma divides by a thousand.
        has_digit_behind = "digit" in kinds[len(kinds) - kinds[::-1].index("comma") :]
        zeros = sum(text == "0" for kind, text in tokens if kind == "digit")
        if not has_digit_behind or max(len(digits), zeros) > _MAX_WITHOUT_SEPARATOR:
            return None
    first = kinds.index("digit") if "digit" in kinds else None
    out: list[str] = []
    for index in reversed(range(len(tokens))):
        kind, text = tokens[index]
        if kind == "text":
            out.append(text)
        elif kind == "digit":
            shown = "".join(digits) if index == first else digits.pop() if digits else ""
            out.append(shown or ("0" if text == "0" else ""))
    return "".join(reversed(out))


def _sections(code: str) -> Iterator[str]:
    """Yield the sections of a format: for positive numbers, negative ones, zero, and texts."""
    start = 0
    quoted = escaped = False
    for index, character in enumerate(code):
        if escaped:
            escaped = False
        elif character == '"':
            quoted = not quoted
        elif not quoted and character in "\\_*":
            escaped = True
        elif not quoted and character == ";":
            yield code[start:index]
            start = index + 1
    yield code[start:]


def _tokens(section: str) -> list[_Token] | None:
    """Return the parts of a section; None if one of them is not displayed here."""
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(section):
        text = match[match.lastgroup or 0]
        match match.lastgroup:
            case "quoted" | "escaped" | "currency":
                tokens.append(("text", text))
            case "space":
                tokens.append(("text", " "))
            case "general" | "digit" | "comma" | "point" as kind:
                tokens.append((kind, text))
            case "other" if text in _SHOWN_ALIKE:
                tokens.append(("text", text))
            case "color":
                pass
            case _:
                return None
    return tokens

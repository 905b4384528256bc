"""Detects the decimal separator of numbers that are stored as text."""

import re
from collections.abc import Iterable


def _decimal_pattern(separator: str, other: str) -> re.Pattern[str]:
    """Return a pattern for numbers with this decimal separator that cannot be read otherwise.

    1.250 does not match, because the point may separate thousands.
    """
    return re.compile(
        rf"[+-]?(\d+{separator}(\d{{1,2}}|\d{{4,}})|(0|\d{{4,}}){separator}\d{{3}}"
        rf"|\d{{1,3}}({other}\d{{3}})+{separator}\d+)"
    )


_COMMA, _POINT = _decimal_pattern(",", r"\."), _decimal_pattern(r"\.", ",")


def uses_decimal_comma(texts: Iterable[str]) -> bool | None:
    """Return whether numbers have a decimal comma; None if the texts do not determine it.

    `texts` are cells of numeric columns only: a code such as 10.25 would be misleading.
    """
    numbers = [text.strip() for text in texts if "," in text or "." in text]
    comma, point = (any(map(pattern.fullmatch, numbers)) for pattern in (_COMMA, _POINT))
    return None if comma == point else comma

"""How the numbers of a file are written where they are text."""

import re
from collections.abc import Iterable


def _decimal(mark: str, other: str) -> re.Pattern[str]:
    """Match numbers whose decimal mark is this for certain: 1.250 may be a thousand and more."""
    return re.compile(
        rf"[+-]?(\d+{mark}(\d{{1,2}}|\d{{4,}})|(0|\d{{4,}}){mark}\d{{3}}"
        rf"|\d{{1,3}}({other}\d{{3}})+{mark}\d+)"
    )


_COMMA, _POINT = _decimal(",", r"\."), _decimal(r"\.", ",")


def decimal_comma(texts: Iterable[str]) -> bool | None:
    """Tell whether numbers are written with a decimal comma; None where they do not tell.

    `texts` are to be cells of numbers alone: a code such as 10.25 says nothing of them.
    """
    numbers = [text.strip() for text in texts if "," in text or "." in text]
    comma, point = (any(map(form.fullmatch, numbers)) for form in (_COMMA, _POINT))
    return None if comma == point else comma

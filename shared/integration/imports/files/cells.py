"""Converts a cell of a file to a JSON value of a request body.

A converter raises ValueError with a message for the user if the cell has the wrong type. Whether
the value is allowed is checked later, by the request model.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Context, Decimal
from functools import partial
from zoneinfo import ZoneInfo

from shared.integration.imports.files.columns import CellType
from shared.kernel.calendar_days import time_zone
from shared.kernel.clock import instant_of, parse_date_time
from shared.kernel.db.facets import fold
from shared.kernel.fields import normalized
from shared.kernel.spreadsheets.table import Cell, InvalidCell


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
    numbers = [_SPACES.sub("", text) for text in texts if "," in text or "." in text]
    comma, point = (any(map(pattern.fullmatch, numbers)) for pattern in (_COMMA, _POINT))
    return None if comma == point else comma


type Converter = Callable[[Cell], object]

_BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("yes", "y", "true", "1", "x", "si", "s", "verdadero", "cierto"), True),
    **dict.fromkeys(("no", "n", "false", "0", "falso"), False),
}
_LIST_SEPARATORS = re.compile(r"[,;|\n]")
_PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_NUMBER_WITH_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", re.ASCII)
_NUMBER_WITH_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?", re.ASCII)
_AMBIGUOUS_NUMBER = re.compile(r"([+-]?[1-9]\d{0,2})[.,](\d{3})", re.ASCII)
_TRAILING_MINUS = re.compile(r"\d[\d.,]*-", re.ASCII)
_SPACES = re.compile(r"[\s\u00a0\u202f]+")
_SHOWN_DIGITS = Context(prec=15)
"""As spreadsheet programs show them: 0.1 + 0.2, stored as 0.30000000000000004, is shown as 0.3."""
EXACT_BELOW = 2**53
"""Workbooks keep numbers as binary floats, which represent all integers below this value."""
_DAY_MONTH_YEAR = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})", re.ASCII)
_YEAR_MONTH_DAY = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})", re.ASCII)
_TIME = re.compile(r"(?<=\d{4}[-/]\d\d[-/]\d\d)[T ]\d\d:\d\d:\d\d(\.\d+)?$|[T ]00:00(:00(\.0+)?)?$")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def converters(*, decimal_comma: bool | None, timezone: str) -> Mapping[CellType, Converter]:
    """Return the converter of each cell type for one file.

    `decimal_comma` is whether numbers in text use a decimal comma, None if unknown; `timezone` is
    the time zone of date-times without offset.
    """
    return {
        "text": _stripped_text,
        "list": _list,
        "decimal": partial(_decimal, decimal_comma=decimal_comma),
        "integer": partial(_integer, decimal_comma=decimal_comma),
        "date": _date,
        "datetime": partial(_datetime, zone=time_zone(timezone)),
        "boolean": _boolean,
    }


def cell_text(cell: Cell) -> str:
    """Return the text that a user would type into the cell."""
    match cell:
        case None:
            text = ""
        case str():
            text = normalized(cell)  # as request models do, so that grouped rows are the same
        case InvalidCell():
            raise ValueError(f"is not a valid value: {cell.text}")
        case bool():
            text = "TRUE" if cell else "FALSE"
        case Decimal():
            text = f"{cell:f}"
        case datetime() if cell.time() != time():
            text = cell.isoformat(sep=" ")
        case datetime():
            text = cell.date().isoformat()
        case date() | time():
            text = cell.isoformat()
        case int():
            text = str(cell)
    return text


def _exact_text(cell: Cell) -> str:
    """Return the text of a cell, unless it is a number that may have been entered otherwise."""
    if isinstance(cell, int) and abs(cell) >= EXACT_BELOW:
        message = "has more digits than a number keeps; format the cell as text and enter it again"
        raise ValueError(message)
    return cell_text(cell)


def _stripped_text(cell: Cell) -> str:
    # Request models strip codes and names too, so that "A " and "A" are the same code.
    return _exact_text(cell).strip()


def _list(cell: Cell) -> list[str]:
    return [text for entry in _LIST_SEPARATORS.split(_exact_text(cell)) if (text := entry.strip())]


def _decimal(cell: Cell, *, decimal_comma: bool | None) -> Decimal | int:
    if isinstance(cell, Decimal):
        return _SHOWN_DIGITS.plus(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    text = _SPACES.sub("", cell_text(cell))
    if decimal_comma is None and (match := _AMBIGUOUS_NUMBER.fullmatch(text)):
        raise ValueError(
            f"is ambiguous: {text} may have decimals or thousands;"
            f" write {text}0 or {match[1]}{match[2]}"
        )
    if decimal_comma is not True and _PLAIN_NUMBER.fullmatch(text):
        return Decimal(text)
    if decimal_comma is not True and _NUMBER_WITH_POINT.fullmatch(text):
        return Decimal(text.replace(",", ""))
    if decimal_comma is not False and _NUMBER_WITH_COMMA.fullmatch(text):
        return Decimal(text.replace(".", "").replace(",", "."))
    if _TRAILING_MINUS.fullmatch(text):
        raise ValueError(f"must be a number; {text} has its minus at the end, write -{text[:-1]}")
    raise ValueError("must be a number")


def unambiguous(cell: Cell, *, decimal_comma: bool) -> Cell:
    """Return a cell of a numeric column, as a number if only the file shows its separator."""
    if isinstance(cell, str) and _AMBIGUOUS_NUMBER.fullmatch(_SPACES.sub("", cell)):
        return _decimal(cell, decimal_comma=decimal_comma)
    return cell


def _integer(cell: Cell, *, decimal_comma: bool | None) -> int:
    number = _decimal(cell, decimal_comma=decimal_comma)
    if number != int(number):
        raise ValueError("must be a whole number")
    return int(number)


def _date(cell: Cell) -> str:
    # A date cell may have a time of day; an error report shows it as text.
    return iso_day(_TIME.sub("", cell_text(cell).strip()))


def iso_day(text: str) -> str:
    """Return a day that is written in another order or with other separators as YYYY-MM-DD.

    Any other text is returned as it is.
    """
    if match := _DAY_MONTH_YEAR.fullmatch(text):
        day, _, month, year = match.groups()
    elif match := _YEAR_MONTH_DAY.fullmatch(text):
        year, month, day = match.groups()
    else:
        return text
    return f"{year}-{month:0>2}-{day:0>2}"


def _datetime(cell: Cell, *, zone: ZoneInfo) -> str:
    # As it is stored: rows may write the same moment in several ways.
    text = cell_text(cell).strip()
    try:
        moment = parse_date_time(f"{text}T00" if _DAY.fullmatch(text) else text)
        return instant_of(moment if moment.tzinfo else moment.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        message = "must be a date and time such as 2026-03-01T09:30:00Z, or a day as 2026-03-01"
        raise ValueError(message) from None


def _boolean(cell: Cell) -> bool:
    if isinstance(cell, bool):
        return cell
    flag = _BOOLEANS.get(fold(cell_text(cell).strip()))
    if flag is None:
        raise ValueError("must be yes or no")
    return flag

"""From what a cell holds to what a body has: texts, numbers, dates, flags, lists.

A conversion raises ValueError with what is wrong, in words for people. Whether the value
is allowed is decided later, by the rules of the body that it goes into.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo

from shared.integration.imports.files.columns import Form
from shared.kernel.calendar_days import time_zone
from shared.kernel.db.facets import fold
from shared.kernel.spreadsheets.table import BadCell, Cell

type Convert = Callable[[Cell], object]

_FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("yes", "y", "true", "1", "x", "si", "s", "verdadero", "cierto"), True),
    **dict.fromkeys(("no", "n", "false", "0", "falso"), False),
}
_SEPARATORS = re.compile(r"[,;|\n]")
_PLAIN = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_WITH_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?", re.ASCII)
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
_SPACES = re.compile(r"[\s\u00a0\u202f]+")
_SHORT_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII)
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?$")
_NO_OFFSET = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?", re.ASCII)


def converters(*, decimal_comma: bool | None, timezone: str) -> Mapping[Form, Convert]:
    """Return how each form of cell is read in one file.

    `decimal_comma`: how its texts write numbers, None when that is not known.
    `timezone`: of date-times without offset.
    """
    return {
        "text": _trimmed,
        "texts": _texts,
        "number": partial(_number, decimal_comma=decimal_comma),
        "whole": partial(_whole, decimal_comma=decimal_comma),
        "day": _day,
        "moment": partial(_moment, zone=time_zone(timezone)),
        "flag": _flag,
    }


def text(cell: Cell) -> str:
    """Write what a cell holds as a person would type it."""
    match cell:
        case None:
            written = ""
        case str():
            written = cell
        case BadCell():
            message = f"is the error {cell.text}"
            raise ValueError(message)
        case bool():
            written = "TRUE" if cell else "FALSE"
        case Decimal():
            written = f"{cell:f}"
        case datetime() if cell.time() != time():
            written = cell.isoformat(sep=" ")
        case datetime():
            written = cell.date().isoformat()
        case date() | time():
            written = cell.isoformat()
        case int():
            written = str(cell)
    return written


def _trimmed(cell: Cell) -> str:
    # As codes and names are trimmed anyway: what differs only by that is the same.
    return text(cell).strip()


def _texts(cell: Cell) -> list[str]:
    return [part for entry in _SEPARATORS.split(text(cell)) if (part := entry.strip())]


def _number(cell: Cell, *, decimal_comma: bool | None) -> Decimal | int:
    if isinstance(cell, int | Decimal) and not isinstance(cell, bool):
        return cell
    written = _SPACES.sub("", text(cell))
    if decimal_comma is None and _AMBIGUOUS.fullmatch(written):
        message = f"can be read in two ways ({written}): write it with other decimals"
        raise ValueError(message)
    if decimal_comma is not True and _PLAIN.fullmatch(written):
        return Decimal(written)
    if decimal_comma is not True and _WITH_POINT.fullmatch(written):
        return Decimal(written.replace(",", ""))
    if decimal_comma is not False and _WITH_COMMA.fullmatch(written):
        return Decimal(written.replace(".", "").replace(",", "."))
    message = "must be a number"
    raise ValueError(message)


def _whole(cell: Cell, *, decimal_comma: bool | None) -> int:
    number = _number(cell, decimal_comma=decimal_comma)
    if number != int(number):
        message = "must be a whole number"
        raise ValueError(message)
    return int(number)


def _day(cell: Cell) -> str:
    written = _MIDNIGHT.sub("", text(cell).strip())
    match = _SHORT_DAY.fullmatch(written)
    return f"{match[3]}-{match[2]:0>2}-{match[1]:0>2}" if match else written


def _moment(cell: Cell, *, zone: ZoneInfo) -> str:
    if isinstance(cell, datetime):
        return cell.replace(tzinfo=zone).isoformat()
    written = text(cell).strip()
    if not _NO_OFFSET.fullmatch(written):
        return written
    try:
        return datetime.fromisoformat(written).replace(tzinfo=zone).isoformat()
    except ValueError:
        return written


def _flag(cell: Cell) -> bool:
    if isinstance(cell, bool):
        return cell
    flag = _FLAGS.get(fold(text(cell).strip()))
    if flag is None:
        message = "must be yes or no"
        raise ValueError(message)
    return flag

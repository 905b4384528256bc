"""JSON with Decimals instead of floats for numbers with a fraction."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

_LARGEST = Decimal("1E+308")
"""The size of the largest binary float. Larger numbers, which no field accepts, become this one:
the arithmetic of `decimal` raises Overflow for them, and an int of one takes minutes."""


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")
    is_larger = number and number.adjusted() > _LARGEST.adjusted()
    return _LARGEST.copy_sign(number) if is_larger else number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def loads(text: str | bytes) -> Any:
    """Parse JSON text.

    Raises:
        ValueError: The text is no valid JSON, or has NaN or Infinity.
    """
    try:
        return json.loads(text, parse_float=_decimal, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dumps(value: object) -> str:
    """Write JSON text; Decimals become numbers."""
    try:
        return _ENCODER.encode(value)
    except TypeError:  # a Decimal that no float writes with the same digits
        import simplejson  # noqa: PLC0415 - few values have so many, and it is slower

        return simplejson.dumps(
            value, use_decimal=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )


def _float_with_same_text(value: object) -> float:
    """Return a Decimal as the float with the same digits; raise TypeError if there is none."""
    if isinstance(value, Decimal) and repr(number := float(value)) == str(value):
        return number
    raise TypeError(f"{value!r} cannot be written as JSON")


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_float_with_same_text
)

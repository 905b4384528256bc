"""JSON with Decimals instead of floats for numbers with a fraction."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import simplejson


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not a JSON value"
    raise ValueError(message)


def loads(text: str | bytes) -> Any:
    """Parse JSON text; raise ValueError for invalid JSON, also for NaN and Infinity."""
    try:
        return json.loads(text, parse_float=_decimal, parse_constant=_no_constant)
    except RecursionError:
        message = "nested too deeply"
        raise ValueError(message) from None


def dumps(value: object) -> str:
    """Write JSON text; Decimals become numbers."""
    return simplejson.dumps(
        value, use_decimal=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )

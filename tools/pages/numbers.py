"""Numbers as the pages write them."""

from decimal import Decimal
from typing import Any

from pydantic import TypeAdapter


def plain(number: float | Decimal) -> str:
    """Return a number as the pages write it: 100 000."""
    return f"{number:,}".replace(",", " ")


def dotted(*numbers: int) -> str:
    """Return several numbers for one cell of a table."""
    return " · ".join(map(plain, numbers))


def longest(value: Any) -> str:
    """Return the number of characters that a field type allows."""
    return plain(TypeAdapter(value).json_schema()["maxLength"])

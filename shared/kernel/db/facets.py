"""What lists filter and sort by, as text whose order is the order of the values.

Every facet of an entity is one short text in the item's `slim` attribute, the only
one that indexes carry. Sorting, ranges and equality all work on that text.
"""

import unicodedata
from collections.abc import Mapping
from decimal import Decimal

type Facets = Mapping[str, str | None]
"""Facet name → its text, None where the entity has no value (sorts first)."""

_FOLDED_LENGTH = 200
_SEARCHED_LENGTH = 600
_ID_DIGITS = 12
MAX_ID = 10**_ID_DIGITS - 1
_UNITS = 18
_DECIMALS = 6

SEPARATOR = "\x1f"
"""Between a sort value and the id. Below every character that a value may hold, so
that `A` sorts before `A!`."""
AFTER_SEPARATOR = "\x20"


def fold(text: str) -> str:
    """Text for sorting and comparing without regard to case and accents."""
    return _folded(text)[:_FOLDED_LENGTH]


def searchable(text: str) -> str:
    """Text to search in, or for, without regard to case and accents."""
    return _folded(text)[:_SEARCHED_LENGTH]


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return plain.casefold()


def id_text(number: int) -> str:
    """An id in fixed width."""
    return f"{number:0{_ID_DIGITS}d}"


def integer_text(number: int | None) -> str | None:
    """An integer, negative ones included, in fixed width."""
    return None if number is None else f"{number + 10**_UNITS:0{_UNITS + 1}d}"


def integer_of(text: str) -> int:
    """The integer that `integer_text` wrote."""
    zero: int = 10**_UNITS
    return int(text) - zero


def quantity_text(quantity: Decimal) -> str:
    """A quantity of zero or more, up to 6 decimals, in fixed width."""
    return f"{int(quantity.scaleb(_DECIMALS)):0{_UNITS}d}"


def flag_text(flag: bool) -> str:  # noqa: FBT001 - it is the value itself
    """A boolean."""
    return "true" if flag else "false"


def sort_text(value: str | None, number: int) -> str:
    """The sort key of an index entry: value, then id, so that ties have an order."""
    return f"{value or ''}{SEPARATOR}{id_text(number)}"


def id_of(sort_key: str) -> int:
    """The id at the end of a sort key."""
    return int(sort_key[-_ID_DIGITS:])

"""Facets: the values that lists filter and sort by, as texts that sort like the values.

The facets of an entity are short texts in two attributes of its item (STABLE_FACETS and
VOLATILE_FACETS), the only attributes of indexes that are no keys. Sorting, ranges and equality
compare these texts.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter

from shared.kernel.fields import MAX_ID

type Facets = Mapping[str, str | None]
"""Facet name → its text; None where the entity has no value, which sorts first."""

ID = "id"
"""The facet of the id. It is at the end of every sort key, so entries do not show it."""

_FOLDED_LENGTH = 200
_SEARCHED_LENGTH = 600
ID_DIGITS = len(str(MAX_ID))
PAIR_DIGITS = 2 * ID_DIGITS
"""Digits of the id that `pair_id` makes of two ids."""
_PAIR_SCALE: int = 10**ID_DIGITS
_UNITS = 18
_DECIMALS = 6

SEPARATOR = "\x1f"
"""Separates a sort value from the id. It sorts before every character of a value, so that `A`
comes before `A!`."""
AFTER_SEPARATOR = "\x20"


_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "\u0131": "i"}
    | {"æ": "ae", "œ": "oe", "þ": "th"}
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", "")
)
"""Letters that Unicode does not decompose, also the `i` without a dot; the soft hyphen, and
characters without a width."""


def fold(text: str) -> str:
    """Return a text for sorting and comparing without case and accents."""
    return _folded(text)[:_FOLDED_LENGTH]


def searchable(text: str) -> str:
    """Return a text for searching without case and accents."""
    return _folded(text)[:_SEARCHED_LENGTH]


def base_letters(text: str) -> str:
    """Return a folded text with base letters, such as `o` for `ø`, and only visible characters."""
    return text if text.isascii() else text.translate(_BASE_LETTERS)


def _folded(text: str) -> str:
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in decomposed if not unicodedata.combining(char))
    return text.casefold()


@lru_cache(2000)
def id_text(number: int) -> str:
    """Return an id in fixed width, which is another one for an id of `pair_id`."""
    return f"{number:0{ID_DIGITS if number <= MAX_ID else PAIR_DIGITS}d}"


def pair_id(first: int, second: int) -> int:
    """Combine two ids into one; different pairs give different ids.

    It is greater than every other id.
    """
    return first * _PAIR_SCALE + second


def ids_of_pair(number: int) -> tuple[int, int]:
    """Return the two ids of which `pair_id` made one."""
    return divmod(number, _PAIR_SCALE)


def integer_text(number: int | None) -> str | None:
    """Return an integer, also a negative one, in fixed width."""
    return None if number is None else f"{number + 10**_UNITS:0{_UNITS + 1}d}"


def integer_of(text: str) -> int:
    """Return the integer of a text of `integer_text`."""
    zero: int = 10**_UNITS
    return int(text) - zero


def quantity_text(quantity: Decimal) -> str:
    """Return a quantity of zero or more, with up to 6 decimals, in fixed width."""
    return f"{int(quantity.scaleb(_DECIMALS)):0{_UNITS}d}"


def signed_quantity_text(quantity: Decimal) -> str:
    """Return a quantity, also below zero, with up to 6 decimals, in fixed width."""
    text = integer_text(int(quantity.scaleb(_DECIMALS)))
    assert text is not None  # noqa: S101 - there is a number
    return text


def flag_text(flag: bool | None) -> str | None:  # noqa: FBT001 - it is the value itself
    """Return a boolean as text; None stays None."""
    return {True: "true", False: "false", None: None}[flag]


def facet_text(value: str | int | None) -> str | None:
    """Return a text, an id or a boolean as the text of a facet."""
    if isinstance(value, bool):
        return flag_text(value)
    return id_text(value) if isinstance(value, int) else value


def facets_of(*names: str, **attributes: str) -> Callable[[object], Facets]:
    """Return the function that returns facets of entities: texts, ids and booleans; two or more.

    `names` are those of facets that are called like their attributes, `attributes` has the
    attributes of others.
    """
    found = {**{name: name for name in names}, **attributes}
    values = attrgetter(*found.values())
    return lambda entity: dict(zip(found, map(facet_text, values(entity)), strict=True))


def joined(values: Iterable[str]) -> str:
    """Return several values as one text, which contains `joined([value])` for each of them."""
    return SEPARATOR + "".join(value + SEPARATOR for value in sorted(set(values)))


def sort_text(value: str | None, number: int) -> str:
    """Return the sort key of an index entry: the value, then the id, which orders ties."""
    return f"{value or ''}{SEPARATOR}{id_text(number)}"


def id_of(sort_key: str) -> int:
    """Return the id at the end of a sort key."""
    return int(sort_key.rpartition(SEPARATOR)[2])


def value_of(sort_key: str) -> str:
    """Return the value at the beginning of a sort key; empty for a missing value."""
    return sort_key.rpartition(SEPARATOR)[0]

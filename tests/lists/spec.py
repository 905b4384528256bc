"""Specifications of lists, used by contract tests and benchmarks.

They are written by hand and independent of the code: parameter names, allowed values, defaults and
nullable fields are repeated here, so that a difference between specification and code is found.
"""

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from shared.kernel.db.collection import Collection
from shared.kernel.db.items import Key
from shared.kernel.db.transaction import Transaction

type Row = Mapping[str, Any]
"""A row as the list shows it, with the values that are filtered by but not shown."""

TOO_LONG = "x" * 256
INVALID_TEXTS = ("", TOO_LONG, "a\tb")
"""Invalid values of text filters."""
INVALID_IDS = ("abc", "0", "-1", "1.5", "1_0", "9" * 5000, "")
"""Invalid values of id filters."""
INVALID_DATES = ("yesterday", "2026-02-30", "2026-1-1", "")
NO_MOMENT = (
    "yesterday", "2026-03-01", "2026-03-01T00:00:00", "2026-02-30T00:00:00Z", "",
    "0000-00-00T00:00:00Z", "0001-01-01T00:00:00+14:00",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Times:
    """Number of a row → instants of its creation and of its last change."""

    created: Callable[[int], str]
    updated: Callable[[int], str]

    def of(self, number: int) -> dict[str, Any]:
        """Return the id and the instants of row n."""
        return {
            "id": number, "created_at": self.created(number), "updated_at": self.updated(number),
        }  # fmt: skip


_FIRST = datetime(2013, 1, 1, tzinfo=UTC)


def _instant(hours: float) -> str:
    moment = _FIRST + timedelta(hours=hours)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


HOURLY = Times(
    created=lambda number: _instant(number // 2),
    # Every third row was changed two hours after its creation, later than the next rows.
    updated=lambda number: _instant(number // 2 + (0 if number % 3 else 2)),
)
"""Two rows per hour, created at the same instant, so that a day has few rows at any size."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter parameter.

    Attributes:
        values: Number of rows → values to test; the cost of the first one is measured.
        matches: Whether a row matches a value.
        invalid: Values that are refused with 422.
        selective: Whether few rows share a value (a reference, a product, a position), or each
            value has a total (a status). The cost of the first page must not depend on the number
            of rows.
    """

    values: Callable[[int], Sequence[str]]
    matches: Callable[[Row, str], bool]
    invalid: Sequence[str] = ()
    selective: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """One list.

    Attributes:
        path: The path of its route.
        collection: The collection of its rows.
        make: Makes the entity number n, counted from 1.
        fields: Name → type of the fields of a row; see `fields`.
        filters: Parameter → filter, without updated_since, from and to.
        sorts: Sort value → sort key of a row. None sorts first, and equal rows are sorted by id.
        default_sort: The default sort value.
        period: Whether it has the parameters `from` and `to`.
        immutable: Whether rows never change after their creation.
        fixed_query: Parameters that every request for this list has.
        id_of: Id of the entity number n.
        row_id: Id of a row.
        hidden_values: Values of row n that are filtered by but not shown.
        related_items: Stages the items that its rows refer to.
        aliases: Keys of the alias items of a row.
        by_ids: Whether it has the parameter `ids`.
        bounded: Whether it is limited to few rows, so that its cost is not measured.
    """

    path: str
    collection: Collection[Any]
    make: Callable[[int, Times], BaseModel]
    fields: Mapping[str, str]
    filters: Mapping[str, Filter]
    sorts: Mapping[str, Callable[[Row], Any]] = field(
        default_factory=lambda: sorted_by("created_at updated_at")
    )
    default_sort: str = "-created_at"
    period: bool = False
    immutable: bool = False
    fixed_query: Mapping[str, str] = field(default_factory=dict)
    id_of: Callable[[int], int] = lambda number: number
    row_id: Callable[[Row], int] = lambda row: int(row["id"])
    hidden_values: Callable[[int], Mapping[str, Any]] = lambda _: {}
    related_items: Callable[[Transaction], None] = lambda _: None
    aliases: Callable[[Any], Sequence[Key]] = lambda _: ()
    by_ids: bool = True
    bounded: bool = False

    @property
    def always_null(self) -> set[str]:
        """The fields that are null in every state."""
        return {name for name, kind in self.fields.items() if kind.endswith("?-")}

    @property
    def name(self) -> str:
        """Path and fixed query of the list."""
        question = "&".join(f"{name}={value}" for name, value in self.fixed_query.items())
        return f"{self.path}?{question}" if question else self.path

    def all_filters(self, times: Times) -> dict[str, Filter]:
        """Return all filters, including those that all lists have."""
        return {**self.filters, **dict(_shared(self, times))}


def _shared(listed: Listed, times: Times) -> Iterator[tuple[str, Filter]]:
    def recent(count: int) -> str:
        return times.updated(max(1, count - 9))

    def day(number: int) -> str:
        return times.created(number)[:10]

    yield (
        "updated_since",
        Filter(
            lambda count: (recent(count), times.updated(count // 2 + 1), "2100-01-01T00:00:00Z"),
            lambda row, value: row["updated_at"] >= value,
            NO_MOMENT,
            selective=True,
        ),
    )

    def period(first: Callable[[int], int], holds: Callable[[str, str], bool]) -> Filter:
        return Filter(
            lambda count: (day(first(count)), day(count // 2)),
            lambda row, value: holds(row["created_at"][:10], value),
            INVALID_DATES,
            selective=True,
        )

    if listed.by_ids:
        yield "ids", _ids(listed)
    if listed.period:
        yield "from", period(lambda count: count, operator.ge)
        yield "to", period(lambda _: 1, operator.le)


MAX_IDS = 100
"""Most ids that a query may have."""


def _ids(listed: Listed) -> Filter:
    def some(numbers: Iterable[int]) -> str:
        return ",".join(str(listed.id_of(number)) for number in numbers)

    return Filter(
        # Those of rows that do not exist are left out; a row is shown once.
        lambda count: (some((count // 2 or 1, 10**6, 1, 1)), some(range(1, MAX_IDS + 1))),
        lambda row, text: str(listed.row_id(row)) in text.split(","),
        (*INVALID_IDS, "1,", "1,x", "1 ,2", "1;2", "\u0661", some(range(1, MAX_IDS + 2))),
        selective=True,
    )


def fields(text: str) -> dict[str, str]:
    """Return name → type of the fields of a row; a line of the text has a type and its names.

    Types are those of the interface. `name?` is nullable, `name?!` nullable but never null, and
    `name?-` null in every state; these marks are added to the type. `from.code` is `code` of the
    object `from`, or of each object of the array `from`.

    Raises:
        ValueError: A line has no type.
    """
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        kind, separator, names = line.strip().partition(": ")
        if not separator:
            raise ValueError(f"no type: {line.strip()}")
        for name in names.split():
            plain, nullable, mark = name.partition("?")
            found[plain] = kind + nullable + mark
    return found


_ADDRESS = {
    "name": "Ana Ruiz", "company": "Ferretería Central", "line1": "Muelle 3", "line2": "Piso 2",
    "city": "Talcahuano", "state": "Biobío", "zip_code": "4260000", "country": "CL",
    "phone": "+56 41 555 0111", "email": "ana@example.com",
}  # fmt: skip
ADDRESS_FIELDS = "object: ship_to_address?\nstring: " + " ".join(
    f"ship_to_address.{name}?" for name in _ADDRESS
)
"""The fields of the address of an order, for `fields`."""


def address_of(number: int) -> dict[str, str]:
    """Return the address of row n, which lacks each part in some rows."""
    return {name: text for at, (name, text) in enumerate(_ADDRESS.items()) if (number + at) % 5}


# Filters


def value_at(row: Row, path: str) -> Any:
    """Return the value of a field, such as `position.bin_code`; None where an object is null."""
    value: Any = row
    for name in path.split("."):
        value = None if value is None else value[name]
    return value


def among(path: str, values: Sequence[str], *, wrong: Sequence[str], narrow: bool) -> Filter:
    """Return a filter by a field with a few possible values."""
    return Filter(
        lambda _: values, lambda row, value: str(value_at(row, path)) == value, wrong, narrow
    )


def one_of(path: str, values: Sequence[str], *, wrong: Sequence[str]) -> Filter:
    """Return a filter by a field with a few possible values, of which several may be given."""
    several = [",".join(some) for some in (values[:2], values[::2], values[:0:-1])]
    return Filter(
        lambda _: (*values, *several),
        lambda row, text: str(value_at(row, path)) in text.split(","),
        (*wrong, f"{values[0]},", f",{values[0]}", f"{values[0]},{wrong[-1]}", f"{values[0]} "),
        selective=True,
    )


def flag(name: str, *, selective: bool = False) -> Filter:
    """Return a filter by a boolean field."""
    return Filter(
        lambda _: ("true", "false"),
        lambda row, value: row[name] is (value == "true"),
        ("perhaps", "", "2"),
        selective=selective,
    )


def equal(path: str, value: Callable[[int], str], wrong: Sequence[str] = INVALID_TEXTS) -> Filter:
    """Return a filter by a text field; `value` returns its value in row n."""
    return Filter(
        lambda count: (value(max(1, count // 2)), value(count), "no such value"),
        lambda row, part: value_at(row, path) == part,
        wrong,
        selective=True,
    )


def equal_id(path: str, value: Callable[[int], int]) -> Filter:
    """Return a filter by a field with an id or a number; `value` returns its value in row n."""
    return Filter(
        lambda count: (str(value(max(1, count // 2))), str(value(max(1, count))), "999999999"),
        lambda row, part: value_at(row, path) == int(part),
        INVALID_IDS,
        selective=True,
    )


def in_any_case(name: str, value: Callable[[int], str], wrong: Sequence[str]) -> Filter:
    """Return a filter by a text field that ignores case; `value` returns its value in row n."""
    return Filter(
        lambda count: (value(count // 2).lower(), value(count).upper(), value(9 * count)),
        lambda row, part: (row[name] or "").lower() == part.lower(),
        wrong,
        selective=True,
    )


def contains_text(
    *names: str, values: Sequence[str], code: Callable[[int], str] | None = None
) -> Filter:
    """Return a filter by words that are all part of one of the fields, in any case and accents.

    `code` returns a text of row n that few rows have.
    """
    return Filter(
        lambda count: (code(max(1, count // 2)), *values) if code else values,
        lambda row, words: all(
            any(word in folded(str(row[name])) for name in names) for word in folded(words).split()
        ),
        INVALID_TEXTS,
        selective=code is not None,
    )


def begins_words(
    paths: Callable[[Row], Iterable[Any]], *, values: Sequence[str], code: Callable[[int], str]
) -> Filter:
    """Return a filter by words that each begin a word or number of one of the texts of a row.

    `code` returns a text of row n that few rows have.
    """

    def found(word: str, text: str) -> bool:
        """Return whether a word begins in the text after a sign or at its beginning."""
        starts = re.finditer(r"(?<![a-z0-9])[a-z0-9]", text)
        return any(text.startswith(word, start.start()) for start in starts)

    def plain(text: str) -> str:
        return re.sub(r"(?<![a-z0-9])0+(?=[a-z0-9])", "", folded(text))

    return Filter(
        lambda count: (code(max(1, count // 2)), *values),
        lambda row, words: all(
            any(found(word, plain(str(text))) for text in paths(row) if text is not None)
            for word in plain(words).split()
        ),
        INVALID_TEXTS,
        selective=True,
    )


# Orders


def sorted_by(names: str) -> dict[str, Callable[[Row], Any]]:
    """Return name → sort key: `name` ignores case and accents; of `priority`, null counts as 2."""
    keys: dict[str, Callable[[Row], Any]] = {
        "name": lambda row: folded(row["name"]),
        "priority": lambda row: 2 if row["priority"] is None else row["priority"],
    }
    return {name: keys.get(name, operator.itemgetter(name)) for name in names.split()}


def folded(text: str) -> str:
    """Return a text in lower case without accents."""
    letters = unicodedata.normalize("NFD", text)
    return "".join(one for one in letters if unicodedata.category(one) != "Mn").lower()


def unless(number: int, each: int, value: Any) -> Any:
    """Return the value, or None when `number` is divisible by `each`."""
    return None if number % each == 0 else value

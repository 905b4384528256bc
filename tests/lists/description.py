"""What a list promises, in a form that its contract tests and its figures are made from.

Descriptions are written by hand from the interface, never derived from the code: names of
parameters, allowed values, defaults and nullable fields are said here a second time, so that
either side notices when the other changes.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from shared.kernel.db.collection import Collection
from shared.kernel.db.transaction import Transaction

type Row = Mapping[str, Any]
"""A row as the list shows it, with what it goes by without showing it."""

TOO_LONG = "x" * 256
INVALID_TEXTS = ("", TOO_LONG, "a\tb")
"""What no filter by a text takes."""
INVALID_IDS = ("abc", "0", "-1", "1.5", "")
"""What no filter by an id takes."""
INVALID_DATES = ("yesterday", "2026-02-30", "2026-1-1", "")
NO_MOMENT = ("yesterday", "2026-03-01", "2026-03-01T00:00:00", "2026-02-30T00:00:00Z", "")


@dataclass(frozen=True, slots=True)
class Times:
    """When the n-th row was created and last changed, as the service writes instants."""

    created: Callable[[int], str]
    updated: Callable[[int], str]


_FIRST = datetime(2013, 1, 1, tzinfo=UTC)


def _instant(hours: float) -> str:
    moment = _FIRST + timedelta(hours=hours)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


HOURLY = Times(
    created=lambda number: _instant(number // 2),
    # Every third row was changed later than its neighbours, two hours later than it was made.
    updated=lambda number: _instant(number // 2 + (0 if number % 3 else 2)),
)
"""Two rows an hour, in the same instant: a day holds few rows, however many there are."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One parameter that rows are filtered by.

    `values` are worth asking for among so many rows, the first of them the one whose cost
    is measured; `holds` tells whether a row must come. `wrong` are 422. `narrow`: few rows
    have a value in common (a reference, a product, a position), or there is a total of each
    value (a status): the first page may not cost more the more rows there are.
    """

    values: Callable[[int], Sequence[str]]
    matches: Callable[[Row, str], bool]
    invalid_values: Sequence[str] = ()
    selective: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """One list.

    Attributes:
        path: Of its route.
        collection: Where its rows are stored.
        make: Makes the n-th entity, counted from 1.
        fields: Name → type of what a row shows; see `fields`.
        filters: Parameter → what it does, besides updated_since, from and to.
        sorts: Sort value → what of a row it goes by, None first; rows that are equal in
            it are ordered by id.
        default_sort: The order when none is asked for.
        period: Whether it has `from` and `to`.
        never_changes: Whether its rows stay as they were created; their last change is that.
        always: Parameters that make it this list.
        number: Id of the n-th entity.
        identify: Id of a row.
        always_filled: Fields that may be null by the interface, but never are.
        always_null: Fields that no state reached so far fills.
        unseen: What the n-th row is filtered by without showing it.
        beside: Stages what its rows refer to.
        bounded: Whether a limit keeps it so short that its cost need not be measured.
    """

    path: str
    collection: Collection[Any]
    make: Callable[[int, Times], BaseModel]
    fields: Mapping[str, str]
    filters: Mapping[str, Filter]
    sorts: Mapping[str, Callable[[Row], Any]]
    default_sort: str
    period: bool = False
    immutable: bool = False
    fixed_query: Mapping[str, str] = field(default_factory=dict)
    id_of: Callable[[int], int] = lambda number: number
    row_id: Callable[[Row], int] = lambda row: int(row["id"])
    always_filled: frozenset[str] = frozenset()
    always_null: frozenset[str] = frozenset()
    hidden_values: Callable[[int], Mapping[str, Any]] = lambda _: {}
    beside: Callable[[Transaction], None] = lambda _: None
    bounded: bool = False

    @property
    def name(self) -> str:
        """Path and what is always asked."""
        question = "&".join(f"{name}={value}" for name, value in self.fixed_query.items())
        return f"{self.path}?{question}" if question else self.path

    def all_filters(self, times: Times) -> dict[str, Filter]:
        """Every parameter that filters, those that lists share included."""
        return {**self.filters, **dict(_shared(self, times))}


def _shared(listed: Listed, times: Times) -> Iterator[tuple[str, Filter]]:
    def recent(count: int) -> str:
        return times.updated(max(1, count - 9))

    yield (
        "updated_since",
        Filter(
            lambda count: (recent(count), times.updated(count // 2 + 1), "2100-01-01T00:00:00Z"),
            lambda row, value: row["updated_at"] >= value,
            NO_MOMENT,
            selective=True,
        ),
    )
    if listed.period:
        yield (
            "from",
            Filter(
                lambda count: (times.created(count)[:10], times.created(count // 2)[:10]),
                lambda row, value: row["created_at"][:10] >= value,
                INVALID_DATES,
                selective=True,
            ),
        )
        yield (
            "to",
            Filter(
                lambda count: (times.created(1)[:10], times.created(count // 2)[:10]),
                lambda row, value: row["created_at"][:10] <= value,
                INVALID_DATES,
                selective=True,
            ),
        )


def fields(text: str) -> dict[str, str]:
    """Read the fields of a resource, `name type` a line.

    Types are those of the interface; `?` means nullable. `from.code` is `code` of the object
    `from`, or of each object of the array `from`.
    """
    return dict(line.split() for line in text.strip().splitlines())


def name_set(text: str) -> frozenset[str]:
    """Names, separated by spaces."""
    return frozenset(text.split())


def among(name: str, values: Sequence[str], *, wrong: Sequence[str], narrow: bool) -> Filter:
    """Filter by a field that has one of a few values."""
    return Filter(lambda _: values, lambda row, value: row[name] == value, wrong, narrow)


def equal(name: str, value: Callable[[int], str], *, selective: bool = True) -> Filter:
    """Filter by a text field; `value` is that of the n-th row, and asked for in the middle."""
    return Filter(
        lambda count: (value(max(1, count // 2)), value(max(1, count)), "no such value"),
        lambda row, asked: row[name] == asked,
        INVALID_TEXTS,
        selective,
    )


def contains_text(*names: str, values: Sequence[str]) -> Filter:
    """Filter by a part of one of the fields, without regard to case and accents."""
    return Filter(
        lambda _: values,
        lambda row, asked: any(folded(asked) in folded(str(row[name])) for name in names),
        INVALID_TEXTS,
    )


def by(name: str) -> Callable[[Row], Any]:
    """Sort by a field as it is."""
    return lambda row: row[name]


def by_folded_text(name: str) -> Callable[[Row], Any]:
    """Sort by a text field without regard to case and accents."""
    return lambda row: folded(row[name])


def folded(text: str) -> str:
    """A text in small letters without accents."""
    letters = unicodedata.normalize("NFD", text)
    return "".join(one for one in letters if unicodedata.category(one) != "Mn").lower()


def unless(number: int, each: int, value: Any) -> Any:
    """The value, but None for each so-many-th row."""
    return None if number % each == 0 else value

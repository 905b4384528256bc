"""The query parameters that lists share, and their conversion into a ListQuery."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, Protocol, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticKnownError

from shared.kernel.calendar_days import first_instant, last_instant
from shared.kernel.db.collection import Collection
from shared.kernel.db.entity_items import UPDATED_AT
from shared.kernel.db.facets import base_letters, facet_text, searchable
from shared.kernel.db.indexes import Range
from shared.kernel.db.lists.cursor import MAX_CURSOR, MAX_PER_PAGE, NOT_OF_THIS_LIST, Cursor, Mark
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.records import Record
from shared.kernel.db.search import MAX_WORDS, SEARCH, first_beginnings, words_of
from shared.kernel.db.store import Store
from shared.kernel.fields import MAX_ID, Day, Moment, Parameters, Stored, Term

type Text = Term
"""A filter by equality."""


def _searched(text: str) -> str:
    folded = searchable(text)
    words = words_of(folded)
    if not words_of(base_letters(folded)):
        raise PydanticCustomError("search", "must have a letter, digit or sign")
    if len(words) > MAX_WORDS:
        raise PydanticCustomError("search", f"must have at most {MAX_WORDS} words")
    return folded


type Search = Annotated[Term, AfterValidator(_searched)]
"""A filter by parts of a code or name, all of its words, without case and accents."""


type Beginnings = Annotated[Search, AfterValidator(first_beginnings)]
"""A filter by words of a collection with entries at BEGINNINGS."""


def begins_with(fields: str) -> FieldInfo:
    """Return the description of such a filter."""
    found: FieldInfo = Field(
        description=f"Words that each begin a word or number of {fields}, in any order,"
        " ignoring case, accents and leading zeros: `123` finds EX-123, and `23` does not."
    )
    return found


def _digits(value: object) -> object:
    # The lax integer of pydantic also takes "1_000", " 5 " and "5.0".
    if isinstance(value, str) and not (value.isascii() and value.lstrip("-").isdigit()):
        return None
    return value


type Integer = Annotated[int, BeforeValidator(_digits)]
"""A whole number written in digits."""

type IdParameter = Annotated[Integer, Field(ge=1, le=MAX_ID)]
"""An id in a query."""


MAX_IDS = 100
"""Ids in a query: as many as one call reads."""


def _ids(value: object) -> tuple[int, ...]:
    texts = value.split(",") if isinstance(value, str) else [""]
    for place, text in enumerate(texts, 1):
        digits = text if text.isascii() and text.isdigit() else ""
        if not digits.strip("0") or len(digits) > len(str(MAX_ID)):
            raise PydanticCustomError(
                "ids",
                "must be ids separated by commas; entry {place} is not one from 1 to {most}",
                {"place": place, "most": MAX_ID},
            )
    ids = tuple(dict.fromkeys(map(int, texts)))
    if len(ids) > MAX_IDS:
        raise PydanticCustomError(
            "ids", "has {count} ids; at most {most} are read", {"count": len(ids), "most": MAX_IDS}
        )
    return ids


type Ids = Annotated[
    tuple[int, ...],
    BeforeValidator(_ids),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": MAX_ID},
            "minItems": 1,
            "maxItems": MAX_IDS,
        }
    ),
]
"""Ids in a query, separated by commas."""


def _several(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    texts = value.split(",") if isinstance(value, str) else value
    try:
        return tuple(dict.fromkeys(validate(texts)))
    except ValidationError as error:
        # The problem is one of the parameter, not of an entry of it.
        wrong = error.errors(include_url=False, include_input=False)[0]
        expected = wrong.get("ctx", {}).get("expected", "")
        raise PydanticKnownError("literal_error", {"expected": expected}) from None


type OneOf[V] = Annotated[tuple[V, ...], WrapValidator(_several)]
"""Values in a query, separated by commas; an entity that matches has one of them."""


type Values = str | tuple[str, ...] | None
"""The value of a filter by equality, or several, of which an entity has one; None for no filter."""


def _texts(value: object) -> Values:
    if isinstance(value, tuple):
        found = tuple(facet_text(one) or "" for one in value)
        return found[0] if len(found) == 1 else found
    assert value is None or isinstance(value, str | int)  # noqa: S101 - what filters are
    return facet_text(value)


_NO_FILTERS = frozenset({"page", "per_page", "sort", "cursor", "include"})
"""Parameters of lists that are no filters."""


def _cursor(value: object) -> Cursor:
    try:
        return Cursor.parse(str(value))
    except ValueError:
        raise PydanticCustomError("cursor", NOT_OF_THIS_LIST) from None


class ListParameters(Parameters):
    """page, per_page, sort, updated_since, cursor and include; a list adds its sorts and filters.

    With a cursor, `shared.http` sets page and per_page to those of the cursor.
    """

    page: Annotated[Integer, Field(ge=1)] = 1
    per_page: Annotated[
        Integer, Field(ge=1), AfterValidator(lambda number: min(number, MAX_PER_PAGE))
    ] = 25
    sort: str
    updated_since: Moment | None = None
    cursor: (
        Annotated[
            Cursor,
            PlainValidator(_cursor),
            WithJsonSchema({"type": "string", "maxLength": MAX_CURSOR}),
        ]
        | None
    ) = None
    include: Literal["version"] | None = None

    def filters(self, **facets: str | None) -> dict[str, Values]:
        """Return the filters by equality, by facet.

        A facet has the name of its parameter, unless `facets` has another; None for no filter.
        """
        shared = {*ListParameters.model_fields, *PeriodParameters.model_fields, SEARCH}
        names = {name: facets.get(name, name) for name in type(self).model_fields}
        return {
            facet: _texts(getattr(self, name))
            for name, facet in names.items()
            if facet and name not in shared
        }

    def created(self, timezone: str) -> dict[str, Range]:
        """Return the range of `created_at`; a list without days has none."""
        del timezone
        return {}

    def list_query(
        self: Self,
        *,
        equal: Mapping[str, Values],
        contains: dict[str, str | None] | None = None,
        search: str | None = None,
        between: dict[str, Range] | None = None,
        moving: dict[str, Range] | None = None,
    ) -> ListQuery:
        """Return the query; a filter whose value is None is left out.

        In `equal`, a facet may have several values, of which entities have one. `search` are the
        words that the facet SEARCH must contain.
        """
        values = {
            name: (found,) if isinstance(found, str) else found
            for name, found in equal.items()
            if found is not None
        }
        parts: dict[str, tuple[str, ...]] = {
            name: (text,) for name, text in (contains or {}).items() if text is not None
        }
        if search is not None:
            parts[SEARCH] = words_of(search)
        filters = {
            name: field.alias or name
            for name, field in type(self).model_fields.items()
            if name not in _NO_FILTERS
        }
        ranges = dict(between or {})
        if self.updated_since:
            ranges["updated_at"] = (self.updated_since, None)
        return ListQuery(
            sort=self.sort.removeprefix("-"),
            descending=self.sort.startswith("-"),
            page=self.page,
            per_page=self.per_page,
            equal={name: one for name, (one, *more) in values.items() if not more},
            among={name: texts for name, texts in values.items() if len(texts) > 1},
            ids=getattr(self, "ids", None),
            contains=parts,
            between=ranges,
            moving=moving or {},
            after=self.cursor.mark if self.cursor else None,
            parameters=list(filters.values()),
            asked=[shown for name, shown in filters.items() if name in self.model_fields_set],
        )

    def page_of[E](
        self, found: Sequence[Record[E]], first: int, mark: Callable[[E], Mark]
    ) -> Page[E]:
        """Return the page that begins at index `first` of a list that was read as a whole."""
        shown = list(found[first : first + self.per_page])
        more = 0 < len(shown) < len(found) - first
        next_mark = mark(shown[-1].entity) if more else None
        return Page(shown, len(found), self.page, self.per_page, next_mark)


class KeyedParameters(ListParameters):
    """Parameters of a list whose rows have ids by which they are stored."""

    ids: Ids | None = None


class PeriodParameters(KeyedParameters):
    """Parameters of a list with `from` and `to`: days of creation, both inclusive."""

    first_day: Day | None = Field(default=None, alias="from")
    last_day: Day | None = Field(default=None, alias="to")

    @field_validator("last_day")
    @classmethod
    def _after_the_first(cls, last_day: str | None, others: ValidationInfo) -> str | None:
        first_day = others.data.get("first_day")
        if first_day and last_day and last_day < first_day:
            raise PydanticCustomError("day_order", "must not be before from")
        return last_day

    def created(self, timezone: str) -> dict[str, Range]:
        """Return the range of `created_at` for the days in `timezone`; empty without filter."""
        first, last = self.first_day, self.last_day
        if not first and not last:
            return {}
        return {
            "created_at": (
                first_instant(first, timezone) if first else None,
                last_instant(last, timezone) if last else None,
            )
        }

    def created_once(self, timezone: str) -> dict[str, Range]:
        """Return the range of `created_at` in a list whose rows never change.

        It also has `updated_since`: both times of a row are equal, and only `created_at` has an
        index.
        """
        low, high = self.created(timezone).get("created_at", (None, None))
        if self.updated_since:
            low = max(low or "", self.updated_since)
        return {"created_at": (low, high)} if low or high else {}


class ReadList[E: BaseModel](Protocol):
    """A function that reads lists."""

    def __call__(self, store: Store, parameters: ListParameters) -> Page[E]:
        """Read a page; the days of `parameters` are days of the company."""


def list_of[E: Stored](collection: Collection[E], **facets: str) -> ReadList[E]:
    """Return the function that lists a collection, whose filters are facets; see `filters`."""

    def read(store: Store, parameters: ListParameters) -> Page[E]:
        timezone = store.company.timezone
        days = parameters.created(timezone)
        if isinstance(parameters, PeriodParameters) and UPDATED_AT not in collection.sorts:
            days = parameters.created_once(timezone)
        query = parameters.list_query(
            equal=parameters.filters(**facets),
            search=getattr(parameters, SEARCH, None),
            between=days,
        )
        return read_page(store, collection, query)

    return read

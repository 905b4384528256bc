"""Query parameters that all lists share, and how they become a ListQuery."""

from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from shared.kernel.calendar_days import first_instant, last_instant
from shared.kernel.db.facets import searchable
from shared.kernel.db.plan import ListQuery, Range
from shared.kernel.fields import Day, Moment, Term

_MOST_PER_PAGE = 100

type Text = Term
"""A filter that a value must equal."""


def _searched(text: str) -> str:
    folded = searchable(text)
    if not folded:
        raise PydanticCustomError("search", "must have a letter, digit or sign")
    return folded


type Search = Annotated[Term, AfterValidator(_searched)]
"""Part of a code or name, without regard to case and accents."""


def _digits(value: object) -> object:
    # The lax integer of pydantic also takes "1_000", " 5 " and "5.0".
    if isinstance(value, str) and not (value.isascii() and value.lstrip("-").isdigit()):
        return None
    return value


type Integer = Annotated[int, BeforeValidator(_digits)]
"""A whole number written in digits."""


class ListParameters(BaseModel):
    """page, per_page, sort, updated_since; a list adds its sort values and filters."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    page: Annotated[Integer, Field(ge=1)] = 1
    per_page: Annotated[
        Integer, Field(ge=1), AfterValidator(lambda number: min(number, _MOST_PER_PAGE))
    ] = 25
    sort: str
    updated_since: Moment | None = None
    cursor: Annotated[str, Field(max_length=2000)] | None = None

    def list_query(
        self: Self,
        *,
        equal: dict[str, str | None] | None = None,
        contains: dict[str, str | None] | None = None,
        between: dict[str, Range] | None = None,
    ) -> ListQuery:
        """Make the query; filters whose value is None are not asked for."""
        ranges = dict(between or {})
        if self.updated_since:
            ranges["updated_at"] = (self.updated_since, None)
        return ListQuery(
            sort=self.sort.removeprefix("-"),
            descending=self.sort.startswith("-"),
            page=self.page,
            per_page=self.per_page,
            equal={name: text for name, text in (equal or {}).items() if text is not None},
            contains={name: text for name, text in (contains or {}).items() if text is not None},
            between=ranges,
            cursor=self.cursor,
        )


class PeriodParameters(ListParameters):
    """A list that also has `from` and `to`: created since and until, both days included."""

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
        """Make the range of `created_at` for days in the time zone; empty when none is asked."""
        first, last = self.first_day, self.last_day
        if not first and not last:
            return {}
        return {
            "created_at": (
                first_instant(first, timezone) if first else None,
                last_instant(last, timezone) if last else None,
            )
        }

"""The field types of requests and entities, each with its bounds.

JSON types are strict: `"5"` is not a number, `5` is not a text; `5.0` is an integer. Text is
normalized (NFC) and has no control characters and no unpaired surrogates.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Self, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema, to_json

from shared.kernel.clock import instant_of, parse_date_time

ZERO = Decimal(0)
MAX_QUANTITY = Decimal(999_999_999)
LEAST_QUANTITY = Decimal("0.000001")
MAX_ID = 10**12 - 1

_BIDIRECTIONAL = r"\u202a-\u202e\u2066-\u2069"
"""Embeddings, overrides and isolates, which show a text in another order than it has."""
_CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDIRECTIONAL}]")
_CONTROL_BUT_LINES = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_BIDIRECTIONAL}]")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp"})
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2060-\u206f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)
"""Characters of other categories that have no width (Default_Ignorable_Code_Point of Unicode)."""


class Input(BaseModel):
    """Base of request bodies: strict types, unknown fields are ignored.

    Pydantic builds a model at its first use, so unused models do not slow the cold start.
    """

    model_config = ConfigDict(strict=True, extra="ignore", defer_build=True)


class Parameters(BaseModel):
    """Base of query parameters, which are text; unknown ones are ignored."""

    model_config = ConfigDict(extra="ignore", defer_build=True)


class Stored(BaseModel):
    """Base of stored entities, of their parts and of response models.

    An entity read with `from_json`, its parts and their copies keep the fields that only another
    release knows, in `__pydantic_extra__`. Only `to_json` writes these; responses, events and
    `model_dump` never show them. Two releases that serve one table thus lose nothing of each other.
    """

    model_config = ConfigDict(extra="ignore", defer_build=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the entity that `to_json` of this or another release wrote."""
        return cls.model_validate_json(text, extra="allow")

    def to_json(self) -> str:
        """Return the JSON to store, with the fields that only another release knows.

        Fields that have their default are left out: a fifth of the bytes, which are billed by the
        KB. So the default of a stored field never changes (`tests/recorded/fields.json`).
        """
        if not _has_unknown(self):
            return self.model_dump_json(exclude_defaults=True)
        dumped = self.model_dump(mode="json", exclude_defaults=True)
        return to_json(_with_unknown(self, dumped)).decode()

    def in_place_of(self, former: "Stored") -> Self:
        """Return the entity or part with the fields of `former` that only another release knows."""
        if (self.__pydantic_extra__ or {}) == (former.__pydantic_extra__ or {}):
            return self
        kept = self.model_copy()
        object.__setattr__(kept, "__pydantic_extra__", former.__pydantic_extra__)
        return kept

    @classmethod
    def from_stored(cls, entity: "Stored", **others: Any) -> Self:
        """Return the response that shows an entity.

        It has the entity's fields of the same names and the `others`. They are not validated again,
        which would take most of the time of a list.
        """
        return super().model_construct(**(entity.__dict__ | others))

    @classmethod
    def values_of(cls, body: Input, *, without: Collection[str] = ()) -> dict[str, Any]:
        """Return the fields that a request body sets; a field that is null gets its default."""
        sent = body.model_dump(exclude_unset=True, exclude={*without})
        fields = cls.model_fields
        return {name: fields[name].default if value is None else value
                for name, value in sent.items()}  # fmt: skip


@cache
def _part_names(model: type[Stored]) -> Mapping[str, str]:
    """Return the fields of a model that hold parts: name → name in its JSON."""
    by_alias = model.model_config.get("serialize_by_alias")
    return {
        name: (by_alias and field.alias) or name
        for name, field in model.model_fields.items()
        if _holds_part(field.annotation)
    }


def _holds_part(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Stored):
        return True
    return any(_holds_part(inner) for inner in get_args(annotation))


def _has_unknown(entity: Stored) -> bool:
    return bool(entity.__pydantic_extra__) or any(
        _has_unknown(part) for name in _part_names(type(entity)) for part in _parts(entity, name)
    )


def _with_unknown(entity: Stored, dumped: dict[str, Any]) -> dict[str, Any]:
    """Return the dump of an entity with the unknown fields of the entity and of its parts."""
    for name, in_json in _part_names(type(entity)).items():
        if in_json in dumped:  # a part that is left out has no unknown fields
            for part, one in zip(_parts(entity, name), _listed(dumped[in_json]), strict=True):
                _with_unknown(part, one)
    dumped.update(entity.__pydantic_extra__ or {})
    return dumped


def _parts(entity: Stored, name: str) -> Sequence[Stored]:
    return _listed(getattr(entity, name))


def _listed(value: Any) -> Sequence[Any]:
    """Return the values in a field that holds one, none, or a list of them."""
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def dict_of[V](view: type[V], entity: Stored, **others: Any) -> V:
    """Return the TypedDict `view` that shows an entity: its attributes, and the `others`.

    Lines are dictionaries, because models of all lines would take as long as reading them.
    """
    names, properties = _shown_names(cast("type", view), type(entity))
    known = entity.__dict__ | others
    for name in properties:
        if name not in others:
            known[name] = getattr(entity, name)
    return cast("V", {name: known[name] for name in names})


@cache
def _shown_names(view: type, model: type[Stored]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names in a view, and which of them a model computes."""
    names = tuple(view.__annotations__)
    return names, [name for name in names if isinstance(getattr(model, name, None), property)]


def exactly_one_of(*names: str) -> ConfigDict:
    """Return the configuration of a body that needs exactly one of several fields.

    It is for the OpenAPI document and makes the body required. The service checks the fields.
    """
    alternatives: list[Any] = [{"required": [name]} for name in names]
    return ConfigDict(json_schema_extra={"oneOf": alternatives})


def normalized(text: str) -> str:
    """Return a text in Unicode normalization form C, in which equal texts have equal characters."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _normalized_text(value: Any) -> Any:
    return normalized(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class TextRule:
    """Annotation of a text field: the text is normalized, and may not have some characters.

    Every field whose text is stored or compared has one. `refused` returns whether a text has such
    a character, `message` says so.
    """

    refused: Callable[[str], object]
    message: str = "must not contain control characters"

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return the schema of the text between normalization and the check."""
        checked = core_schema.no_info_after_validator_function(self._check, handler(source))
        return core_schema.no_info_before_validator_function(_normalized_text, checked)

    def _check(self, text: str) -> str:
        if self.refused(text):
            raise PydanticCustomError("hidden_characters", self.message)
        return text


def _has_hidden(text: str) -> bool:
    """Return whether a text has a character that nobody sees: a control or format character."""
    if text.isascii():
        return _CONTROL.search(text) is not None
    return any(unicodedata.category(char) in _HIDDEN_CATEGORIES for char in text) or bool(
        _IGNORABLE.search(text)
    )


CODE = TextRule(_has_hidden, "must not contain control or hidden characters")
"""Rule of a code: two codes that look the same are the same."""
ONE_LINE = TextRule(_CONTROL.search)
"""Rule of a name or text of one line."""
LINES = TextRule(_CONTROL_BUT_LINES.search)
"""Rule of a text of several lines."""


def _text(most: int) -> StringConstraints:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=most)


type Code = Annotated[str, _text(50), CODE]
"""A code that identifies something: 1 to 50 characters."""
type Reference = Annotated[str, _text(100), CODE]
"""A reference of another system: 1 to 100 characters."""
type LineReference = Annotated[str, _text(64), CODE]
"""A reference of a line of a document in another system: 1 to 64 characters."""
type Name = Annotated[str, _text(200), ONE_LINE]
"""A name for people: 1 to 200 characters."""
type Word = Annotated[str, _text(32), ONE_LINE]
"""A short free word such as a type or unit: 1 to 32 characters."""
type Unit = Annotated[str, _text(20), CODE]
"""The name of a unit of measure, such as BOX: 1 to 20 characters."""
type Phone = Annotated[str, _text(50), ONE_LINE]
"""A telephone number as people write it: 1 to 50 characters."""
type Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=255), ONE_LINE]
"""One line of free text, up to 255 characters."""
type Term = Annotated[str, _text(255), ONE_LINE]
"""The value of a list filter: 1 to 255 characters."""
type Reason = Annotated[str, _text(255), ONE_LINE]
"""Why something was done: 1 to 255 characters."""


def _scanned(value: Any) -> Any:
    # As imports read a cell. Scanners send FNC1 before a GS1 barcode, as a group separator.
    return value.strip() if isinstance(value, str) else value


SCANNED = BeforeValidator(_scanned)
"""Takes white space and separators of GS1 off the ends of a scanned text."""
type Barcode = Annotated[str, _text(64), CODE, SCANNED]
"""A barcode as scanned: 1 to 64 characters."""
type Note = Annotated[str, StringConstraints(max_length=2000), LINES]
"""Free text of several lines, up to 2000 characters."""

# RFC 5321 without quoted local parts and literal IP addresses, which no partner's address has.
_LOCAL_PART = r"(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*"
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_TOP_LABEL = r"(?=.*[a-z])" + _LABEL
_EMAIL = re.compile(rf"{_LOCAL_PART}@({_LABEL}\.)+{_TOP_LABEL}", re.ASCII | re.IGNORECASE)


def _email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise PydanticCustomError("email", "must be an e-mail address")
    return text


type Email = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=254),
    AfterValidator(_email),
    WithJsonSchema({"type": "string", "format": "email", "maxLength": 254}),
]
"""An e-mail address in ASCII, with a domain of at least two labels, up to 254 characters."""


_ERROR_TYPES = frozenset(get_args(core_schema.ErrorType))
"""Types of errors that Pydantic has; an error of another type needs its message."""


def with_problems_of(
    validate: ValidatorFunctionWrapHandler, value: Any, found: Sequence[InitErrorDetails]
) -> Any:
    """Return the valid value; report the problems `found` together with those that it has."""
    problems = [*found]
    try:
        valid = validate(value)
    except ValidationError as error:
        problems += [
            InitErrorDetails(
                type=one["type"]
                if one["type"] in _ERROR_TYPES
                else PydanticCustomError(one["type"], one["msg"]),
                loc=one["loc"],
                input=one["input"],
                ctx=one.get("ctx", {}),
            )
            for one in error.errors()
        ]
    if problems:
        raise ValidationError.from_exception_data("value", problems)
    return valid


def distinct(most: int) -> WrapValidator:
    """Return a validator that rejects repeated entries of a list of at most `most` entries.

    It reports repeated entries together with every other problem of the entries.
    """

    def check(value: Any, entries: ValidatorFunctionWrapHandler) -> Any:
        given = value[: most + 1] if isinstance(value, list) else []
        repeated = PydanticCustomError("repeated", "must not be named twice")
        problems = [
            InitErrorDetails(type=repeated, loc=(at,), input=entry)
            for at, entry in enumerate(given)
            if entry in given[:at]
        ]
        return with_problems_of(entries, value, problems)

    return WrapValidator(check)


def keep_order(sent: dict[str, Any], name: str, former: Sequence[Any]) -> None:
    """Give the distinct entries of a field the order of `former`, if they are the same entries."""
    if name in sent and set(sent[name]) == set(former):
        sent[name] = former


def plain(number: Decimal) -> str:
    """Return a number as text without exponent and trailing zeros."""
    return f"{number.normalize():f}"


def _number(value: Any) -> Decimal:
    if isinstance(value, Decimal):
        number = value
    elif isinstance(value, int) and not isinstance(value, bool):
        number = Decimal(value)
    else:
        raise PydanticCustomError("number_type", "must be a number")
    if not number.is_finite():
        raise PydanticCustomError("number_size", "must be a number the service can hold")
    return number


def _decimals(number: Decimal) -> Decimal:
    # normalize() alone would round to 28 digits, and a tiny number to 0.
    rounded = number.quantize(LEAST_QUANTITY)
    if rounded != number:
        raise PydanticCustomError("number_decimals", "must have at most 6 decimals")
    return rounded.normalize()


def _positive(number: Decimal) -> Decimal:
    if number <= 0:
        raise PydanticCustomError("number_range", "must be more than 0")
    return _not_too_large(number)


def _not_negative(number: Decimal) -> Decimal:
    if number < 0:
        raise PydanticCustomError("number_range", "must be at least 0")
    return _not_too_large(number)


def _not_too_large(number: Decimal) -> Decimal:
    if number > MAX_QUANTITY:
        raise PydanticCustomError("number_range", f"must be at most {MAX_QUANTITY}")
    return _decimals(number)


def json_number(number: Decimal) -> int | Decimal:
    """Return a number as JSON shows it: a whole number without a fraction."""
    whole = int(number)
    return whole if whole == number else number.normalize()


_WRITTEN_PLAIN = PlainSerializer(json_number, return_type=int | Decimal)
_NUMBER_SCHEMA = WithJsonSchema({"type": "number"})

type Quantity = Annotated[
    Decimal,
    BeforeValidator(_number),
    AfterValidator(_positive),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 999_999_999}),
]
"""More than 0, at most 999 999 999, up to 6 decimals."""
type Measure = Annotated[
    Decimal,
    BeforeValidator(_number),
    AfterValidator(_not_negative),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 999_999_999}),
]
"""0 or more, at most 999 999 999, up to 6 decimals."""
type Number = Annotated[Decimal, _WRITTEN_PLAIN, _NUMBER_SCHEMA]
"""A stored quantity, written as a JSON number; whole numbers have no fraction."""


def whole_number(value: Any) -> Any:
    """Return a whole number that JSON writes with a fraction or an exponent as an integer."""
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    return value


WHOLE_NUMBER = BeforeValidator(whole_number)
"""Validator of an integer, which may also be written as `1.0`."""

type Identifier = Annotated[int, Field(ge=1, le=MAX_ID), WHOLE_NUMBER]
"""An id given by the service."""
type NamedNumber = Annotated[int, WHOLE_NUMBER, WithJsonSchema({"type": "integer", "minimum": 1})]
"""A number that names a thing, such as a line; the service reports one that names nothing."""
type SmallInteger = Annotated[int, Field(ge=0, le=1_000_000_000), WHOLE_NUMBER]
"""A whole number from 0 to 1 000 000 000."""


def _day(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("date_type", "must be a date as text")
    match = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", value, re.ASCII)
    parts = match.groups() if match else None
    if parts is None and (match := re.fullmatch(r"(\d{2})/(\d{2})/(\d{4})", value, re.ASCII)):
        parts = match.groups()[::-1]
    try:
        if parts:
            return date(*map(int, parts)).isoformat()
    except ValueError:
        pass
    raise PydanticCustomError("date", "must be a date, YYYY-MM-DD or, day first, dd/mm/yyyy")


type Day = Annotated[
    str, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})
]
"""A date, given as YYYY-MM-DD or dd/mm/yyyy, kept as YYYY-MM-DD."""

type StoredDay = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
"""A stored date, YYYY-MM-DD."""

_UNESCAPED_PLUS = re.compile(r"(?<=\d) (?=\d{2}(:?\d{2})?$)")
"""The space as which an unescaped "+" of an offset arrives in a query."""


def _moment(value: Any) -> str:
    if isinstance(value, str):
        for text in (value, _UNESCAPED_PLUS.sub("+", value)):
            with suppress(ValueError, OverflowError):
                moment = parse_date_time(text)
                if moment.tzinfo:
                    return instant_of(moment)
    raise PydanticCustomError(
        "date_time", "must be a date-time with offset, such as 2026-03-01T09:30:00Z"
    )


type Moment = Annotated[
    str, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A date-time with offset (ISO 8601), kept as an Instant."""

type Timestamp = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A stored Instant."""

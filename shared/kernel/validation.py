"""Validation of request bodies: all problems at once, each with its path and a message."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeAliasType, final, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticUndefined

from shared.kernel.errors import Problem, ValidationFailed

_MESSAGES: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {
    "missing": "is required",
    "string_type": "must be a text",
    "string_unicode": "must be valid Unicode text",
    "string_too_short": "must not be empty",
    "string_too_long": lambda facts: _at_most(facts, "characters"),
    "string_pattern_mismatch": lambda facts: f"must match {facts['pattern']}",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large",
    "int_from_float": "must be a whole number",
    "greater_than": lambda facts: f"must be more than {facts['gt']}",
    "greater_than_equal": lambda facts: f"must be at least {facts['ge']}",
    "less_than_equal": lambda facts: f"must be at most {facts['le']}",
    "list_type": "must be a list",
    "too_short": lambda facts: (
        "must not be empty"
        if facts["field_type"] == _TEXT
        else f"must have at least {facts['min_length']} entry"
    ),
    "too_long": lambda facts: _at_most(
        facts, "characters" if facts["field_type"] == _TEXT else "entries"
    ),
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "extra_forbidden": "is not known",
    "literal_error": lambda facts: f"must be one of {facts['expected']}",
}

_TEXT = "Value"
"""What pydantic calls a text whose length it checks after a validator; a list is a List."""


def _at_most(facts: Mapping[str, Any], what: str) -> str:
    return f"must have at most {facts['max_length']} {what}"


_MAX_ENTRIES = 5000
"""Entries of a list that an `InvalidBody` keeps; no model allows more."""


@final
@dataclass(frozen=True, slots=True)
class InvalidBody[M: BaseModel]:
    """A body that does not satisfy its model.

    An attribute with the name of a field returns the value of the field, or None when the value
    is invalid. An absent field has its default, or None. Rules that look up codes in the database
    read these values, so that the caller gets their problems together with those of the fields.

    A list of models becomes a list of `InvalidBody`, at most 5000, one for each entry. Only these
    entries have no `problems`: all problems are at the top level. A list of ids has None for each
    invalid entry; `valid_entries` skips them.
    """

    model: type[M]
    problems: Sequence[Problem]
    model_fields_set: AbstractSet[str]
    """Names of the fields that the body contains, valid or not."""
    valid_values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any | None:
        """Return the valid value of a field, or None."""
        try:
            return self.valid_values[name]
        except KeyError:
            raise AttributeError(name, name=name, obj=self) from None


type Checked[M: BaseModel] = M | InvalidBody[M]
"""A body after `check`: the model, or what is valid of it with the problems."""


def check[M: BaseModel](model: type[M], raw: object) -> Checked[M]:
    """Return `raw` as the model, or an `InvalidBody` with every problem of its fields."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True, include_input=False)
        return _invalid(model, raw, [_problem(detail) for detail in details])


def ensure_valid[M: BaseModel](body: Checked[M], found: Iterable[Problem] = ()) -> M:
    """Return the model of a body; raise ValidationFailed with its problems and those `found`."""
    problems = [*problems_of(body), *found]
    if isinstance(body, InvalidBody) or problems:
        raise ValidationFailed(problems)
    return body


def problems_of(body: Checked[BaseModel]) -> Sequence[Problem]:
    """Return the problems of the fields of a body; none of a valid one."""
    return body.problems if isinstance(body, InvalidBody) else ()


def invalid_fields(body: Checked[BaseModel]) -> set[str]:
    """Return the names of the top-level fields that have a problem."""
    return {problem.field.partition(".")[0] for problem in problems_of(body)}


def given_fields(body: Checked[BaseModel], names: Iterable[str]) -> list[str]:
    """Return those of the fields that a body gives a value, valid or not."""
    invalid = invalid_fields(body)
    return [name for name in names if name in invalid or getattr(body, name) is not None]


def of_valid_fields(body: Checked[BaseModel], found: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems found, except those of invalid fields, which only seem to be absent.

    Problems of single entries stay where the list is kept: only valid entries are examined.
    """
    invalid = invalid_fields(body)
    absent = {name for name in invalid if getattr(body, name, None) is None}
    return (
        one
        for one in found
        if one.field not in invalid and one.field.partition(".")[0] not in absent
    )


def valid_entries[T](entries: Iterable[T | None] | None) -> Iterator[tuple[int, T]]:
    """Yield the valid entries of a list of ids, each with its index."""
    return ((at, one) for at, one in enumerate(entries or ()) if one is not None)


def _problem(detail: ErrorDetails) -> Problem:
    message = _MESSAGES.get(detail["type"], detail["msg"])
    if callable(message):
        message = message(detail.get("ctx", {}))
    return Problem(".".join(str(part) for part in detail["loc"]), message)


def _invalid[M: BaseModel](
    model: type[M], raw: object, problems: Sequence[Problem] = ()
) -> InvalidBody[M]:
    given = raw if isinstance(raw, Mapping) else {}
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        values[name] = None if info.default is PydanticUndefined else info.default
        if name in given:
            values[name] = _valid_value(model, name, given[name])
    return InvalidBody(model, problems, values.keys() & given.keys(), values)


def _valid_value(model: type[BaseModel], name: str, value: object) -> Any:
    inner = _entry_model(model, name)
    if inner and isinstance(value, Sequence) and not isinstance(value, str):
        return [_invalid(inner, entry) for entry in value[:_MAX_ENTRIES]]
    adapter, of_ids = _adapter(model, name), _id_adapter(model, name)
    valid = _valid_or_none(adapter, value)
    if valid is None and of_ids and isinstance(value, list):
        entries = [_valid_or_none(of_ids, entry) for entry in value[:_MAX_ENTRIES]]
        distinct = [*{entry for entry in entries if entry is not None}]
        # A list that is too long is not looked up.
        valid = None if _valid_or_none(adapter, distinct) is None else entries
    return valid


def _valid_or_none(adapter: TypeAdapter[Any], value: object) -> Any:
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError:
        return None


@cache
def _id_adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any] | None:
    """Return the adapter of the entries when the field is a list of ids."""
    given = _bare(model.model_fields[name].annotation)
    entry = get_args(given)[0] if get_origin(given) is list else None
    return TypeAdapter(entry) if _bare(entry) is int else None


def _bare(annotation: Any) -> Any:
    """Return a type without its name, its metadata, and None."""
    while True:
        if isinstance(annotation, TypeAliasType):
            annotation = annotation.__value__
        elif get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif type(None) in get_args(annotation):
            annotation = next(one for one in get_args(annotation) if one is not type(None))
        else:
            return annotation


@cache
def _adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    info = model.model_fields[name]
    return TypeAdapter(info.rebuild_annotation())


def _entry_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """Return the model of the entries when the field is a list of models."""
    annotation = model.model_fields[name].annotation
    inner = get_args(annotation)[0] if get_origin(annotation) is list else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None

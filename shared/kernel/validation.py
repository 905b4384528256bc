"""From raw JSON to a request model, with every problem at once and in words for people."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticUndefined

from shared.kernel.errors import Problem

_MESSAGES: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {
    "missing": "is required",
    "string_type": "must be a text",
    "string_unicode": "must be valid Unicode text",
    "string_too_short": "must not be empty",
    "string_too_long": lambda facts: f"must have at most {facts['max_length']} characters",
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
    "too_short": lambda facts: f"must have at least {facts['min_length']} entry",
    "too_long": lambda facts: f"must have at most {facts['max_length']} entries",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": lambda facts: f"must be one of {facts['expected']}",
}

_MOST_ENTRIES = 5000
"""Of a list, that rules look at in a body that is not valid; no list may have more."""


def check[M: BaseModel](
    model: type[M], raw: object, *, prefix: str = ""
) -> tuple[M | None, list[Problem]]:
    """Validate raw data: the model, or None and every problem with its path."""
    try:
        return model.model_validate(raw), []
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True, include_input=False)
        return None, [_problem(detail, prefix) for detail in details]


def _problem(detail: ErrorDetails, prefix: str) -> Problem:
    message = _MESSAGES.get(detail["type"], detail["msg"])
    if callable(message):
        message = message(detail.get("ctx", {}))
    return Problem(prefix + ".".join(str(part) for part in detail["loc"]), message)


def what_is_valid[M: BaseModel](model: type[M], raw: object) -> M:
    """Build the model from the fields that are valid, None for the others.

    For rules that need the database: they look at what could be understood, so that
    the caller hears of their problems together with those of the fields.
    """
    given = raw if isinstance(raw, Mapping) else {}
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        values[name] = None if info.default is PydanticUndefined else info.default
        if name in given:
            values[name] = _valid_value(model, name, given[name])
    return model.model_construct({name for name in values if name in given}, **values)


def _valid_value(model: type[BaseModel], name: str, value: object) -> Any:
    inner = _list_of_models(model, name)
    if inner and isinstance(value, Sequence) and not isinstance(value, str):
        return [what_is_valid(inner, entry) for entry in value[:_MOST_ENTRIES]]
    try:
        return _adapter(model, name).validate_python(value, strict=True)
    except ValidationError:
        return None


@cache
def _adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    info = model.model_fields[name]
    return TypeAdapter(info.rebuild_annotation())


def _list_of_models(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    annotation = model.model_fields[name].annotation
    return next(
        (
            inner
            for inner in get_args(annotation)
            if isinstance(inner, type) and issubclass(inner, BaseModel)
        ),
        None,
    )

"""Metadata: texts that the caller's system stores with a resource or line, under its own names."""

import operator
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

from pydantic import (
    Field,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from shared.kernel.errors import Problem
from shared.kernel.fields import LINES, Input, normalized, with_problems_of
from shared.kernel.json_text import dumps
from shared.kernel.validation import Checked

MAX_NAMES, MAX_BYTES = 50, 8_192
"""Most names of a resource, and most bytes of its metadata as compact JSON in UTF-8."""
MAX_LINE_NAMES, MAX_LINE_BYTES = 10, 1_024
"""The limits for a line."""
MAX_CHARACTERS = 500
"""Most characters of a text."""

_NAME_PATTERN = "^[A-Za-z0-9_.-]{1,40}$"
_NAME = re.compile(_NAME_PATTERN[:-1])
_SHOWN = 40
"""Characters of an invalid name that a problem shows, which are those of the longest valid one."""
_EXAMINED = 200
"""Names of one metadata whose problems are reported."""

type Text = Annotated[str, StringConstraints(max_length=MAX_CHARACTERS), LINES]
"""A text of metadata, which may be empty."""


def name_problem(name: str) -> str | None:
    """Return why metadata cannot have this name, or None if it can."""
    if _NAME.fullmatch(name):
        return None
    return "must be named with 1 to 40 letters, digits, dots, _ or -"


def _too_large(metadata: Mapping[str, str], count: int, names: int, size: int) -> Iterator[str]:
    """Yield why metadata with `count` names, of which some may be invalid, is too large."""
    if count > names:
        yield f"must have at most {names} names, has {count}"
    length = len(dumps(metadata).encode(errors="replace"))
    if length > size:
        yield f"must have at most {size} bytes, has {length}"


def _checked(names: int, size: int) -> WrapValidator:
    """Return a validator of metadata with at most so many names and bytes."""

    def check(value: Any, texts: ValidatorFunctionWrapHandler) -> Any:
        if not isinstance(value, dict):
            raise PydanticCustomError("metadata_type", "must be an object")
        texts_sent = {
            name: normalized(text) for name, text in value.items() if isinstance(text, str)
        }
        large = _too_large(texts_sent, len(value), names, size)
        problems = [_problem((), problem) for problem in large]
        checked = dict(islice(value.items(), _EXAMINED))
        for name in [*checked]:
            if problem := name_problem(name):
                problems.append(_problem((name[:_SHOWN],), problem))
                del checked[name]
        return with_problems_of(texts, checked, problems)

    return WrapValidator(check)


def _problem(path: tuple[str, ...], message: str) -> InitErrorDetails:
    shown = tuple(part.encode(errors="replace").decode() for part in path)
    return InitErrorDetails(type=PydanticCustomError("metadata", message), loc=shown, input=None)


def _schema(most: int, text_types: object) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "type": "object",
            "maxProperties": most,
            "propertyNames": {"pattern": _NAME_PATTERN},
            "additionalProperties": {"type": text_types, "maxLength": MAX_CHARACTERS},
        }
    )


type Metadata = Annotated[
    dict[str, Text],
    _checked(MAX_NAMES, MAX_BYTES),
    _schema(MAX_NAMES, "string"),
]
"""Metadata of a new resource."""
type LineMetadata = Annotated[
    dict[str, Text],
    _checked(MAX_LINE_NAMES, MAX_LINE_BYTES),
    _schema(MAX_LINE_NAMES, "string"),
]
"""Metadata of a new line."""
type MetadataChange = Annotated[
    dict[str, Text | None],
    # Names that are removed make room for others, so `merge_problems` limits what is left.
    _checked(2 * MAX_NAMES, MAX_BYTES),
    _schema(2 * MAX_NAMES, ["string", "null"]),
]
"""A change of metadata: the names sent get their texts, null removes a name."""
type LineMetadataChange = Annotated[
    dict[str, Text | None],
    _checked(2 * MAX_LINE_NAMES, MAX_LINE_BYTES),
    _schema(2 * MAX_LINE_NAMES, ["string", "null"]),
]
"""A change of the metadata of a line, as that of a resource."""


def stored_metadata() -> Any:
    """Return the field of stored metadata, which is left out of the JSON if it is empty."""
    return Field(default_factory=dict, exclude_if=operator.not_)


def merged(former: Mapping[str, str], sent: Mapping[str, str | None]) -> dict[str, str]:
    """Return metadata after a change."""
    return {name: text for name, text in {**former, **sent}.items() if text is not None}


def merge_problems(former: Mapping[str, str], change: Checked[Input]) -> Iterator[Problem]:
    """Yield a problem for each limit that the metadata would exceed after a change."""
    sent: Mapping[str, str | None] | None = change.metadata  # type: ignore[union-attr]
    if sent:
        after = merged(former, sent)
        for problem in _too_large(after, len(after), MAX_NAMES, MAX_BYTES):
            yield Problem("metadata", problem)


def line_merge_problems(
    former: Mapping[str, str], sent: Mapping[str, str | None] | None, path: str
) -> Iterator[Problem]:
    """Yield a problem for each limit that the metadata of a line would exceed after a change."""
    after = merged(former, sent or {})
    for problem in _too_large(after, len(after), MAX_LINE_NAMES, MAX_LINE_BYTES):
        yield Problem(f"{path}.metadata", problem)


def merge(values: dict[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a change with the whole metadata, if it changes that."""
    if "metadata" in values:
        values["metadata"] = merged(former, values["metadata"])
    return values

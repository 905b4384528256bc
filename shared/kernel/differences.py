"""Fields of a repeated request that differ from what its reference already names."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from pydantic import BaseModel

_CASELESS = frozenset({"unit"})
"""Fields that match without regard to case."""


def differing_fields(
    sent: BaseModel,
    stored: object,
    attributes: Mapping[str, str],
    *,
    without: Collection[str],
    path: str = "",
) -> Iterator[str]:
    """Yield the paths of the fields that differ. Absent, null and empty are the same.

    The order of serials and batches does not matter. Of an object, the parts that differ are named.
    A field is compared with the attribute of its name, or with the one that `attributes` has; the
    fields in `without` are not compared.
    """
    for name in (each for each in type(sent).model_fields if each not in without):
        value = attrgetter(attributes.get(name, name))(stored)
        differing = _differing(_comparable(name, getattr(sent, name)), _comparable(name, value))
        yield from (f"{path}{name}{part}" for part in differing)


def differing_lines(
    sent: Sequence[BaseModel],
    stored: Sequence[object],
    attributes: Mapping[str, str],
    *,
    without: Collection[str] = (),
) -> Iterator[str]:
    """Yield the paths of the fields of lines that differ; `lines` if their number differs."""
    if len(sent) != len(stored):
        yield "lines"
        return
    for number, (one, other) in enumerate(zip(sent, stored, strict=True)):
        path = f"lines.{number}."
        yield from differing_fields(one, other, attributes, without=without, path=path)


def _differing(one: Any, other: Any) -> Iterator[str]:
    """Yield `.` and the name of each part of objects that differs; the empty text for others."""
    if isinstance(one or other, dict):
        one, other = one or {}, other or {}
        yield from (f".{part}" for part in {**one, **other} if one.get(part) != other.get(part))
    elif one != other:
        yield ""


def _comparable(name: str, value: Any) -> Any:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_none=True)
    if name in _CASELESS and value:
        value = value.casefold()
    return sorted(value) if value and isinstance(value, list) else value or None

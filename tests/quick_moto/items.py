"""Values and items of DynamoDB as moto holds them.

moto measures an item anew for each attribute that it gets, finds out in many steps what a
value is before it compares it, and projects an item by way of Python's own types.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict

_MOST = 405_000
"""Bytes of an item, as moto has it."""

type _Attributes = dict[str, Any]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handle items in the short way until the test ends."""
    monkeypatch.setattr(DynamoType, "__init__", _init_value)
    monkeypatch.setattr(Item, "__init__", _init_item)
    for cls, name, quicker in (
        (DynamoType, "__hash__", _hash),
        (DynamoType, "__eq__", _equal),
        (DynamoType, "__lt__", _less),
        (DynamoType, "size", _size),
        (Item, "project", _project),
    ):
        monkeypatch.setattr(cls, name, quicker(getattr(cls, name)))


def bare_item(hash_key: DynamoType, range_key: DynamoType | None, attributes: _Attributes) -> Item:
    """Make an item of attributes that one has had already."""
    item: Item = object.__new__(Item)
    item.hash_key, item.range_key = hash_key, range_key
    item.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
    dict.update(item.attrs, attributes)
    return item


def _init_value(value: DynamoType, given: DynamoType | dict[str, Any]) -> None:
    if type(given) is DynamoType:
        kind, content = given.type, given.value
    else:
        kind = next(iter(given))  # type: ignore[arg-type]
        content = given[kind]  # type: ignore[index]
    if kind == "L":
        content = [DynamoType(inner) for inner in content]
    elif kind == "M":
        content = {name: DynamoType(inner) for name, inner in content.items()}
    value.type, value.value = kind, content


def _init_item(
    item: Item, hash_key: DynamoType, range_key: DynamoType | None, attrs: _Attributes
) -> None:
    """Measure the whole item once."""
    item.hash_key, item.range_key = hash_key, range_key
    item.attrs = LimitedSizeDict.__new__(LimitedSizeDict)
    for name, value in attrs.items():
        dict.__setitem__(item.attrs, name, DynamoType(value))
    if item.size() > _MOST:
        raise ItemSizeTooLarge


def _hash(original: Callable[[DynamoType], int]) -> Callable[[DynamoType], int]:
    def quick(value: DynamoType) -> int:
        return hash(("S", value.value)) if value.type == "S" else original(value)

    return quick


def _equal(
    original: Callable[[DynamoType, DynamoType], bool],
) -> Callable[[DynamoType, DynamoType], bool]:
    def quick(value: DynamoType, other: DynamoType) -> bool:
        if value.type == "S" == other.type:
            return bool(value.value == other.value)
        return original(value, other)

    return quick


def _less(
    original: Callable[[DynamoType, DynamoType], bool],
) -> Callable[[DynamoType, DynamoType], bool]:
    def quick(value: DynamoType, other: DynamoType) -> bool:
        if value.type == "S" == other.type:
            return bool(value.value < other.value)
        return original(value, other)

    return quick


def _size(original: Callable[[DynamoType], int]) -> Callable[[DynamoType], int]:
    def quick(value: DynamoType) -> int:
        content = value.value
        match value.type:
            case "S" | "N":
                return len(content) if content.isascii() else len(content.encode())
            case "M":
                return sum(len(name.encode()) + inner.size() for name, inner in content.items())
            case "L":
                return sum(inner.size() for inner in content)
        return original(value)

    return quick


def _project(
    original: Callable[[Item, list[list[str]]], Item],
) -> Callable[[Item, list[list[str]]], Item]:
    def quick(item: Item, wanted: list[list[str]]) -> Item:
        found: _Attributes = {}
        try:
            for path in wanted:
                _take(path, item.attrs, found)
        except _OddError:
            return original(item, wanted)
        return bare_item(item.hash_key, item.range_key, found)

    return quick


class _OddError(Exception):
    """A path that does not lead through maps alone."""


def _take(path: Sequence[str], origin: _Attributes, found: _Attributes) -> None:
    """Add what lies at the end of a path, and the maps on the way there."""
    name, *rest = path
    if "[" in name:
        raise _OddError
    value = origin.get(name)
    if value is None or found.get(name) is value:
        return
    if not rest:
        found[name] = value
    elif value.type != "M":
        raise _OddError
    else:
        inner = found[name].value if name in found else {}
        _take(rest, value.value, inner)
        if inner:
            found[name] = DynamoType({"M": inner})

"""Items on the way through botocore, which asks the service's model about each value thrice.

A map of attributes that is as it should be, which is nearly every one, is checked, written
and read here. Any other goes botocore's way, and meets botocore's complaints.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.model import MapShape, Shape
from botocore.parsers import BaseJSONParser
from botocore.serialize import JSONSerializer
from botocore.validate import ParamValidator

type _Value = Mapping[str, Any]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let maps of attributes pass in the short way until the test ends."""
    validate = ParamValidator._validate_map  # type: ignore[attr-defined]
    serialize = JSONSerializer._serialize_type_map  # type: ignore[attr-defined]
    read = BaseJSONParser._handle_map  # type: ignore[attr-defined]

    def quick_validate(
        validator: ParamValidator, params: Any, shape: Shape, errors: Any, name: str
    ) -> None:
        if not (_has_attributes(shape) and _are_sound(params)):
            validate(validator, params, shape, errors, name)

    def quick_serialize(
        serializer: JSONSerializer, serialized: dict[str, Any], value: Any, shape: Shape, key: str
    ) -> None:
        if _has_attributes(shape):
            try:
                serialized[key] = {name: _written(one) for name, one in value.items()}
            except _OddError:
                pass
            else:
                return
        serialize(serializer, serialized, value, shape, key)

    def quick_read(parser: BaseJSONParser, shape: Shape, value: Any) -> Any:
        if _has_attributes(shape):
            return {name: _read(one) for name, one in value.items()}
        return read(parser, shape, value)

    monkeypatch.setattr(ParamValidator, "_validate_map", quick_validate)
    monkeypatch.setattr(JSONSerializer, "_serialize_type_map", quick_serialize)
    monkeypatch.setattr(BaseJSONParser, "_handle_map", quick_read)


def _has_attributes(shape: Shape) -> bool:
    return isinstance(shape, MapShape) and shape.value.name == "AttributeValue"


def _are_sound(attributes: Any) -> bool:
    """Tell whether every value is one that botocore takes without a word."""
    return isinstance(attributes, dict) and all(
        isinstance(name, str) and _is_sound(value) for name, value in attributes.items()
    )


def _is_sound(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) != 1:
        return False
    [(kind, content)] = value.items()
    return kind in _SOUND and _SOUND[kind](content)


def _is_a(kind: type) -> Callable[[Any], bool]:
    return lambda content: isinstance(content, kind)


def _is_list_of(sound: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda content: isinstance(content, list) and all(map(sound, content))


_SOUND: dict[str, Callable[[Any], bool]] = {
    "S": _is_a(str),
    "N": _is_a(str),
    "B": _is_a(bytes),
    "BOOL": _is_a(bool),
    "NULL": _is_a(bool),
    "SS": _is_list_of(_is_a(str)),
    "NS": _is_list_of(_is_a(str)),
    "L": _is_list_of(_is_sound),
    "M": _are_sound,
}


class _OddError(Exception):
    """A value that botocore takes, but nobody here writes."""


def _written(value: _Value) -> _Value:
    """Write a value that was checked as DynamoDB's JSON has it: bytes in base64."""
    if len(value) != 1:
        raise _OddError
    [(kind, content)] = value.items()
    match kind, content:
        case ("B", bytes()):
            return {"B": base64.b64encode(content).decode()}
        case ("M", _):
            return {"M": {name: _written(one) for name, one in content.items()}}
        case ("L", _):
            return {"L": [_written(one) for one in content]}
        case ("B" | "BS", _):
            raise _OddError
    return value


def _read(value: _Value) -> _Value:
    """Read a value of an answer."""
    [(kind, content)] = value.items()
    match kind:
        case "B":
            return {"B": base64.b64decode(content)}
        case "M":
            return {"M": {name: _read(one) for name, one in content.items()}}
        case "L":
            return {"L": [_read(one) for one in content]}
        case "BS":
            return {"BS": [base64.b64decode(one) for one in content]}
    return value

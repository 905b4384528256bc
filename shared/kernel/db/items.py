"""Python values to DynamoDB attribute values and back.

An entity is stored as one JSON text in `data`, compressed from _COMPRESS_FROM bytes on. It is read
and written as a whole, so nested attribute values would only cost time and bytes. boto3's own
converter returns every number as Decimal and wraps bytes; this one returns whole numbers as int.
"""

import zlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.kernel.db.dictionary import DICTIONARY
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY

type Item = dict[str, Any]
"""An item as plain Python values."""
type AttributeMap = dict[str, Any]
"""An item in the form of the DynamoDB API."""
type Key = tuple[str, str]
"""Partition key and sort key of an item."""

_COMPRESS_FROM = 256
"""Bytes; compressing less saves little. An item of up to 1 KB with its keys costs one unit."""

PART_SIZE = 350_000
"""Bytes of `data` per item; DynamoDB allows 400 KB per item."""

MAX_TEXT = 32 << 20
"""Bytes of anything that is stored compressed, before it is compressed."""

_ZLIB_OR_GZIP = 32
"""Added to the size of the window: the format is recognized by its header."""


def to_attributes(item: Mapping[str, Any]) -> AttributeMap:
    """Encode an item; leave out None values."""
    return {name: encode(value) for name, value in item.items() if value is not None}


def encode(value: object) -> AttributeMap:
    """Encode one value: text, number, boolean, bytes, map, or a set of integers."""
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case bytes():
            return {"B": value}
        case Mapping():
            return {"M": to_attributes(value)}
        case set() | frozenset():
            return {"NS": [str(number) for number in sorted(value)]}
        case _:
            raise TypeError(f"{type(value).__name__} has no attribute value")


def from_attributes(attributes: Mapping[str, Any]) -> Item:
    """Decode an item; numbers become int where they are whole."""
    return {
        name: value if kind in _UNCHANGED else _decode(kind, value)
        for name, attribute in attributes.items()
        for kind, value in attribute.items()
    }


_UNCHANGED = frozenset({"S", "B", "BOOL"})
"""The types whose values Python has, too; nearly all attributes."""


def _decode(kind: str, value: Any) -> Any:
    match kind:
        case "N":
            return _number(value)
        case "M":
            return from_attributes(value)
        case "NS":
            return {_number(text) for text in value}
        case _:
            return value


def _number(text: str) -> int | Decimal:
    if text.isdecimal():  # nearly all numbers, in a tenth of the time
        return int(text)
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else number


def size_of(attributes: Mapping[str, Any]) -> int:
    """Return the size of an item in bytes, as DynamoDB counts it, rounded up."""
    return sum(len(name.encode()) + _value_size(value) for name, value in attributes.items())


def _value_size(attribute: Mapping[str, Any]) -> int:
    ((kind, value),) = attribute.items()
    match kind:
        case "S":
            return len(value.encode())
        case "M":
            return 3 + sum(1 + len(name) * 4 + _value_size(one) for name, one in value.items())
        case "NS":
            return sum(len(number) + 1 for number in value)
        case "BOOL":
            return 1
        case _:
            return len(value) + 1


def pack(text: str, dictionary: bytes = b"") -> list[bytes]:
    """Return the `data` of one or more items for the JSON text of an entity."""
    raw = text.encode()
    packed = _deflated(raw, dictionary) if len(raw) >= _COMPRESS_FROM else raw
    return [packed[at : at + PART_SIZE] for at in range(0, len(packed), PART_SIZE)]


def _deflated(raw: bytes, dictionary: bytes) -> bytes:
    if not dictionary:
        return zlib.compress(raw, 6)
    stream = zlib.compressobj(6, zdict=dictionary)
    return stream.compress(raw) + stream.flush()


def unpack(parts: Sequence[bytes], most: int = MAX_TEXT) -> bytes:
    """Return the JSON text of the `data` that `pack` made.

    Raises:
        ValueError: The text has more than `most` bytes, or the data is damaged.
    """
    # JSON never starts with the byte that every zlib stream starts with.
    packed = b"".join(parts)
    if packed[:1] == b"\x78":
        return inflate(packed, most)
    if len(packed) > most:
        raise ValueError(f"the data has more than {most} bytes")
    return packed


def inflate(data: bytes, most: int = MAX_TEXT) -> bytes:
    """Decompress data in the format of zlib or gzip. Nothing else decompresses stored data.

    Raises:
        ValueError: There are more than `most` bytes, or the data is damaged.
    """
    stream = zlib.decompressobj(zlib.MAX_WBITS | _ZLIB_OR_GZIP, zdict=DICTIONARY)
    try:
        text = stream.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(text) > most:
        raise ValueError(f"the data has more than {most} bytes")
    if not stream.eof:
        raise ValueError("the data is truncated")
    return text


def key_of(item: Item) -> Key:
    """Return the key of an item."""
    return item[PARTITION_KEY], item[SORT_KEY]


def without_key(item: Item) -> Item:
    """Return the attributes of an item without its key."""
    key = {PARTITION_KEY, SORT_KEY}
    return {name: value for name, value in item.items() if name not in key}


def item_at(key: Key, **values: Any) -> Item:
    """Return an item with this key and these attributes."""
    return {PARTITION_KEY: key[0], SORT_KEY: key[1], **values}


def update_of(attributes: Item) -> tuple[str, dict[str, str], Item]:
    """Return the expression, names and values of an update that sets attributes.

    Those that are None are removed.
    """
    set_to = {name: value for name, value in attributes.items() if value is not None}
    parts = [("SET", [f"#{name} = :{name}" for name in set_to])]
    parts += [("REMOVE", [f"#{name}" for name in attributes if name not in set_to])]
    expression = " ".join(f"{verb} {', '.join(names)}" for verb, names in parts if names)
    names = {f"#{name}": name for name in attributes}
    return expression, names, {f":{name}": value for name, value in set_to.items()}


def alias_key(facet: str, code: str) -> Key:
    """Return the key of the alias item of a unique code."""
    return (f"{facet}#{code}", "ALIAS")

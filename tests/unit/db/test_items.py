"""Conversion of values to DynamoDB attributes, and packing of entities."""

import gzip
import re
import tracemalloc
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.db.dictionary import DICTIONARY, DICTIONARY_SINCE
from shared.kernel.db.items import (
    MAX_TEXT,
    PART_SIZE,
    encode,
    from_attributes,
    inflate,
    pack,
    to_attributes,
    unpack,
)
from shared.kernel.db.records import HEAD, Record, encode_entity
from shared.kernel.fields import Stored
from tests.cases import each_case

ROOT = Path(__file__).parents[3]

CHECKSUM = 1911055258
"""The checksum of the dictionary in what is stored; it never changes."""


class _Work(Stored):
    note: str
    whs_code: str
    external_ref: str


_VALUES = (
    st.text()
    | st.booleans()
    | st.integers(-(10**37), 10**37)
    | st.binary()
    | st.sets(st.integers(0, 10**12), min_size=1)
    | st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=0, max_value=10**9)
)


@given(st.dictionaries(st.text(min_size=1), _VALUES | st.dictionaries(st.text(), _VALUES)))
def test_attributes_round_trip(item: dict[str, Any]) -> None:
    assert from_attributes(to_attributes(item)) == item


def test_none_values_are_omitted() -> None:
    assert to_attributes({"a": None, "b": 1}) == {"b": {"N": "1"}}


@pytest.mark.parametrize("value", [1.5, object(), ["a"], None])
def test_unsupported_value_raises(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_whole_numbers_are_read_as_integers() -> None:
    read = from_attributes({"a": {"N": "5.0"}, "b": {"N": "5.5"}})

    assert read == {"a": 5, "b": Decimal("5.5")}
    assert isinstance(read["a"], int)


@given(st.text(max_size=3000).map(lambda text: f'{{"comments":"{text}"}}'))
def test_packed_entity_round_trips(text: str) -> None:
    assert unpack(pack(text)).decode() == text
    assert unpack(pack(text, DICTIONARY)).decode() == text


def test_dictionary_is_the_one_that_stored_data_names() -> None:
    assert zlib.adler32(DICTIONARY) == CHECKSUM


def test_dictionary_is_used_from_its_version_of_the_schema_on() -> None:
    entity = _Work(note="x" * 300, whs_code="YARD", external_ref="SO-1")
    sizes = []
    for schema in (DICTIONARY_SINCE - 1, DICTIONARY_SINCE):
        _, head, _ = encode_entity(("work#1", HEAD), "Work 1", Record(1, 1, entity, schema=schema))
        assert _Work.from_json(unpack([head["data"]])) == entity
        sizes.append(len(head["data"]))
    assert sizes[0] == len(pack(entity.to_json())[0]) > sizes[1]


@each_case(
    ("data", "message"),
    [
        (zlib.compress(bytes(200_000_000), 1), "has more than 33554432 bytes"),
        (gzip.compress(bytes(MAX_TEXT + 1), 1), "has more than 33554432 bytes"),
        (zlib.compress(b"{}" * 300)[:-3], "is truncated"),
        (b"\x78\x9c" + b"\xff" * 20, "Error -3"),
        (pack("x" * 300, b"another dictionary")[0], "Error"),
    ],
)
def test_compressed_data_is_read_up_to_a_bound(data: bytes, message: str) -> None:
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        inflate(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * MAX_TEXT


def test_data_that_is_not_compressed_has_the_same_bound() -> None:
    with pytest.raises(ValueError, match="has more than 10 bytes"):
        unpack([b"{}" * 6], 10)


def test_only_bounded_functions_decompress() -> None:
    """Each of these files has its own bound, with tests, or reads a file of the build."""
    bounded = {
        "shared/kernel/db/items.py", "shared/kernel/spreadsheets/zip_archive.py",
        "operations/encrypted_lines.py", "shared/kernel/precompiled.py", "shared/http/request.py",
    }  # fmt: skip
    unbounded = re.compile(
        r"(zlib|gzip|lzma|bz2)\.decompress\(|decompressobj\(|GzipFile|gzip\.open"
    )
    found = {
        str(path.relative_to(ROOT))
        for folder in ("shared", "functions", "operations", "cli")
        for path in (ROOT / folder).rglob("*.py")
        if unbounded.search(path.read_text(encoding="utf-8"))
    }
    assert found <= bounded


def test_large_entity_is_split_into_parts_below_the_item_limit() -> None:
    noise = "".join(chr(0x4E00 + (n * 7919) % 20_000) for n in range(400_000))

    parts = pack(noise)

    assert len(parts) > 1
    assert all(len(part) <= PART_SIZE for part in parts)
    assert unpack(parts).decode() == noise

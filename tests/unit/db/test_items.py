"""Conversion of values to DynamoDB attributes, and packing of entities."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.db.items import PART_SIZE, encode, from_attributes, pack, to_attributes, unpack

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


def test_large_entity_is_split_into_parts_below_the_item_limit() -> None:
    noise = "".join(chr(0x4E00 + (n * 7919) % 20_000) for n in range(400_000))

    parts = pack(noise)

    assert len(parts) > 1
    assert all(len(part) <= PART_SIZE for part in parts)
    assert unpack(parts).decode() == noise

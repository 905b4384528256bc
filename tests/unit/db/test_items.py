"""Values in DynamoDB and back; entities as packed text."""

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
def test_what_is_written_is_read_again(item: dict[str, Any]) -> None:
    assert from_attributes(to_attributes(item)) == item


def test_what_has_no_value_is_left_out() -> None:
    assert to_attributes({"a": None, "b": 1}) == {"b": {"N": "1"}}


@pytest.mark.parametrize("value", [1.5, object(), ["a"], None])
def test_other_kinds_of_value_are_a_mistake(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_numbers_are_whole_where_they_can_be() -> None:
    read = from_attributes({"a": {"N": "5.0"}, "b": {"N": "5.5"}})

    assert read == {"a": 5, "b": Decimal("5.5")}
    assert isinstance(read["a"], int)


@given(st.text(max_size=3000).map(lambda text: f'{{"comments":"{text}"}}'))
def test_a_packed_entity_is_unpacked_again(text: str) -> None:
    assert unpack(pack(text)).decode() == text


def test_a_large_entity_lies_in_parts_that_an_item_can_hold() -> None:
    noise = "".join(chr(0x4E00 + (n * 7919) % 20_000) for n in range(400_000))

    parts = pack(noise)

    assert len(parts) > 1
    assert all(len(part) <= PART_SIZE for part in parts)
    assert unpack(parts).decode() == noise

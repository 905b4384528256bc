"""The search index: where a word is found, and how many items that takes."""

from pathlib import Path
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.db.facets import SEPARATOR, searchable
from shared.kernel.db.items import AttributeMap, Item, to_attributes
from shared.kernel.db.lists.bounds import MAX_PAGES
from shared.kernel.db.lists.gathered_list import read_rarest_word
from shared.kernel.db.lists.plan import PAGE_ENTRIES, AccessPath
from shared.kernel.db.search import (
    INDEXED_LENGTH,
    SEARCH,
    count_search_items,
    indexed_parts,
    prefix_of,
    search_items,
    search_partitions,
    words_of,
)
from shared.kernel.db.store import QueryPage
from shared.kernel.db.table import index_keys
from shared.kernel.errors import ValidationFailed
from tests.dynamodb.capacity import item_size

_OWN_ATTRIBUTES = 3
"""Attributes of an item in addition to the keys of its entries."""
_ALIAS_BYTES = 200
"""Bytes of an alias without search entries: the key, the name and flags."""
_TEXT = st.text(st.sampled_from("abAB1é-/. ç"), max_size=60)


def _items(text: str) -> list[Item]:
    return search_items("product#7", "product", "7", {SEARCH: text})


def _is_found(text: str, part: str) -> bool:
    """Return whether the entries of a text have one that begins with a part."""
    prefix = prefix_of(part)
    for index, partition in search_partitions("product", part):
        partition_name, sort_name = index_keys(index)
        for item in _items(text):
            if item.get(partition_name) == partition and item[sort_name].startswith(prefix):
                return True
    return False


@given(_TEXT, st.data())
def test_each_part_of_a_word_is_found_where_it_begins_with_a_letter(
    written: str, data: st.DataObject
) -> None:
    text = searchable(written)
    words = [word for word in words_of(text) if len(word) >= INDEXED_LENGTH]
    if not words:
        return
    word = data.draw(st.sampled_from(words))
    start = data.draw(st.integers(0, len(word) - INDEXED_LENGTH))
    end = data.draw(st.integers(start + INDEXED_LENGTH, len(word)))
    assert all(_is_found(text, part) for part in indexed_parts([word[start:end]]))


def test_word_is_found_from_its_first_letter_on() -> None:
    assert indexed_parts(["-m8", "nut", "(bolt", "a"]) == ["bolt", "nut"]
    assert not indexed_parts(["-m8", "m8"])


def test_words_that_are_part_of_others_are_left_out() -> None:
    assert words_of(f"bolt  m8 bolts{SEPARATOR}m8x40 m8") == ("bolts", "m8x40")


def test_other_words_are_not_found() -> None:
    text = searchable(f"SCR-912{SEPARATOR}Cylinder head screw")
    assert not _is_found(text, "912c")
    assert not _is_found(text, "headscrew")


def test_product_with_a_common_name_takes_at_most_22_more_write_units() -> None:
    units = []
    for line in (Path(__file__).parent / "product_names.txt").read_text().splitlines():
        items = _items(searchable(line.replace("|", SEPARATOR)))
        # An item in a transaction takes two, an index entry one. The first item is the alias, which
        # is written anyway and stays below 1 KB.
        entries = sum(len(item) - _OWN_ATTRIBUTES for item in items) / 2
        units.append(2 * (len(items) - 1) + entries)
        assert item_size(to_attributes(items[0])) <= 1024 - _ALIAS_BYTES
    assert mean(units) <= 22


@given(_TEXT)
def test_items_are_counted_before_they_are_made(written: str) -> None:
    text = searchable(written)
    assert count_search_items(text) == len(_items(text))


def test_longest_texts_take_few_items() -> None:
    assert count_search_items("x" * 600) <= 9
    words = " ".join(f"abc{chr(0x4E00 + at)}" for at in range(600))
    assert count_search_items(words[:600]) <= 60
    assert count_search_items(words[:250]) <= 25, "a code and a name without compatibility signs"


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_common_words_are_read_within_the_limit_of_a_query(count: int) -> None:
    limits: list[int | None] = []

    def read(_: AccessPath, start: AttributeMap | None, limit: int | None) -> QueryPage:
        limits.append(limit)
        return QueryPage([], start or {"PK": {"S": "more"}})

    words = [[AccessPath(index, str(word), None) for index in (1, 2)] for word in range(count)]
    with pytest.raises(ValidationFailed):
        read_rarest_word(words, read)
    pages = sum((limit or PAGE_ENTRIES) / PAGE_ENTRIES for limit in limits)
    assert MAX_PAGES - 2 * count <= pages <= MAX_PAGES
    assert all(limit is None or limit < 2**31 for limit in limits)  # DynamoDB refuses others

"""The search index: where a word is found, and how many items that takes."""

from collections.abc import Sequence
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
    BEGINNINGS,
    EVERYWHERE,
    INDEXED_LENGTH,
    MARKED_LENGTH,
    MOST_BEGINNINGS,
    SEARCH,
    SearchEntries,
    count_search_items,
    first_beginnings,
    indexed_parts,
    marked_text,
    prefix_of,
    search_items,
    search_partitions,
    words_of,
)
from shared.kernel.db.store import QueryPage
from shared.kernel.db.table import index_keys
from shared.kernel.errors import ValidationFailed
from tests.cases import each_case
from tests.dynamodb.capacity import item_size

_OWN_ATTRIBUTES = 3
"""Attributes of an item in addition to the keys of its entries."""
_ALIAS_BYTES = 200
"""Bytes of an alias without search entries: the key, the name and flags."""
_WRITTEN = st.text(st.sampled_from("abA10é-/. ç"), max_size=12)
_TEXT = st.text(st.sampled_from("abAB1é-/. ç"), max_size=60)


_KEY = ("product#7", "product", "7")


def _items(text: str, entries: SearchEntries = EVERYWHERE) -> list[Item]:
    return search_items(entries, _KEY, {SEARCH: text})


def _is_found(text: str, part: str, entries: SearchEntries = EVERYWHERE) -> bool:
    """Return whether the entries of a text have one that begins with a part."""
    return _has_entry(_items(text, entries), part, entries)


def _has_entry(items: Sequence[Item], part: str, entries: SearchEntries) -> bool:
    prefix = prefix_of(part)
    for index, partition in search_partitions(entries, "product", part):
        partition_name, sort_name = index_keys(index)
        for item in items:
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
    assert all(_is_found(text, part) for part in indexed_parts(EVERYWHERE, [word[start:end]]))


def test_word_is_found_from_its_first_letter_on() -> None:
    assert indexed_parts(EVERYWHERE, ["-m8", "nut", "(bolt", "a"]) == ["bolt", "nut"]
    assert not indexed_parts(EVERYWHERE, ["-m8", "m8"])


def test_words_that_begin_others_are_left_out() -> None:
    assert words_of(f"bolt  m8 bolts{SEPARATOR}m8x40 m8 ol") == ("bolts", "m8x40", "ol")


def test_other_words_are_not_found() -> None:
    text = searchable(f"SCR-912{SEPARATOR}Cylinder head screw")
    assert not _is_found(text, "912c")
    assert not _is_found(text, "headscrew")


_ORDER = marked_text("EX-000123", "SO-2026-8841", "C-10", "Ferretería Central S.A.")


@each_case(
    ("search", "is_found"),
    [
        *((one, True) for one in ("123", "000123", "EX-123", "ex-0001", "ex", "-123", "-")),
        *((one, True) for one in ("so-2026", "SO-", "2026-88", "8841", "88", "c-1", "10")),
        *((one, True) for one in ("FERRETERIA cent", "s.a", "central 123 so", "central c")),
        *((one, False) for one in ("23", "x-123", "1234", "26", "841", "o-2026", "erreteria")),
        *((one, False) for one in ("so 8842", "so2026", "hardware")),
    ],
)
def test_text_of_beginnings_has_words_where_one_begins(search: str, is_found: bool) -> None:  # noqa: FBT001
    compared = BEGINNINGS.compared(words_of(searchable(search)))
    assert all(word in _ORDER for word in compared) is is_found
    if is_found:
        assert all(
            _is_found(_ORDER, part, BEGINNINGS) for part in indexed_parts(BEGINNINGS, compared)
        )


@given(st.lists(_WRITTEN, max_size=4), _WRITTEN)
def test_index_has_an_entry_of_each_beginning_that_a_text_contains(
    fields: list[str], search: str
) -> None:
    text = marked_text(*fields)
    compared = BEGINNINGS.compared(words_of(searchable(search)))
    for word in compared:
        if word in text:
            parts = indexed_parts(BEGINNINGS, [word])
            assert all(_is_found(text, part, BEGINNINGS) for part in parts)


def test_only_the_first_beginnings_of_a_field_are_found() -> None:
    words = [f"word{at}" for at in range(MOST_BEGINNINGS + 1)]
    text = marked_text(" ".join(words), "other")
    found = [word for word in (*words, "other") if BEGINNINGS.compared([word])[0] in text]
    assert found == [*words[:-1], "other"]
    assert len(marked_text(*(f"number{at}" for at in range(100)))) == MARKED_LENGTH
    compared = BEGINNINGS.compared(words_of(first_beginnings(" ".join(words))))
    assert len(compared) == MOST_BEGINNINGS
    assert all(word in text for word in compared)


def test_a_reference_of_many_numbers_is_found_as_it_is() -> None:
    reference = "SHOP-2026-11-30T10:22:33-0001"
    [compared] = BEGINNINGS.compared(words_of(searchable(reference)))
    text = marked_text("EX-1", reference)
    assert compared in text
    assert all(_is_found(text, one, BEGINNINGS) for one in indexed_parts(BEGINNINGS, [compared]))


def test_entries_are_beside_what_other_items_have_in_indexes() -> None:
    fixed = {
        "PK": "product#7",
        "SK": "FIXED",
        "facets": {"type": "a"},
        **dict.fromkeys((name for number in (8, 9) for name in index_keys(number)), "taken"),
    }
    shown = {SEARCH: _ORDER, "created_at": "2026"}
    more = search_items(BEGINNINGS, _KEY, shown, [fixed])
    assert not more, "an order with a common reference and name needs no item of its own"
    assert [fixed[name] for number in (8, 9) for name in index_keys(number)] == ["taken"] * 4
    assert fixed["facets"] == {"type": "a", **shown}
    assert all(_has_entry([fixed], part, BEGINNINGS) for part in BEGINNINGS.places(_ORDER))


_ORDERS = [
    ("EX-104512", "SO-2026-88412", "C-00123", "Ferretería Central S.A."),
    ("EX-104513", "SO-77120", "10432", "Hardware South Ltd"),
    ("EX-104514", "4500018273", "CLI-0042", "Construcciones Pérez e Hijos"),
    ("EX-104515", "WEB-99812", "B2C", "Ana Ruiz"),
    ("EX-104516", "INV/2026/00817", "C-77", "García & Sons Building Supplies"),
]


def test_order_takes_eight_entries_and_no_item_of_its_own() -> None:
    """Each entry is a write unit, and a further item two."""
    entries = items = 0
    for order in _ORDERS:
        fixed: Item = {"PK": "product#7", "SK": "LOOKUP#FIXED", "P8": "", "P9": ""}
        text = marked_text(*order)
        entries += len(BEGINNINGS.places(text))
        items += len(search_items(BEGINNINGS, _KEY, {SEARCH: text}, [fixed]))
    assert entries / len(_ORDERS) <= 8.5
    assert not items


def test_untouched_item_shows_nothing_more() -> None:
    lookup: Item = {"PK": "product#7", "SK": "LOOKUP#001"}
    assert not search_items(BEGINNINGS, _KEY, {SEARCH: marked_text("a1 S.A.")}, [lookup])
    assert lookup == {"PK": "product#7", "SK": "LOOKUP#001"}


def test_longest_texts_of_documents_take_few_items() -> None:
    same = ["-".join(f"abc{at}{field}" for at in range(MOST_BEGINNINGS)) for field in range(4)]
    assert len(_items(marked_text(*same), BEGINNINGS)) <= 8
    other = ["-".join(f"{at}{field}abc" for at in range(MOST_BEGINNINGS)) for field in range(4)]
    assert len(_items(marked_text(*other), BEGINNINGS)) <= 3


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

"""The search index: every place in a text where a part that people search for may begin.

An entity that can be searched has items `SEARCH#001` …, written in the transaction that writes its
text. Their index keys are entries: the partition has the three characters at a place, the sort key
what follows them in the word, and the id. So a word of three characters or more costs the entries
that begin with it, however many entities there are.

An item has one entry in each index at most. So that few items hold them all, an entry may be in
either of two indexes, and the entries are distributed to keep the largest number in an index low.
A product has the entries of its first item in its alias (`shared.kernel.db.alias_entries`).
"""

import re
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache

from shared.kernel.db.facets import SEPARATOR, base_letters
from shared.kernel.db.items import Item
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY, STABLE_FACETS, index_keys

SEARCH = "search"
"""The facet with the text that is searched."""
SEARCH_INDEX = "search_index"
"""The entries of the search index, in `Collection.since`."""
SEARCH_ITEM = "SEARCH#"
"""Prefix of the sort keys of the items with the entries."""
INDEXED_LENGTH = 3
"""Characters that a word needs to be found by the index. A place with fewer has no entry."""
_INDEXES = 12
"""Indexes that have entries. Another number moves entries: it needs a new schema version."""
SEARCH_ATTRIBUTES = (
    STABLE_FACETS, *(name for index in range(1, _INDEXES + 1) for name in index_keys(index)),
)  # fmt: skip
"""The attributes that an item may have for its entries."""
MAX_WORDS = 20
"""Words of a search. A FilterExpression may have 4 KB, and each word takes 40 bytes of it."""
_MOST_READ = 4
"""Words whose entries are read, the longest ones: each has two Queries, and eight run at once."""
_SORTED_LENGTH = 16
"""Characters of the sort key. The rest of a longer word is compared with the whole text."""

_WORD = re.compile(rf"[^\s{SEPARATOR}]+")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words that must all be in a text, without those that are part of another one."""
    words = sorted(set(_WORD.findall(text)), key=lambda word: (-len(word), word))
    found: list[str] = []
    for word in words:
        if not any(word in longer for longer in found):
            found.append(word)
    return tuple(found)


def indexed_parts(words: Iterable[str]) -> list[str]:
    """Return the longest parts of some words that the index finds; none if all are too short.

    No entry begins with punctuation.
    """
    parts = [word[_first_letter(word) :] for word in words]
    found = [part for part in parts if len(part) >= INDEXED_LENGTH]
    return sorted(found, key=len, reverse=True)[:_MOST_READ]


def _first_letter(word: str) -> int:
    return next((at for at, char in enumerate(word) if char.isalnum()), len(word))


def search_partitions(kind: str, part: str) -> list[tuple[int, str]]:
    """Return the indexes that may have entries that begin with `part`, each with the partition."""
    head = part[:INDEXED_LENGTH]
    return [(index, _partition(kind, head)) for index in _candidates(head)]


def prefix_of(part: str) -> str:
    """Return what the sort keys of the entries of `part` begin with."""
    return part[INDEXED_LENGTH : INDEXED_LENGTH + _SORTED_LENGTH]


def search_items(
    partition: str, kind: str, number: str, shown: Mapping[str, str | None]
) -> list[Item]:
    """Return the items of an entity whose text is searched, in its own partition.

    `number` is its id, as sort keys have it; `shown` are the facets that the entries show, among
    them SEARCH, the text.
    """
    items: list[Item] = []
    facets = {name: text for name, text in shown.items() if text is not None}
    for index, places in _by_index(base_letters(facets.get(SEARCH, ""))).items():
        partition_name, sort_name = index_keys(index)
        for at, place in enumerate(places):
            if at == len(items):
                key = {PARTITION_KEY: partition, SORT_KEY: f"{SEARCH_ITEM}{at + 1:03d}"}
                items.append({**key, STABLE_FACETS: facets})
            items[at][partition_name] = _partition(kind, place[:INDEXED_LENGTH])
            items[at][sort_name] = f"{prefix_of(place)}{SEPARATOR}{number}"
    return items


def count_search_items(text: str) -> int:
    """Return how many items an entity has whose text is `text`."""
    return max(map(len, _by_index(base_letters(text)).values()))


@lru_cache(maxsize=256)
def _by_index(text: str) -> Mapping[int, list[str]]:
    """Return the places of a text by the index that has their entries; few items hold them all."""
    places = sorted(_places(text))
    most = -(-len(places) // _INDEXES)
    held: dict[int, list[str]] = {index: [] for index in range(1, _INDEXES + 1)}
    for place in places:
        while not _enter(place, held, most, set()):
            most += 1
    return held


def _enter(place: str, held: Mapping[int, list[str]], most: int, tried: set[int]) -> bool:
    """Enter a place in one of its two indexes, each with `most` places, by moving others on."""
    for index in _candidates(place[:INDEXED_LENGTH]):
        if index in tried:
            continue
        tried.add(index)
        others = held[index]
        if len(others) == most:
            moved = next((one for one in others if _enter(one, held, most, tried)), None)
            if moved is None:
                continue
            others.remove(moved)
        others.append(place)
        return True
    return False


def _places(text: str) -> set[str]:
    return {
        word[at : at + INDEXED_LENGTH + _SORTED_LENGTH]
        for word in _WORD.findall(text)
        for at in range(len(word) - INDEXED_LENGTH + 1)
        if word[at].isalnum()
    }


def _partition(kind: str, head: str) -> str:
    return f"{kind}#{SEARCH}#{head}"


@lru_cache(maxsize=4096)
def _candidates(head: str) -> tuple[int, int]:
    digest = zlib.crc32(head.encode())
    first = digest % _INDEXES
    second = (first + 1 + digest // _INDEXES % (_INDEXES - 1)) % _INDEXES
    return first + 1, second + 1

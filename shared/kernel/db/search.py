"""The search index: the places in a text where a part that people search for may begin.

An entity that can be searched has entries, written in the transaction that writes its text: the
partition has the three characters at a place, the sort key what follows them in the word, and the
id. So a word of three characters or more costs the entries that begin with it, however many
entities there are. A collection has entries for every place of a word (`EVERYWHERE`), or, because
each costs a write, for those where a word or number begins (`BEGINNINGS`).

An item has one entry in each index at most. So that few items hold them all, an entry may be in
any of two or four indexes, and the entries are distributed to keep the largest number in an index
low. They are in items `SEARCH#001` …, and before these in items that the entity has anyway: in its
item of fixed facets and its further lookups; a product has those of its first item in its alias
(`shared.kernel.db.alias_entries`).
"""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from shared.kernel.db.facets import SEPARATOR, base_letters, searchable
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
_NUMBERS = range(1, _INDEXES + 1)
_NO_ROOM = (0,) * _INDEXES
SEARCH_ATTRIBUTES = (
    STABLE_FACETS, *(name for index in _NUMBERS for name in index_keys(index)),
)  # fmt: skip
"""The attributes that an item may have for its entries."""
MAX_WORDS = 20
"""Words of a search. A FilterExpression may have 4 KB, and each word takes 40 bytes of it."""
_MOST_QUERIES = 8
"""Queries of a search that run at once. The longest words are read, each with a Query per index."""
_SORTED_LENGTH = 16
"""Characters of the sort key. The rest of a longer word is compared with the whole text."""

MOST_BEGINNINGS = 6
"""Beginnings of a field that have entries, and of a searched word that are compared: what follows
them is not found. So an entity has few items with entries, whatever its texts are."""
MARKED_LENGTH = 600
"""Characters of a text of `marked_text`. Every entry carries it."""

_WORD = re.compile(rf"[^\s{SEPARATOR}]+")
_RUN = re.compile(r"[^\W_]+")
"""Letters and digits without a sign between them."""


@dataclass(frozen=True, slots=True)
class SearchEntries:
    """Which places of a text have entries, and how words are compared with the text.

    Attributes:
        choices: In how many indexes an entry may be. More of them fill items better, and each is
            read by a search.
        places: Returns the places of such a text, or of a compared word, that have entries; each
            is the word from there on, in the order of the text.
        stored: Returns the text that entries show, of the facet SEARCH.
        compared: Returns the texts that the text of an entity contains if it has some words.
    """

    choices: int
    places: Callable[[str], Sequence[str]]
    stored: Callable[[str], str]
    compared: Callable[[Iterable[str]], tuple[str, ...]]


def words_of(text: str) -> tuple[str, ...]:
    """Return the words that must all be in a text, without those that begin another one."""
    words = sorted(set(_WORD.findall(text)), key=lambda word: (-len(word), word))
    found: list[str] = []
    for word in words:
        if not any(longer.startswith(word) for longer in found):
            found.append(word)
    return tuple(found)


def marked_text(*fields: str | None) -> str:
    """Return the text of some fields of an entity whose collection has entries at BEGINNINGS.

    Each beginning is marked: a run of letters and digits, without leading zeros. So `EX-000123`
    has `ex-` and `123`, and is found by `123`, `000123` and `EX-123`, but not by `23`.
    """
    parts = dict.fromkeys(_first_beginnings(searchable(field)) for field in fields if field)
    return " ".join(parts)[:MARKED_LENGTH]


def first_beginnings(text: str) -> str:
    """Return what a search compares of a text: as much as a field with this text would have.

    So a name of many words is found by all of them.
    """
    return _first_beginnings(text).replace(SEPARATOR, "")


def _first_beginnings(field: str) -> str:
    marked = " ".join(_marked(word) for word in _WORD.findall(base_letters(field)))
    return SEPARATOR.join(marked.split(SEPARATOR)[: MOST_BEGINNINGS + 1]).rstrip()


def _marked(word: str) -> str:
    return _RUN.sub(lambda run: SEPARATOR + (run[0].lstrip("0") or "0"), word)


def indexed_parts(entries: SearchEntries, compared: Iterable[str]) -> list[str]:
    """Return the longest parts of compared words that the index finds; none if all are too short.

    Of each word it is the part from the first place on that has an entry.
    """
    places = [entries.places(word)[:1] for word in compared]
    found = [part for first in places for part in first]
    return sorted(found, key=len, reverse=True)[: _MOST_QUERIES // entries.choices]


def search_partitions(entries: SearchEntries, kind: str, part: str) -> list[tuple[int, str]]:
    """Return the indexes that may have entries that begin with `part`, each with the partition."""
    head = part[:INDEXED_LENGTH]
    return [(index, _partition(kind, head)) for index in _candidates(head, entries.choices)]


def prefix_of(part: str) -> str:
    """Return what the sort keys of the entries of `part` begin with."""
    return part[INDEXED_LENGTH : INDEXED_LENGTH + _SORTED_LENGTH]


def search_items(
    entries: SearchEntries,
    key: tuple[str, str, str],
    shown: Mapping[str, str | None],
    beside: Sequence[Item] = (),
) -> list[Item]:
    """Return the items with the entries of an entity, in its own partition.

    `key` is this partition, the kind of the entity, and its id as sort keys have it; `shown` are
    the facets that the entries show, among them SEARCH, the text. Items of the entity that are
    `beside` get entries in the indexes that they are not in.
    """
    partition, kind, number = key
    facets = {name: text for name, text in shown.items() if text is not None}
    items: list[Item] = []
    free = {
        index: [item for item in beside if index_keys(index)[0] not in item] for index in _NUMBERS
    }
    room = tuple(map(len, free.values()))
    for index, places in _by_index(entries, facets.get(SEARCH, ""), room).items():
        partition_name, sort_name = index_keys(index)
        for at, place in enumerate(places, start=-len(free[index])):
            if at == len(items):
                own = {PARTITION_KEY: partition, SORT_KEY: f"{SEARCH_ITEM}{at + 1:03d}"}
                items.append({**own, STABLE_FACETS: facets})
            item = free[index][at] if at < 0 else items[at]
            item[STABLE_FACETS] = facets | item.get(STABLE_FACETS, {})
            item[partition_name] = _partition(kind, place[:INDEXED_LENGTH])
            item[sort_name] = f"{prefix_of(place)}{SEPARATOR}{number}"
    return items


def count_search_items(text: str) -> int:
    """Return how many items an entity has whose text, with entries everywhere, is `text`."""
    return max(map(len, _by_index(EVERYWHERE, text, _NO_ROOM).values()))


@lru_cache(maxsize=256)
def _by_index(entries: SearchEntries, text: str, room: tuple[int, ...]) -> Mapping[int, list[str]]:
    """Return the places of a text by the index that has their entries; few items hold them all.

    `room` are the entries in each index for which there are items already.
    """
    places = sorted(entries.places(text))
    more = max(0, -(-(len(places) - sum(room)) // _INDEXES))
    held: dict[int, list[str]] = {index: [] for index in _NUMBERS}
    for place in places:
        while not _enter(place, held, [one + more for one in room], entries.choices, set()):
            more += 1
    return held


def _enter(
    place: str, held: Mapping[int, list[str]], most: Sequence[int], choices: int, tried: set[int]
) -> bool:
    """Enter a place in one of its indexes, each with `most` places, by moving others on."""
    for index in _candidates(place[:INDEXED_LENGTH], choices):
        if index in tried:
            continue
        tried.add(index)
        others = held[index]
        if len(others) == most[index - 1]:
            moved = next((one for one in others if _enter(one, held, most, choices, tried)), None)
            if moved is None:
                continue
            others.remove(moved)
        others.append(place)
        return True
    return False


def _partition(kind: str, head: str) -> str:
    return f"{kind}#{SEARCH}#{head}"


@lru_cache(maxsize=4096)
def _candidates(head: str, choices: int) -> tuple[int, ...]:
    digest = zlib.crc32(head.encode())
    first = digest % _INDEXES
    step = 1 + digest // _INDEXES % (_INDEXES - 1)
    others = [(first + step + more) % _INDEXES for more in range(_INDEXES)]
    others.remove(first)
    return tuple(index + 1 for index in (first, *others)[:choices])


def _everywhere(text: str) -> Sequence[str]:
    places = (
        word[at : at + INDEXED_LENGTH + _SORTED_LENGTH]
        for word in _WORD.findall(base_letters(text))
        for at in range(len(word) - INDEXED_LENGTH + 1)
        if word[at].isalnum()
    )
    return list(dict.fromkeys(places))


def _beginnings(text: str) -> Sequence[str]:
    places = (
        "".join(runs[at:])[: INDEXED_LENGTH + _SORTED_LENGTH]
        for runs in (word.split(SEPARATOR) for word in text.split(" "))
        for at in range(1, len(runs))
        if _is_worth_a_write(runs[at], "".join(runs[at + 1 : at + 2]))
    )
    return list(dict.fromkeys(place for place in places if len(place) >= INDEXED_LENGTH))


def _is_worth_a_write(run: str, following: str) -> bool:
    """Return whether a run is not a single letter as in `S.A.`; one before a number is worth it."""
    return run[1:2].isalnum() or following[:1].isdigit()


EVERYWHERE = SearchEntries(
    choices=2,
    places=_everywhere,
    # In a table that is being upgraded, a search does not use base letters yet.
    stored=lambda text: SEPARATOR.join(dict.fromkeys((text, base_letters(text)))),
    compared=lambda words: words_of(base_letters(" ".join(words))),
)
"""Entries wherever a part of a word may begin."""

BEGINNINGS = SearchEntries(
    choices=4,
    places=_beginnings,
    stored=lambda text: text,
    compared=lambda words: tuple(
        dict.fromkeys(map(_first_beginnings, base_letters(" ".join(words)).split()))
    ),
)
"""Entries where a word begins, or a part of it after a sign; the text is of `marked_text`."""

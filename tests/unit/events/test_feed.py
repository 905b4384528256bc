"""The sums of the feed of changes, the order of its entries, and the size of its chunks."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise

from shared.kernel.db.actions import MAX_ACTIONS
from shared.kernel.db.facets import pair_id
from shared.kernel.db.items import PART_SIZE, unpack
from shared.kernel.db.outbox_item import Author, NotedChanges, VersionChange
from shared.kernel.events.feed import (
    FeedHead,
    UnappendedEntry,
    checksum,
    chunk_item,
)
from shared.kernel.events.feed_append import _first_batch, in_order

_NOW = "2026-11-29T12:00:00.000Z"


def _entry(name: str, *changes: VersionChange, previous: Sequence[str] = ()) -> UnappendedEntry:
    noted = NotedChanges("table", "request", Author("client", "erp"), changes, previous)
    return UnappendedEntry(name, _NOW, noted)


def _of_product(number: int, before: int | None, after: int | None) -> VersionChange:
    return VersionChange("product", number, before, after)


def test_checksum_is_the_beginning_of_the_hash_of_object_id_and_version() -> None:
    digest = hashlib.sha256(b"stock_level:12:3").hexdigest()
    assert checksum("stock_level", 12, 3) == int(digest[:16], 16)


def test_sums_are_those_of_the_versions_that_exist_whatever_the_order_modulo_2_to_the_64() -> None:
    changes = [
        *(_of_product(number, None, 1) for number in range(40)),
        *(_of_product(number, 1, 2) for number in range(20)),
        *(_of_product(number, 1, None) for number in range(20, 30)),
    ]
    expected = [*((number, 2) for number in range(20)), *((n, 1) for n in range(30, 40))]
    total = sum(checksum("product", number, version) for number, version in expected)
    assert total > 2**64
    for ordered in (changes, changes[::-1]):
        head = FeedHead(1, 7, {}).after([_entry(f"evt_{0:032x}", change) for change in ordered])
        assert (head.epoch, head.position) == (1, 77)
        assert head.checksums == {"product": (30, total % 2**64)}


def test_an_entry_comes_behind_those_that_it_follows_and_else_stays_at_its_place() -> None:
    entries = [
        _entry("c", previous=["b", "gone"]),
        _entry("x"),
        _entry("b", previous=["a"]),
        _entry("a"),
        _entry("y", previous=["x"]),
    ]
    assert [one.id for one in in_order(entries)] == ["a", "b", "c", "x", "y"]
    assert [one.id for one in in_order([*entries, *entries])] == ["a", "b", "c", "x", "y"]


def test_a_chain_as_long_as_a_batch_of_the_stream_is_ordered() -> None:
    names = [f"{number:05}" for number in range(3_000)]
    chain = [_entry(new, previous=[old]) for old, new in pairwise(names)]
    assert [one.id for one in in_order(chain[::-1])] == names[1:]


def test_a_chunk_of_the_most_entries_or_changes_fits_in_an_item() -> None:
    most = range(10**11, 10**11 + MAX_ACTIONS)
    changes = [
        VersionChange("stock_level", number, 10**9, 10**9 + 1, pair_id(number, number))
        for number in most
    ]
    wide = [_entry(f"evt_{number:032x}", *changes) for number in range(200)]
    small = [_entry(f"evt_{number:032x}", _of_product(number, None, 1)) for number in range(2_000)]
    for entries, count in ((wide, 40), (small, 500)):
        head = FeedHead(1, 0, {})
        batch = _first_batch(head, entries)
        assert len(batch) == count
        chunk = chunk_item(head, head.after(batch), batch)
        assert len(unpack([chunk["entries"]])) + len(chunk["ids"]) < PART_SIZE

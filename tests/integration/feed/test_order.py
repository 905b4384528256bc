"""What precedes a position of the feed, found without reading all of it."""

import pytest

from shared.kernel.db.items import to_attributes
from shared.kernel.db.outbox_item import bytes_of
from shared.kernel.errors import Conflict, ServiceUnavailable
from shared.kernel.events import feed_order
from shared.kernel.events.feed import CHUNK_SECONDS, CLOCKS_MS, STREAM_MS, chunk_key, head_item
from shared.kernel.events.feed_order import FeedPlace, entries_since, head_with, place_at
from tests.clock import Clock
from tests.faults import AwsFaults, before_each
from tests.feed_scenario import FeedScenario


@pytest.fixture
def slow_feed(feed: FeedScenario, clock: Clock) -> FeedScenario:
    """A feed of eight chunks, ten seconds apart; the third entry is 50 seconds late."""
    clock.advance(2 * CLOCKS_MS / 1000)
    for number in range(1, 10):
        feed.create(number)
        clock.advance(10)
    items = feed.items()
    for one in [*items[:2], *items[3:7], items[2], *items[7:]]:
        assert feed.relay([one]) == []
    return feed


def _began(feed: FeedScenario) -> list[int]:
    return [int(one["SK"]["S"].removeprefix("evt_")[:12], 16) for one in feed.items()]


def test_the_head_knows_how_late_entries_are(slow_feed: FeedScenario) -> None:
    head = slow_feed.head
    assert 40_000 < head.delay_behind(0) == head.delay_behind(6) <= 16 * 50_000
    assert head.delay_behind(7) <= 16
    assert head.delay_behind(head.position) == 0


def test_a_head_that_does_not_say_how_late_entries_are(slow_feed: FeedScenario) -> None:
    store, head = slow_feed.store, slow_feed.head
    item = to_attributes(head_item(store.table, head))
    del item["delays"]
    store.client.put_item(TableName=store.table, Item=item)
    assert slow_feed.head == head
    assert slow_feed.head.delay_behind(head.position - 1) > STREAM_MS
    slow_feed.create(10)
    assert slow_feed.relay(slow_feed.items()[-1:]) == []
    assert slow_feed.head.delay_behind(head.position) < STREAM_MS


def test_a_place_has_the_newest_beginning_up_to_its_position(slow_feed: FeedScenario) -> None:
    began, head = _began(slow_feed), slow_feed.head
    assert place_at(slow_feed.store, head, 0) == FeedPlace(0, head.epoch)
    assert place_at(slow_feed.store, head, 6) == FeedPlace(6, began[6])
    assert place_at(slow_feed.store, head, 7) == FeedPlace(7, began[6])
    assert place_at(slow_feed.store, head, 8) == FeedPlace(8, began[7])


def test_an_expired_place_is_none(slow_feed: FeedScenario, clock: Clock) -> None:
    clock.advance(CHUNK_SECONDS + 1)
    assert place_at(slow_feed.store, slow_feed.head, 6) is None


@pytest.mark.parametrize("chunks", [1, 4])
def test_entries_since_a_time_are_read_from_the_end(
    slow_feed: FeedScenario, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    monkeypatch.setattr(feed_order, "_FIRST_CHUNKS", chunks)
    store, head, began = slow_feed.store, slow_feed.head, _began(slow_feed)

    def found(end: int, since_ms: int, after: int = 0) -> list[int]:
        entries = entries_since(store, head, end, since_ms=since_ms, after=after)
        return [one.position for one in entries]

    assert found(9, began[7]) == [9, 8]
    assert found(9, began[6]) == [9, 8, 7, 6]  # with the late one, behind which is an older one
    assert found(5, began[3]) == [5, 4, 3]
    assert found(9, 0, after=6) == [9, 8, 7]
    assert found(9, 0) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert found(9, began[8] + 1) == []
    assert found(0, 0) == []


def test_several_entries_of_a_chunk_are_cut_at_both_ends(feed: FeedScenario, clock: Clock) -> None:
    clock.advance(2 * CLOCKS_MS / 1000)
    for number in range(1, 6):
        feed.create(number)
    assert feed.relay() == []
    entries = entries_since(feed.store, feed.head, 4, since_ms=0, after=1)
    assert [one.position for one in entries] == [4, 3, 2]
    place = place_at(feed.store, feed.head, 2)
    assert place == FeedPlace(2, max(_began(feed)))


def test_expired_chunks_end_the_entries(slow_feed: FeedScenario) -> None:
    store, head = slow_feed.store, slow_feed.head
    for entry in entries_since(store, head, 3, since_ms=0):
        key = chunk_key(head.epoch, entry.position)
        store.client.delete_item(
            TableName=store.table, Key={"PK": {"S": key[0]}, "SK": {"S": key[1]}}
        )
    found = entries_since(store, head, 9, since_ms=0)
    assert [one.position for one in found] == [9, 8, 7, 6, 5, 4]


def test_the_head_is_read_after_the_transactions_are_in_the_feed(
    feed: FeedScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    clock.advance(2 * CLOCKS_MS / 1000)
    feed.create(1)
    [item] = feed.items()
    waits = 0

    def relay_at_the_third_call(_call: object) -> None:
        nonlocal waits
        waits += 1
        if waits == 3:
            assert feed.relay([item]) == []

    started = feed.head
    with aws_faults.faulty(before_each(relay_at_the_third_call)):
        head = head_with(feed.store, started, [bytes_of(item["SK"]["S"])])
    assert head.position == started.position + 1


def test_a_relay_that_stands_still_ends_the_wait(feed: FeedScenario, clock: Clock) -> None:
    clock.advance(2 * CLOCKS_MS / 1000)
    feed.create(1)
    written_by = [bytes_of(item["SK"]["S"]) for item in feed.items()]
    with pytest.raises(ServiceUnavailable):
        head_with(feed.store, feed.head, written_by)
    clock.advance(STREAM_MS / 1000 + 1)  # the relay has discarded it
    assert head_with(feed.store, feed.head, written_by) == feed.head


def test_a_new_feed_ends_the_wait(feed: FeedScenario, clock: Clock) -> None:
    before = feed.head
    clock.advance(1)
    feed.begin()
    with pytest.raises(Conflict):
        head_with(feed.store, before, [])

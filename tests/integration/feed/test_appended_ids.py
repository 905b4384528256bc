"""Relays know which transactions the feed has, from few reads of its chunks."""

from dataclasses import replace
from typing import Any

import pytest

from shared.kernel.events import feed as feeds
from shared.kernel.events import feed_ids
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.feed_scenario import FeedScenario
from tests.noted_changes import listed_versions


@pytest.mark.parametrize("count", [1, 2])
def test_a_repeat_waits_until_it_can_read_what_was_appended(
    feed: FeedScenario, clock: Clock, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(60)  # what is as old as the feed is recognized by its mark
    for number in range(count):
        feed.create(number + 1)
    items = feed.items()
    for item in items:
        feed.relay([item])
    query, lagging = feeds.query_chunks, iter([True, True])

    def shown(*arguments: Any, **options: Any) -> Any:
        page = query(*arguments, **options)
        return replace(page, items=page.items[1:]) if next(lagging, False) else page

    monkeypatch.setattr(feed_ids, "query_chunks", shown)
    feed_ids.forget()
    assert feed.relay(items) == []
    assert feed.head.position == count


def test_an_entry_is_found_behind_many_that_were_appended_since(feed: FeedScenario) -> None:
    feed.create(0)
    first = feed.items()
    feed.relay()
    for number in range(1, 31):
        feed.create(number)
        feed.relay(feed.items()[-1:])
    assert feed.relay(first) == []
    assert feed.head.position == 31
    feed.assert_complete()


def test_an_entry_is_appended_once_whatever_the_clocks_of_relays(
    feed: FeedScenario, clock: Clock
) -> None:
    clock.advance(60)  # what is as old as the feed is recognized by its mark
    for number in (1, 2, 3):
        feed.create(number)
        clock.advance(1)
    items = feed.items()
    for item, ahead in zip(items, (0, -120, 120), strict=True):
        clock.advance(ahead)
        feed.relay([item])
        clock.advance(-ahead)
    for item in items:
        assert feed.relay([item]) == []
    assert feed.head.position == 3
    feed.assert_complete()


def test_only_chunks_that_may_have_an_entry_are_read_before_it_is_appended(
    feed: FeedScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    feed.create(1)
    feed.relay()
    clock.advance(60)
    feed.create(2)
    new = feed.items()[-1:]
    with aws_faults.recorded() as seen:
        feed.relay(new)
    assert "Query" not in seen.operations
    feed_ids.forget()
    with aws_faults.recorded() as seen:
        feed.relay(new)
    assert seen.operations.count("Query") == 1
    feed.assert_complete()


def test_a_partition_that_lags_reads_each_chunk_once(
    feed: FeedScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stop of hours, others have appended a lot that began later."""
    clock.advance(60)  # what is as old as the feed is recognized by its mark
    for number in range(20):
        feed.create(number + 1)
    lagging = feed.items()
    for number in range(20, 40):
        clock.advance(1)
        feed.create(number + 1)
        feed.relay(feed.items()[-1:])
    query, read = feeds.query_chunks, list[str]()

    def counted(*arguments: Any, **options: Any) -> Any:
        page = query(*arguments, **options)
        read.extend(item["SK"] for item in page.items)
        return page

    monkeypatch.setattr(feed_ids, "query_chunks", counted)
    feed_ids.forget()
    for number, item in enumerate(lagging):
        feed.relay([item])
        # What is not late comes in between, elsewhere and here.
        clock.advance(1)
        feed.create(100 + number)
        with monkeypatch.context() as others:
            others.setattr(feed_ids, "_remembered", {})
            others.setattr(feed_ids, "query_chunks", query)
            feed.relay(feed.items()[-1:])
        if number % 5 == 0:
            before = len(read)
            clock.advance(1)
            feed.create(200 + number)
            feed.relay(feed.items()[-1:])
            assert len(read) == before
    assert len(read) == len(set(read)) >= 20
    feed.assert_complete()


def test_what_others_append_meanwhile_is_read_once(
    feed: FeedScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(60)
    for number in range(1, 9):
        feed.create(number)
    items = feed.items()
    for first, repeated in ((items[:2], items[1:3]), (items[3:5], items[4:6])):
        feed.relay(first)
        with monkeypatch.context() as others:  # another environment
            others.setattr(feed_ids, "_remembered", {})
            feed.relay(repeated)
        assert feed.relay([*first, *repeated]) == []
    monkeypatch.setattr(feed_ids, "_MOST_IDS", 3)
    assert feed.relay(items) == []
    assert feed_ids._remembered == {}
    assert feed.relay(items) == []
    feed.assert_complete()


def test_what_lies_between_two_reads_is_not_taken_for_read(
    feed: FeedScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_ids, "_MOST_READ", 0)
    clock.advance(60)
    for number in range(1, 10):
        feed.create(number)
        clock.advance(1)
    items = feed.items()
    feed.relay(items[:1])
    with monkeypatch.context() as others:
        others.setattr(feed_ids, "_remembered", {})
        for item in (*items[1:7], items[8]):
            feed.relay([item])
    assert feed.relay(items[7:8]) == []  # reads back to what began before it
    assert feed.relay(items[2:4]) == []
    assert feed.head.position == 9
    feed.assert_complete()


def test_a_feed_that_begins_again_is_read_again(
    feed: FeedScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        feed.create(number)
    feed.relay()
    clock.advance(60)
    again = replace(feed, before=listed_versions(feed.stack))
    again.begin()
    clock.advance(60)
    for number in (3, 4, 5):
        feed.create(number)
    items = feed.items()[2:]
    with monkeypatch.context() as others:
        others.setattr(feed_ids, "_remembered", {})
        feed.relay(items)
    assert feed.relay(items) == []
    assert feed.head.position == 3

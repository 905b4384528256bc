"""Entries that are relayed long after they began are appended once, and few chunks are read."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from shared.kernel.db.table import EXPIRY
from shared.kernel.events import feed as feeds
from shared.kernel.events import feed_ids, feed_late
from shared.kernel.events.feed_late import LATE_MS
from tests.clock import Clock
from tests.faults import (
    AwsFaults,
    Fault,
    before_first,
    kill_after,
    kill_before,
    lose_answer,
    throttle,
)
from tests.feed_scenario import FeedScenario

_CHUNKS = 64


@pytest.fixture
def lagging(feed: FeedScenario, clock: Clock) -> list[dict[str, Any]]:
    """Four items of the outbox that wait for hours, while others are appended, a minute apart.

    What is as old as the feed is recognized by its mark.
    """
    clock.advance(60)
    for number in range(1, 5):
        feed.create(number)
    found = feed.items()
    for number in range(_CHUNKS):
        clock.advance(60)
        feed.create(10 + number)
        assert feed.relay(feed.items()[-1:]) == []
    return found


def _chunks_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    query, read = feeds.query_chunks, list[str]()

    def counted(*arguments: Any, **options: Any) -> Any:
        page = query(*arguments, **options)
        read.extend(item["SK"] for item in page.items)
        return page

    for module in (feed_ids, feed_late):
        monkeypatch.setattr(module, "query_chunks", counted)
    return read


def test_few_chunks_are_read_for_late_entries(
    feed: FeedScenario, lagging: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = _chunks_read(monkeypatch)
    feed_ids.forget()
    assert feed.relay(lagging) == []
    # Half of the positions at each step, and those of ten minutes.
    assert len(read) <= 2 * (_CHUNKS.bit_length() + LATE_MS // 60_000 + 2) < _CHUNKS
    assert feed.head.position == _CHUNKS + 4
    feed.assert_complete()


@pytest.mark.parametrize("fault", [kill_before, kill_after, lose_answer, throttle])
def test_late_entries_are_appended_once_whatever_fails(
    feed: FeedScenario,
    lagging: list[dict[str, Any]],
    aws_faults: AwsFaults,
    fault: Callable[[int], Fault],
) -> None:
    before = feed.stack.take_snapshot()
    with aws_faults.recorded() as seen:
        feed.relay(lagging)
    for at in range(len(seen.calls)):
        before()
        feed_ids.forget()
        aws_faults.kills(fault(at), partial(feed.relay, lagging[:3]))
        assert feed.relay(lagging[1:]) == []
        assert feed.relay(lagging) == []
        assert feed.head.position == _CHUNKS + 4, at
    feed.assert_complete()


def test_an_entry_that_was_appended_in_time_is_recognized_when_it_comes_late(
    feed: FeedScenario, clock: Clock
) -> None:
    """Two entries of one batch are hours apart: the first one may not hide behind the other."""
    clock.advance(60)
    feed.create(1)
    clock.advance(LATE_MS / 1000 - 1)
    feed.create(2)
    clock.advance(2)
    feed.create(3)
    items = feed.items()
    assert feed.relay(items) == []
    for number in range(4, 8):
        clock.advance(LATE_MS / 1000)
        feed.create(number)
        assert feed.relay(feed.items()[-1:]) == []
    feed_ids.forget()
    for batch in (*([one] for one in items), items):
        assert feed.relay(batch) == []
    assert feed.head.position == 7
    feed.assert_complete()


def test_relays_that_append_the_same_late_entry_do_so_once(
    feed: FeedScenario, lagging: list[dict[str, Any]], aws_faults: AwsFaults
) -> None:
    meanwhile = partial(feed.relay, lagging[:2])
    with aws_faults.faulty(before_first("TransactWriteItems", meanwhile)):
        assert feed.relay(lagging[1:3]) == []
    assert feed.relay(lagging) == []
    assert feed.head.position == _CHUNKS + 4
    feed.assert_complete()
    assert all(EXPIRY in item for item in feed.items())


def test_more_late_entries_than_a_transaction_takes(
    feed: FeedScenario, lagging: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.events.feed_append.MOST_MARKS", 2)
    assert feed.relay(lagging) == []
    assert [len(feeds.ids_of(one)) for one in feeds.query_chunks(
        feed.store, *(feeds.chunk_key(feed.head.epoch, at)[1] for at in (_CHUNKS + 1, _CHUNKS + 9))
    ).items] == [2, 2]  # fmt: skip
    feed.assert_complete()


def test_a_late_entry_waits_until_the_chunks_of_its_time_can_be_read(
    feed: FeedScenario, lagging: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    query, calls = feeds.query_chunks, list[str]()

    def lags(*arguments: Any, **options: Any) -> Any:
        page = query(*arguments, **options)
        calls.append(arguments[1])
        if page.items and "#late#" not in arguments[1] and len(calls) % 5 == 0:
            page.items.pop(0)
        return page

    monkeypatch.setattr(feed_late, "query_chunks", lags)
    assert feed.relay(lagging) == []
    assert feed.relay(lagging) == []
    assert feed.head.position == _CHUNKS + 4
    feed.assert_complete()

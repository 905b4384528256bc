"""The relay appends each transaction to the feed once, whatever happens to its batches."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pytest

from shared.identity.auth import tokens
from shared.integration.webhooks.relay import relay_missed_entries
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db.items import item_at, to_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY
from shared.kernel.errors import ServiceUnavailable
from shared.kernel.events import feed as feeds
from shared.kernel.events import feed_append, feed_ids
from shared.kernel.events.feed import CHUNK_SECONDS, HEAD_KEY, FeedHead, head_item
from shared.kernel.queue import Queue
from tests.clock import Clock
from tests.dynamodb.request_cost import measured
from tests.faults import (
    AwsFaults,
    Fault,
    Killed,
    before_first,
    kill_after,
    kill_before,
    lose_answer,
    throttle,
)
from tests.feed_scenario import FeedScenario, checksums_of
from tests.noted_changes import listed_versions


def test_an_entry_has_the_changes_of_a_transaction_and_who_made_them(feed: FeedScenario) -> None:
    erp = feed.webhooks.erp
    number = feed.create(1)["id"]
    feed.rename(number, "Another")
    assert erp.delete(f"/products/{number}").status == 200

    assert feed.relay() == []

    feed.assert_complete()
    entries = feed.entries()
    created, renamed, deleted = (
        next(one for one in entry.changes if one.object == "product") for entry in entries
    )
    assert (created.before, created.after) == (None, 1)
    assert (renamed.before, renamed.after) == (1, 2)
    assert (deleted.before, deleted.after) == (2, None)
    assert erp.token
    caller = tokens._json(erp.token.split(".")[1])
    routes = ("POST /products", "PATCH /products/{id}", "DELETE /products/{id}")
    assert [entry.author for entry in entries] == [("client", caller["sub"], one) for one in routes]
    assert all(entry.request_id for entry in entries)
    assert [entry.committed_at for entry in entries] == [
        item["created_at"]["S"] for item in feed.items()
    ]


def test_a_transaction_without_an_event_is_appended_and_marked(feed: FeedScenario) -> None:
    assert feed.webhooks.erp.post("/product-categories", {"name": "Tools"}).status == 201
    (item,) = feed.items()
    assert "type" not in item
    assert feed.relay() == []
    (item,) = feed.items()
    assert EXPIRY in item
    feed.assert_complete()


def test_chunks_expire_after_92_days_and_the_head_never(feed: FeedScenario, clock: Clock) -> None:
    feed.create(1)
    feed.relay()
    parts = [item for item in feed.stack.items() if item["PK"]["S"] == "feed"]
    expiries = {item["SK"]["S"]: item[EXPIRY]["N"] for item in parts if EXPIRY in item}
    assert len(parts) == 1
    assert expiries.keys() == {f"{feed.head.epoch:015d}#000000000000001"}
    (expiry,) = map(int, expiries.values())
    assert 0 <= clock.time() + CHUNK_SECONDS - expiry < 60


def test_every_position_is_read_from_its_chunk(
    feed: FeedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_append, "_MOST_ENTRIES", 3)
    for number in range(1, 12):
        feed.create(number)
    feed.relay()
    feed.assert_complete()
    chunks = [item for item in feed.stack.items() if item["PK"]["S"] == "feed"]
    assert len(chunks) == 4
    for after in range(12):
        assert [one.position for one in feed.entries(after)] == list(range(after + 1, 12))


@pytest.mark.parametrize("batches", [(1, 2), (3,)])
def test_a_chunk_that_is_shown_late_is_waited_for(
    feed: FeedScenario, batches: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Query may show the chunk of a transaction later than the head, and than the next one."""
    for count in batches:
        for _ in range(count):
            feed.create(len(feed.items()) + 1)
        feed.relay(feed.items()[-count:])
    query = feeds.query_chunks
    for after, late in product(range(3), (1, 2)):
        lagging = iter([True, True, True])

        def shown(
            *arguments: Any, late: int = late, lagging: Iterator[bool] = lagging, **options: Any
        ) -> Any:
            page = query(*arguments, **options)
            is_late = next(lagging, False)
            items = [x for x in page.items if not (is_late and feeds.first_position(x) == late)]
            return replace(page, items=items)

        monkeypatch.setattr(feeds, "query_chunks", shown)
        assert [one.position for one in feed.entries(after)] == list(range(after + 1, 4))


def test_a_page_has_no_gap_where_a_chunk_is_shown_late(
    feed: FeedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Query may show the chunk of a transaction later than that of the next one."""
    for number in (1, 2, 3):
        feed.create(number)
        feed.relay(feed.items()[-1:])
    query = feeds.query_chunks
    for after, expected in ((0, [1]), (1, [2, 3])):
        lagging = iter([True, True])

        def shown(*arguments: Any, lagging: Iterator[bool] = lagging, **options: Any) -> Any:
            most = options.pop("Limit")
            page = query(*arguments, **options)
            is_late = next(lagging, False)
            items = [one for one in page.items if not (is_late and feeds.first_position(one) == 2)]
            return replace(page, items=items[:most])

        monkeypatch.setattr(feeds, "query_chunks", shown)
        found = feeds.read_page(feed.store, feed.head, after, 500)
        assert found
        assert [one.position for one in found] == expected


@pytest.mark.parametrize("fault", [kill_before, kill_after, lose_answer, throttle])
def test_a_relay_that_fails_at_any_call_appends_once(
    feed: FeedScenario, aws_faults: AwsFaults, fault: Callable[[int], Fault]
) -> None:
    number = feed.create(1)["id"]
    with aws_faults.recorded() as seen:
        feed.relay()
    for at in range(len(seen.calls)):
        feed.rename(number, f"Name {at}")
        new = feed.items()[-1:]
        aws_faults.kills(fault(at), partial(feed.relay, new))
        assert feed.relay(new) == []
        assert EXPIRY in feed.items()[-1]
    feed.assert_complete()


def _die() -> None:
    raise Killed


def test_batches_at_the_same_time_are_both_appended(
    feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    for number in (1, 2, 3, 4, 5):
        feed.create(number)
    items = feed.items()
    meanwhile = partial(feed.relay, items[1:3])
    with aws_faults.faulty(before_first("PutItem", meanwhile)):
        assert feed.relay([items[0], items[1], items[3]]) == []
    assert feed.head.position == 4
    assert feed.relay(items[4:]) == []
    feed.assert_complete()


def test_a_chunk_whose_relay_has_died_is_shown_by_the_next_one(
    feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    for number in (1, 2, 3):
        feed.create(number)
    first, *others = feed.items()
    fault = before_first("UpdateItem", _die)
    assert aws_faults.kills(fault, partial(feed.relay, [first]))
    assert feed.entries() == []
    assert feed.relay(others) == []
    assert feed.head.position == 3
    assert feed.relay([first]) == []
    feed.assert_complete()


def test_another_relay_may_show_a_chunk_before_the_one_that_put_it(
    feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    for number in (1, 2, 3):
        feed.create(number)
    first, *others = feed.items()
    with aws_faults.faulty(before_first("UpdateItem", partial(feed.relay, others))):
        assert feed.relay([first]) == []
    assert [one.changes[0].id for one in feed.entries()] == [1, 2, 3]
    feed.assert_complete()


def test_versions_of_a_resource_follow_each_other_whichever_batch_comes_first(
    feed: FeedScenario,
) -> None:
    number = feed.create(1)["id"]
    feed.rename(number, "Second")
    feed.rename(number, "Third")
    first, second, third = feed.items()
    assert feed.relay([third]) == []
    feed.assert_complete()
    assert [EXPIRY in item for item in feed.items()] == [False, False, True]
    assert feed.relay([second]) == feed.relay([first]) == []
    feed.assert_complete()
    assert all(EXPIRY in item for item in feed.items())


@pytest.mark.parametrize("ahead", [0, 9])
def test_what_was_relayed_before_the_feed_began_is_not_appended(
    feed: FeedScenario, clock: Clock, ahead: int
) -> None:
    """The first sums have it. The stream may bring it again, because the relay has died.

    The writer's clock may be ahead of that of who starts the feed.
    """
    clock.advance(ahead)
    feed.create(1)
    clock.advance(-ahead)
    relayed = feed.items()
    feed.relay()
    restarted = replace(feed, before=listed_versions(feed.stack))
    restarted.begin()
    assert feed.relay(relayed) == []
    assert feed.head.position == 0
    feed.create(2)
    assert feed.relay() == []
    assert [one.changes[0].id for one in feed.entries()] == [2]
    assert feed.head.checksums == checksums_of(listed_versions(feed.stack))


def test_changes_do_not_wait_for_the_queue_of_deliveries(
    feed: FeedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed.webhooks.subscribe()
    feed.create(1)
    with monkeypatch.context() as patch:
        patch.setattr(Queue, "send_many", lambda _, messages: messages)
        assert feed.relay() != []
    feed.assert_complete()
    assert EXPIRY not in feed.items()[-1]
    assert feed.relay(feed.items()[-1:]) == []
    assert EXPIRY in feed.items()[-1]
    feed.assert_complete()


def test_entries_of_discarded_batches_are_appended_by_the_operator(feed: FeedScenario) -> None:
    for number in (1, 2, 3):
        feed.create(number)
    feed.relay(feed.items()[1:2])
    assert list(relay_missed_entries("acme", older_than=-60))
    feed.assert_complete()
    assert all(EXPIRY in item for item in feed.items())


@pytest.mark.parametrize("table", [None, "stowage-tenant-acme-of-before"])
def test_a_table_without_a_feed_of_its_own_appends_nothing(
    feed: FeedScenario, table: str | None
) -> None:
    """A head that a restore has copied belongs to another table."""
    dynamodb, own = aws.client("dynamodb"), config().tenant_table("acme")
    if table is None:
        dynamodb.delete_item(TableName=own, Key=to_attributes(item_at(HEAD_KEY)))
    else:
        head = head_item(table, FeedHead(epoch=1, position=7, checksums={}))
        dynamodb.put_item(TableName=own, Item=to_attributes(head))
    feed.create(1)
    assert feed.relay() == []
    (item,) = feed.items()
    assert EXPIRY in item
    assert not [one for one in feed.stack.items() if EXPIRY in one and one["PK"]["S"] == "feed"]


def test_twenty_writers_and_relays_that_die_leave_no_gap(
    feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    """A stream that is restarted repeats batches, and batches overlap."""
    rng = random.Random(63)  # noqa: S311
    numbers = [feed.create(number)["id"] for number in range(5)]
    for turn in range(35):
        for writer in range(20):
            if rng.random() < 0.15:
                feed.rename(rng.choice(numbers), f"{turn} {writer}")
        items = feed.items()
        chosen = sorted(rng.sample(range(len(items)), min(len(items), 12)))
        kill = rng.choice((kill_before, kill_after))(rng.randrange(8))
        if rng.random() < 0.5:  # another environment
            feed_ids.forget()
        aws_faults.kills(kill, partial(feed.relay, [items[at] for at in chosen]))
    feed.relay()
    feed.assert_complete()


@pytest.mark.parametrize(("count", "most"), [(1, 1 + 2), (100, 1 + 0.06)])
def test_appending_costs_few_write_units_for_each_transaction(
    feed: FeedScenario, aws_faults: AwsFaults, count: int, most: float
) -> None:
    """The mark alone, which a table without a feed has, too, costs one unit for each."""
    for number in range(count):
        feed.create(number)
    with measured(aws_faults) as reading:
        feed.relay()
    assert reading.units.writes / count <= most
    # Of a batch; the marks of 100 entries are further waits, because 8 are written at once.
    assert reading.round_trips <= 6


@pytest.mark.parametrize("longest", [0.08, 1])
def test_a_relay_waits_longer_and_longer_unless_others_append(
    feed: FeedScenario, longest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nobody can write, because DynamoDB throttles, each attempt would add to its load."""
    for number in range(9):
        feed.create(number)
    first, *others = feed.items()
    put_chunk, waits = feeds.put_chunk, list[float]()

    def pause(_: Store, seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 8:
            raise ServiceUnavailable
        if longest < 1:
            with monkeypatch.context() as patch:
                patch.setattr(feed_append, "put_chunk", put_chunk)
                feed.relay([others.pop()])

    monkeypatch.setattr("random.uniform", lambda _, most: most)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "pause", pause)
        patch.setattr(feed_append, "put_chunk", lambda *_: False)
        assert len(feed.relay([first])) == 1

    assert max(waits) == longest
    assert feed.relay() == []
    feed.assert_complete()


def test_an_entry_is_appended_when_what_precedes_it_has_expired(
    feed: FeedScenario, clock: Clock
) -> None:
    """After months without changes, the first of two entries is relayed last, elsewhere."""
    for number in (1, 2):
        feed.create(number)
        feed.relay(feed.items()[-1:])
    clock.advance(CHUNK_SECONDS + 1)
    for number in (3, 4):
        feed.create(number)
        clock.advance(1)
    first, second = feed.items()[-2:]
    assert feed.relay([second]) == []
    # Expired items are deleted in any order, within days.
    expired = to_attributes({"PK": "feed", "SK": f"{feed.head.epoch:015d}#000000000000002"})
    aws.client("dynamodb").delete_item(TableName=feed.store.table, Key=expired)
    feed_ids.forget()
    assert feed.relay([first]) == []
    assert feed.head.position == 4

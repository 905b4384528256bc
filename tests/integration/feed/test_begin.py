"""The feed of changes of a table with contents begins while requests run; its sums are verified."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from operations.feed import begin_feed, has_feed
from operations.upgrade import upgrade_tables
from operations.verify import verify_tenant
from shared.integration.webhooks.relay import relay_missed_entries
from shared.kernel import aws
from shared.kernel.db.items import item_at, to_attributes
from shared.kernel.errors import Conflict
from shared.kernel.events.feed import HEAD_KEY, STREAM_MS, complete_head, head_item
from tests.clock import Clock
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Fault,
    Forward,
    before_first,
    kill_after,
    kill_before,
    lost,
    refusal,
)
from tests.feed_scenario import FeedScenario, checksums_of
from tests.noted_changes import listed_versions
from tests.warehouse_scenario import WarehouseScenario


def _sums(feed: FeedScenario) -> dict[str, tuple[int, int]]:
    return {noun: sums for noun, sums in feed.head.checksums.items() if sums != (0, 0)}


def _without_feed(feed: FeedScenario) -> None:
    key = to_attributes(item_at(HEAD_KEY))
    aws.client("dynamodb").delete_item(TableName=feed.store.table, Key=key)


def test_an_upgrade_begins_the_feed_of_a_table_with_contents(
    feed: FeedScenario, clock: Clock
) -> None:
    yard = WarehouseScenario.with_master_data(feed.webhooks.erp, "YARD")
    yard.stock("BRICK", 5)
    client = {"name": "ERP", "scopes": ["products:read"]}
    assert feed.webhooks.erp.post("/api-clients", client).status == 201
    _without_feed(feed)
    feed.create(1)
    assert clock

    list(upgrade_tables(["acme"]))

    assert has_feed(feed.store)
    epoch = feed.head.epoch
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))
    assert feed.head.checksums.keys() >= {"product", "stock", "stock_level", "api_client"}
    list(upgrade_tables(["acme"]))
    assert feed.head.epoch == epoch


def _change(feed: FeedScenario, numbers: list[int], *, relayed: bool) -> None:
    erp = feed.webhooks.erp
    feed.rename(numbers[0], f"Changed {feed.items()[-1]['SK']['S'][-4:]}")
    if len(numbers) > 2:
        assert erp.delete(f"/products/{numbers.pop()}").status == 200
    numbers.insert(0, feed.create(100 + len(feed.items()))["id"])
    if relayed:
        feed.relay()


@pytest.mark.parametrize("more", [(), ("relayed",)], ids=["waiting", "relayed"])
@pytest.mark.parametrize("operation", ["PutItem", "Scan", "Query", "UpdateItem"])
def test_sums_are_those_of_one_position_whatever_happens_meanwhile(
    operation: str, more: tuple[str, ...], feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    """Changes come before each step of the beginning, relayed or not; some wait since before."""
    numbers = [feed.create(number)["id"] for number in range(1, 7)]
    feed.relay(feed.items()[:3])
    _without_feed(feed)
    feed.rename(numbers[1], "Before")

    meanwhile = partial(_change, feed, numbers, relayed=bool(more))
    with aws_faults.faulty(before_first(operation, meanwhile)):
        begin_feed(feed.store)

    feed.rename(numbers[1], "After")
    feed.relay()
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_an_interrupted_beginning_is_repeated_and_shows_nothing(
    feed: FeedScenario, aws_faults: AwsFaults, fault: Callable[[int], Fault]
) -> None:
    feed.create(1)
    _without_feed(feed)
    feed.create(2)
    with aws_faults.recorded() as seen:
        begin_feed(feed.store)
    for at in range(len(seen.calls)):
        _without_feed(feed)
        feed.create(10 + at)
        aws_faults.kills(fault(at), partial(begin_feed, feed.store))
        feed.relay(feed.items()[-1:])
        begin_feed(feed.store)
        feed.relay()
        assert _sums(feed) == checksums_of(listed_versions(feed.stack))


def test_a_relay_that_has_read_the_head_before_it_is_complete_keeps_the_sums(
    feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    feed.create(1)
    feed.relay()
    existing = checksums_of(listed_versions(feed.stack))
    head = replace(feed.head, checksums={}, is_complete=False)
    item = head_item(feed.store.table, head)
    aws.client("dynamodb").put_item(TableName=feed.store.table, Item=to_attributes(item))
    feed.create(2)
    complete = partial(complete_head, feed.store, head, existing)
    with aws_faults.faulty(before_first("UpdateItem", complete)):
        assert feed.relay() == []
    assert has_feed(feed.store)
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))


@pytest.mark.parametrize("is_written", [False, True])
def test_a_feed_is_completed_once_although_its_head_is_in_use(
    feed: FeedScenario, aws_faults: AwsFaults, *, is_written: bool
) -> None:
    """The relay appends meanwhile; or the answer is lost, so that nobody knows who wrote it."""
    feed.create(1)
    turn = count()

    def fault(call: Call, forward: Forward) -> Answer:
        if call.operation != "UpdateItem" or next(turn) > 7:  # more than botocore repeats
            return forward()
        if is_written:
            forward()
            return lost()
        return refusal("TransactionConflictException")

    with aws_faults.faulty(fault):
        begin_feed(feed.store)
    assert has_feed(feed.store)
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))


@pytest.mark.parametrize("operation", ["Scan", "UpdateItem"])
def test_a_start_that_another_run_repeats_is_refused(
    operation: str, feed: FeedScenario, aws_faults: AwsFaults
) -> None:
    feed.create(1)
    another = partial(begin_feed, feed.store)
    with aws_faults.faulty(before_first(operation, another)), pytest.raises(Conflict):
        begin_feed(feed.store)
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))


def test_changes_of_writers_whose_clocks_are_ahead_are_counted_once(
    feed: FeedScenario, clock: Clock
) -> None:
    """The id of an item of the outbox begins with the time of the writer, not of the operator."""
    for seconds in (3, 9):
        feed.create(seconds)
        clock.advance(-seconds)
    assert verify_tenant("acme").found == 0
    begin_feed(feed.store)
    feed.relay()
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))


def test_what_waits_for_twelve_hours_during_the_beginning_is_counted_once(
    feed: FeedScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    _without_feed(feed)
    feed.create(1)
    clock.advance(STREAM_MS / 1000 - 8)
    with aws_faults.faulty(before_first("PutItem", partial(clock.advance, 16))):
        begin_feed(feed.store)
    feed.relay()
    assert _sums(feed) == checksums_of(listed_versions(feed.stack))


def test_verify_finds_sums_that_differ_and_ends_the_feed(feed: FeedScenario, clock: Clock) -> None:
    clock.freeze()
    feed.create(1)
    feed.relay()
    assert verify_tenant("acme").found == 0
    count, total = feed.head.checksums["product"]
    wrong = {**feed.head.checksums, "product": (count + 1, total)}
    item = head_item(feed.store.table, replace(feed.head, checksums=wrong))
    aws.client("dynamodb").put_item(TableName=feed.store.table, Item=to_attributes(item))

    (found,) = verify_tenant("acme").listed
    assert (found.kind, found.field) == ("feed.sums", "product")
    assert found.stored == "+1 resources, +0 in the sum of versions"

    assert verify_tenant("acme", repair=True).repaired == 1
    assert not has_feed(feed.store)


def test_verify_finds_changes_of_discarded_batches_until_they_are_relayed(
    feed: FeedScenario, clock: Clock
) -> None:
    feed.create(1)
    clock.advance(STREAM_MS / 1000 + 60)
    assert [one.kind for one in verify_tenant("acme").listed] == ["feed.sums"]
    assert list(relay_missed_entries("acme", older_than=60))
    assert verify_tenant("acme").found == 0

"""The queue of the use cases that compete for one item."""

from contextlib import suppress
from itertools import count
from statistics import median

import pytest

from shared.kernel.clock import Deadline
from shared.kernel.db.item_queue import QUEUED, QueuePlace
from shared.kernel.db.items import Item, to_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, ServiceUnavailable
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.dynamodb.conflicts import ConflictDetector
from tests.faults import AwsFaults, Killed, conflict, kill_before, stuck_before
from tests.integration.db.crate_list import CRATES, CrateTable
from tests.simulated_time import simulated_time

_CRATE = CRATES.key(1)


@pytest.fixture(autouse=True)
def _stopped_clock(clock: Clock) -> None:
    """Let only waits take time."""
    clock.freeze()


@pytest.fixture
def one_crate(crates: CrateTable) -> CrateTable:
    """A table with the crate 1."""
    crates.add([{"name": "crate", "color": "red", "status": "new"}])
    return crates


def _rename(tx: Transaction) -> str:
    """Append a letter to the name of crate 1."""
    record = CRATES.get(tx.store, 1)
    name = record.entity.name + "!"
    CRATES.update(tx, record, {"name": name})
    return name


def _places(store: Store) -> list[Item]:
    return store.query(
        KeyConditionExpression="PK = :item AND begins_with(SK, :place)",
        values={":item": _CRATE[0], ":place": "QUEUE#"},
        ConsistentRead=True,
    ).items


def _mark(crates: CrateTable) -> None:
    """Write crate 1 as a request does behind which others wait."""
    item = crates.store.get(_CRATE)
    assert item
    crates.store.client.put_item(
        TableName=crates.store.table, Item=to_attributes({**item, QUEUED: True})
    )


def _is_marked(crates: CrateTable) -> bool:
    item = crates.store.get(_CRATE)
    return item is not None and QUEUED in item


def test_place_is_taken_after_the_second_conflict_and_left_by_the_commit(
    one_crate: CrateTable, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen, aws_faults.faulty(conflict(times=2)):
        assert run_transaction(one_crate.store, _rename) == "crate!"

    assert seen.operations == [
        *("GetItem", "TransactWriteItems"),
        *("BatchGetItem", "TransactWriteItems"),
        *("PutItem", "BatchGetItem", "Query", "TransactWriteItems"),
    ]
    assert _places(one_crate.store) == []
    assert not _is_marked(one_crate)


def test_request_that_reads_the_mark_takes_a_place_before_its_first_transaction(
    one_crate: CrateTable, aws_faults: AwsFaults
) -> None:
    _mark(one_crate)
    with aws_faults.recorded() as seen:
        assert run_transaction(one_crate.store, _rename) == "crate!"

    assert seen.operations == ["GetItem", "PutItem", "Query", "TransactWriteItems"]
    assert _places(one_crate.store) == []
    assert not _is_marked(one_crate)


def test_use_case_that_may_not_queue_takes_no_place(
    one_crate: CrateTable, aws_faults: AwsFaults
) -> None:
    _mark(one_crate)
    with aws_faults.recorded() as seen, aws_faults.faulty(conflict(times=3)):
        run_transaction(one_crate.store, _rename, may_queue=False)

    assert not {"PutItem", "Query"} & {*seen.operations}


def test_request_waits_for_the_place_before_its_own_and_decides_on_the_changed_item(
    one_crate: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    first = QueuePlace(one_crate.store, _CRATE)
    clock.advance(0.001)
    _mark(one_crate)

    def leave() -> None:
        one_crate.change(1, {"name": "box"})
        first.leave()

    with aws_faults.faulty(stuck_before(5, leave)):
        assert run_transaction(one_crate.store, _rename) == "box!"
    assert _places(one_crate.store) == []


def test_places_of_dead_requests_are_removed_after_a_second(
    one_crate: CrateTable, clock: Clock
) -> None:
    for _ in range(3):
        QueuePlace(one_crate.store, _CRATE)
    clock.advance(0.001)
    _mark(one_crate)
    began = clock.monotonic()

    assert run_transaction(one_crate.store, _rename) == "crate!"

    assert 1 <= clock.monotonic() - began < 3
    assert _places(one_crate.store) == []


def test_request_that_dies_in_the_queue_delays_the_next_one_only(
    one_crate: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    _mark(one_crate)
    for call in range(1, 4):
        with aws_faults.faulty(kill_before(call)), pytest.raises(Killed):
            run_transaction(one_crate.store, _rename)
    assert len(_places(one_crate.store)) == 2
    clock.advance(0.001)
    began = clock.monotonic()

    assert run_transaction(one_crate.store, _rename) == "crate!"

    assert clock.monotonic() - began < 3
    assert _places(one_crate.store) == []


def test_old_place_is_ignored(one_crate: CrateTable, clock: Clock) -> None:
    QueuePlace(one_crate.store, _CRATE)
    clock.advance(31)
    _mark(one_crate)
    one_crate.store.deadline = Deadline(25_000)
    began = clock.monotonic()

    run_transaction(one_crate.store, _rename)

    assert clock.monotonic() - began < 1


@pytest.mark.parametrize("error", [Conflict("nothing left"), None])
def test_use_case_that_is_refused_or_writes_nothing_any_more_leaves_its_place(
    one_crate: CrateTable, aws_faults: AwsFaults, error: Conflict | None
) -> None:
    attempts = count()

    def use_case(tx: Transaction) -> None:
        if next(attempts) < 2:
            _rename(tx)
        elif error:
            raise error

    with aws_faults.faulty(conflict(times=2)), suppress(Conflict):
        run_transaction(one_crate.store, use_case)
    assert next(attempts) == 3
    assert _places(one_crate.store) == []


def test_wait_ends_at_the_deadline(one_crate: CrateTable, clock: Clock) -> None:
    one_crate.store.deadline = Deadline(1_000)
    QueuePlace(one_crate.store, _CRATE)
    clock.advance(0.01)  # places of the same millisecond have a random order
    _mark(one_crate)

    with pytest.raises(ServiceUnavailable):
        run_transaction(one_crate.store, _rename)
    assert len(_places(one_crate.store)) == 1


def test_changes_of_one_item_are_made_in_the_order_of_their_places(
    one_crate: CrateTable, aws_faults: AwsFaults
) -> None:
    requests, changes, call_seconds = 12, 4, 0.02
    waits: list[float] = []
    with simulated_time(requests) as clock:
        aws_faults.latency = call_seconds

        def worker(_: int) -> None:
            for _ in range(changes):
                began = clock.monotonic()
                run_transaction(one_crate.store, _rename)
                waits.append(clock.monotonic() - began)

        meetings = ConflictDetector(sleep=clock.sleep)
        with aws_faults.faulty(meetings.fault), aws_faults.recorded() as seen:
            run_concurrently(requests, worker)
        aws_faults.latency = 0.0

    assert CRATES.get(one_crate.store, 1).entity.name == "crate" + "!" * requests * changes
    assert seen.operations.count("TransactWriteItems") <= 2 * requests * changes
    # Without an order, the slowest waits many times as long as most.
    assert max(waits) <= 2.5 * median(waits)
    assert _places(one_crate.store) == []

"""Fences are invalidated one by one, whatever happens in between."""

import pytest

from shared.kernel.clock import Deadline
from shared.kernel.db import counters
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.fences import invalidate_fences
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import ServiceUnavailable
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, Killed, kill_before, lost, refusal
from tests.integration.call_faults import at_calls
from tests.integration.db.crate_list import CRATES, CrateTable

_SHARDS = 4


@pytest.fixture(autouse=True)
def shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of these shards have fences."""
    monkeypatch.setattr(counters, "SHARDS", _SHARDS)


def _fenced(crates: CrateTable, kind: str, *, shard: int) -> Transaction:
    """Return an uncommitted creation that has read the fence of a kind."""
    tx = Transaction(crates.store)
    tx._shard = shard
    tx.fence(kind)
    tx.count(kind, {"n": 1})
    return tx


def _all_fenced(crates: CrateTable) -> list[Transaction]:
    return [
        _fenced(crates, kind, shard=shard) for kind in ("entry", "exit") for shard in range(_SHARDS)
    ]


def _committed(creations: list[Transaction]) -> int:
    done = 0
    for creation in creations:
        try:
            creation.commit()
        except StaleRead:
            continue
        done += 1
    return done


@pytest.mark.parametrize("earlier", [0, 1])
def test_every_creation_fails_in_any_shard(crates: CrateTable, earlier: int) -> None:
    for _ in range(earlier):
        invalidate_fences(crates.store, ["entry", "exit"])
    creations, other = _all_fenced(crates), _fenced(crates, "transfer", shard=0)

    invalidate_fences(crates.store, ["entry", "exit"])

    assert _committed(creations) == 0
    assert _committed([other]) == 1
    assert _committed(_all_fenced(crates)) == 2 * _SHARDS


def test_counters_changed_before_a_fence_move_to_its_shard(crates: CrateTable) -> None:
    tx = Transaction(crates.store)
    tx._shard = _SHARDS - 1
    tx.count("entry", {"n": 1})
    tx.fence("entry")

    invalidate_fences(crates.store, ["entry"])

    with pytest.raises(StaleRead):
        tx.commit()


def test_each_fence_costs_one_plain_update(crates: CrateTable, aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as seen:
        invalidate_fences(crates.store, ["entry", "exit"])

    assert seen.operations == ["UpdateItem"] * _SHARDS
    assert seen.round_trips == 1


@pytest.mark.parametrize("error", ["TransactionConflictException", "ThrottlingException", "lost"])
@pytest.mark.usefixtures("clock")
def test_fence_is_updated_again_after_a_temporary_error(
    crates: CrateTable, aws_faults: AwsFaults, error: str
) -> None:
    """A plain update is refused while a transaction of a creation writes the same shard."""
    creations = _all_fenced(crates)
    answer = lost() if error == "lost" else refusal(error)

    with aws_faults.faulty(at_calls("UpdateItem", range(9), answer=lambda _: answer)):
        invalidate_fences(crates.store, ["entry", "exit"])

    assert _committed(creations) == 0


def test_fences_that_stay_busy_end_at_the_deadline(
    crates: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    clock.freeze()
    crates.store.deadline = Deadline(5_000)
    began = clock.monotonic()

    with (
        aws_faults.faulty(lambda _call, _forward: refusal("TransactionConflictException")),
        pytest.raises(ServiceUnavailable),
    ):
        invalidate_fences(crates.store, ["entry"])
    assert clock.monotonic() - began <= 5


@pytest.mark.parametrize("done", range(_SHARDS))
def test_interrupted_invalidation_is_repeated(
    crates: CrateTable,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
    done: int,
) -> None:
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    creations = _all_fenced(crates)
    with aws_faults.faulty(kill_before(done)), pytest.raises(Killed):
        invalidate_fences(crates.store, ["entry", "exit"])

    invalidate_fences(crates.store, ["entry", "exit"])

    assert _committed(creations) == 0


def test_master_data_that_was_read_before_its_fence_is_read_again(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    """One call reads both in any order: here the crate, then a retirement, then the fence."""
    crates.add([{"name": "known", "color": "red", "status": "open"}])
    [number] = crates.crates
    crate, table = CRATES.key(number), crates.store.table
    calls: list[Call] = []

    def fault(call: Call, forward: Forward) -> Answer:
        if call.operation != "BatchGetItem" or calls:
            return forward()
        calls.append(call)
        before = forward()
        crates.change(number, {"name": "retired"})
        invalidate_fences(crates.store, ["entry"])
        after = forward()
        rows = [before, after]
        found = [{row["PK"]["S"]: row for row in one[0][1]["Responses"][table]} for one in rows]
        after[0][1]["Responses"][table] = [
            {**found[1], crate[0]: found[0][crate[0]]}[key] for key in found[1]
        ]
        return after

    tx = Transaction(crates.store.repeatable())
    tx._shard = 0
    with aws_faults.faulty(fault):
        tx.fence("entry", [crate])

    assert calls
    assert CRATES.get(tx.store, number).entity.name == "retired"


def test_fence_of_an_earlier_retirement_takes_one_call(
    crates: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    invalidate_fences(crates.store, ["entry"])
    key = CRATES.key(1)
    for seconds, calls in ((59, 2), (2, 1)):
        clock.advance(seconds)
        tx = Transaction(crates.store.repeatable())
        with aws_faults.recorded() as seen:
            tx.fence("entry", [key])
        assert seen.operations == ["BatchGetItem"] * calls

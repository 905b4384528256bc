"""Transactions: errors of failed conditions, retries and the deadline."""

from collections.abc import Callable
from itertools import count

import pytest

from shared.kernel.clock import Deadline, now_ms
from shared.kernel.db.actions import MAX_ACTIONS, StaleRead
from shared.kernel.db.items import Item
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, ServiceUnavailable
from tests.clock import Clock
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Forward,
    cancelled_transaction,
    conflict,
    lost,
    refusal,
)
from tests.integration.call_faults import at_calls
from tests.integration.db.crate_list import CrateTable


def _item(name: str, **attributes: object) -> Item:
    return {"PK": name, "SK": "HEAD", **attributes}


@pytest.fixture
def pallet_table(crates: CrateTable) -> CrateTable:
    """A table that holds a pallet in version 1."""
    tx = Transaction(crates.store)
    tx.insert(_item("pallet", version=1))
    tx.commit()
    return crates


@pytest.mark.parametrize("failing", [0, 1, 2, 3])
def test_failed_condition_raises_its_error(pallet_table: CrateTable, failing: int) -> None:
    store = pallet_table.store
    wrong = [number == failing for number in range(4)]
    tx = Transaction(store)
    tx.insert(
        _item("pallet" if wrong[0] else "crate"),
        on_condition_failed=lambda: Conflict("the code is taken"),
    )
    tx.put(
        _item("box"),
        condition="attribute_exists(PK)" if wrong[1] else None,
        on_condition_failed=lambda: Conflict("the box is gone"),
    )
    tx.update(
        ("position", "HEAD"),
        "SET #n = :n",
        names={"#n": "n"},
        values={":n": 1},
        condition="attribute_exists(PK)" if wrong[2] else None,
        on_condition_failed=lambda: Conflict("the position is gone"),
    )
    tx.delete(
        ("dock", "HEAD"),
        condition="attribute_exists(PK)" if wrong[3] else None,
        on_condition_failed=lambda: Conflict("the dock is gone"),
    )
    meanings = ["the code is taken", "the box is gone", "the position is gone", "the dock is gone"]

    with pytest.raises(Conflict, match=meanings[failing]):
        tx.commit()

    for name in ("crate", "box", "position"):
        assert store.get((name, "HEAD")) is None


def test_first_of_several_failed_conditions_determines_the_error(pallet_table: CrateTable) -> None:
    tx = Transaction(pallet_table.store)
    tx.insert(_item("pallet"), on_condition_failed=lambda: Conflict("first"))
    tx.delete(
        ("x", "HEAD"),
        condition="attribute_exists(PK)",
        on_condition_failed=lambda: Conflict("second"),
    )

    with pytest.raises(Conflict, match="first"):
        tx.commit()


_PASSING: dict[str, Callable[[Call], Answer]] = {
    "throttling": lambda _: refusal("ThrottlingException"),
    "the same token in progress": lambda _: refusal("TransactionInProgressException"),
    "a failure of AWS": lambda _: refusal("InternalServerError", status=500),
    "a failure without a code": lambda _: refusal("503", status=503),
    "a conflict": lambda call: cancelled_transaction(call, "TransactionConflict"),
    "throttling of one action": lambda call: cancelled_transaction(call, "ThrottlingError"),
    "no answer": lambda _: lost(),
}


@pytest.mark.parametrize("name", _PASSING)
@pytest.mark.usefixtures("clock")
def test_transient_errors_are_retried(crates: CrateTable, aws_faults: AwsFaults, name: str) -> None:
    tx = Transaction(crates.store)
    tx.insert(_item("crate"))
    with aws_faults.faulty(at_calls("TransactWriteItems", range(4), answer=_PASSING[name])):
        tx.commit()

    assert crates.store.get(("crate", "HEAD"))


@pytest.mark.usefixtures("clock")
def test_lost_responses_increment_a_counter_once(crates: CrateTable, aws_faults: AwsFaults) -> None:
    turns = count()
    tx = Transaction(crates.store)
    tx.update(("n", "HEAD"), "ADD #n :one", names={"#n": "n"}, values={":one": 1})

    def lose_five(_call: Call, forward: Forward) -> Answer:
        answer = forward()
        return lost() if next(turns) < 5 else answer

    with aws_faults.faulty(lose_five):
        tx.commit()

    item = crates.store.get(("n", "HEAD"))
    assert item is not None
    assert item["n"] == 1


def test_retries_end_at_the_deadline_with_service_unavailable(
    crates: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    clock.freeze()
    crates.store.deadline = Deadline(5_000)
    began = clock.monotonic()

    with aws_faults.faulty(conflict(times=10_000)), pytest.raises(ServiceUnavailable) as refused:
        run_transaction(crates.store, lambda tx: tx.insert(_item("crate")))

    assert refused.value.headers["Retry-After"] == "1"
    assert 2 <= clock.monotonic() - began <= 5
    assert crates.store.get(("crate", "HEAD")) is None


def test_retried_transaction_has_the_time_of_its_commit(
    crates: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    began, turns = now_ms(), count()

    def for_ten_seconds(call: Call, forward: Forward) -> Answer:
        if next(turns) < 40 and now_ms() - began < 10_000:
            clock.advance(1)
            return cancelled_transaction(call, "TransactionConflict")
        return forward()

    with aws_faults.faulty(for_ten_seconds):
        run_transaction(crates.store, lambda tx: tx.insert(_item("crate", at=tx.now_ms)))

    crate = crates.store.get(("crate", "HEAD"))
    assert crate is not None
    assert now_ms() - int(crate["at"]) < 5_000


@pytest.mark.usefixtures("clock")
def test_permanent_error_is_not_retried(crates: CrateTable, aws_faults: AwsFaults) -> None:
    tx = Transaction(crates.store)
    tx.insert(_item("crate"))
    with (
        aws_faults.recorded() as seen,
        aws_faults.faulty(lambda _call, _forward: refusal("AccessDeniedException")),
        pytest.raises(Exception, match="AccessDenied"),
    ):
        tx.commit()

    assert len(seen.calls) == 1


def test_more_than_100_actions_are_refused(crates: CrateTable, aws_faults: AwsFaults) -> None:
    tx = Transaction(crates.store)
    for number in range(MAX_ACTIONS):
        tx.insert(_item(f"crate {number}"))
    tx.count("crate", {"n": MAX_ACTIONS})
    with aws_faults.recorded() as seen, pytest.raises(AssertionError, match="101 actions"):
        tx.commit()

    assert seen.calls == []


def test_empty_transaction_makes_no_call(crates: CrateTable, aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as seen:
        Transaction(crates.store).commit()

    assert seen.calls == []


def test_permanent_stale_reads_end_at_the_deadline(crates: CrateTable, clock: Clock) -> None:
    clock.freeze()
    crates.store.deadline = Deadline(5_000)
    began = clock.monotonic()

    def never(_tx: Transaction) -> None:
        raise StaleRead

    with pytest.raises(ServiceUnavailable):
        run_transaction(crates.store, never)
    assert clock.monotonic() - began <= 5


def test_number_is_not_added_to_a_set_of_a_missing_item(crates: CrateTable) -> None:
    tx = Transaction(crates.store)
    tx.add_to_set(("place 1", "HEAD"), "assigned", 7)

    with pytest.raises(StaleRead):
        tx.commit()

    assert crates.store.get(("place 1", "HEAD")) is None

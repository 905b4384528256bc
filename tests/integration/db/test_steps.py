"""Work in steps: how much fits into one, which are committed, and what is run again."""

from collections.abc import Sequence

import pytest

from shared.kernel.db import steps
from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.db.crate_list import CRATES, Crate, CrateTable


@pytest.fixture(autouse=True)
def steps_of_six_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six actions for each step."""
    monkeypatch.setattr(steps, "STEP_ACTIONS", 6)


def _insert(tx: Transaction, number: int) -> None:
    tx.insert({"PK": f"box-{number}", "SK": "HEAD"}, on_condition_failed=StaleRead)


def _boxes(crates: CrateTable) -> list[int]:
    found = crates.store.get_many((f"box-{number}", "HEAD") for number in range(20))
    return [int(key[0].removeprefix("box-")) for key in found]


def _transactions(aws_faults: AwsFaults, crates: CrateTable, items: Sequence[int]) -> list[int]:
    """Commit items of two actions each in steps; return the number of actions of each step."""

    def step(left: Sequence[int]) -> int:
        fitting = steps.fitting_items(tx, left, lambda _: Cost(2))
        for number in fitting:
            _insert(tx, number)
            tx.put({"PK": f"lid-{number}", "SK": "HEAD"})
        return len(fitting)

    tx = Transaction(crates.store)
    with aws_faults.recorded() as seen:
        steps.commit_in_steps(tx, items, step)
    assert tx.is_empty
    return [
        len(call.request["TransactItems"])
        for call in seen.calls
        if call.operation == "TransactWriteItems"
    ]


def test_items_are_committed_in_as_few_steps_as_have_room(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    assert _transactions(aws_faults, crates, range(7)) == [6, 6, 2]
    assert sorted(_boxes(crates)) == list(range(7))
    assert _transactions(aws_faults, crates, []) == []


def test_a_step_takes_one_item_even_if_it_is_too_large(
    crates: CrateTable, monkeypatch: pytest.MonkeyPatch, aws_faults: AwsFaults
) -> None:
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)

    assert _transactions(aws_faults, crates, range(3)) == [2, 2, 2]


def test_a_step_has_room_for_two_megabytes(crates: CrateTable) -> None:
    tx = Transaction(crates.store)
    item = {"PK": "box", "SK": "HEAD", "data": bytes(300_000)}
    tx.put(item)

    sizes = [600_000, 600_000, 600_000]
    assert steps.fitting_items(tx, sizes, lambda size: Cost(1, size)) == sizes[:2]
    assert steps.fitting_items(tx, [9_000_000, 1], lambda size: Cost(1, size)) == [9_000_000]
    assert tx.cost == Cost(1, 300_000 + len("PKboxSKHEADdata") + 1)


def test_the_last_step_is_committed_with_what_the_caller_stages(
    crates: CrateTable, aws_faults: AwsFaults
) -> None:
    def use_case(tx: Transaction) -> str:
        def step() -> str | None:
            done = tx.store.get_many((f"box-{number}", "HEAD") for number in range(7))
            left = range(len(done), 7)
            fitting = steps.fitting_items(tx, left, lambda _: Cost(1))
            for number in fitting:
                _insert(tx, number)
            return "all added" if len(fitting) == len(left) else None

        result = steps.run_steps(tx, step)
        assert sorted(_boxes(crates)) == list(range(6))
        tx.put({"PK": "label", "SK": "HEAD"})
        return result

    with aws_faults.recorded() as seen:
        assert run_transaction(crates.store, use_case) == "all added"
    assert seen.operations.count("TransactWriteItems") == 2
    assert sorted(_boxes(crates)) == list(range(7))


@pytest.mark.usefixtures("clock")
def test_a_stale_step_is_run_again_alone(crates: CrateTable) -> None:
    turns: list[int] = []

    def step() -> bool | None:
        turns.append(len(turns))
        if len(turns) == 2:
            raise StaleRead
        _insert(tx, turns[-1])
        return True if len(turns) == 4 else None

    tx = Transaction(crates.store)
    assert steps.run_steps(tx, step)
    tx.commit()
    assert sorted(_boxes(crates)) == [0, 2, 3]


def test_before_the_first_commit_a_stale_read_goes_to_the_caller(crates: CrateTable) -> None:
    def step() -> None:
        raise StaleRead

    with pytest.raises(StaleRead):
        steps.run_steps(Transaction(crates.store), step)


@pytest.mark.usefixtures("clock")
def test_a_stale_first_step_of_many_items_is_run_again(crates: CrateTable) -> None:
    def step(left: Sequence[int]) -> int:
        turns.append(len(left))
        if len(turns) == 1:
            raise StaleRead
        _insert(tx, left[0])
        return 1

    turns: list[int] = []
    tx = Transaction(crates.store)
    steps.commit_in_steps(tx, [4, 5], step)
    assert turns == [2, 2, 1]
    assert sorted(_boxes(crates)) == [4, 5]


def test_a_refused_step_leaves_the_steps_before_it(crates: CrateTable) -> None:
    def step(left: Sequence[int]) -> int:
        if left[0] == 2:
            message = "no more"
            raise Conflict(message)
        _insert(tx, left[0])
        return 1

    tx = Transaction(crates.store)
    with pytest.raises(Conflict):
        steps.commit_in_steps(tx, range(4), step)
    assert sorted(_boxes(crates)) == [0, 1]


def test_every_step_has_its_own_time_and_ids(crates: CrateTable, clock: Clock) -> None:
    def step(left: Sequence[int]) -> int:
        clock.advance(1)
        tx.reserve_ids("crate", 2)
        crate = Crate(id=tx.next_id("crate"), name="a", color="red", status="open")
        CRATES.insert(tx, crate.id, crate)
        seen.append((crate.id, tx.now_ms))
        return len(left[:1])

    seen: list[tuple[int, int]] = []
    tx = Transaction(crates.store)
    began = tx.now_ms
    steps.commit_in_steps(tx, range(3), step)

    assert [number for number, _ in seen] == [1, 2, 3], "ids that a step left over go to the next"
    assert [(at - began) // 1000 for _, at in seen] == [0, 1, 2]
    assert tx.elapsed_ms < 1000


def test_steps_never_begin_in_a_transaction_that_has_added_something(crates: CrateTable) -> None:
    tx = Transaction(crates.store)
    _insert(tx, 1)

    with pytest.raises(AssertionError, match="added nothing"):
        steps.run_steps(tx, lambda: True)
    with pytest.raises(AssertionError, match="added nothing"):
        steps.commit_in_steps(tx, [1], len)


def test_a_step_that_stages_nothing_does_not_go_on_for_ever(crates: CrateTable) -> None:
    with pytest.raises(AssertionError, match="1 items left"):
        steps.commit_in_steps(Transaction(crates.store), [1], lambda _: 0)

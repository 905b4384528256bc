"""What the next attempt of a use case reads again after its transaction was refused."""

from collections.abc import Callable
from itertools import count, pairwise

import pytest

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.fences import invalidate_fences
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched, run_transaction
from shared.kernel.errors import Gone
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, cancelled_transaction, conflict
from tests.integration.call_faults import at_calls
from tests.integration.db.crate_list import CRATES, CrateTable

pytestmark = pytest.mark.usefixtures("clock")

_PLACE: Key = ("place", "ALIAS")


@pytest.fixture
def two_crates(crates: CrateTable) -> CrateTable:
    """A table with the crates 1 and 2 and with the alias of a place."""
    crates.add([{"name": name, "color": "red", "status": "new"} for name in ("one", "two")])
    tx = Transaction(crates.store)
    tx.put(_item(_PLACE, note="free"))
    tx.commit()
    return crates


def _item(key: Key, **attributes: object) -> Item:
    return {"PK": key[0], "SK": key[1], **attributes}


def _write(crates: CrateTable, item: Item) -> None:
    tx = Transaction(crates.store)
    tx.put(item)
    tx.commit()


def _rename(tx: Transaction, number: int, more: str) -> str:
    """Append to the name of a crate, after reading the other crate and the place."""
    record = CRATES.get(tx.store, number)
    CRATES.get(tx.store, 3 - number)
    tx.store.get(_PLACE)
    name = record.entity.name + more
    CRATES.update(tx, record, {"name": name})
    return name


def _keys_read(call: Call) -> list[str]:
    [(_, wanted)] = call.request["RequestItems"].items()
    return [key["PK"]["S"] for key in wanted["Keys"]]


def test_after_a_conflict_the_changed_items_are_read_in_one_call(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen, aws_faults.faulty(conflict()):
        run_transaction(two_crates.store, lambda tx: _rename(tx, 1, "!"))

    first = ["GetItem", "GetItem", "GetItem", "TransactWriteItems"]
    # The other crate and the place are not written, so they are read after the first crate.
    again = ["BatchGetItem", "GetItem", "GetItem", "TransactWriteItems"]
    assert seen.operations == [*first, *again]
    assert _keys_read(seen.calls[4]) == ["crate#000000000001"]


def test_after_a_failed_condition_the_written_item_is_read_before_the_others(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    turns = count()

    def use_case(tx: Transaction) -> str:
        name = _rename(tx, 1, "!")
        if not next(turns):
            two_crates.change(1, {"name": "uno"})
        return name

    with aws_faults.recorded() as seen:
        assert run_transaction(two_crates.store, use_case) == "uno!"

    again = ["BatchGetItem", "GetItem", "GetItem", "TransactWriteItems"]
    assert seen.operations[-5:] == ["TransactWriteItems", *again]
    assert CRATES.get(two_crates.store, 1).entity.name == "uno!"


def test_conflict_of_counters_sends_the_same_transaction_again(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    runs = count(1)

    def cancel_counters(call: Call) -> Answer:
        actions = call.request["TransactItems"]
        return cancelled_transaction(call, "TransactionConflict", [len(actions) - 1])

    def use_case(tx: Transaction) -> int:
        _rename(tx, 1, "!")
        tx.count("crate", {"n": 0})
        return next(runs)

    counters_meet = at_calls("TransactWriteItems", [0], answer=cancel_counters)
    with aws_faults.recorded() as seen, aws_faults.faulty(counters_meet):
        assert run_transaction(two_crates.store, use_case) == 1
    tokens = [one.request.get("ClientRequestToken") for one in seen.calls]
    assert tokens[-2] == tokens[-1]


type Refusal = Callable[[], Fault]

_REFUSALS: dict[str, Refusal] = {
    "a conflict": lambda: _cancel_transaction(1),
    "a failed condition": lambda: lambda _, forward: forward(),
}
"""Faults of a use case in whose first attempt another request commits a transaction."""


def _cancel_transaction(at: int) -> Fault:
    """Cancel the transaction number `at`, counted from 0, with a conflict."""
    return at_calls(
        "TransactWriteItems",
        [at],
        answer=lambda call: cancelled_transaction(call, "TransactionConflict"),
    )


@pytest.mark.parametrize("refused", _REFUSALS)
@pytest.mark.parametrize("part_size", [40, 350_000])
def test_entity_that_another_request_changed_is_read_as_it_is(
    two_crates: CrateTable,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
    part_size: int,
    refused: str,
) -> None:
    monkeypatch.setattr("shared.kernel.db.items.PART_SIZE", part_size)
    two_crates.change(1, {"reference": "short"})
    turns = count()

    def use_case(tx: Transaction) -> str | None:
        record = CRATES.get(tx.store, 1)
        assert (record.parts > 1) == (part_size == 40)
        if not next(turns):
            two_crates.change(1, {"reference": "much longer than before", "color": "blue"})
        CRATES.update(tx, record, {"name": record.entity.color})
        return record.entity.reference

    with aws_faults.faulty(_REFUSALS[refused]()):
        assert run_transaction(two_crates.store, use_case) == "much longer than before"
    assert CRATES.get(two_crates.store, 1).entity.name == "blue"


@pytest.mark.parametrize("refused", _REFUSALS)
def test_deleted_entity_is_noticed(
    two_crates: CrateTable, aws_faults: AwsFaults, refused: str
) -> None:
    turns = count()

    def use_case(tx: Transaction) -> None:
        record = CRATES.get(tx.store, 1)
        if not next(turns):
            two_crates.remove(1)
        CRATES.update(tx, record, {"name": "new"})

    with aws_faults.faulty(_REFUSALS[refused]()), pytest.raises(Gone):
        run_transaction(two_crates.store, use_case)


def test_each_attempt_reads_again_what_it_does_not_write(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    turns, elsewhere = count(), iter(["free", "taken"])
    monday = ("another table", "key")

    def use_case(tx: Transaction) -> tuple[str, str]:
        record = CRATES.get(tx.store, 1)
        place = tx.store.get(_PLACE)
        other = tx.store.get_cached(monday, lambda: {"note": next(elsewhere)})
        if not next(turns):
            _write(two_crates, _item(_PLACE, note="taken"))
        CRATES.update(tx, record, {"name": "new"})
        assert place
        assert other
        return place["note"], other["note"]

    with aws_faults.faulty(_cancel_transaction(1)):
        assert run_transaction(two_crates.store, use_case) == ("taken", "taken")


def test_items_that_the_use_case_names_are_read_in_the_first_call(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    def use_case(tx: Transaction) -> None:
        tx.read_first([_PLACE])
        _rename(tx, 1, "!")

    with aws_faults.recorded() as seen, aws_faults.faulty(conflict()):
        run_transaction(two_crates.store, use_case)
    assert seen.operations[4:] == ["BatchGetItem", "GetItem", "TransactWriteItems"]
    assert _keys_read(seen.calls[4]) == ["crate#000000000001", _PLACE[0]]


def _retire_place(crates: CrateTable) -> None:
    _write(crates, _item(_PLACE, note="retired"))
    invalidate_fences(crates.store, ["crate"])


@pytest.mark.parametrize("seconds", [0, 5])
def test_retirement_between_two_attempts_is_noticed(
    two_crates: CrateTable, aws_faults: AwsFaults, clock: Clock, seconds: float
) -> None:
    notes: list[str] = []

    def use_case(tx: Transaction) -> None:
        tx.fence("crate")
        place = tx.store.get(_PLACE)
        assert place
        notes.append(place["note"])
        if len(notes) == 1:
            two_crates.change(2, {"color": "blue"})
        if len(notes) == 2:
            _retire_place(two_crates)
        clock.advance(seconds)
        # The fence is part of the change of the totals.
        CRATES.update(tx, CRATES.get(tx.store, 1), {"status": place["note"]})

    # The first transaction is that of crate 2, the second one is refused.
    with aws_faults.faulty(_cancel_transaction(1)):
        run_transaction(two_crates.store, use_case)
    assert notes == ["free", "free", "retired"]


def test_fence_that_only_the_second_attempt_has_begins_with_new_reads(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    notes: list[str] = []
    turns = count()

    def use_case(tx: Transaction) -> None:
        if next(turns):
            tx.fence("crate")
        place = tx.store.get(_PLACE)
        assert place
        notes.append(place["note"])
        if len(notes) == 1:
            _retire_place(two_crates)
        CRATES.update(tx, CRATES.get(tx.store, 1), {"name": place["note"]})

    with aws_faults.faulty(_cancel_transaction(1)):
        run_transaction(two_crates.store, use_case)
    assert notes == ["free", "retired"]


def test_stale_read_of_the_use_case_itself_reads_everything_again(
    two_crates: CrateTable, aws_faults: AwsFaults
) -> None:
    turns = count()

    def use_case(tx: Transaction) -> None:
        name = _rename(tx, 1, "!")
        if not next(turns):
            raise StaleRead(name)

    with aws_faults.recorded() as seen:
        run_transaction(two_crates.store, use_case)
    assert seen.operations == ["GetItem"] * 6 + ["TransactWriteItems"]


def test_prefetched_items_are_read_again(two_crates: CrateTable, aws_faults: AwsFaults) -> None:
    prefetched = Prefetched({_PLACE: _item(_PLACE, note="prefetched")}, {})
    notes: list[str] = []

    def use_case(tx: Transaction) -> None:
        place = tx.store.get(_PLACE)
        assert place
        notes.append(place["note"])
        CRATES.update(tx, CRATES.get(tx.store, 1), {"name": place["note"]})

    with aws_faults.faulty(conflict()):
        run_transaction(two_crates.store, use_case, prefetched=prefetched)
    assert notes == ["prefetched", "free"]


def test_every_attempt_has_its_own_time(
    two_crates: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    times: list[int] = []

    def use_case(tx: Transaction) -> None:
        times.append(tx.now_ms)
        assert tx.company is tx.store.company
        assert tx.company.now_ms == tx.now_ms
        clock.advance(0.5)
        CRATES.update(tx, CRATES.get(tx.store, 1), {"name": "new"})

    with aws_faults.faulty(conflict(times=3)):
        run_transaction(two_crates.store, use_case)
    assert len(times) == 4
    assert all(later - earlier >= 500 for earlier, later in pairwise(times))

"""Two at the same import at the same instant: workers, requests, a worker and a request.

Of the many ways in which their calls can come after one another, each seed draws one.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, Killed, kill_before
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import complained, ensure_settled, imports, made
from tests.interleaving import Scheduler, replayable, seeds
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

_ROUNDS = 30
_WAYS = 3

GOOD = [f"P-{n}" for n in range(1, 6)]
GOODS = as_csv([["item_code", "name"], *([code, f"Good {code}"] for code in GOOD), ["P-6", ""]])

type Act = Callable[[], Any]


@pytest.fixture
def scheduler(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Several chunks and transactions for a few rows; nobody waits for another to be done."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 2)
    monkeypatch.setattr("shared.integration.imports.commit.MAX_ACTIONS", 5)
    for module in ("validation", "commit", "allocation", "worker", "service"):
        monkeypatch.setattr(f"shared.integration.imports.{module}.LEASE_MS", 0)
    return Scheduler(aws_faults, monkeypatch)


@dataclass(frozen=True, slots=True)
class Play:
    """acme's imports, and how their time passes."""

    desk: ImportDesk
    scheduler: Scheduler

    def at_once(self, *acts: Act, seed: int) -> list[Any]:
        """Act at the same time, then let the worker do what is left."""
        results = self.scheduler.run(acts, seed)
        for _ in range(_ROUNDS):
            bodies = self.desk.take()
            if not bodies:
                break
            self.scheduler._clock.advance(31)
            assert not self.desk.work(*bodies)
        ensure_settled(self.desk)
        return results

    def worker(self, number: int) -> Act:
        """Have the worker sent to an import."""
        body = json.dumps({"tenant": self.desk.slug, "import": number})

        def work() -> None:
            assert not self.desk.work(body)

        return work

    def post(self, path: str, key: str | None = None) -> Act:
        """Have a request made."""
        erp = self.desk.erp
        return lambda: erp.post(path, key=key)


def each_way(stack: Stack, scheduler: Scheduler, *, large: bool = False) -> Iterator[Any]:
    """Play from the same start, in the ways that the seeds draw: the play, the import, the seed."""
    play = Play(ImportDesk(stack), scheduler)
    if large:
        number = play.desk.upload("products", "goods.csv", GOODS).data["id"]
        play.desk.take()
    else:
        number = play.desk.imported("products", "goods.csv", GOODS)["id"]
    as_prepared = stack.keep()
    for seed in seeds(_WAYS):
        with replayable(seed):
            yield play, number, seed
        as_prepared()
        play.desk.take()


def assert_validated(desk: ImportDesk) -> None:
    [one] = imports(desk)
    assert one["status"] == "validated"
    assert one["rows"] == {"total": 6, "valid": 5, "error": 1}
    assert one["documents"] == {"total": 6, "valid": 5, "committed": 0}
    assert complained(desk, one) == {(7, "name", "is required")}


def assert_committed(desk: ImportDesk) -> None:
    [one] = imports(desk)
    assert one["status"] == "committed"
    assert one["documents"] == {"total": 6, "valid": 5, "committed": 5}
    assert complained(desk, one) == {(7, "name", "is required")}
    expected = Counter[tuple[object, ...]](("product", (name,)) for name in GOOD)
    expected.update(("event", "product.created", (name,)) for name in GOOD)
    found = made(desk)
    assert {name: count for name, count in found.items() if name[0] != "import"} == expected


def test_two_workers_validate(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
    for play, number, seed in each_way(stack, scheduler, large=True):
        play.at_once(play.worker(number), play.worker(number), seed=seed)
        assert_validated(play.desk)


def test_two_workers_commit(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_UNITS", 0)
    for play, number, seed in each_way(stack, scheduler):
        assert play.post(f"/imports/{number}/commit")().status == 202
        play.at_once(play.worker(number), play.worker(number), seed=seed)
        assert_committed(play.desk)


def test_of_two_commits_one_is_refused(stack: Stack, scheduler: Scheduler) -> None:
    for play, number, seed in each_way(stack, scheduler):
        commit = f"/imports/{number}/commit"
        answers = play.at_once(play.post(commit, "a"), play.post(commit, "b"), seed=seed)
        assert sorted(answer.status for answer in answers) == [202, 409]
        assert {answer.code for answer in answers if answer.status == 409} == {"import_refused"}
        assert_committed(play.desk)


def test_one_commit_that_is_sent_twice_is_one(stack: Stack, scheduler: Scheduler) -> None:
    for play, number, seed in each_way(stack, scheduler):
        commit = f"/imports/{number}/commit"
        answers = play.at_once(play.post(commit, "a"), play.post(commit, "a"), seed=seed)
        assert {answer.status for answer in answers} <= {202, 409}
        refused = {answer.code for answer in answers if answer.status == 409}
        assert refused <= {"duplicate_in_flight"}
        assert_committed(play.desk)


def test_a_commit_while_a_worker_comes(stack: Stack, scheduler: Scheduler) -> None:
    for play, number, seed in each_way(stack, scheduler):
        commit = play.post(f"/imports/{number}/commit")
        answer, *_ = play.at_once(commit, play.worker(number), play.worker(number), seed=seed)
        assert answer.status == 202
        assert_committed(play.desk)


def test_cancelled_while_it_is_validated(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
    for play, number, seed in each_way(stack, scheduler, large=True):
        cancel = play.post(f"/imports/{number}/cancel")
        answer, _ = play.at_once(cancel, play.worker(number), seed=seed)
        assert answer.status == 200
        [one] = imports(play.desk)
        assert one["status"] == "cancelled"
        assert set(made(play.desk)) == {("import", ("products", "cancelled"))}


def test_cancelled_while_it_is_committed(stack: Stack, scheduler: Scheduler) -> None:
    for play, number, seed in each_way(stack, scheduler):
        acts = (play.post(f"/imports/{number}/cancel"), play.post(f"/imports/{number}/commit"))
        cancel, commit = play.at_once(*acts, seed=seed)
        assert sorted((cancel.status, commit.status)) in ([200, 409], [202, 409])
        assert {cancel.status, commit.status} & {409}
        if commit.status == 202:
            assert cancel.code == "import_refused"
            assert_committed(play.desk)
        else:
            assert commit.code == "import_refused"
            assert set(made(play.desk)) == {("import", ("products", "cancelled"))}


def test_a_drop_that_commits_itself_is_committed_by_hand(
    stack: Stack, scheduler: Scheduler
) -> None:
    desk = ImportDesk(stack)
    desk.put("drop/products/goods.csv", GOODS)
    desk.drain()
    WarehouseScenario(desk.erp).settle(commit_drops=True)
    as_dropped = stack.keep()
    for seed in seeds(_WAYS):
        with replayable(seed):
            play = Play(desk, scheduler)
            [one] = imports(desk)
            assert one["status"] == "validated"
            answer, _ = play.at_once(
                play.post(f"/imports/{one['id']}/commit"), play.worker(one["id"]), seed=seed
            )
            assert answer.status in {202, 409}
            assert_committed(desk)
        as_dropped()
        desk.take()


# Between any two calls


def between(
    aws_faults: AwsFaults, at: int, act: Act, told: list[Any]
) -> AbstractContextManager[None]:
    """Have something done just before the `at`-th call from now on, counted from 0."""
    calls = iter(range(1_000))

    def fault(_call: Call, forward: Forward) -> Answer:
        if not told and next(calls) == at:
            told.append(None)  # its own calls are not counted
            told[0] = act()
        return forward()

    return aws_faults.faulty(fault)


@pytest.fixture
def desk_of_small_steps(desk: ImportDesk, monkeypatch: pytest.MonkeyPatch) -> ImportDesk:
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 3)
    monkeypatch.setattr("shared.integration.imports.commit.MAX_ACTIONS", 8)
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_UNITS", 0)
    return desk


def test_cancelled_between_any_two_calls_of_a_validation(
    desk_of_small_steps: ImportDesk, aws_faults: AwsFaults
) -> None:
    desk = desk_of_small_steps
    number = desk.upload("products", "goods.csv", GOODS).data["id"]
    body = desk.take()[-1]
    as_uploaded = desk.stack.keep()
    erp = desk.erp
    with aws_faults.recorded() as seen:
        assert not desk.work(body)
    assert len(seen.calls) > 10
    for at in range(len(seen.calls)):
        as_uploaded()
        desk.take()
        told: list[Any] = []
        with between(aws_faults, at, lambda: erp.post(f"/imports/{number}/cancel"), told):
            assert not desk.work(body)
        assert told[0].status == 200, at
        desk.drain()
        [one] = imports(desk)
        assert one["status"] == "cancelled", (at, seen.operations)


def test_committed_again_between_any_two_calls_of_a_commit(
    desk_of_small_steps: ImportDesk, aws_faults: AwsFaults
) -> None:
    desk = desk_of_small_steps
    number = desk.imported("products", "goods.csv", GOODS)["id"]
    as_validated = desk.stack.keep()
    erp = desk.erp
    commit = f"/imports/{number}/commit"
    with aws_faults.recorded() as seen:
        assert erp.post(commit, key="a").status == 202
    for at in range(1, len(seen.calls)):
        as_validated()
        desk.take()
        told: list[Any] = []
        with between(aws_faults, at, lambda: erp.post(commit, key="b"), told):
            answer = erp.post(commit, key="a")
        assert sorted((answer.status, told[0].status)) == [202, 409], at
        desk.drain()
        assert_committed(desk)


def test_whoever_comes_while_another_is_at_it_comes_again(
    desk: ImportDesk, aws_faults: AwsFaults, clock: Clock
) -> None:
    erp = desk.erp
    fields = {"kind": "products"}
    erp.upload("/imports", fields, ("goods.csv", GOODS))  # what an environment reads once
    with aws_faults.recorded() as seen:
        erp.upload("/imports", fields, ("goods.csv", GOODS))
    desk.stack.empty()
    desk.take()
    with pytest.raises(Killed), aws_faults.faulty(kill_before(len(seen.calls) - 1)):
        erp.upload("/imports", fields, ("goods.csv", GOODS))
    [message] = desk.take()

    assert not desk.work(message)  # nobody knows so far that the other is dead
    [one] = imports(desk)
    assert one["status"] == "validating"
    assert len(desk.messages()) == 1

    clock.advance(31)
    desk.drain()
    assert_validated(desk)


def test_two_workers_at_one_dropped_file_between_any_two_calls(
    desk: ImportDesk, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("validation", "commit", "worker", "service"):
        monkeypatch.setattr(f"shared.integration.imports.{module}.LEASE_MS", 0)
    desk.put("drop/products/goods.csv", GOODS)
    [notice] = desk.take()
    assert not desk.work(notice)
    [body] = desk.take()
    as_arrived = desk.stack.keep()
    with aws_faults.recorded() as seen:
        assert not desk.work(body)
    assert len(seen.calls) > 10
    for at in range(len(seen.calls)):
        as_arrived()
        told: list[Any] = []
        with between(aws_faults, at, lambda: desk.work(body), told):
            assert not desk.work(body)
        assert told == [[]]
        desk.drain()
        assert_validated(desk)
        assert "warning" not in desk.erp.get("/imports/1").json(), at

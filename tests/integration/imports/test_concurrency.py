"""Concurrent workers and requests on the same import.

Each seed determines one interleaving of their AWS calls.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_before
from tests.import_scenario import ImportScenario
from tests.integration.between_calls import before_each_call
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import all_imports, ensure_settled, report_problems, snapshot
from tests.interleaving import Scheduler, each_seed
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

_MAX_ROUNDS = 30
_INTERLEAVINGS = 3

GOOD = [f"P-{n}" for n in range(1, 6)]
GOODS = as_csv([["item_code", "name"], *([code, f"Good {code}"] for code in GOOD), ["P-6", ""]])

type Action = Callable[[], Any]


@pytest.fixture
def scheduler(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Use several chunks and transactions for a few rows, and no leases."""
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 2)
    monkeypatch.setattr("shared.integration.imports.kinds.importer.MAX_PLANNED_ACTIONS", 5)
    monkeypatch.setattr("shared.kernel.queued_work.LEASE_MS", 0)
    return scheduler


@dataclass(frozen=True, slots=True)
class ConcurrentImports:
    """Imports of acme, whose actions run concurrently."""

    imports: ImportScenario
    scheduler: Scheduler

    def run_concurrently(self, *actions: Action, seed: int) -> list[Any]:
        """Run actions concurrently, then deliver the remaining messages to the worker."""
        results = self.scheduler.run(actions, seed)
        for _ in range(_MAX_ROUNDS):
            bodies = self.imports.take_messages()
            if not bodies:
                break
            self.scheduler._clock.advance(31)
            assert not self.imports.deliver(*bodies)
        ensure_settled(self.imports)
        return results

    def delivery(self, import_id: int) -> Action:
        """Return the action of delivering a message for an import."""
        body = json.dumps({"tenant": self.imports.slug, "import": import_id})

        def deliver() -> None:
            assert not self.imports.deliver(body)

        return deliver

    def post(self, path: str, key: str | None = None) -> Action:
        """Return the action of making a request."""
        erp = self.imports.erp
        return lambda: erp.post(path, key=key)


def each_interleaving(stack: Stack, scheduler: Scheduler, *, large: bool = False) -> Iterator[Any]:
    """Yield the run, an uploaded import and the seed, each time from the same start."""
    run = ConcurrentImports(ImportScenario(stack), scheduler)
    if large:
        number = run.imports.upload("products", "goods.csv", GOODS).data["id"]
    else:
        number = run.imports.import_file("products", "goods.csv", GOODS)["id"]
    for seed in each_seed(stack, _INTERLEAVINGS):
        run.imports.take_messages()
        yield run, number, seed


def assert_validated(scenario: ImportScenario) -> None:
    [one] = all_imports(scenario)
    assert one["status"] == "validated"
    assert one["rows"] == {"total": 6, "valid": 5, "error": 1}
    assert one["documents"] == {"total": 6, "valid": 5, "committed": 0, "skipped": 0}
    assert report_problems(scenario, one) == {(7, "name", "is required")}


def assert_committed(scenario: ImportScenario) -> None:
    [one] = all_imports(scenario)
    assert one["status"] == "committed"
    assert one["documents"] == {"total": 6, "valid": 5, "committed": 5, "skipped": 0}
    assert report_problems(scenario, one) == {(7, "name", "is required")}
    expected = Counter[tuple[object, ...]](("product", (name,)) for name in GOOD)
    expected.update(("event", "product.created", (name,)) for name in GOOD)
    found = snapshot(scenario)
    assert {name: count for name, count in found.items() if name[0] != "import"} == expected


def test_two_workers_validate_one_import(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.service._SYNC_FILE_BYTES", 0)
    for run, number, seed in each_interleaving(stack, scheduler, large=True):
        run.run_concurrently(run.delivery(number), run.delivery(number), seed=seed)
        assert_validated(run.imports)


def test_two_workers_commit_one_import(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.service._SYNC_GROUPS", 0)
    for run, number, seed in each_interleaving(stack, scheduler):
        assert run.post(f"/imports/{number}/commit")().status == 202
        run.run_concurrently(run.delivery(number), run.delivery(number), seed=seed)
        assert_committed(run.imports)


def test_one_of_two_commits_is_refused(stack: Stack, scheduler: Scheduler) -> None:
    for run, number, seed in each_interleaving(stack, scheduler):
        commit = f"/imports/{number}/commit"
        answers = run.run_concurrently(run.post(commit, "a"), run.post(commit, "b"), seed=seed)
        assert sorted(answer.status for answer in answers) == [202, 409]
        assert {answer.code for answer in answers if answer.status == 409} == {"import_refused"}
        assert_committed(run.imports)


def test_a_commit_concurrent_with_workers_applies_the_rows_once(
    stack: Stack, scheduler: Scheduler
) -> None:
    for run, number, seed in each_interleaving(stack, scheduler):
        commit = run.post(f"/imports/{number}/commit")
        answer, *_ = run.run_concurrently(
            commit, run.delivery(number), run.delivery(number), seed=seed
        )
        assert answer.status == 202
        assert_committed(run.imports)


def test_a_cancellation_during_the_validation_succeeds(
    stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.service._SYNC_FILE_BYTES", 0)
    for run, number, seed in each_interleaving(stack, scheduler, large=True):
        cancel = run.post(f"/imports/{number}/cancel")
        answer, _ = run.run_concurrently(cancel, run.delivery(number), seed=seed)
        assert answer.status == 200
        [one] = all_imports(run.imports)
        assert one["status"] == "cancelled"
        assert set(snapshot(run.imports)) == {("import", ("products", "cancelled"))}


def test_either_a_cancellation_or_a_commit_succeeds(stack: Stack, scheduler: Scheduler) -> None:
    for run, number, seed in each_interleaving(stack, scheduler):
        actions = (run.post(f"/imports/{number}/cancel"), run.post(f"/imports/{number}/commit"))
        cancel, commit = run.run_concurrently(*actions, seed=seed)
        assert sorted((cancel.status, commit.status)) in ([200, 409], [202, 409])
        assert {cancel.status, commit.status} & {409}
        if commit.status == 202:
            assert cancel.code == "stale_state"
            assert_committed(run.imports)
        else:
            assert commit.code == "import_refused"
            assert set(snapshot(run.imports)) == {("import", ("products", "cancelled"))}


def test_an_automatic_and_a_requested_commit_apply_the_rows_once(
    stack: Stack, scheduler: Scheduler
) -> None:
    scenario = ImportScenario(stack)
    scenario.put_file("drop/products/goods.csv", GOODS)
    scenario.drain_queue()
    WarehouseScenario(scenario.erp).change_settings(commit_drops=True)
    for seed in each_seed(stack, _INTERLEAVINGS):
        scenario.take_messages()
        run = ConcurrentImports(scenario, scheduler)
        [one] = all_imports(scenario)
        assert one["status"] == "validated"
        answer, _ = run.run_concurrently(
            run.post(f"/imports/{one['id']}/commit"), run.delivery(one["id"]), seed=seed
        )
        assert answer.status in {202, 409}
        assert_committed(scenario)


def test_a_message_is_postponed_while_another_worker_has_the_lease(
    scenario: ImportScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    erp = scenario.erp
    fields = {"kind": "products"}
    erp.upload("/imports", fields, ("goods.csv", GOODS))  # fills the caches of the environment
    with aws_faults.recorded() as seen:
        erp.upload("/imports", fields, ("goods.csv", GOODS))
    scenario.stack.reset_tenant()
    scenario.take_messages()
    with pytest.raises(Killed), aws_faults.faulty(kill_before(len(seen.calls) - 1)):
        erp.upload("/imports", fields, ("goods.csv", GOODS))
    [message] = scenario.take_messages()

    assert not scenario.deliver(message)  # the lease of the dead request has not expired
    [one] = all_imports(scenario)
    assert one["status"] == "validating"
    assert len(scenario.messages()) == 1

    clock.advance(31)
    scenario.drain_queue()
    assert_validated(scenario)


def test_two_workers_validate_a_dropped_file_once_between_any_two_calls(
    scenario: ImportScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.queued_work.LEASE_MS", 0)
    scenario.put_file("drop/products/goods.csv", GOODS)
    [notification] = scenario.take_messages()
    assert not scenario.deliver(notification)
    [body] = scenario.take_messages()

    def deliver() -> None:
        assert not scenario.deliver(body)

    for failed in before_each_call(
        scenario.stack, aws_faults, deliver,
        lambda: scenario.deliver(body), family="second worker", every=8, at_least=10,
    ):  # fmt: skip
        assert failed == []
        scenario.drain_queue()
        assert_validated(scenario)
        assert "warning" not in scenario.erp.get("/imports/1").json()

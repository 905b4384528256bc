"""Faults at the AWS calls of an import: every row is applied exactly once.

Each case runs with a fault. Afterwards the queue delivers failed and delayed messages, and the
client repeats its request, or does not.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from shared.kernel import aws
from shared.kernel.config import config
from tests.clock import Clock
from tests.faults import (
    AwsFaults,
    Fault,
    Killed,
    conflict,
    kill_after,
    kill_before,
    lose_answer,
    throttle,
)
from tests.gateway import Erp, Form, Response
from tests.import_scenario import ImportScenario, leave_all_to_worker
from tests.integration.imports.import_files import as_csv, table
from tests.integration.imports.kind_examples import EXITS, STOCK_COUNTS
from tests.integration.imports.outcome import all_imports, ensure_settled, outcome
from tests.sampling import sampled
from tests.stock_invariants import check_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

_AFTER_CRASH = 61
"""Seconds after which the leases and claims of a crashed process have expired."""
_EFFECTS = {"TransactWriteItems", "DeleteObject"}
"""Calls that complete a step of an import, or a refused drop."""
_MAX_ROUNDS = 12
"""Rounds of messages after which an import must have ended."""

GOODS = as_csv(
    [["item_code", "name", "barcode"], *([f"P-{n}", f"Good {n}", n] for n in range(1, 6))]
) + b"P-6,,6\nBRICK,Better brick,7\n"  # fmt: skip
"""Five new products, one without a name, and one existing product that is changed."""
COUNTS = as_csv(
    [
        *table("stock_counts", STOCK_COUNTS.rows()),
        ["YARD", "B-01", "BRICK", "", "", "", 4, "", "Opening stock"],
        ["YARD", "F-01", "BRICK", "", "", "", 5, 9, "Opening stock"],
    ]
)
"""Counts of four stocks, and one with a wrong expected quantity."""
ORDERS = as_csv(table("exit_documents", EXITS.rows()))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use several chunks and transactions for a few rows."""
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 3)
    monkeypatch.setattr("shared.integration.imports.kinds.importer.MAX_PLANNED_ACTIONS", 8)
    monkeypatch.setattr(
        "shared.integration.imports.kinds.products.ProductImporter.prefetch_groups", 4
    )
    counts = "shared.integration.imports.kinds.stock_counts"
    monkeypatch.setattr(f"{counts}.StockCountImporter.most_groups", 2)
    monkeypatch.setattr(f"{counts}._READ_AT_ONCE", 3)
    monkeypatch.setattr("shared.integration.imports.kinds.reads_ahead._SAMPLE_GROUPS", 2)


def settle(scenario: ImportScenario, clock: Clock) -> None:
    """Deliver messages to the worker until the queue is empty."""
    bodies = scenario.take_messages()
    for _ in range(_MAX_ROUNDS):
        if not bodies:
            return
        clock.advance(_AFTER_CRASH)
        for body in bodies:
            assert not scenario.deliver(body)
        bodies = scenario.take_messages()
    pytest.fail(f"still in progress: {all_imports(scenario)}")


type Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class FaultCase:
    """An action during which a fault occurs.

    `prepare` sets up the data and returns the action, which can be repeated.
    """

    name: str
    prepare: Callable[[ImportScenario], Action]
    is_request: bool = True
    large: bool = False
    """Whether the worker does everything."""
    commits_drops: bool = False


def _request(erp: Erp, path: str, body: object = None) -> Action:
    def action() -> Response:
        answer = erp.post(path, body, key="key-1")
        assert answer.status in {200, 201, 202, 409, 503}, answer.text
        return answer

    return action


def _upload(scenario: ImportScenario) -> Action:
    return _request(scenario.erp, "/imports", Form({"kind": "products"}, ("goods.csv", GOODS)))


def _request_upload(scenario: ImportScenario) -> Action:
    return _request(scenario.erp, "/imports/uploads", {"kind": "products", "filename": "goods.csv"})


def _messages(scenario: ImportScenario, *, count: int = 1) -> Action:
    bodies = scenario.take_messages()[-count:]
    assert len(bodies) == count

    def action() -> None:
        todo = list(bodies)
        for _ in range(_MAX_ROUNDS):
            assert not scenario.deliver(*todo)
            todo = scenario.take_messages()  # the messages that a received file causes
            if not todo:
                break

    return action


def _validation(scenario: ImportScenario) -> Action:
    _upload(scenario)()
    return _messages(scenario)


def _validated(scenario: ImportScenario) -> int:
    return int(scenario.import_file("products", "goods.csv", GOODS)["id"])


def _commit(scenario: ImportScenario) -> Action:
    return _request(scenario.erp, f"/imports/{_validated(scenario)}/commit")


def _cancel(scenario: ImportScenario) -> Action:
    return _request(scenario.erp, f"/imports/{_validated(scenario)}/cancel")


def _commit_by_worker(scenario: ImportScenario) -> Action:
    _commit(scenario)()
    return _messages(scenario)


def _commit_orders(scenario: ImportScenario) -> Action:
    yard = WarehouseScenario(scenario.erp)
    yard.stock("BRICK", 6)
    yard.stock("CEMENT", 2, batch="L-1")
    one = scenario.import_file("exit_documents", "orders.csv", ORDERS, auto_allocate="true")
    _request(scenario.erp, f"/imports/{one['id']}/commit")()
    return _messages(scenario)


def _commit_counts(scenario: ImportScenario) -> Action:
    yard = WarehouseScenario(scenario.erp)
    yard.stock("CEMENT", 1, "B-01", batch="L-1")
    one = scenario.import_file("stock_counts", "counts.csv", COUNTS)
    _request(scenario.erp, f"/imports/{one['id']}/commit")()
    return _messages(scenario)


def _drop(scenario: ImportScenario) -> Action:
    scenario.put_file("drop/products/goods.csv", GOODS)
    return _messages(scenario)


def _refused_drop(scenario: ImportScenario) -> Action:
    scenario.put_file("drop/product/goods.csv", GOODS)
    return _messages(scenario)


def _received_upload(scenario: ImportScenario) -> Action:
    answer: Any = _request_upload(scenario)()
    scenario.put_file(answer.data["upload"]["fields"]["key"].partition("/")[2], GOODS)
    return _messages(scenario)


CASES = (
    FaultCase("a small upload", _upload),
    FaultCase("a large upload", _upload, large=True),
    FaultCase("an upload request", _request_upload),
    FaultCase("validation by the worker", _validation, is_request=False, large=True),
    FaultCase("a small commit", _commit),
    FaultCase("a large commit", _commit, large=True),
    FaultCase("commit by the worker", _commit_by_worker, is_request=False, large=True),
    FaultCase("commit with allocation", _commit_orders, is_request=False, large=True),
    FaultCase("commit of counts", _commit_counts, is_request=False, large=True),
    FaultCase("a cancellation", _cancel),
    FaultCase("a drop", _drop, is_request=False),
    FaultCase(
        "a drop that is committed automatically", _drop, is_request=False, commits_drops=True
    ),
    FaultCase("a refused drop", _refused_drop, is_request=False),
    FaultCase("a received upload", _received_upload, is_request=False),
)


@dataclass(frozen=True, slots=True)
class FaultRun:
    """A case that can be run repeatedly, each time with the data as prepared."""

    scenario: ImportScenario
    clock: Clock
    action: Action
    is_request: bool
    """Whether only the client can repeat the action; the queue repeats messages by itself."""
    reset: Callable[[], None]

    def finish(self) -> tuple[object, ...]:
        """Repeat the action until it succeeds, run the worker, and return the outcome."""
        for _ in range(5):
            answer = self.action()
            if not isinstance(answer, Response) or answer.status < 300:
                break
            self.clock.advance(_AFTER_CRASH)
        else:
            pytest.fail(f"still refused: {answer}")
        settle(self.scenario, self.clock)
        check_invariants(read_state(self.scenario.stack.unsorted_items()))
        return outcome(self.scenario)


def _prepare(
    scenario: ImportScenario, case: FaultCase, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> FaultRun:
    if case.large:
        leave_all_to_worker(monkeypatch)
    yard = WarehouseScenario.with_master_data(scenario.erp, "YARD")
    yard.change_settings(commit_drops=case.commits_drops)
    action = case.prepare(scenario)
    scenario.take_messages()
    tables, files = scenario.stack.take_snapshot(), scenario.files()

    def reset() -> None:
        tables()
        scenario.take_messages()
        for name in scenario.files().keys() - files.keys():
            _delete(scenario, name)
        for name, content in files.items():
            scenario.put_file(name, content)
        scenario.take_messages()

    return FaultRun(scenario, clock, action, case.is_request, reset)


def _delete(scenario: ImportScenario, name: str) -> None:
    key = f"{scenario.slug}/{name}"
    aws.client("s3").delete_object(Bucket=config().import_bucket, Key=key)


def _faults(calls: int) -> Iterator[tuple[str, Fault]]:
    """Yield every fault at every call, with its description."""
    for index in range(calls):
        yield f"killed before call {index}", kill_before(index)
        yield f"response {index} lost", lose_answer(index)
        yield f"call {index} throttled", throttle(index)
    yield f"killed before call {calls}", kill_after(calls - 1)
    yield "in conflict", conflict(times=4)


def _numbered_faults(case_name: str, operations: Sequence[str]) -> Iterator[tuple[int, str, Fault]]:
    """Yield the crashes before and after the last effect, and one other fault in a sample.

    The numbers are those among all faults of the case, so that they do not depend on the sample.
    """
    every_fault = [(number, *one) for number, one in enumerate(_faults(len(operations)))]
    last = max(at for at, name in enumerate(operations) if name in _EFFECTS)
    crashes = {f"killed before call {at}" for at in (last, last + 1)}
    yield from (one for one in every_fault if one[1] in crashes)
    others = [one for one in every_fault if one[1] not in crashes]
    yield from sampled(case_name, others, every=len(others))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_import_has_the_same_outcome_with_any_fault(
    case: FaultCase,
    scenario: ImportScenario,
    aws_faults: AwsFaults,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = _prepare(scenario, case, monkeypatch, clock)
    with aws_faults.recorded() as seen:
        run.action()
    settle(scenario, clock)
    expected = outcome(scenario)
    for number, name, fault in _numbered_faults(case.name, seen.operations):
        run.reset()
        try:
            _run_with_fault(run, fault, aws_faults, queue_first=number % 2 == 0)
            assert run.finish() == expected
        except BaseException as error:
            error.add_note(f"{case.name}: {name} of {len(seen.calls)}: {seen.operations}")
            raise


def _run_with_fault(
    run: FaultRun, fault: Fault, aws_faults: AwsFaults, *, queue_first: bool
) -> None:
    """Run the action with a fault.

    With `queue_first`, the queue delivers its messages before the client repeats the action.
    """
    with aws_faults.faulty(fault):
        try:
            run.action()
        except Killed:
            run.clock.advance(_AFTER_CRASH)
    if queue_first:
        settle(run.scenario, run.clock)
        if run.is_request:
            ensure_settled(run.scenario)

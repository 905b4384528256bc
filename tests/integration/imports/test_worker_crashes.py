"""A worker that crashes many times, while messages are duplicated and reordered.

RANDOM_SEED is the random seed, RANDOM_DOCUMENTS the number of documents; `make random` uses large
numbers.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from shared.integration.imports.kinds.documents import EntryDocumentImporter
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, Killed
from tests.import_scenario import ImportScenario, leave_all_to_worker
from tests.integration.imports.import_files import as_csv, entry_row, table
from tests.integration.imports.outcome import report_problems, snapshot, stored_entities
from tests.stock_invariants import check_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

SEED = int(os.environ.get("RANDOM_SEED", "1"))
DOCUMENTS = int(os.environ.get("RANDOM_DOCUMENTS", "30"))
_STEPS = 60
"""Transactions of a commit, so that crashes between them are likely."""
_CRASHES = 25
_AFTER_CRASH = 121
"""Seconds after which the lease of a crashed worker has expired."""
_LINES = 5
"""Lines of each document."""
_INVALID_EVERY = 6
"""Every sixth document has a line with an unknown product."""

type Message = tuple[str, int]
"""Body, and number of deliveries."""


class UnreliableQueue:
    """Delivers messages in random order, some of them twice, and again after a crash."""

    def __init__(self, scenario: ImportScenario, rng: random.Random) -> None:
        self._scenario = scenario
        self._rng = rng
        self._waiting: list[Message] = []
        self.crashes = 0

    def messages(self) -> Iterator[Message]:
        """Yield messages until there are none left."""
        while self._receive() or self._waiting:
            yield self._waiting.pop(self._rng.randrange(len(self._waiting)))

    def redeliver(self, message: Message) -> None:
        """Deliver a message again after a crash."""
        self.crashes += 1
        self._waiting.append((message[0], message[1] + 1))

    def _receive(self) -> bool:
        for body in self._scenario.take_messages():
            self._waiting += [(body, 1)] * self._rng.choice((1, 1, 1, 2))
        return bool(self._waiting)


def crash_soon(rng: random.Random, stalled: int) -> Fault:
    """Return a fault that kills the worker at one of the next calls, before or after the call.

    The more attempts without progress, the later the crash, so that the import is not given up.
    """
    remaining = rng.randrange(1, 12) + 6 * stalled

    def fault(_call: Call, forward: Forward) -> Answer:
        nonlocal remaining
        remaining -= 1
        if remaining > 0:
            return forward()
        if rng.random() < 0.5:
            forward()
        raise Killed

    return fault


def process_messages(
    scenario: ImportScenario, aws_faults: AwsFaults, clock: Clock, rng: random.Random, crashes: int
) -> int:
    """Crash the worker `crashes` times, process the remaining messages, and return the crashes."""
    queue = UnreliableQueue(scenario, rng)
    for message in queue.messages():
        body, receives = message
        clock.advance(_AFTER_CRASH)
        try:
            if queue.crashes < crashes:
                [stalled] = [
                    one.stalled for kind, one in stored_entities(scenario) if kind == "import"
                ]
                with aws_faults.faulty(crash_soon(rng, stalled)):
                    assert not scenario.deliver(body, receives=receives)
            else:
                assert not scenario.deliver(body, receives=receives)
        except Killed:
            queue.redeliver(message)
    return queue.crashes


def orders(documents: int) -> bytes:
    """Return a file of documents whose lines are spread over the whole file."""
    rows = [
        entry_row(
            f"PO-{number}",
            item_code="GHOST" if line == 1 and number % _INVALID_EVERY == 0 else "BRICK",
            qty=number * _LINES + line,
        )
        for line in range(_LINES)
        for number in range(documents)
    ]
    return as_csv(table("entry_documents", rows))


def assert_every_valid_document_exists_once(scenario: ImportScenario, documents: int) -> None:
    valid = [number for number in range(documents) if number % _INVALID_EVERY]
    found = {one.external_ref: one for kind, one in stored_entities(scenario) if kind == "entry"}
    assert sorted(found) == sorted(f"PO-{number}" for number in valid)
    for number in valid:
        lines = [(line.item_code, int(line.qty)) for line in found[f"PO-{number}"].lines]
        assert lines == [("BRICK", number * _LINES + line) for line in range(_LINES)]
    assert set(snapshot(scenario).values()) == {1}
    totals = scenario.erp.get("/entry-documents").json()["meta"]["total"]
    assert totals == len(valid)
    check_invariants(read_state(scenario.stack.unsorted_items()))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_all_to_worker(monkeypatch)
    groups_per_step = max(1, DOCUMENTS // _STEPS)
    monkeypatch.setattr(
        "shared.integration.imports.validation._CHUNK_ROWS", 2 * groups_per_step * _LINES
    )
    actions = 2 + groups_per_step * EntryDocumentImporter.max_actions
    monkeypatch.setattr("shared.integration.imports.kinds.importer.MAX_PLANNED_ACTIONS", actions)


def import_with_crashes(
    scenario: ImportScenario,
    aws_faults: AwsFaults,
    clock: Clock,
    *,
    documents: int,
    crashes: int,
    seed: int,
) -> None:
    """Validate and commit orders; half of the crashes happen in each phase."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    WarehouseScenario.with_master_data(scenario.erp, "YARD")
    number = scenario.upload("entry_documents", "orders.csv", orders(documents)).data["id"]
    actual = process_messages(scenario, aws_faults, clock, rng, crashes // 2)
    one = scenario.get_import(number)
    invalid = len(range(0, documents, _INVALID_EVERY))
    assert one["status"] == "validated", one
    assert one["rows"] == {
        "total": documents * _LINES,
        "valid": (documents - invalid) * _LINES,
        "error": invalid * _LINES,
    }
    assert one["documents"] == {
        "total": documents,
        "valid": documents - invalid,
        "committed": 0,
        "skipped": 0,
    }
    assert Counter(reason for _, _, reason in report_problems(scenario, one)).most_common(1) == [
        ("no product has the code GHOST", invalid)
    ]

    assert scenario.erp.post(f"/imports/{number}/commit").status == 202
    actual += process_messages(scenario, aws_faults, clock, rng, crashes - crashes // 2)

    one = scenario.get_import(number)
    assert one["status"] == "committed", one
    assert one["documents"] == {
        "total": documents,
        "valid": documents - invalid,
        "committed": documents - invalid,
        "skipped": 0,
    }
    assert actual == crashes
    assert_every_valid_document_exists_once(scenario, documents)


def test_every_document_is_created_once_although_workers_crash(
    scenario: ImportScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    try:
        import_with_crashes(
            scenario, aws_faults, clock, documents=DOCUMENTS, crashes=_CRASHES, seed=SEED
        )
    except BaseException as error:
        error.add_note(
            f"repeat with: make random SEED={SEED} DOCUMENTS={DOCUMENTS} ARGS='-k crash'"
        )
        raise

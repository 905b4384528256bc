"""A worker that dies again and again, and is sent to the same import twice at once.

Messages come twice, in any order, and again when their worker died. SOAK_SEED draws what
happens, SOAK_DOCUMENTS says how much there is to do; `make soak` has the large figures.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from shared.integration.imports.document_handling import EntryDocuments
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, Killed
from tests.import_desk import ImportDesk
from tests.integration.imports.outcome import complained, entities, made
from tests.integration.imports.sheets import as_csv
from tests.stock_invariants import check, read_books
from tests.warehouse_scenario import WarehouseScenario

SEED = int(os.environ.get("SOAK_SEED", "1"))
DOCUMENTS = int(os.environ.get("SOAK_DOCUMENTS", "60"))
_STEPS = 60
"""Transactions of a commit: enough to die between them."""
_KILLS = 50
_AFTER_A_DEATH = 121
_LINES = 5
"""Of each document."""
_BAD = 10
"""Every tenth document has a line for a product that nobody knows."""

type Message = tuple[str, int]
"""Body, how often it was delivered."""


class Queue:
    """Delivers messages at least once, in any order, and again when the worker died."""

    def __init__(self, desk: ImportDesk, chance: random.Random) -> None:
        self._desk = desk
        self._chance = chance
        self._waiting: list[Message] = []
        self.deaths = 0

    def messages(self) -> Iterator[Message]:
        """Deliver until there is nothing left."""
        while self._take_over() or self._waiting:
            yield self._waiting.pop(self._chance.randrange(len(self._waiting)))

    def died(self, message: Message) -> None:
        """Deliver again what the worker died of."""
        self.deaths += 1
        self._waiting.append((message[0], message[1] + 1))

    def _take_over(self) -> bool:
        for body in self._desk.take():
            self._waiting += [(body, 1)] * self._chance.choice((1, 1, 1, 2))
        return bool(self._waiting)


def dies_sometimes(chance: random.Random, stalled: int) -> Fault:
    """Kill at one of the next calls, before or after it was carried out.

    The later, the more often it died without getting ahead: that too often is another story.
    """
    left = chance.randrange(1, 12) + 6 * stalled

    def fault(_call: Call, forward: Forward) -> Answer:
        nonlocal left
        left -= 1
        if left > 0:
            return forward()
        if chance.random() < 0.5:
            forward()
        raise Killed

    return fault


def work_off(
    desk: ImportDesk, aws_faults: AwsFaults, clock: Clock, chance: random.Random, kills: int
) -> int:
    """Let the worker die so many times, then work off what is left; how often it died."""
    queue = Queue(desk, chance)
    for message in queue.messages():
        body, receives = message
        clock.advance(_AFTER_A_DEATH)
        try:
            if queue.deaths < kills:
                [stalled] = [one.stalled for kind, one in entities(desk) if kind == "import"]
                with aws_faults.faulty(dies_sometimes(chance, stalled)):
                    assert not desk.work(body, receives=receives)
            else:
                assert not desk.work(body, receives=receives)
        except Killed:
            queue.died(message)
    return queue.deaths


def orders(documents: int) -> bytes:
    """Write documents whose lines are spread over the whole file."""
    header = [
        "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    ]  # fmt: skip
    rows = [
        [
            f"PO-{number}",
            "purchase_order",
            "2026-03-01",
            "V-1",
            "YARD",
            "GHOST" if line == 1 and number % _BAD == 0 else "BRICK",
            number * _LINES + line,
        ]
        for line in range(_LINES)
        for number in range(documents)
    ]
    return as_csv([header, *rows])


def assert_every_document_is_there_once(desk: ImportDesk, documents: int) -> None:
    good = [number for number in range(documents) if number % _BAD]
    found = {one.external_ref: one for kind, one in entities(desk) if kind == "entry"}
    assert sorted(found) == sorted(f"PO-{number}" for number in good)
    for number in good:
        lines = [(line.item_code, int(line.qty)) for line in found[f"PO-{number}"].lines]
        assert lines == [("BRICK", number * _LINES + line) for line in range(_LINES)]
    assert set(made(desk).values()) == {1}
    totals = desk.erp.get("/entry-documents").json()["meta"]["total"]
    assert totals == len(good)
    check(read_books(desk.stack.stored()))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
    monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_UNITS", 0)
    at_once = max(1, DOCUMENTS // _STEPS)
    monkeypatch.setattr("shared.integration.imports.validating._CHUNK_ROWS", 2 * at_once * _LINES)
    actions = 2 + at_once * EntryDocuments.actions
    monkeypatch.setattr("shared.integration.imports.applying.MAX_ACTIONS", actions)


def run_through(
    desk: ImportDesk, aws_faults: AwsFaults, clock: Clock, *, documents: int, kills: int, seed: int
) -> None:
    """Validate and commit orders while the worker dies, as often as told, in each."""
    chance = random.Random(seed)  # noqa: S311 - order, no secret
    WarehouseScenario.furnished(desk.erp, "YARD")
    number = desk.upload("entry_documents", "orders.csv", orders(documents)).data["id"]
    deaths = work_off(desk, aws_faults, clock, chance, kills // 2)
    one = desk.show(number)
    bad = len(range(0, documents, _BAD))
    assert one["status"] == "validated", one
    assert one["rows"] == {
        "total": documents * _LINES,
        "valid": (documents - bad) * _LINES,
        "error": bad * _LINES,
    }
    assert one["documents"] == {"total": documents, "valid": documents - bad, "committed": 0}
    assert Counter(reason for _, _, reason in complained(desk, one)).most_common(1) == [
        ("no product has the code GHOST", bad)
    ]

    assert desk.erp.post(f"/imports/{number}/commit").status == 202
    deaths += work_off(desk, aws_faults, clock, chance, kills - kills // 2)

    one = desk.show(number)
    assert one["status"] == "committed", one
    assert one["documents"] == {
        "total": documents,
        "valid": documents - bad,
        "committed": documents - bad,
    }
    assert deaths == kills
    assert_every_document_is_there_once(desk, documents)


def test_every_document_is_made_once_by_workers_that_die(
    desk: ImportDesk, aws_faults: AwsFaults, clock: Clock
) -> None:
    try:
        run_through(desk, aws_faults, clock, documents=DOCUMENTS, kills=_KILLS, seed=SEED)
    except BaseException as error:
        error.add_note(f"again: make soak SEED={SEED} DOCUMENTS={DOCUMENTS} ARGS='-k die'")
        raise

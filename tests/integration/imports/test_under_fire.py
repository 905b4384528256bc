"""Whatever dies or breaks in the middle of an import: every row applied once, nothing forgotten.

Each scene runs with faults at its AWS calls. Then the queue does what it does: it delivers
again what was not done, and what was sent in time. Whoever asked may ask again, or never.
"""

import os
import random
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
from tests.import_desk import ImportDesk
from tests.integration.imports.bodies import EXITS
from tests.integration.imports.outcome import ensure_settled, imports, outcome
from tests.integration.imports.sheets import as_csv, table
from tests.stock_invariants import check, read_books
from tests.warehouse_scenario import WarehouseScenario

_AFTER_A_DEATH = 61
"""Seconds; whatever a dead process had claimed or marked has run out by then."""
_DRAWN = 3
"""Calls at which the process dies in each scene."""
_PATIENCE = 12
"""Rounds of messages after which an import must have come to an end."""

GOODS = as_csv(
    [["item_code", "name", "barcode"], *([f"P-{n}", f"Good {n}", n] for n in range(1, 6))]
) + b"P-6,,6\nBRICK,Better brick,7\n"  # fmt: skip
"""Products: five new ones, one without a name, one that is changed."""
ORDERS = as_csv(table("exit_documents", EXITS.records()))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several chunks and several transactions even for a few rows."""
    monkeypatch.setattr("shared.integration.imports.validating._CHUNK_ROWS", 3)
    monkeypatch.setattr("shared.integration.imports.applying.MAX_ACTIONS", 8)
    monkeypatch.setattr("shared.integration.imports.product_handling.Products.prepares", 4)


def settle(desk: ImportDesk, clock: Clock, *again: str) -> None:
    """Let the worker work until nothing is left to do, `again` what it died of first."""
    bodies = [*again, *desk.take()]
    for _ in range(_PATIENCE):
        if not bodies:
            return
        clock.advance(_AFTER_A_DEATH)
        for body in bodies:
            assert not desk.work(body)
        bodies = desk.take()
    pytest.fail(f"still under way: {imports(desk)}")


# The scenes

type Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is prepared, then the act that is disturbed; it can be repeated.

    `prepare` returns what makes the act: it must not call AWS by itself.
    """

    name: str
    prepare: Callable[[ImportDesk], Act]
    is_request: bool = True
    large: bool = False
    """Everything is left to the worker."""
    commits_drops: bool = False


def _request(erp: Erp, path: str, body: object = None) -> Act:
    def act() -> Response:
        answer = erp.post(path, body, key="key-1")
        assert answer.status in {200, 201, 202, 409, 503}, answer.text
        return answer

    return act


def _upload(desk: ImportDesk) -> Act:
    return _request(desk.erp, "/imports", Form({"kind": "products"}, ("goods.csv", GOODS)))


def _announce(desk: ImportDesk) -> Act:
    return _request(desk.erp, "/imports/uploads", {"kind": "products", "filename": "goods.csv"})


def _messages(desk: ImportDesk, *, at_most: int = 1) -> Act:
    bodies = desk.take()[-at_most:]
    assert len(bodies) == at_most

    def act() -> None:
        todo = list(bodies)
        for _ in range(_PATIENCE):
            assert not desk.work(*todo)
            todo = desk.take()  # what an arrival leads to belongs to it
            if not todo:
                break

    return act


def _validation(desk: ImportDesk) -> Act:
    _upload(desk)()
    return _messages(desk)


def _validated(desk: ImportDesk) -> int:
    return int(desk.imported("products", "goods.csv", GOODS)["id"])


def _commit(desk: ImportDesk) -> Act:
    return _request(desk.erp, f"/imports/{_validated(desk)}/commit")


def _cancel(desk: ImportDesk) -> Act:
    return _request(desk.erp, f"/imports/{_validated(desk)}/cancel")


def _commit_by_worker(desk: ImportDesk) -> Act:
    _commit(desk)()
    return _messages(desk)


def _commit_orders(desk: ImportDesk) -> Act:
    yard = WarehouseScenario(desk.erp)
    yard.stock("BRICK", 6)
    yard.stock("CEMENT", 2, batch="L-1")
    one = desk.imported("exit_documents", "orders.csv", ORDERS, auto_allocate="true")
    _request(desk.erp, f"/imports/{one['id']}/commit")()
    return _messages(desk)


def _drop(desk: ImportDesk) -> Act:
    desk.put("drop/products/goods.csv", GOODS)
    return _messages(desk)


def _bad_drop(desk: ImportDesk) -> Act:
    desk.put("drop/product/goods.csv", GOODS)
    return _messages(desk)


def _arrival(desk: ImportDesk) -> Act:
    answer: Any = _announce(desk)()
    desk.put(answer.data["upload"]["fields"]["key"].partition("/")[2], GOODS)
    return _messages(desk)


SCENES = (
    Scene("a small upload", _upload),
    Scene("a large upload", _upload, large=True),
    Scene("an announcement", _announce),
    Scene("validation by the worker", _validation, is_request=False, large=True),
    Scene("a small commit", _commit),
    Scene("a large commit", _commit, large=True),
    Scene("commit by the worker", _commit_by_worker, is_request=False, large=True),
    Scene("commit with allocation", _commit_orders, is_request=False, large=True),
    Scene("a cancellation", _cancel),
    Scene("a drop", _drop, is_request=False),
    Scene("a drop that commits itself", _drop, is_request=False, commits_drops=True),
    Scene("a drop that cannot be taken", _bad_drop, is_request=False),
    Scene("the arrival of an announced file", _arrival, is_request=False),
)


@dataclass(frozen=True, slots=True)
class Stage:
    """A scene, time and again, each time with everything as it was when it was prepared."""

    desk: ImportDesk
    clock: Clock
    act: Act
    is_request: bool
    """Nobody but who made it can repeat it; a message is delivered again in any case."""
    reset: Callable[[], None]

    def finish(self) -> tuple[object, ...]:
        """Repeat the act until it is done, as whoever began it would; let the worker work."""
        for _ in range(5):
            answer = self.act()
            if not isinstance(answer, Response) or answer.status < 300:
                break
            self.clock.advance(_AFTER_A_DEATH)
        else:
            pytest.fail(f"still refused: {answer}")
        settle(self.desk, self.clock)
        check(read_books(self.desk.stack.stored()))
        return outcome(self.desk)


def _set(desk: ImportDesk, scene: Scene, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Stage:
    if scene.large:
        monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_BYTES", 0)
        monkeypatch.setattr("shared.integration.imports.service._AT_ONCE_UNITS", 0)
    yard = WarehouseScenario.furnished(desk.erp, "YARD")
    yard.settle(commit_drops=scene.commits_drops)
    act = scene.prepare(desk)
    desk.take()
    tables, files = desk.stack.keep(), desk.files()

    def reset() -> None:
        tables()
        desk.take()
        for name in desk.files().keys() - files.keys():
            _delete(desk, name)
        for name, content in files.items():
            desk.put(name, content)
        desk.take()

    return Stage(desk, clock, act, scene.is_request, reset)


def _delete(desk: ImportDesk, name: str) -> None:
    key = f"{desk.slug}/{name}"
    aws.client("s3").delete_object(Bucket=config().import_bucket, Key=key)


def _faults(scene: str, calls: int) -> Iterator[tuple[str, Fault]]:
    """Every fault at every call when SWEEP=all (`make sweep`).

    Otherwise the last call and some others that SWEEP_SEED draws (1 unless given).
    """
    chosen: Sequence[int] = range(calls)
    if os.environ.get("SWEEP") != "all":
        draw = random.Random(f"{os.environ.get('SWEEP_SEED', '1')} {scene}")  # noqa: S311
        chosen = draw.sample(chosen, min(calls, _DRAWN))
    for number, at in enumerate(chosen):
        yield f"killed before call {at}", kill_before(at)
        if len(chosen) == calls or number == 0:
            yield f"answer {at} lost", lose_answer(at)
            yield f"call {at} throttled", throttle(at)
    yield "killed after the last call", kill_after(calls - 1)
    yield "in conflict", conflict(times=4)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_an_import_is_done_once_whatever_happens(
    scene: Scene,
    desk: ImportDesk,
    aws_faults: AwsFaults,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = _set(desk, scene, monkeypatch, clock)
    with aws_faults.recorded() as seen:
        stage.act()
    settle(desk, clock)
    wanted = outcome(desk)
    for number, (name, fault) in enumerate(_faults(scene.name, len(seen.calls))):
        stage.reset()
        try:
            _suffer(stage, fault, aws_faults, heals_first=number % 2 == 0)
            assert stage.finish() == wanted
        except BaseException as error:
            error.add_note(f"{scene.name}: {name} of {len(seen.calls)}: {seen.operations}")
            raise


def _suffer(stage: Stage, fault: Fault, aws_faults: AwsFaults, *, heals_first: bool) -> None:
    """Let a fault strike; `heals_first`: the queue comes before whoever repeats the act."""
    with aws_faults.faulty(fault):
        try:
            stage.act()
        except Killed:
            stage.clock.advance(_AFTER_A_DEATH)
    if heals_first:
        settle(stage.desk, stage.clock)
        if stage.is_request:
            ensure_settled(stage.desk)

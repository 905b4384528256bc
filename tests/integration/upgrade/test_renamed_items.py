"""Version 3 of the schema renames pending waves and the health items of subscriptions."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from operations.upgrade import upgrade_tables
from shared.identity.tenancy.directory import directory
from shared.integration.webhooks import delivery, repository
from shared.integration.webhooks.tasks import DeliveryTask
from shared.kernel.db import steps
from shared.kernel.db.items import from_attributes, item_at, to_attributes
from shared.kernel.db.schema import TableVersion
from shared.kernel.db.store import Store
from shared.kernel.db.unit_of_work import run_transaction
from tests import recorded
from tests.cases import each_case
from tests.clock import Clock
from tests.faults import AwsFaults, Call, Fault, Killed, before_each
from tests.integration.call_faults import die
from tests.integration.upgrade.conftest import let_write_the_new_form, set_version
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario
from tests.webhook_scenario import WebhookScenario

_BEFORE = "2026-01-01T00:00:00.000Z"
_NOW: Any = "2026-02-02T00:00:00.000Z"
_ALL = [1, 2, 3, 4, 5, 6, 7]


def upgrade() -> None:
    list(upgrade_tables(["acme"]))


def at_call(
    at: int, what: Callable[[], object], *, mention: str = "", calls: Iterator[int] | None = None
) -> Fault:
    """Return a fault that calls `what` once, before call `at` of those whose body mentions this.

    `calls` counts these calls.
    """
    numbers = calls or count()

    def act(call: Call) -> None:
        if mention in str(call.body) and next(numbers) == at:
            what()

    return before_each(act)


# Health of endpoints


def health(stack: Stack) -> dict[str, dict[str, Any]]:
    """Return the health items of acme by their sort keys; a time is only old or new."""
    found = [from_attributes(one) for one in stack.items() if one["PK"]["S"] == "webhooks"]
    return {
        item.pop("SK"): {**item, "last_triggered_at": item.get("last_triggered_at") == _BEFORE}
        for item in found
        if item["SK"] != "REGISTER"
    }


def _move(store: Store) -> None:
    numbers = repository.not_moved_health(store)
    run_transaction(store, lambda tx: repository.stage_health_moves(tx, numbers))


def _fail(store: Store) -> None:
    def use_case(tx: Any) -> None:
        seen = repository.read_health(tx.store, 1)
        assert seen
        repository.stage_failure(tx, 1, seen, fast=False)

    run_transaction(store, use_case)


_OPERATIONS: dict[str, Callable[[Store], object]] = {
    "read": lambda store: repository.read_health(store, 1),
    "list": repository.read_all_health,
    "deliver": lambda store: delivery._read_state(
        store, DeliveryTask("acme", 1, "none"), consistent=True
    ),
    "succeed": lambda store: repository.record_attempt(store, 1, _NOW, fast=True, succeeded=True),
    "retry": lambda store: repository.record_attempt(store, 1, _NOW, fast=True, succeeded=False),
    "be slow": lambda store: repository.record_slow_endpoint(store, 1),
    "fail": _fail,
    "reset": lambda store: run_transaction(
        store, lambda tx: repository.stage_failure_reset(tx, 1)
    ),
    "delete": lambda store: run_transaction(
        store, lambda tx: repository.stage_health_removal(tx, 1)
    ),
}  # fmt: skip


@each_case("name", _OPERATIONS)
def test_health_is_found_and_changed_whenever_it_is_moved(
    name: str, webhooks: WebhookScenario, stack: Stack, clock: Clock, aws_faults: AwsFaults
) -> None:
    """The upgrade moves it before any call of a request, or after all of them."""
    assert clock
    if not webhooks.erp.walk("/webhooks"):
        webhooks.subscribe()
    operate, store = _OPERATIONS[name], stack.store()

    def operated(version: int, at: int) -> tuple[object, bool]:
        """Return what an operation results in, and whether the item was moved before call `at`."""
        for other in (2, 3):
            run_transaction(store, lambda tx: tx.delete(repository.health_key(1, other)))  # noqa: B023
        values = {"failure_count": 2, "last_triggered_at": _BEFORE, "quick": True}
        recorded.put([to_attributes(item_at(repository.health_key(1, version), **values))])
        table = stack.store()
        table.version = TableVersion(version, 3, 3)
        calls = count()
        with aws_faults.faulty(at_call(at, lambda: _move(store), calls=calls)):
            result = operate(table)
        _move(store)
        return (result, health(stack)), next(calls) > at

    wanted, _ = operated(3, 0)
    is_moved = True
    for at in count():
        if not is_moved:
            break
        found, is_moved = operated(2, at)
        assert found == wanted, at


def test_upgrade_moves_all_health_also_when_it_is_killed(
    webhooks: WebhookScenario,
    stack: Stack,
    clock: Clock,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Subscriptions are created before it and during both of its waits."""
    set_version("acme", 2)
    advance = clock.advance

    def sleep(seconds: float) -> None:
        advance(seconds)
        if len(health(stack)) < 4:
            webhooks.subscribe()

    webhooks.subscribe()
    monkeypatch.setattr("operations.upgrade._CHUNK", 2)
    restore = stack.take_snapshot()
    monkeypatch.setattr(clock, "sleep", sleep)
    for at in count():
        restore()
        directory.clear()
        if not aws_faults.kills(at_call(at, die, mention="PULSE#"), upgrade):
            break
        upgrade()
        numbers = [row["id"] for row in webhooks.erp.walk("/webhooks")]
        assert health(stack).keys() == {f"HEALTH#{number:012d}" for number in numbers}, at
        assert len(numbers) == 4
    assert at > 5


# Pending waves


@pytest.fixture
def waves(yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch) -> WaveScenario:
    """Seven pickings in a table of version 2, of which a step assigns two."""
    monkeypatch.setattr(steps, "STEP_ACTIONS", 3)
    waves = WaveScenario.with_pickings(yard, 7)
    set_version("acme", 2)
    return waves


def pending_waves(stack: Stack) -> list[str]:
    kinds = ("forming_wave", "pending_wave")
    found = (item["PK"]["S"].partition("#")[0] for item in stack.items())
    return [kind for kind in found if kind in kinds]


def test_picking_that_starts_during_the_upgrade_is_counted(
    waves: WaveScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    """The wave is pending in the former form; the request that starts it writes the new one."""

    def start() -> None:
        assert pending_waves(stack) == ["forming_wave"]
        let_write_the_new_form()
        assert waves.yard.act(1, "start").status == 200

    # The last transaction deletes the pending wave.
    with aws_faults.faulty(at_call(0, start, mention="stirred = :seen")):
        created = waves.create(_ALL)
    assert created.status == 201
    shown = waves.shown(created.data["id"])["orders"]
    assert {"picking_id": 1, "status": "started"} in shown
    assert pending_waves(stack) == []


def test_interrupted_wave_is_waited_for_until_the_upgrade_is_completed(
    waves: WaveScenario, stack: Stack, clock: Clock, aws_faults: AwsFaults
) -> None:
    with suppress(Killed), aws_faults.faulty(at_call(0, die, mention="stirred = :seen")):
        waves.create(_ALL)
    let_write_the_new_form()
    assert waves.create(_ALL).status == 503
    restore = stack.take_snapshot()

    clock.advance(31)
    assert waves.create(_ALL).status == 201
    assert pending_waves(stack) == []

    restore()
    directory.clear()
    upgrade()
    assert waves.create(_ALL).status == 201

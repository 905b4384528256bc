"""Whatever dies or breaks in the middle of a write: done once, answered once, counted once.

Each write route runs with a fault at its first AWS call, its second, and so on to the last;
then the ERP does what an ERP does: it repeats the request with the same Idempotency-Key.
"""

import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from shared.identity.tenancy.directory import directory
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
from tests.integration.doors import operations
from tests.integration.example import Example
from tests.integration.stored_entities import Census, assert_totals_are_true, take_census
from tests.integration.write_routes import EXAMPLES, resource_of
from tests.stack import Stack
from tests.stock_proof import prove

_OPERATIONS = {name: found for name, found in operations().items() if found.writes}
WRITES = sorted(_OPERATIONS)
SWEPT = sorted({id(_OPERATIONS[name].handler): name for name in WRITES}.values())
"""One route per handler: PUT and PATCH of a resource are the same code."""

_AFTER_A_DEATH = 61
"""Seconds; whatever a dead process had claimed or marked has run out by then."""
_PATIENCE = 5
"""Repeats after which an ERP gives up."""
_HURRY_MS = 10_000
"""What a request has left that gives up: long enough to be decided more than once."""
_MOST_REQUESTS = 400


@pytest.fixture(autouse=True)
def small_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few shards, since moto is slow; several steps also for the few rows of the examples."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    monkeypatch.setattr("shared.warehouse.warehouses.bulk._STEP", 2)
    monkeypatch.setattr("shared.warehouse.picking.undo_picking._ROOM", 0)
    monkeypatch.setattr("shared.warehouse.receiving.rules._STEP", 1)
    monkeypatch.setattr("shared.warehouse.picking.dispatch._PER_STEP", 1)
    monkeypatch.setattr("shared.warehouse.picking.allocation.LINES_PER_STEP", 1)
    monkeypatch.setattr("shared.warehouse.picking.allocation._PICKINGS_PER_STEP", 1)
    monkeypatch.setattr("shared.warehouse.waves.creating._PER_STEP", 1)
    monkeypatch.setattr("shared.warehouse.transfer_orders.transit._PICKS_PER_STEP", 1)
    monkeypatch.setattr("shared.warehouse.transfer_orders.transit._LOSSES_PER_STEP", 1)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A code of an app is right, and a token that was ended is known as good, for a long time."""
    monkeypatch.setattr("shared.identity.users.totp._DRIFT", 500)
    monkeypatch.setattr(directory, "_clock", lambda: 0.0)


def test_every_write_route_has_an_example() -> None:
    assert sorted(EXAMPLES) == WRITES


@dataclass(frozen=True, slots=True)
class _Order:
    """One request that an ERP wants carried out, however often it has to ask."""

    route: str
    erp: Erp
    path: str
    body: Mapping[str, Any] | Form | None
    before: Census
    events_before: int

    @property
    def example(self) -> Example:
        return EXAMPLES[self.route]

    def send(self) -> Response:
        method = self.route.partition(" ")[0]
        return self.erp.send(method, self.path, self.body, key="order-1")

    def insist(self, clock: Clock) -> Response:
        """Repeat for as long as the answer says to come back later."""
        for _ in range(_PATIENCE):
            answer = self.send()
            if answer.status != 503 and "duplicate_in_flight" not in answer.text:
                return answer
            assert int(answer.headers["Retry-After"]) >= 1
            clock.advance(_AFTER_A_DEATH)
        pytest.fail(f"still refused: {answer.text}")


def _orders(route: str, stack: Stack) -> Iterator[_Order]:
    """The request, time and again, each time to a tenant as it was when the first was placed."""
    example = EXAMPLES[route]
    values = example.prepared(stack.erp())
    path, body = route.partition(" ")[2].format(**values), example.filled(values)
    before, events_before = take_census(stack), len(stack.events())
    as_prepared = stack.keep()
    for _ in range(_MOST_REQUESTS):
        erp = example.sender(stack.erp(), values)
        yield _Order(route, erp, path, body, before, events_before)
        as_prepared()
    pytest.fail(f"{route} makes too many calls")


def _assert_done_once(order: _Order, stack: Stack, answer: Response) -> None:
    example = order.example
    assert answer.status == example.status, answer.text
    again = order.send()
    assert (again.status, again.text) == (answer.status, answer.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers.get("Location") == answer.headers.get("Location")

    census = take_census(stack)
    assert census.growth(order.before) == example.grows
    assert_totals_are_true(stack, census)
    entries = stack.events()[order.events_before :]
    events = [entry["type"]["S"] if "type" in entry else "redelivery" for entry in entries]
    assert sorted(events) == sorted(example.events)
    prove(stack.store())

    path, shown = resource_of(order.path, answer)
    resource = order.erp.get(path)
    assert resource.status == example.afterwards
    if resource.status == 200:
        assert {name: resource.data[name] for name in shown} == shown


type _Ordeal = Callable[[_Order, Stack, AwsFaults, Clock], None]
"""What one request goes through, and what must have become of it."""


def _killed(kill: Callable[[int], Fault], at: int) -> _Ordeal:
    """The process dies; the ERP repeats the request."""

    def ordeal(order: _Order, stack: Stack, aws_faults: AwsFaults, clock: Clock) -> None:
        with pytest.raises(Killed), aws_faults.faulty(kill(at)):
            order.send()
        _assert_done_once(order, stack, order.insist(clock))

    return ordeal


def _disturbed(fault: Callable[[int], Fault], at: int) -> _Ordeal:
    """One call is throttled, or its answer is lost: the ERP notices nothing."""

    def ordeal(order: _Order, stack: Stack, aws_faults: AwsFaults, _clock: Clock) -> None:
        with aws_faults.recorded() as seen, aws_faults.faulty(fault(at)):
            answer = order.send()
        assert len(seen.calls) > at
        _assert_done_once(order, stack, answer)

    return ordeal


def _in_conflict(order: _Order, stack: Stack, aws_faults: AwsFaults, _clock: Clock) -> None:
    """Transactions meet others: they are repeated until they pass."""
    with aws_faults.faulty(conflict(times=4)):
        answer = order.send()
    _assert_done_once(order, stack, answer)


def _busy(order: _Order, stack: Stack, aws_faults: AwsFaults, clock: Clock) -> None:
    """Transactions never pass: the ERP is told so, and can repeat the request."""
    order.erp.gateway.remaining_ms = _HURRY_MS
    with aws_faults.faulty(conflict(times=1_000)):
        refused = order.send()
    assert (refused.status, refused.code) == (503, "service_unavailable")
    _assert_done_once(order, stack, order.insist(clock))


def _ordeals(route: str, calls: int) -> Iterator[tuple[str, _Ordeal]]:
    """What a request that makes so many calls goes through.

    Every fault at every call when SWEEP=all (`make sweep`); otherwise each at the last call,
    which commits, and one of them at another that SWEEP_SEED draws (1 unless given).
    """
    faults = {
        kind.__name__: (act, kind)
        for act, kinds in (
            (_killed, (kill_before, kill_after)),
            (_disturbed, (throttle, lose_answer)),
        )
        for kind in kinds
    }
    everything = [(name, at) for name in faults for at in range(calls)]
    chosen = everything
    if os.environ.get("SWEEP") != "all":
        draw = random.Random(f"{os.environ.get('SWEEP_SEED', '1')} {route}")  # noqa: S311
        chosen = [(name, calls - 1) for name in faults]
        chosen.append(draw.choice([one for one in everything if one not in chosen]))
    for name, at in chosen:
        act, kind = faults[name]
        yield f"{name} at call {at} of {calls}", act(kind, at)
    yield "in conflict", _in_conflict
    yield "busy", _busy


@pytest.mark.parametrize("route", SWEPT)
def test_a_write_is_done_once_whatever_happens(
    route: str, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    orders = _orders(route, stack)
    next(orders).send()  # what an environment reads once is not swept
    order = next(orders)
    with aws_faults.recorded() as seen:
        order.send()
    assert len(seen.calls) >= 2, "a write makes at least a claim and a transaction"
    for name, ordeal in _ordeals(route, len(seen.calls)):
        try:
            ordeal(next(orders), stack, aws_faults, clock)
        except BaseException as error:
            error.add_note(f"{route}: {name}")
            raise

"""Work in several steps raises one stock.updated per level, with the final state."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from shared.kernel.db.items import from_attributes
from shared.kernel.db.records import decode_entity
from shared.warehouse.stock.repository import LEVELS
from tests.clock import Clock
from tests.faults import AwsFaults, Call, kill_before
from tests.gateway import Erp, Response
from tests.integration.call_faults import at_calls
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import sampled
from tests.stack import Stack, event_attributes, prepare_once
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

type _Request = Callable[[Erp], Response]
"""Sends a request that takes several steps, once it is prepared."""

_CLAIM_EXPIRY_SECONDS = 61
_QTY = 3


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use steps that hold one item each."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


def _post(path: str, body: Mapping[str, Any] | None = None) -> _Request:
    return lambda erp: erp.post(path, body, key="in-steps")


def _yard(erp: Erp) -> WarehouseScenario:
    """Return the warehouse with bricks at two positions and cement of two batches."""
    return _stocked(WarehouseScenario.with_master_data(erp, "YARD", "SHOP"))


def _stocked(yard: WarehouseScenario) -> WarehouseScenario:
    for bin_code in ("A-01", "B-01"):
        yard.stock("BRICK", _QTY, bin_code)
        yard.stock("CEMENT", _QTY, bin_code, batch=f"LOT-{bin_code}")
    return yard


def _picked(yard: WarehouseScenario, order: int) -> int:
    """Return a picking of bricks and cement from both positions, partly picked."""
    number = yard.started(order)
    for bin_code in ("A-01", "B-01"):
        assert yard.pick(number, "BRICK", 1, bin_code).status == 200
        yard.pick(number, "CEMENT", 1, bin_code, batch=f"LOT-{bin_code}").ok()
    return number


def _mixed_order(yard: WarehouseScenario) -> int:
    return yard.order(("BRICK", 3), ("CEMENT", 3), ("BRICK", 3), ("CEMENT", 3))


def _creation(erp: Erp) -> _Request:
    yard = _yard(erp)
    return _post("/pickings", {"document_id": _mixed_order(yard)})


def _scarce_allocation(erp: Erp) -> _Request:
    """The first line takes all of the bricks, the others find none."""
    yard = _yard(erp)
    order = yard.order(("BRICK", 6), ("CEMENT", 1), ("BRICK", 3), ("BRICK", 2))
    number = yard.picking(order, allocate=False)["id"]
    return _post(f"/pickings/{number}/allocate")


def _finalization(erp: Erp) -> _Request:
    yard = _yard(erp)
    number = _picked(yard, _mixed_order(yard))
    return _post(f"/pickings/{number}/finalize", {"shortage_reason": "damaged"})


def _cancellation(erp: Erp) -> _Request:
    yard = _yard(erp)
    return _post(f"/pickings/{_picked(yard, _mixed_order(yard))}/cancel")


def _finalized(yard: WarehouseScenario) -> tuple[int, int]:
    order = _mixed_order(yard)
    number = _picked(yard, order)
    assert yard.act(number, "finalize", shortage_reason="damaged").status == 200
    return order, number


def _reversal(erp: Erp) -> _Request:
    return _post(f"/pickings/{_finalized(_yard(erp))[1]}/revert")


def _dispatch(erp: Erp) -> _Request:
    return _post(f"/exit-documents/{_finalized(_yard(erp))[0]}/dispatch")


def _wave_release(erp: Erp) -> _Request:
    yard = _yard(erp)
    orders = [yard.order(("BRICK", 2), ("CEMENT", 2)) for _ in range(4)]
    numbers = [yard.picking(order, allocate=False)["id"] for order in orders]
    return _post(f"/waves/{WaveScenario(yard).wave(numbers, 'plan')}/release")


def _receipt_reversal(erp: Erp) -> _Request:
    scenario = ReceivingScenario(erp)
    order = scenario.order({"qty": 9}, {"item_code": "CEMENT", "qty": 9})
    number = scenario.started(order)
    for _ in range(2):
        assert scenario.receive(number, 2).status == 200
        assert scenario.receive(number, 2, item_code="CEMENT", batch="LOT-1").status == 200
    return _post(f"/receipts/{number}/cancel")


def _transfer_order(erp: Erp) -> TransferScenario:
    scenario = TransferScenario(erp)
    _stocked(scenario.yard)
    return scenario


_LINES = (("BRICK", 3.0), ("CEMENT", 3.0), ("BRICK", 3.0))


def _order_release(erp: Erp) -> _Request:
    number = _transfer_order(erp).draft(*_LINES).data["id"]
    return _post(f"/transfer-orders/{number}/release", {"picker_id": 7})


def _picked_order(scenario: TransferScenario) -> int:
    number = scenario.order(*_LINES)
    for bin_code in ("A-01", "B-01"):
        scenario.pick(number, "BRICK", 3, bin_code)
    scenario.pick(number, "CEMENT", 3, "A-01", batch="LOT-A-01")
    return number


def _order_dispatch(erp: Erp) -> _Request:
    return _post(f"/transfer-orders/{_picked_order(_transfer_order(erp))}/dispatch")


def _order_close(erp: Erp) -> _Request:
    scenario = _transfer_order(erp)
    for code in ("S1", "S2"):
        scenario.yard.stock("DRILL", 1, serial=code)
    number = scenario.order(("DRILL", 2))
    scenario.pick(number, "DRILL", 2, serials=["S1", "S2"])
    scenario.done(number, "dispatch")
    scenario.done(number, "receive", final=True)
    return _post(f"/transfer-orders/{number}/close", {"reason": "Lost"})


_WORK: Mapping[str, tuple[Callable[[Erp], _Request], int]] = {
    "create a picking": (_creation, 2),
    "allocate more than there is": (_scarce_allocation, 2),
    "finalize a picking": (_finalization, 2),
    "cancel a picking": (_cancellation, 2),
    "revert a picking": (_reversal, 2),
    "dispatch an exit document": (_dispatch, 2),
    "release a wave": (_wave_release, 2),
    "cancel a receipt": (_receipt_reversal, 2),
    "release a transfer order": (_order_release, 4),
    "dispatch a transfer order": (_order_dispatch, 4),
    "close a transfer order": (_order_close, 1),
}
"""Work in several steps: its request, and the number of levels that it changes."""


def _levels(stack: Stack) -> dict[tuple[int, str | None], dict[str, Any]]:
    """Return the quantities of all levels, by product and warehouse."""
    shown = {}
    for attributes in stack.items():
        if attributes["PK"]["S"].startswith(f"{LEVELS.kind}#"):
            level = decode_entity(LEVELS.model, from_attributes(attributes), {})
            assert level is not None
            assert not level.entity.event_due
            entity = level.entity
            shown[entity.product_id, entity.whs_code] = {
                name: float(getattr(entity, name))
                for name in ("on_hand", "allocated", "available", "in_transit")
            }
    return shown


def _announced(stack: Stack, before: int) -> list[dict[str, Any]]:
    """Return the attributes of the events about levels since `before`."""
    return [
        event_attributes(event)
        for event in stack.events()[before:]
        if event["type"]["S"] == "stock.updated"
    ]


def _assert_final(stack: Stack, announced: list[dict[str, Any]], changed: int) -> None:
    """Assert one event for each changed level, with the quantities that it has now."""
    levels = _levels(stack)
    places = [(event["product_id"], event["whs_code"]) for event in announced]
    assert len(places) == len(set(places)) == changed
    for place, event in zip(places, announced, strict=True):
        assert {name: event[name] for name in levels[place]} == levels[place]
    assert_invariants(stack.store())


@pytest.mark.parametrize("work", _WORK)
def test_work_in_steps_raises_one_event_per_level(work: str, stack: Stack, erp: Erp) -> None:
    prepare, changed = _WORK[work]
    request = prepare_once(erp, prepare, lambda: prepare(erp))
    before = len(stack.events())
    answer = request(erp)
    assert answer.status in {200, 201}, answer.text
    _assert_final(stack, _announced(stack, before), changed)


@pytest.mark.parametrize("work", _WORK)
def test_repeated_request_raises_the_events_that_an_interrupted_one_left(
    work: str, stack: Stack, erp: Erp, aws_faults: AwsFaults, clock: Clock
) -> None:
    prepare, changed = _WORK[work]
    request = prepare_once(erp, prepare, lambda: prepare(erp))
    before, as_prepared = len(stack.events()), stack.take_snapshot()
    with aws_faults.recorded() as seen:
        request(erp)
    commits = [at for at, name in enumerate(seen.operations) if name == "TransactWriteItems"]
    assert len(commits) > 1, "the work takes several steps"
    for at in sorted({*sampled(work, commits[1:], every=20), commits[-1]}):
        as_prepared()
        assert aws_faults.kills(kill_before(at), lambda: request(erp))
        clock.advance(_CLAIM_EXPIRY_SECONDS)
        answer = request(erp)
        assert answer.status in {200, 201}, answer.text
        _assert_final(stack, _announced(stack, before), changed)


def test_other_work_raises_the_event_that_an_interrupted_request_left(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    request = _scarce_allocation(erp)
    before, as_prepared = len(stack.events()), stack.take_snapshot()
    with aws_faults.recorded() as seen:
        request(erp)
    commits = [at for at, name in enumerate(seen.operations) if name == "TransactWriteItems"]
    as_prepared()
    assert aws_faults.kills(kill_before(commits[1]), lambda: request(erp))
    assert _announced(stack, before) == []
    WarehouseScenario(erp).stock("BRICK", 1)
    [event] = _announced(stack, before)
    assert (event["item_code"], event["on_hand"], event["available"]) == ("BRICK", 7, 4)


def test_release_reads_levels_again_only_while_events_are_due(
    erp: Erp, aws_faults: AwsFaults
) -> None:
    yard = _yard(erp)
    orders = [yard.order((code, 1)) for code in ("BRICK", "BRICK", "CEMENT", "CEMENT")]
    numbers = [yard.picking(order, allocate=False)["id"] for order in orders]
    release = _post(f"/waves/{WaveScenario(yard).wave(numbers, 'plan')}/release")
    with aws_faults.recorded() as seen:
        assert release(erp).status == 200
    level_reads = [call for call in seen.calls if _reads_levels(call)]
    assert len(level_reads) == len(numbers), "one in the step of each picking"


def _reads_levels(call: Call) -> bool:
    return call.operation == "BatchGetItem" and any(
        key["PK"]["S"].startswith(f"{LEVELS.kind}#")
        for wanted in call.request["RequestItems"].values()
        for key in wanted["Keys"]
    )


def test_event_is_raised_when_the_picking_that_it_was_left_to_is_cancelled(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    yard = _yard(erp)
    numbers = [yard.picking(yard.order(("BRICK", 1)), allocate=False)["id"] for _ in range(2)]
    release = _post(f"/waves/{WaveScenario(yard).wave(numbers, 'plan')}/release")
    before = len(stack.events())

    def cancel() -> None:
        assert yard.act(numbers[1], "cancel").status == 200

    with aws_faults.faulty(at_calls("TransactWriteItems", [1], before=cancel)):
        assert release(erp).status == 200
    _assert_final(stack, _announced(stack, before), 1)

"""Expired goods enter the stock as quarantine, damaged or blocked, never as available."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.clock import Clock
from tests.gateway import Erp, Response
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

EXPIRED = "2020-12-31"
GOODS: Mapping[str, Any] = {"item_code": "CEMENT", "batch": "L1", "expiry_date": EXPIRED}
SET_APART = ("quarantine", "damaged", "blocked")


@pytest.fixture
def receiving(stack: Stack) -> ReceivingScenario:
    return ReceivingScenario(stack.erp())


def _refused_field(answer: Response) -> str:
    assert (answer.status, answer.code) == (422, "validation_failed"), answer.text
    assert "quarantine, damaged or blocked" in answer.json()["message"]
    [problem] = answer.json()["errors"]
    return str(problem["field"])


def _statuses(erp: Erp) -> list[tuple[str, float, str | None]]:
    rows = erp.walk("/stocks", status="in")
    return sorted((row["inventory_status"], row["qty"], row["expiry_date"]) for row in rows)


def test_expired_goods_are_received_only_when_set_apart(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    number = receiving.started(receiving.order({"item_code": "CEMENT", "qty": 3}))

    with stack.unchanged():
        for chosen in ({}, {"inventory_status": None}, {"inventory_status": "available"}):
            refused = receiving.receive(number, 1, **{**GOODS, **chosen})
            assert _refused_field(refused) == "expiry_date"
    for status in SET_APART:
        assert receiving.receive(number, 1, **GOODS, inventory_status=status).status == 200

    assert _statuses(receiving.erp) == [(status, 1, EXPIRED) for status in sorted(SET_APART)]
    assert_invariants(stack.store())


def test_expiry_date_of_the_document_counts_too(receiving: ReceivingScenario) -> None:
    number = receiving.started(receiving.order({**GOODS, "qty": 2}))
    goods: Mapping[str, Any] = {"item_code": "CEMENT", "batch": "L1"}

    refused = receiving.receive(number, 1, **goods)
    taken = receiving.receive(number, 1, **goods, inventory_status="blocked")

    assert _refused_field(refused) == "expiry_date"
    assert taken.status == 200
    assert _statuses(receiving.erp) == [("blocked", 1, EXPIRED)]


def test_expiry_date_of_the_stock_of_the_batch_counts_too(
    receiving: ReceivingScenario, stack: Stack, clock: Clock
) -> None:
    receiving.yard.stock("CEMENT", 1, batch="L1", expiry_date=_tomorrow(clock))
    number = receiving.started(receiving.order({"item_code": "CEMENT", "qty": 2}))
    clock.advance(timedelta(days=3).total_seconds())

    refused = receiving.receive(
        number, 1, by=stack.erp(), item_code="CEMENT", batch="L1", bin_code="A-01"
    )

    assert _refused_field(refused) == "expiry_date"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"increase": 2, "expiry_date": EXPIRED}, "expiry_date"),
        ({"counted_qty": 2, "inventory_status": "available"}, "expiry_date"),
        ({"to_status": "available", "inventory_status": "damaged"}, "to_status"),
    ],
)  # fmt: skip
def test_adjustments_make_no_expired_goods_available(
    change: Mapping[str, object], field: str, receiving: ReceivingScenario, stack: Stack
) -> None:
    yard = receiving.yard
    for status in SET_APART:
        yard.stock("CEMENT", 1, batch="L1", expiry_date=EXPIRED, inventory_status=status)

    with stack.unchanged():
        assert _refused_field(_adjust(receiving.erp, **change)) == field

    _adjust(receiving.erp, inventory_status="damaged", to_status="quarantine").ok(201)
    assert _statuses(receiving.erp) == [("blocked", 1, EXPIRED), ("quarantine", 2, EXPIRED)]


def test_stock_that_expires_can_be_counted_and_set_apart(
    receiving: ReceivingScenario, stack: Stack, clock: Clock
) -> None:
    tomorrow = _tomorrow(clock)
    receiving.yard.stock("CEMENT", 5, batch="L1", expiry_date=tomorrow)
    clock.advance(timedelta(days=3).total_seconds())
    erp = stack.erp()

    counted = _adjust(erp, counted_qty=4)
    refused = _adjust(erp, counted_qty=6)
    moved = _adjust(erp, to_status="blocked")

    assert (counted.status, moved.status) == (201, 201)
    assert _refused_field(refused) == "expiry_date"
    assert _statuses(erp) == [("blocked", 4, tomorrow)]


def test_goods_that_expire_in_transit_are_received_only_when_set_apart(
    stack: Stack, clock: Clock
) -> None:
    scenario = TransferScenario(stack.erp())
    tomorrow = _tomorrow(clock)
    scenario.yard.stock("CEMENT", 3, batch="L1", expiry_date=tomorrow)
    number = scenario.order(("CEMENT", 3))
    scenario.pick(number, "CEMENT", 3, batch="L1")
    scenario.done(number, "dispatch")
    goods = {"item_code": "CEMENT", "batch": "L1"}
    assert scenario.receive(number, {**goods, "qty": 1}).status == 200
    clock.advance(timedelta(days=3).total_seconds())
    scenario.erp = stack.erp()

    with stack.unchanged():
        refused = scenario.receive(number, {**goods, "qty": 2})
    taken = scenario.receive(number, {**goods, "qty": 2, "inventory_status": "quarantine"})

    assert _refused_field(refused) == "lines.0.inventory_status"
    assert (taken.status, taken.data["status"]) == (200, "received")
    assert _statuses(scenario.erp) == [("available", 1, tomorrow), ("quarantine", 2, tomorrow)]
    assert_invariants(stack.store())


def _tomorrow(clock: Clock) -> str:
    return str((datetime.fromtimestamp(clock.time(), UTC) + timedelta(days=1)).date())


def _adjust(erp: Erp, **change: object) -> Response:
    return WarehouseScenario(erp).adjust("CEMENT", batch="L1", **change)

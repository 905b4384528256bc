"""All stock of a product and batch has one expiry date, wherever it is and however it arrives."""

from typing import Any

import pytest

from shared.warehouse.stock.models import Lot
from shared.warehouse.stock.repository import batch_key
from tests.clock import Clock
from tests.gateway import Erp, Response
from tests.integration.receiving.test_refused import nothing_changes
from tests.integration.upgrade.conftest import set_version
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

CEMENT = 2
LOT: Lot = (CEMENT, "L1")
FIRST, OTHER = "2030-01-31", "2031-02-28"


@pytest.fixture
def receiving(stack: Stack) -> ReceivingScenario:
    return ReceivingScenario(stack.erp())


@pytest.fixture
def yard(stack: Stack) -> WarehouseScenario:
    return WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")


def adjust(erp: Erp, bin_code: object = "A-01", **change: object) -> Response:
    body = {
        "item_code": "CEMENT", "warehouse": "YARD", "bin_code": bin_code, "batch": "L1",
        "reason": "Counted", **change,
    }  # fmt: skip
    return erp.post("/stock-adjustments", body)


def dates(erp: Erp, batch: str = "L1") -> list[tuple[str | None, float, str | None]]:
    """Return position, quantity and date of each row of the batch that has stock."""
    rows = erp.walk("/stocks", batch=batch, status="in")
    return [
        (row["position"] and row["position"]["bin_code"], row["qty"], row["expiry_date"])
        for row in rows
    ]


def assert_names(answer: Response, date: str) -> None:
    assert (answer.status, answer.json()["error"]["field"]) == (422, "expiry_date"), answer.text
    assert date in answer.json()["message"]


def test_another_date_is_refused_at_every_position(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    erp = receiving.erp
    number = receiving.started(receiving.order({"item_code": "CEMENT", "qty": 9}))
    goods: dict[str, Any] = {"item_code": "CEMENT", "batch": "L1"}
    assert receiving.receive(number, 1, **goods, expiry_date=FIRST).status == 200

    with nothing_changes(stack):
        elsewhere = receiving.receive(number, 1, **goods, bin_code="B-01", expiry_date=OTHER)
        assert_names(elsewhere, f"L1 of CEMENT is in stock with the expiry date {FIRST}")
        assert_names(adjust(erp, "F-01", increase=1, expiry_date=OTHER), FIRST)
        status = adjust(erp, "F-01", increase=1, expiry_date=OTHER, inventory_status="damaged")
        assert_names(status, FIRST)
    assert receiving.receive(number, 1, **goods, bin_code="B-01", expiry_date=FIRST).status == 200

    assert dates(erp) == [("A-01", 1, FIRST), ("B-01", 1, FIRST)]
    assert adjust(erp, "F-01", batch="L2", increase=1, expiry_date=OTHER).status == 201


def test_goods_without_a_date_take_that_of_the_batch(receiving: ReceivingScenario) -> None:
    erp = receiving.erp
    number = receiving.started(receiving.order({"item_code": "CEMENT", "qty": 9}))
    receiving.yard.stock("CEMENT", 1, batch="L1", expiry_date=FIRST)
    goods: dict[str, Any] = {"item_code": "CEMENT", "batch": "L1"}

    assert receiving.receive(number, 1, **goods, bin_code="B-01").status == 200
    assert adjust(erp, "F-01", increase=1).status == 201
    assert adjust(erp, "A-01", counted_qty=3).status == 201

    assert dates(erp) == [("A-01", 3, FIRST), ("B-01", 1, FIRST), ("F-01", 1, FIRST)]


def test_date_for_a_batch_in_stock_without_one_is_refused(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("CEMENT", 1, batch="L1")

    with nothing_changes(stack):
        refused = adjust(yard.erp, "B-01", increase=1, expiry_date=FIRST)

    assert_names(refused, "L1 of CEMENT is in stock without an expiry date")


def test_batch_that_is_not_in_stock_gets_another_date(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("CEMENT", 2, batch="L1", expiry_date=FIRST)
    adjust(yard.erp, decrease=1)
    assert_names(adjust(yard.erp, increase=1, expiry_date=OTHER), FIRST)
    adjust(yard.erp, decrease=1)

    assert adjust(yard.erp, "B-01", increase=1, expiry_date=OTHER).status == 201
    assert adjust(yard.erp, increase=1).status == 201

    assert dates(yard.erp) == [("A-01", 1, OTHER), ("B-01", 1, OTHER)]
    assert_invariants(stack.store())


def test_date_of_a_count_is_refused(yard: WarehouseScenario) -> None:
    for goods in ({}, {"item_code": "BRICK", "batch": None}):
        refused = adjust(yard.erp, counted_qty=2, expiry_date=FIRST, **goods)
        assert_names(refused, "is not allowed with counted_qty")


def test_serials_of_a_batch_have_its_date(yard: WarehouseScenario) -> None:
    both = {"item_code": "PUMP", "name": "Pump", "man_btch_num": True, "man_ser_num": True}
    assert yard.erp.post("/products", both).status == 201
    pump = {"item_code": "PUMP", "increase": 1}
    assert adjust(yard.erp, **pump, serial="S-1", expiry_date=FIRST).status == 201
    assert adjust(yard.erp, "B-01", **pump, serial="S-2").status == 201
    assert_names(adjust(yard.erp, **pump, serial="S-3", expiry_date=OTHER), FIRST)

    moved = adjust(yard.erp, **pump, batch="L2", serial="S-3", expiry_date=OTHER)

    assert moved.status == 201
    assert dates(yard.erp) == [("A-01", 1, FIRST), ("B-01", 1, FIRST)]
    assert dates(yard.erp, "L2") == [("A-01", 1, OTHER)]


@pytest.mark.usefixtures("clock")
def test_stock_of_an_earlier_release_has_the_earliest_date_of_its_batch(
    yard: WarehouseScenario, stack: Stack
) -> None:
    set_version("acme", 1)
    yard.stock("CEMENT", 5, batch="L1", expiry_date=FIRST)
    assert_names(adjust(yard.erp, "B-01", increase=1, expiry_date=OTHER), FIRST)
    assert stack.store().get(batch_key(LOT)) is None
    set_version("acme", 2)

    erp = stack.erp()
    assert_names(adjust(erp, "B-01", increase=1, expiry_date=OTHER), FIRST)
    line = {"item_code": "CEMENT", "qty": 1, "batch": "L1", "from_bin": "A-01", "to_bin": "B-01"}
    ends = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}
    assert erp.post("/transfers", ends).status == 201

    assert dates(erp) == [("A-01", 4, FIRST), ("B-01", 1, FIRST)]
    assert_invariants(stack.store())


def test_index_that_lags_behind_hides_no_new_row(
    yard: WarehouseScenario, clock: Clock, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.stock.batches.id_pages", lambda *_, **__: [[]])
    yard.stock("CEMENT", 1, batch="L1", expiry_date=FIRST)

    assert_names(adjust(yard.erp, "B-01", increase=1, expiry_date=OTHER), FIRST)
    clock.advance(11)
    adjust(stack.erp(), "F-01", increase=1)
    batch = stack.store().get(batch_key(LOT)) or {}
    [_, second] = yard.erp.walk("/stocks")
    assert batch["new_rows"] == {second["id"]}


def test_only_goods_of_a_batch_take_one_more_action(yard: WarehouseScenario, stack: Stack) -> None:
    """Stock that moves between rows that have stock writes no batch."""
    for code, more in (("BRICK", {}), ("CEMENT", {"batch": "L1"})):
        for bin_code in ("A-01", "B-01"):
            yard.stock(code, 2, bin_code, **more)
    before = stack.store().get(batch_key(LOT))
    assert before is not None
    assert (before["version"], before["new_rows"]) == (2, {3, 4})
    line = {"item_code": "CEMENT", "qty": 1, "batch": "L1", "from_bin": "A-01", "to_bin": "B-01"}
    ends = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}

    assert yard.erp.post("/transfers", ends).status == 201

    assert stack.store().get(batch_key(LOT)) == before


def test_date_follows_goods_through_picking_and_transfer_orders(stack: Stack) -> None:
    scenario = TransferScenario(stack.erp())
    scenario.yard.stock("CEMENT", 5, batch="L1", expiry_date=FIRST)
    number = scenario.order(("CEMENT", 3))
    scenario.pick(number, "CEMENT", 2, batch="L1")
    scenario.done(number, "finish-picking")
    scenario.done(number, "dispatch")
    assert_invariants(stack.store())
    goods = {"item_code": "CEMENT", "batch": "L1", "qty": 2}

    assert scenario.receive(number, goods).status == 200

    assert dates(scenario.erp) == [("A-01", 3, FIRST), ("B-01", 2, FIRST)]

"""Pickings that take several steps to allocate, pick and undo.

`tests/integration/test_transaction_margins.py` has the largest ones.
"""

import pytest

from tests.gateway import Erp
from tests.stack import Stack, prepare_once
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_CODES = [f"P-{number}" for number in range(6)]


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 18)


def test_large_picking_is_allocated_in_steps(yard: WarehouseScenario, stack: Stack) -> None:
    codes = _CODES
    for code in codes:
        assert yard.erp.post("/products", {"item_code": code, "name": code}).status == 201
        yard.stock(code, 3)
    order = yard.order(*((code, 2) for code in codes))

    picking = yard.picking(order)

    assert [line["bin_code"] for line in picking["lines"]] == ["A-01"] * len(codes)
    number = picking["id"]
    yard.act(number, "start")
    for code in codes:
        assert yard.pick(number, code, 2).status == 200
    assert yard.act(number, "finalize").status == 200
    assert yard.erp.post(f"/exit-documents/{order}/dispatch").status == 200
    assert_invariants(stack.store())
    levels = yard.erp.walk("/stock-levels")
    assert [(level["on_hand"], level["allocated"]) for level in levels] == [(1, 0)] * len(codes)


def _picked_orders(erp: Erp) -> tuple[list[int], int]:
    """Pick an order of each product; return their ids and that of their picking."""
    yard = WarehouseScenario.with_master_data(erp, "YARD")
    codes = _CODES
    for code in codes:
        assert erp.post("/products", {"item_code": code, "name": code}).status == 201
        yard.stock(code, 3)
    orders = [yard.order((code, 2)) for code in codes]
    number = yard.started(*orders)
    for code in codes:
        assert yard.pick(number, code, 2).status == 200
    return orders, number


@pytest.mark.parametrize("how", ["cancel", "revert"])
def test_picking_of_many_orders_and_products_is_undone(erp: Erp, stack: Stack, how: str) -> None:
    orders, number = prepare_once(erp, "picked orders", lambda: _picked_orders(erp))
    yard = WarehouseScenario(erp)
    if how == "revert":
        assert yard.act(number, "finalize").status == 200

    assert yard.act(number, how).status == 200

    levels = erp.walk("/stock-levels")
    assert [(level["on_hand"], level["allocated"]) for level in levels] == [(3, 0)] * len(_CODES)
    assert {yard.document(order)["status"] for order in orders} == {"open"}
    assert_invariants(stack.store())

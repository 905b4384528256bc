"""A stock posting stages what it plans, and no transaction has more actions than it may plan.

`test_transaction_margins.py` does the same with long documents.
"""

from collections.abc import Iterator

import pytest

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.transfers.bodies import body
from tests.operation_sizes import planned_actions
from tests.stack import Stack, prepare_once
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_PRODUCTS = 25
_CODES = [f"P-{number:02d}" for number in range(_PRODUCTS)]


@pytest.fixture(autouse=True)
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compare what each posting has planned with what it stages."""
    with planned_actions(monkeypatch):
        yield


@pytest.fixture(autouse=True)
def sizes(aws_faults: AwsFaults) -> Iterator[None]:
    """Check the number of actions of every transaction of the test."""
    with aws_faults.recorded() as seen:
        yield
    actions = [
        len(call.request["TransactItems"])
        for call in seen.calls
        if call.operation == "TransactWriteItems"
    ]
    assert max(actions) <= MAX_PLANNED_ACTIONS


def _create_products(erp: Erp) -> None:
    for code in _CODES:
        assert erp.post("/products", {"item_code": code, "name": code}).status == 201


def _stocked(erp: Erp) -> WarehouseScenario:
    """Return the warehouses with the products, and with two pieces of each in YARD."""

    def prepare() -> None:
        yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
        _create_products(erp)
        for code in _CODES:
            yard.stock(code, 2)

    prepare_once(erp, "two pieces of each product", prepare)
    return WarehouseScenario(erp)


def test_a_picking_of_twenty_orders_is_allocated_and_reverted(erp: Erp, stack: Stack) -> None:
    yard = _stocked(erp)
    number = yard.started(*(yard.order((code, 2)) for code in _CODES[:20]))
    for code in _CODES[:20]:
        assert yard.pick(number, code, 2).status == 200
    assert yard.act(number, "finalize").status == 200
    assert yard.act(number, "revert").status == 200
    assert_invariants(stack.store())


def test_goods_are_moved_between_warehouses(erp: Erp, stack: Stack) -> None:
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    yard.stock("BRICK", 9)
    yard.stock("DRILL", 1, serial="S1")
    drill = {"item_code": "DRILL", "qty": 1, "serials": ["S1"]}
    transfer = body({}, drill, to_warehouse="SHOP")
    assert erp.post("/transfers", transfer).status == 201
    assert_invariants(stack.store())

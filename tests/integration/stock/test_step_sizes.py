"""A stock posting stages what it plans, and no transaction has more actions than it may plan."""

from collections.abc import Collection, Iterator

import pytest

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.warehouse.stock.posting import StockPosting
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.transfers.bodies import body
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack, prepare_once
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

_PRODUCTS = 25
_CODES = [f"P-{number:02d}" for number in range(_PRODUCTS)]


@pytest.fixture(autouse=True)
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The number of actions that each posting has planned, checked against what it stages."""
    stage, planned = StockPosting.post, []

    def stage_as_planned(posting: StockPosting, later: Collection[int] = ()) -> None:
        tx = posting._tx
        expected, before = posting.planned_actions, len(tx._actions)
        stage(posting, later)
        left = sum(product in later for product, _ in posting.due_levels)
        assert len(tx._actions) - before == expected - left
        planned.append(expected)

    monkeypatch.setattr(StockPosting, "post", stage_as_planned)
    yield planned
    assert planned


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


def test_a_long_picking_is_cancelled_and_another_dispatched(
    erp: Erp, stack: Stack, planned: list[int]
) -> None:
    yard = _stocked(erp)
    for code in _CODES:
        yard.stock(code, 1)
    order = yard.order(*((code, 2) for code in _CODES))
    first = yard.started(order)
    for code in _CODES:
        assert yard.pick(first, code, 1).status == 200
    assert yard.act(first, "cancel").status == 200
    second = yard.started(order)
    for code in _CODES[:-1]:
        assert yard.pick(second, code, 2).status == 200
    assert yard.act(second, "finalize", shortage_reason="damaged").status == 200
    assert yard.erp.post(f"/exit-documents/{order}/dispatch").status == 200

    assert max(planned) in range(62, 73), "steps are full"
    assert_invariants(stack.store())


def test_a_picking_of_twenty_orders_is_allocated_and_reverted(erp: Erp, stack: Stack) -> None:
    yard = _stocked(erp)
    number = yard.started(*(yard.order((code, 2)) for code in _CODES[:20]))
    for code in _CODES[:20]:
        assert yard.pick(number, code, 2).status == 200
    assert yard.act(number, "finalize").status == 200
    assert yard.act(number, "revert").status == 200
    assert_invariants(stack.store())


def test_a_long_receipt_is_reverted(erp: Erp, stack: Stack) -> None:
    scenario = ReceivingScenario(erp)
    _create_products(erp)
    items = (*_CODES, "BRICK", "BRICK", "BRICK")
    order = scenario.order(*({"item_code": code, "qty": 2} for code in items))
    number = scenario.started(order)
    for code in items:
        assert scenario.receive(number, 2, item_code=code).status == 200
    assert scenario.act(number, "finalize").status == 200
    assert scenario.act(number, "revert").status == 200
    assert_invariants(stack.store())


def test_a_long_transfer_order_is_dispatched_and_lost(erp: Erp, stack: Stack) -> None:
    scenario = TransferScenario(erp, _stocked(erp))
    number = scenario.underway(*((code, 2) for code in _CODES))
    scenario.done(number, "receive", final=True)
    scenario.done(number, "close", reason="Lost")
    assert scenario.level(_CODES[0], "SHOP") == (0, 0, 0, 0)
    assert_invariants(stack.store())


def test_goods_are_moved_between_warehouses(erp: Erp, stack: Stack) -> None:
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    yard.stock("BRICK", 9)
    yard.stock("DRILL", 1, serial="S1")
    drill = {"item_code": "DRILL", "qty": 1, "serials": ["S1"]}
    transfer = body({}, drill, to_warehouse="SHOP")
    assert erp.post("/transfers", transfer).status == 201
    assert_invariants(stack.store())

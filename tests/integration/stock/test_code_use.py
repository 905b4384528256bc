"""Documents and movements name codes, which are then kept for their owners."""

from collections.abc import Callable
from functools import partial

import pytest

from shared.kernel.db.items import Key
from shared.kernel.references import UNUSED
from shared.warehouse.catalog.service import product_key
from shared.warehouse.warehouses.repository import position_key, warehouse_key
from tests.faults import AwsFaults, before_first
from tests.gateway import Erp
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

_KEYS: dict[str, Key] = {
    "BRICK": product_key("BRICK"),
    "CEMENT": product_key("CEMENT"),
    "YARD": warehouse_key("YARD"),
    "SHOP": warehouse_key("SHOP"),
    "YARD A-01": position_key("YARD", "A-01"),
    "YARD B-01": position_key("YARD", "B-01"),
    "SHOP A-01": position_key("SHOP", "A-01"),
    "SHOP B-01": position_key("SHOP", "B-01"),
}
_TILE = {"item_code": "TILE", "name": "Tile"}


@pytest.fixture
def warehouse(erp: Erp) -> WarehouseScenario:
    return WarehouseScenario.with_master_data(erp, "YARD", "SHOP")


def _used(stack: Stack) -> set[str]:
    """Return which of the codes are not marked as unused."""
    found = stack.store().get_many(_KEYS.values())
    return {code for code, key in _KEYS.items() if UNUSED not in found[key]}


def _plan_transfer(erp: Erp) -> None:
    WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    _transfer(erp, execute=False)


def _make_transfer(erp: Erp) -> None:
    WarehouseScenario.with_master_data(erp, "YARD", "SHOP").stock("BRICK", 1)
    _transfer(erp)


def _transfer(erp: Erp, **more: object) -> None:
    line = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "B-01"}
    ends = {"from_warehouse": "YARD", "to_warehouse": "SHOP"}
    erp.post("/transfers", {**ends, "lines": [line], **more}).ok(201)


def _order_transfer(erp: Erp) -> None:
    TransferScenario(erp).draft(("BRICK", 1)).ok(201)


def _receive_transfer(erp: Erp) -> None:
    transfers = TransferScenario(erp)
    transfers.yard.stock("BRICK", 1)
    number = transfers.underway(("BRICK", 1))
    transfers.receive(number, {"item_code": "BRICK", "qty": 1}).ok()


def _receive_goods(erp: Erp) -> None:
    receiving = ReceivingScenario(erp)
    number = receiving.started(receiving.order({"qty": 1, "destination_bin": None}))
    receiving.receive(number, 1, bin_code="B-01").ok()


@pytest.mark.parametrize(
    ("act", "named"),
    [
        (_plan_transfer, {"BRICK", "YARD", "YARD A-01", "SHOP", "SHOP B-01"}),
        (_make_transfer, {"BRICK", "YARD", "YARD A-01", "SHOP", "SHOP B-01"}),
        (_order_transfer, {"BRICK", "YARD", "SHOP"}),
        (_receive_transfer, {"BRICK", "YARD", "YARD A-01", "SHOP", "SHOP B-01"}),
        (_receive_goods, {"BRICK", "YARD", "YARD B-01"}),
    ],
)
def test_work_records_the_use_of_the_codes_that_it_names(
    act: Callable[[Erp], None], named: set[str], erp: Erp, stack: Stack
) -> None:
    act(erp)
    assert _used(stack) == named


def test_work_without_room_for_the_codes_records_their_use_before_it(
    warehouse: WarehouseScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    warehouse.order(("BRICK", 1), ("CEMENT", 1))
    assert _used(stack) == {"BRICK", "CEMENT", "YARD"}


def test_use_of_a_code_whose_product_is_deleted_meanwhile_leaves_nothing(
    warehouse: WarehouseScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    tile = warehouse.erp.post("/products", _TILE).id
    delete = partial(warehouse.erp.delete, f"/products/{tile}")
    order = {
        "external_ref": "SO-1", "type": "sale_order", "doc_date": "2026-03-01",
        "partner_code": "C-1", "warehouse_code": "YARD",
        "lines": [{"item_code": "TILE", "qty": 1}],
    }  # fmt: skip

    with aws_faults.faulty(before_first("TransactWriteItems", delete)):
        refused = warehouse.erp.post("/exit-documents", order, key="order")

    assert (refused.status, refused.json()["error"]["field"]) == (422, "lines.0.item_code")
    warehouse.erp.post("/products", _TILE).ok(201)


def test_former_code_of_a_deleted_product_is_given_to_one_of_two(
    warehouse: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    number = warehouse.erp.post("/products", _TILE).id
    order = warehouse.order(("TILE", 1))
    warehouse.erp.post(f"/exit-documents/{order}/close").ok()
    warehouse.erp.patch(f"/products/{number}", {"item_code": "SLATE"}).ok()
    warehouse.erp.delete(f"/products/{number}").ok()
    create = partial(warehouse.erp.post, "/products", _TILE)

    with aws_faults.faulty(before_first("TransactWriteItems", create)):
        second = create()

    assert (second.status, second.json()["error"]["field"]) == (422, "item_code")
    assert len(warehouse.erp.get("/products", query={"item_code": "TILE"}).data) == 1

"""What devices know of the goods of a work."""

from typing import Any

import pytest

from shared.warehouse.scanning import service
from tests.receiving_scenario import ReceivingScenario
from tests.stack import prepare_once

CASE = {"gtin": "14006381333938", "units": 12, "unit": None}


@pytest.fixture
def scenario(erp: Any) -> ReceivingScenario:
    """Bricks come in cases of 12."""
    scenario = ReceivingScenario(erp)
    body = {"gtins": [CASE]}
    prepare_once(erp, "cases", lambda: erp.put("/products/1/packaging", body))
    return scenario


def _goods(scenario: ReceivingScenario, path: str) -> Any:
    answer = scenario.erp.get(f"{path}/goods")
    assert answer.status == 200, answer.text
    return answer.data


def test_receipt_names_the_goods_that_its_document_expects(scenario: ReceivingScenario) -> None:
    number = scenario.started(scenario.order({"qty": 24}))

    goods = _goods(scenario, f"/receipts/{number}")

    [brick] = goods["products"]
    assert (brick["id"], brick["item_code"], brick["gtins"]) == (1, "BRICK", [CASE])
    assert (brick["man_btch_num"], brick["man_ser_num"]) == (False, False)
    assert goods["whs_code"] == "YARD"
    assert goods["positions"] == []


def test_picking_names_its_positions_with_their_places(scenario: ReceivingScenario) -> None:
    yard = scenario.yard
    [position] = yard.erp.get("/warehouse-positions?warehouse=YARD&bin_code=A-01").data
    assert (
        yard.erp.patch(f"/warehouse-positions/{position['id']}", {"pick_sequence": 7}).status < 300
    )
    yard.stock("BRICK", 30)
    yard.stock("BRICK", 5, "F-01")
    number = yard.started(yard.order(("BRICK", 32)))

    goods = _goods(scenario, f"/pickings/{number}")

    assert [one["item_code"] for one in goods["products"]] == ["BRICK"]
    places = {one["bin_code"]: one["pick_sequence"] for one in goods["positions"]}
    assert places == {"A-01": 7, "F-01": None}
    assert goods["pick_substitution"] == "none"
    yard.change_settings(pick_substitution="batch")
    assert _goods(scenario, f"/pickings/{number}")["pick_substitution"] == "batch"


def test_count_with_an_empty_position(scenario: ReceivingScenario) -> None:
    yard = scenario.yard
    yard.stock("BRICK", 30)
    body = {"warehouse_code": "YARD", "positions": ["A-01", "B-01"]}
    number = yard.erp.post("/counts", body).data["id"]

    goods = _goods(scenario, f"/counts/{number}")

    assert [one["item_code"] for one in goods["products"]] == ["BRICK"]
    assert {one["bin_code"] for one in goods["positions"]} == {"A-01", "B-01"}


def test_at_most_as_many_products_as_fit(
    scenario: ReceivingScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_GOODS", 1)
    order = scenario.order({"qty": 24}, {"item_code": "CEMENT", "qty": 2})
    number = scenario.started(order)

    assert len(_goods(scenario, f"/receipts/{number}")["products"]) == 1


@pytest.mark.parametrize(
    "path",
    ["receipts", "pickings", "counts", "transfers", "transfer-orders", "packing-orders"],
)
def test_work_that_does_not_exist_is_404(scenario: ReceivingScenario, path: str) -> None:
    assert scenario.erp.get(f"/{path}/4711/goods").status == 404

"""Products that are renamed or changed: what later requests see."""

from collections.abc import Callable
from typing import Any

from tests.gateway import Erp
from tests.warehouse_scenario import WarehouseScenario

type Body = Callable[..., dict[str, Any]]


def _id_of(erp: Erp, code: str) -> int:
    (found,) = erp.get("/products", query={"item_code": code}).data
    number: int = found["id"]
    return number


def _line(code: str, **more: object) -> dict[str, object]:
    return {"item_code": code, "qty": 1, **more}


def test_renamed_product_takes_its_new_code_and_frees_the_old_one(yard: WarehouseScenario) -> None:
    brick = f"/products/{_id_of(yard.erp, 'BRICK')}"
    assert yard.erp.patch(brick, {"item_code": "PAVER"}).status == 200

    again = yard.erp.post("/products", {"item_code": "PAVER", "name": "Another"})
    assert (again.status, again.code) == (422, "validation_failed")
    assert yard.erp.post("/products", {"item_code": "BRICK", "name": "Brick"}).status == 201


def test_stock_shows_the_new_name_of_a_product(yard: WarehouseScenario) -> None:
    yard.erp.patch(f"/products/{_id_of(yard.erp, 'BRICK')}", {"name": "Red brick"}).ok()
    body = {
        "item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "increase": 1,
        "reason": "Found",
    }  # fmt: skip
    assert yard.erp.post("/stock-adjustments", body).status == 201

    (row,) = yard.erp.get("/stocks").data
    assert row["product_name"] == "Red brick"


def test_document_follows_the_new_rules_of_a_product(
    yard: WarehouseScenario, document_body: Body
) -> None:
    brick = f"/products/{_id_of(yard.erp, 'BRICK')}"
    assert yard.erp.patch(brick, {"man_btch_num": True}).status == 200

    body = document_body(lines=[_line("BRICK", batch="L-1")])

    assert yard.erp.post("/entry-documents", body, key="k1").status == 201

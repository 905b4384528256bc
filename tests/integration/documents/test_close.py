"""Closing of documents, and the master data that open documents protect."""

from collections.abc import Callable
from typing import Any

from tests.warehouse_scenario import WarehouseScenario

type Write = Callable[..., dict[str, Any]]


def test_closing_cancels_open_quantities(yard: WarehouseScenario, document_body: Write) -> None:
    number = yard.erp.post("/entry-documents", document_body(), key="k1").data["id"]

    closed = yard.erp.post(f"/entry-documents/{number}/close")

    assert closed.status == 200
    assert closed.data["status"] == "closed"
    assert closed.data["lines"][0]["open_qty"] == 0
    assert closed.data["lines"][0]["qty"] == 100
    assert closed.data["lines"][0]["status"] == "closed"
    again = yard.erp.post(f"/entry-documents/{number}/close")
    assert (again.status, again.code) == (409, "conflict")
    assert yard.erp.post("/exit-documents/1/close").code == "not_found"


def test_master_data_on_an_open_document_cannot_be_deleted(
    yard: WarehouseScenario, document_body: Write
) -> None:
    products = {row["item_code"]: row["id"] for row in yard.erp.walk("/products")}
    body = document_body(lines=[{"item_code": "BRICK", "qty": 1, "destination_bin": "A-01"}])
    document = yard.erp.post("/entry-documents", body, key="k1").data["id"]
    warehouse = yard.erp.get("/warehouses", query={"whs_code": "YARD"}).json()["data"][0]["id"]
    position = yard.erp.get("/warehouse-positions", query={"bin_code": "A-01"}).json()["data"][0][
        "id"
    ]
    brick = f"/products/{products['BRICK']}"

    refused = [
        yard.erp.delete(brick),
        yard.erp.patch(brick, {"item_code": "BRICK-2"}),
        yard.erp.patch(brick, {"man_btch_num": True}),
        yard.erp.delete(f"/warehouse-positions/{position}"),
        yard.erp.delete(f"/warehouses/{warehouse}"),
    ]
    assert [answer.code for answer in refused] == ["conflict"] * 5
    assert yard.erp.patch(brick, {"name": "Red brick"}).status == 200
    assert yard.erp.delete(f"/products/{products['DRILL']}").status == 200

    yard.erp.post(f"/entry-documents/{document}/close")
    assert yard.erp.delete(f"/warehouse-positions/{position}").status == 200
    assert yard.erp.delete(brick).status == 200
    assert yard.erp.get(brick).code == "gone"

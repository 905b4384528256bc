"""Closing of documents, and the master data that open documents protect."""

from tests.integration.documents.bodies import document_body
from tests.warehouse_scenario import WarehouseScenario


def test_closing_cancels_open_quantities(yard: WarehouseScenario) -> None:
    number = yard.erp.post("/entry-documents", document_body(), key="k1").data["id"]

    closed = yard.erp.post(f"/entry-documents/{number}/close").ok()

    assert closed["status"] == "closed"
    assert closed["lines"][0]["open_qty"] == 0
    assert closed["lines"][0]["qty"] == 100
    assert closed["lines"][0]["status"] == "closed"
    again = yard.erp.post(f"/entry-documents/{number}/close")
    assert (again.status, again.code) == (409, "stale_state")
    assert yard.erp.post("/exit-documents/1/close").code == "not_found"


def test_master_data_on_an_open_document_cannot_be_deleted(yard: WarehouseScenario) -> None:
    brick, position = "/products/1", "/warehouse-positions/1"
    body = document_body(lines=[{"item_code": "BRICK", "qty": 1, "destination_bin": "A-01"}])
    document = yard.erp.post("/entry-documents", body, key="k1").data["id"]

    refused = [
        yard.erp.delete(position),
        yard.erp.patch(position, {"bin_code": "A-02"}),
        yard.erp.delete(brick),
        yard.erp.patch(brick, {"item_code": "BRICK-2"}),
        yard.erp.patch(brick, {"man_btch_num": True}),
        yard.erp.delete("/warehouses/1"),
    ]
    assert [answer.code for answer in refused] == ["conflict"] * 6
    for answer in refused[:2]:
        assert "A-01 is on open documents" in answer.json()["message"]
    assert yard.erp.patch(position, {"disabled": True}).status == 200
    assert yard.erp.patch(brick, {"name": "Red brick"}).status == 200
    assert yard.erp.delete("/products/3").status == 200

    yard.erp.post(f"/entry-documents/{document}/close")
    assert yard.erp.delete(position).status == 200
    assert yard.erp.delete(brick).status == 200
    assert yard.erp.get(brick).code == "gone"

"""Products that are renamed, changed or being deleted: what later requests see."""

from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog import service
from shared.warehouse.master_data.uses import retire
from tests.clock import Clock
from tests.integration.documents.bodies import document_body
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

BRICK = "/products/1"


def test_renamed_product_takes_its_new_code_and_frees_the_old_one(yard: WarehouseScenario) -> None:
    assert yard.erp.patch(BRICK, {"item_code": "PAVER"}).status == 200

    again = yard.erp.post("/products", {"item_code": "PAVER", "name": "Another"})
    assert (again.status, again.code) == (422, "validation_failed")
    assert yard.erp.post("/products", {"item_code": "BRICK", "name": "Brick"}).status == 201


def test_stock_shows_the_new_name_of_a_product(yard: WarehouseScenario) -> None:
    yard.erp.patch(BRICK, {"name": "Red brick"}).ok()
    yard.stock("BRICK", 1)

    (row,) = yard.erp.get("/stocks").data
    assert row["product_name"] == "Red brick"


def test_document_follows_the_new_rules_of_a_product(yard: WarehouseScenario) -> None:
    assert yard.erp.patch(BRICK, {"man_btch_num": True}).status == 200

    body = document_body(lines=[{"item_code": "BRICK", "qty": 1, "batch": "L-1"}])

    assert yard.erp.post("/entry-documents", body, key="k1").status == 201


def test_invalid_body_is_refused_after_the_retirement_of_its_product_ends(
    yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    assert clock.monotonic() > 0  # the clock fixture makes waits immediate
    retire(Transaction(stack.store()), service.product_key("BRICK"))
    clock.advance(50)  # the mark of an interrupted deletion expires after 30 s

    answer = yard.erp.post("/entry-documents", document_body(doc_date="tomorrow"), key="k1")

    assert answer.invalid_fields == ["doc_date"]

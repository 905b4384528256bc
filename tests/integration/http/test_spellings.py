"""Two spellings of a text with accents, composed and decomposed, are one text everywhere."""

from tests.gateway import Erp
from tests.import_scenario import ImportScenario
from tests.stack import Stack

COMPOSED, DECOMPOSED = "CAF\u00c9", "CAFE\u0301"


def test_code_is_found_taken_and_named_in_both_spellings(erp: Erp) -> None:
    created = erp.post("/products", {"item_code": DECOMPOSED, "name": DECOMPOSED})
    assert (created.data["item_code"], created.data["name"]) == (COMPOSED, COMPOSED)
    again = erp.post("/products", {"item_code": COMPOSED, "name": "Other"})
    assert again.json()["error"]["field"] == "item_code"

    erp.post("/warehouses", {"whs_code": DECOMPOSED, "name": "Yard"})
    erp.post("/warehouse-positions", {"whs_code": COMPOSED, "bin_code": DECOMPOSED})
    for spelling in (COMPOSED, DECOMPOSED):
        adjusted = erp.post(
            "/stock-adjustments",
            {
                "item_code": spelling,
                "warehouse": spelling,
                "bin_code": spelling,
                "counted_qty": 4,
                "reason": "Count",
            },
        )
        assert adjusted.status < 300, adjusted.text
        for path, filters in (
            ("/products", {"item_code": spelling}),
            ("/stocks", {"bin_code": spelling, "warehouse": spelling}),
            ("/stock-levels", {"item_code": spelling}),
        ):
            assert len(erp.walk(path, **filters)) == 1, path


def test_rows_of_a_file_with_both_spellings_are_of_one_document(stack: Stack, erp: Erp) -> None:
    erp.post("/products", {"item_code": COMPOSED, "name": "Coffee"})
    erp.post("/warehouses", {"whs_code": "YARD", "name": "Yard"})
    rows = [
        "Reference,Type,Document date,Provider code,Warehouse,Item code,Quantity",
        *(
            f"{spelling},Purchase order,2026-03-01,V-1,YARD,{spelling},1"
            for spelling in (COMPOSED, DECOMPOSED)
        ),
    ]
    scenario = ImportScenario(stack)

    done = scenario.import_file("entry_documents", "orders.csv", "\n".join(rows).encode())

    assert (done["documents"]["valid"], done["rows"]["error"]) == (1, 0)
    scenario.commit(done["id"])
    (document,) = erp.walk("/entry-documents", external_ref=DECOMPOSED)
    assert (document["external_ref"], len(document["lines"])) == (COMPOSED, 2)


def test_hidden_characters_of_a_code_are_422(erp: Erp) -> None:
    answer = erp.post("/products", {"item_code": "BO\u200bLT", "name": "Bolt\u202e"})

    assert answer.status == 422
    assert {one["field"]: one["message"] for one in answer.json()["errors"]} == {
        "item_code": "must not contain control or hidden characters",
        "name": "must not contain control characters",
    }

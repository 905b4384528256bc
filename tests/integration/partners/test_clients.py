"""The fields of clients, and their document ids."""

from tests.gateway import Erp
from tests.integration.partners.conftest import Make, ids
from tests.integration.write_routes import SALE

TAKEN = {"document_id": "is already taken by another client"}


def test_largest_document_id_is_exact(erp: Erp, create_client: Make) -> None:
    largest = 9_007_199_254_740_991

    created = create_client(document_id=largest)

    assert created["document_id"] == largest
    assert erp.walk("/clients", document_id=largest) == [created]


def test_document_id_is_unique_in_a_tenant(erp: Erp, beta: Erp, create_client: Make) -> None:
    create_client(document_id=5, document_type="V")

    refused = erp.post("/clients", {"name": "Other", "document_id": 5, "document_type": "J"})

    assert refused.problems == TAKEN
    assert refused.json()["error"]["field"] == "document_id"
    assert beta.post("/clients", {"name": "Other", "document_id": 5}).status == 201


def test_document_id_of_a_client_can_change(erp: Erp, create_client: Make) -> None:
    create_client(document_id=5)
    create_client(document_id=6)

    assert erp.patch("/clients/1", {"document_id": 6}).problems == TAKEN
    assert erp.patch("/clients/1", {"document_id": 5, "name": "Same"}).data["document_id"] == 5
    assert erp.put("/clients/1", {"document_id": 7}).data["document_id"] == 7

    assert ids(erp.walk("/clients", document_id=7)) == [1]
    assert erp.walk("/clients", document_id=5) == []
    assert erp.post("/clients", {"name": "x", "document_id": 7}).problems == TAKEN
    assert create_client(document_id=5)["id"] == 3


def test_client_on_an_open_document_can_be_deleted(erp: Erp, create_client: Make) -> None:
    create_client("Harbour Lights")
    erp.post("/products", {"item_code": "BOLT-M8", "name": "Bolt M8"})
    erp.post("/warehouses", {"whs_code": "NORTH", "name": "North hall"})
    body = {**SALE, "partner_code": "C-1", "partner_name": "Harbour Lights"}
    order = erp.post("/exit-documents", body, key="so").data

    assert erp.delete("/clients/1").status == 200

    kept = erp.get(f"/exit-documents/{order['id']}").data
    assert (kept["card_code"], kept["card_name"]) == ("C-1", "Harbour Lights")

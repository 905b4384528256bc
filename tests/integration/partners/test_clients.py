"""Create, read, change and delete clients."""

import pytest

from tests.gateway import Erp
from tests.integration.partners.answers import ids
from tests.integration.partners.conftest import Make
from tests.integration.write_routes import SALE
from tests.stack import Stack

BRINDLEY = {
    "name": "Brindley Electrical Contractors Ltd",
    "document_type": "V",
    "document_id": 999_000_100,
    "email": "Orders@brindley-electrical.example",
    "phone": "+44 121 496 0111",
}
TAKEN = {"document_id": "is already taken by another client"}


def test_client_has_all_its_fields(erp: Erp, stack: Stack) -> None:
    answer = erp.post("/clients", BRINDLEY)

    assert answer.status == 201, answer.text
    assert answer.headers["Location"] == f"{stack.tenant().base_url}/clients/1"
    created = answer.data
    times = {name: created[name] for name in ("created_at", "updated_at")}
    assert times["created_at"] == times["updated_at"]
    assert created == {**BRINDLEY, "id": 1, **times}
    assert erp.get("/clients/1").data == created
    assert erp.walk("/clients") == [created]


def test_fields_that_are_not_sent_are_null(erp: Erp) -> None:
    for number, sent in enumerate(({}, {"document_type": None, "email": None, "phone": None})):
        created = erp.post("/clients", {"name": " Web shop ", "document_id": number + 1, **sent})
        nulls = {name for name, value in created.data.items() if value is None}
        assert nulls == {"document_type", "email", "phone"}
        assert created.data["name"] == "Web shop"


def test_largest_document_id_is_exact(erp: Erp, create_client: Make) -> None:
    largest = 9_007_199_254_740_991

    created = create_client(document_id=largest)

    assert created["document_id"] == largest
    assert erp.walk("/clients", document_id=largest) == [created]


def test_all_problems_are_reported_together(erp: Erp, create_client: Make) -> None:
    create_client(document_id=5)

    answer = erp.post(
        "/clients",
        {
            "name": "\ud800",
            "document_type": "VAT",
            "document_id": 5,
            "email": "orders@",
            "phone": "\t\x00",
        },
    )

    assert answer.problems == {
        "name": "must be valid Unicode text",
        "document_type": "must be one letter, A to Z",
        "document_id": "is already taken by another client",
        "email": "must be an e-mail address",
        "phone": "must not contain control characters",
    }
    assert answer.json()["error"]["field"] == "name"
    assert ids(erp.walk("/clients")) == [1]


@pytest.mark.parametrize(
    ("body", "message"),
    [({}, "is required"), ({"name": None, "document_id": None}, "must be a")],
)
def test_name_and_document_id_are_required(erp: Erp, body: dict[str, object], message: str) -> None:
    found = erp.post("/clients", body).problems

    assert set(found) == {"name", "document_id"}
    assert all(text.startswith(message) for text in found.values())


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_only_the_fields_sent_change(erp: Erp, method: str) -> None:
    before = erp.post("/clients", BRINDLEY).data

    after = erp.send(
        method, "/clients/1", {"document_type": None, "email": "ap@brindley.example"}
    ).ok()
    assert after["updated_at"] >= before["updated_at"]
    changed = {"document_type": None, "email": "ap@brindley.example"}
    assert after == {**before, **changed, "updated_at": after["updated_at"]}
    assert erp.get("/clients/1").data == after
    assert erp.walk("/clients", email="ap@brindley.example") == [after]
    assert erp.walk("/clients", email=BRINDLEY["email"]) == []


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


def test_document_id_of_a_deleted_client_can_be_used_again(erp: Erp, create_client: Make) -> None:
    created = create_client(document_id=5, email="a@brindley.example")

    answer = erp.delete("/clients/1")

    assert (answer.status, answer.data) == (200, created)
    for method in ("GET", "DELETE", "PATCH", "PUT"):
        body = {"name": "x"} if method in {"PATCH", "PUT"} else None
        answer = erp.send(method, "/clients/1", body)
        assert (answer.status, answer.code) == (410, "gone")
    for query in ({}, {"document_id": 5}, {"email": "a@brindley.example"}, {"search": "b"}):
        assert erp.walk("/clients", **query) == []
    assert create_client(document_id=5)["id"] == 2


def test_client_on_an_open_document_can_be_deleted(erp: Erp, create_client: Make) -> None:
    create_client("Harbour Lights")
    erp.post("/products", {"item_code": "BOLT-M8", "name": "Bolt M8"})
    erp.post("/warehouses", {"whs_code": "NORTH", "name": "North hall"})
    body = {**SALE, "partner_code": "C-1", "partner_name": "Harbour Lights"}
    order = erp.post("/exit-documents", body, key="so").data

    assert erp.delete("/clients/1").status == 200

    kept = erp.get(f"/exit-documents/{order['id']}").data
    assert (kept["card_code"], kept["card_name"]) == ("C-1", "Harbour Lights")

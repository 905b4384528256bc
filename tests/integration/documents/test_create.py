"""Creation of documents over HTTP."""

import itertools
import json
import random

import pytest

from shared.warehouse.receiving.rules import MAX_DIFFERENCES
from shared.warehouse.work.address import ShipToAddress
from tests.gateway import Erp, Response
from tests.integration.documents.bodies import document_body
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


def test_entry_document_has_all_its_fields(yard: WarehouseScenario) -> None:
    body = document_body(
        type="Orden de compra",
        doc_date="01/03/2026",
        due_date="2026-03-15",
        partner_name="Kiln & Sons",
        comments="two pallets\nmind the step",
        lines=[
            {"external_ref": "10", "item_code": "BRICK", "qty": 12.5, "destination_bin": "A-01"},
            {"item_code": "CEMENT", "qty": 3.0, "batch": "B7", "expiry_date": "31/12/2027"},
            {"item_code": "DRILL", "qty": 2, "serials": ["S1", "S2"]},
        ],
    )

    answer = yard.erp.post("/entry-documents", body, key="k1")

    data = answer.ok(201)
    assert data.pop("created_at") == data.pop("updated_at")
    number = data["id"]
    in_base_units = {"unit": None, "unit_qty": None}
    lines: list[dict[str, object]] = [
        {"line_num": 1, "external_ref": "10", "item_code": "BRICK", "qty": 12.5, "open_qty": 12.5},
        {"line_num": 2, "external_ref": None, "item_code": "CEMENT", "qty": 3, "open_qty": 3},
        {"line_num": 3, "external_ref": None, "item_code": "DRILL", "qty": 2, "open_qty": 2},
    ]
    assert data == {
        "id": number,
        "doc_num": f"EN-{number}",
        "type": "purchase_order",
        "external_ref": "PO-1",
        "source": "api",
        "status": "open",
        "card_code": "V-1",
        "card_name": "Kiln & Sons",
        "doc_date": "2026-03-01",
        "due_date": "2026-03-15",
        "comments": "two pallets\nmind the step",
        "metadata": {},
        "lines": [
            {
                **line,
                **in_base_units,
                "received_qty": 0,
                "whs_code": "YARD",
                "status": "open",
                "metadata": {},
            }
            for line in lines
        ],
        "differences": [],
        "actions": ["receive", "close"],
    }
    assert '"qty":3,' in answer.text, "whole numbers come without a fraction"
    assert answer.headers["Location"].endswith(f"/api/v1/entry-documents/{number}")
    assert yard.erp.follow(answer.headers["Location"]).data == answer.data


def test_source_of_what_a_user_creates_is_web(yard: WarehouseScenario, stack: Stack) -> None:
    user = Erp(stack.gateway, stack.user_token(permissions="entries.manage exits.manage"))
    yard.change_settings(blind_returns=True)
    lines = [{"item_code": "BRICK", "qty": 1, "reason": "other"}]
    back = {"partner_code": "C-1", "warehouse_code": "YARD", "lines": lines}
    made = [
        user.post("/entry-documents", document_body(), key="u1"),
        user.post("/exit-documents", document_body(type="sale_order"), key="u2"),
        user.post("/returns", back),
    ]
    assert [one.ok(201)["source"] for one in made] == ["web"] * 3
    by_client = yard.erp.post("/entry-documents", document_body(external_ref="PO-2"), key="k1")
    assert by_client.data["source"] == "api"


def test_exit_document_has_priority_and_address(yard: WarehouseScenario) -> None:
    body = document_body(type="nota de ENTREGA", priority="Alta", ship_to="Dock 4\nBristol")

    data = yard.erp.post("/exit-documents", body, key="k1").data

    assert (data["priority"], data["ship_to"], data["type"]) == (
        1,
        "Dock 4\nBristol",
        "delivery_note",
    )
    assert data["doc_num"] == f"EX-{data['id']}"
    assert data["lines"][0]["picked_qty"] == 0
    assert "received_qty" not in data["lines"][0]


def test_exit_document_has_a_structured_address_and_a_carrier(yard: WarehouseScenario) -> None:
    address = {"name": "Ana Ruiz", "line1": "Dock 4", "city": "Bristol", "country": "GB"}
    sent = {"ship_to_address": {**address, "company": ""}, "carrier_code": "DHL"}
    body = document_body(type="sale_order", **sent)

    made = yard.erp.post("/exit-documents", body, key="k1").data

    shown = dict.fromkeys(ShipToAddress.__annotations__) | address
    assert made["ship_to_address"] == shown
    assert (made["carrier_code"], made["service_code"]) == ("DHL", None)
    [listed] = yard.erp.walk("/exit-documents")
    assert listed["ship_to_address"] == shown
    same = yard.erp.post("/exit-documents", body, key="k2")
    assert (same.status, same.json().get("warning")) == (200, None)
    other = {"ship_to_address": {**address, "city": "Bath"}, "service_code": "EXPRESS"}
    warned = yard.erp.post("/exit-documents", document_body(type="sale_order", **other), key="k3")
    fields = warned.json()["warning"].partition("differs in: ")[2]
    assert fields == "ship_to_address.city, carrier_code, service_code."

    bare = document_body(type="delivery_note", ship_to_address={"city": ""})
    assert yard.erp.post("/exit-documents", bare, key="k4").data["ship_to_address"] is None


def test_same_reference_and_type_returns_the_first_document(yard: WarehouseScenario) -> None:
    first = yard.erp.post("/entry-documents", document_body(), key="k1")
    second = yard.erp.post(
        "/entry-documents", document_body(lines=[{"item_code": "NO-SUCH", "qty": 1}]), key="k2"
    )
    other_type = yard.erp.post("/entry-documents", document_body(type="goods_receipt"), key="k3")
    exit_document = yard.erp.post("/exit-documents", document_body(type="sale_order"), key="k4")

    assert (second.status, second.data) == (200, first.data)
    assert "Location" not in second.headers
    assert other_type.status == exit_document.status == 201
    assert yard.erp.get("/entry-documents").json()["meta"]["total"] == 2


@pytest.mark.parametrize(
    ("path", "kind"), [("/entry-documents", "purchase_order"), ("/exit-documents", "sale_order")]
)
def test_repeated_reference_names_the_fields_that_differ(
    yard: WarehouseScenario, path: str, kind: str
) -> None:
    cement: dict[str, object] = {"item_code": "CEMENT", "qty": 2, "external_ref": "20"}
    cement |= {"batch": "L-1", "expiry_date": "2027-01-31"}
    body = document_body(
        type=kind, comments="Gate 2", lines=[{"item_code": "BRICK", "qty": 100}, cement]
    )
    made = yard.erp.post(path, body, key="k0")
    exact = {**body, "due_date": None, "lines": [{"item_code": "BRICK", "qty": 100.0}, cement]}

    def differs(**changes: object) -> str | None:
        answer = yard.erp.post(path, {**body, **changes}, key=json.dumps(changes)[:200])
        assert (answer.status, answer.data) == (200, made.data)
        warning: str | None = answer.json().get("warning")
        return warning and warning.partition("differs in: ")[2]

    assert "warning" not in made.json()
    assert "warning" not in yard.erp.post(path, exact, key="k1").json()
    assert differs(doc_date="2026-03-02", due_date="2026-04-01") == "doc_date, due_date."
    assert differs(partner_code="V-2", partner_name="Vendor") == "partner_code, partner_name."
    assert differs(warehouse_code="SHOP", comments=None) == "warehouse_code, comments."
    assert differs(lines=body["lines"][:1]) == "lines."
    other = {**cement, "batch": "L-2", "expiry_date": None, "serials": ["1"], "external_ref": "2"}
    changed = [{"item_code": "DRILL", "qty": 99}, other]
    assert differs(lines=changed) == (
        "lines.0.item_code, lines.0.qty, lines.1.batch, lines.1.expiry_date, lines.1.serials,"
        " lines.1.external_ref."
    )
    if kind == "sale_order":
        assert differs(priority="Alta", ship_to="Site 4") == "priority, ship_to."
    else:
        placed = {**body["lines"][0], "destination_bin": "A-01"}
        assert differs(lines=[placed, cement]) == "lines.0.destination_bin."


def test_warning_names_at_most_twenty_fields(yard: WarehouseScenario) -> None:
    lines = [{"item_code": "BRICK", "qty": 1}] * 25
    yard.erp.post("/entry-documents", document_body(lines=lines), key="k1")
    lines = [{"item_code": "BRICK", "qty": 2}] * 25

    again = yard.erp.post("/entry-documents", document_body(lines=lines), key="k2")

    assert again.json()["warning"] == (
        "Document PO-1 exists already and was not changed. The request differs in: "
        + ", ".join(f"lines.{number}.qty" for number in range(20))
        + " and 5 more."
    )


def test_expiry_date_of_an_exit_line_is_that_of_the_batch_in_stock(
    yard: WarehouseScenario,
) -> None:
    yard.stock("CEMENT", 5, batch="L1", expiry_date="2030-12-31")
    yard.stock("CEMENT", 5, batch="L2")
    yard.stock("CEMENT", 5, batch="GONE", expiry_date="2030-12-31")
    yard.adjust("CEMENT", batch="GONE", counted_qty=0).ok(201)
    keys = map(str, itertools.count())

    def ordered(*lots: tuple[str, str], path: str = "/exit-documents") -> Response:
        lines = [
            {"item_code": "CEMENT", "qty": 1, "batch": batch, "expiry_date": date}
            for batch, date in lots
        ]
        kind = "sale_order" if path == "/exit-documents" else "purchase_order"
        return yard.erp.post(path, document_body(lines=lines, type=kind), key=next(keys))

    other = "2031-01-31"
    assert ordered(("L1", "2030-12-31"), ("L1", other), ("L2", other), ("NEW", other)).problems == {
        "lines.1.expiry_date": "batch L1 of CEMENT is in stock with the expiry date 2030-12-31,"
        " 2031-01-31 given",
        "lines.2.expiry_date": "batch L2 of CEMENT is in stock without an expiry date, 2031-01-31"
        " given; correct the date of the batch first",
    }
    assert ordered(("L1", other)).problems == {
        "lines.0.expiry_date": "batch L1 of CEMENT is in stock with the expiry date 2030-12-31,"
        " 2031-01-31 given"
    }
    assert ordered(("L1", "2030-12-31"), ("NEW", other), ("GONE", other)).status == 201
    assert ordered(("L1", other), path="/entry-documents").status == 201, "a notice"


def test_document_has_1_to_1000_lines(yard: WarehouseScenario) -> None:
    line = {"item_code": "BRICK", "qty": 1}

    for lines in ([], None, "x", [line] * 1001):
        found = yard.erp.post("/entry-documents", document_body(lines=lines), key="k1").problems
        assert list(found) == ["lines"]
    thousand = yard.erp.post("/entry-documents", document_body(lines=[line] * 1000), key="k1")
    assert thousand.status == 201
    assert len(thousand.data["lines"]) == 1000


def test_document_larger_than_an_item_is_complete(yard: WarehouseScenario) -> None:
    # Random serials hardly compress, so this needs more than one item.
    chance = random.Random(1)  # noqa: S311 - test data
    serials = [f"{n:05d}-{chance.getrandbits(64):016x}" for n in range(35_000)]
    body = document_body(lines=[{"item_code": "DRILL", "qty": len(serials), "serials": serials}])

    created = yard.erp.post("/entry-documents", body, key="k1")

    assert created.status == 201, created.text
    assert yard.erp.follow(created.headers["Location"]).data == created.data
    [row] = yard.erp.walk("/entry-documents")
    assert {**row, "differences": [], "actions": ["receive", "close"]} == created.data
    closed = yard.erp.post(f"/entry-documents/{created.data['id']}/close", key="k2")
    assert closed.data["status"] == "closed"
    assert len(closed.data["differences"]) == MAX_DIFFERENCES, "of 35 000 missing serials"

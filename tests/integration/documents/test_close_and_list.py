"""Closing and listing of documents, and the master data that open documents protect."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.warehouse import references as register
from shared.warehouse.catalog import service as catalog
from tests.clock import Clock
from tests.gateway import Erp
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


@pytest.fixture
def twelve_orders(yard: WarehouseScenario, document_body: Write, clock: Clock) -> Erp:
    """Twelve sales orders, created one second apart; the first three are closed."""
    for number in range(12):
        clock.advance(1)
        body = document_body(
            f"SO-{number}",
            type="sale_order" if number % 2 else "delivery_note",
            doc_date=f"2026-01-{31 - number:02d}",
            partner_code=f"C-{number % 3}",
            priority=["Alta", "baja", None, "Normal"][number % 4],
        )
        assert yard.erp.post("/exit-documents", body, key=f"k{number}").status == 201
    for number in (1, 2, 3):
        clock.advance(1)
        yard.erp.post(f"/exit-documents/{number}/close")
    return yard.erp


def references(erp: Erp, **query: object) -> list[str]:
    rows = erp.walk("/exit-documents", per_page=2, **query)
    counted = erp.get("/exit-documents", query={**query, "per_page": 2}).json()["meta"]["total"]
    assert counted == len(rows)
    return [row["external_ref"] for row in rows]


def test_lists_filter_by_every_parameter(twelve_orders: Erp) -> None:
    def numbers(**query: object) -> list[int]:
        found = references(twelve_orders, sort="created_at", **query)
        return [int(name.removeprefix("SO-")) for name in found]

    assert numbers() == list(range(12))
    assert numbers(status="closed") == [0, 1, 2]
    assert numbers(status="open") == list(range(3, 12))
    assert numbers(type="sale_order") == [1, 3, 5, 7, 9, 11]
    assert numbers(type="Nota de entrega") == [0, 2, 4, 6, 8, 10]
    assert numbers(card_code="C-1") == [1, 4, 7, 10]
    assert numbers(external_ref="SO-7") == [7]
    assert numbers(source="api", status="open", card_code="C-0") == [3, 6, 9]
    assert numbers(source="web") == []
    assert numbers(priority="1") == [0, 4, 8]
    assert numbers(priority="Baja", status="open") == [5, 9]


def test_lists_sort_both_ways(twelve_orders: Erp) -> None:
    newest = references(twelve_orders)
    assert newest == references(twelve_orders, sort="created_at")[::-1]
    assert references(twelve_orders, sort="doc_date") == newest
    assert references(twelve_orders, sort="-doc_date") == newest[::-1]
    assert references(twelve_orders, sort="-updated_at")[:3] == ["SO-2", "SO-1", "SO-0"]
    first = references(twelve_orders, sort="priority")
    assert set(first[:3]) == {"SO-0", "SO-4", "SO-8"}
    without = {"SO-2", "SO-6", "SO-10"}
    assert set(first[3:9]) == {"SO-3", "SO-7", "SO-11", *without}, "no priority sorts as Normal"
    assert first == references(twelve_orders, sort="-priority")[::-1]


def test_updated_since_includes_the_given_time(twelve_orders: Erp) -> None:
    rows = twelve_orders.walk("/exit-documents", sort="updated_at")
    since = rows[5]["updated_at"]
    found = twelve_orders.walk(
        "/exit-documents", sort="updated_at", updated_since=since, per_page=2
    )
    assert found == rows[5:]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "done"}, "status"),
        ({"type": "purchase_order"}, "type"),
        ({"source": "mail"}, "source"),
        ({"priority": "urgent"}, "priority"),
        ({"sort": "name"}, "sort"),
        ({"page": "0"}, "page"),
        ({"per_page": "abc"}, "per_page"),
        ({"updated_since": "2026-01-01"}, "updated_since"),
    ],
)
def test_problem_names_the_invalid_parameter(erp: Erp, query: dict[str, str], field: str) -> None:
    answer = erp.get("/exit-documents", query=query)
    assert (answer.status, answer.json()["error"]["field"]) == (422, field)


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


def test_product_deleted_concurrently_is_never_on_a_document(
    yard: WarehouseScenario, document_body: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    brick = next(row["id"] for row in yard.erp.walk("/products") if row["item_code"] == "BRICK")
    known_products = catalog.known_products
    deleted: list[int] = []

    def delete_after_reading(*arguments: Any) -> Any:
        known = known_products(*arguments)
        if not deleted:
            deleted.append(yard.erp.delete(f"/products/{brick}").status)
        return known

    monkeypatch.setattr(catalog, "known_products", delete_after_reading)
    answer = yard.erp.post("/entry-documents", document_body(), key="k1")

    assert deleted == [200]
    assert answer.status == 422
    assert answer.json()["error"]["field"] == "lines.0.item_code"


def test_product_is_usable_after_an_interrupted_deletion(
    yard: WarehouseScenario, document_body: Write, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    brick = next(row["id"] for row in yard.erp.walk("/products") if row["item_code"] == "BRICK")

    class Died(BaseException):
        pass

    def die(*_: object) -> bool:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(register, "is_on_open_document", die)
        with pytest.raises(Died):
            yard.erp.delete(f"/products/{brick}")

    assert (
        yard.erp.post("/entry-documents", document_body(), key="k1").code == "service_unavailable"
    )
    clock.advance(61)
    assert yard.erp.post("/entry-documents", document_body(), key="k1").status == 201

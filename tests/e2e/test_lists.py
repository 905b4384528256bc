"""Lists on the deployed stack: sample data, pages, filters and sort orders."""

import csv
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.responses import data, fields, key, refused, walk

_SAMPLE = Path(__file__).parents[2] / "sample" / "acme"


def _sample(file: str) -> list[dict[str, str]]:
    with (_SAMPLE / file).open(newline="") as rows:
        return list(csv.DictReader(rows))


@pytest.fixture
def warehouse(acme: httpx.Client, run: str) -> dict[str, Any]:
    """A new warehouse with 23 positions, A-11 to A-33."""
    created: dict[str, Any] = data(
        acme.post("/warehouses", json={"whs_code": f"W{run}", "name": "Annex"}), 201
    )
    made = acme.post(
        "/warehouse-positions/bulk",
        json={
            "whs_code": created["whs_code"],
            "naming_mask": "{aisle}-{slot}",
            "aisles": ["A"],
            "slots": {"from": 11, "to": 33},
        },
        headers=key(),
    )
    assert len(data(made, 201)) == 23
    return created


def test_sample_data_is_complete(acme: httpx.Client) -> None:
    halls = {row["whs_code"]: row for row in walk(acme, "/warehouses", per_page=100)}
    assert (halls["CEN"]["positions_count"], halls["DUB"]["positions_count"]) == (140, 60)

    products = walk(acme, "/products", per_page=100)
    expected = {row["item_code"]: row for row in _sample("products.csv")}
    shown = {row["item_code"]: row for row in products if row["item_code"] in expected}
    assert len(expected) == len(shown) == 500
    for code, row in expected.items():
        assert shown[code]["name"] == row["name"]
        assert shown[code]["man_btch_num"] is (row["man_btch_num"] == "true")
        assert shown[code]["man_ser_num"] is (row["man_ser_num"] == "true")

    bins = {
        (row["whs_code"], row["bin_code"])
        for code in ("CEN", "DUB")
        for row in walk(acme, "/warehouse-positions", warehouse=code, per_page=100)
    }
    expected_bins = {
        (row["whs_code"], row["bin_code"]) for row in _sample("warehouse_positions.csv")
    }
    assert len(bins) == 200
    assert bins == expected_bins
    for path, file, column in (
        ("/product-categories", "product_categories.csv", "name"),
        ("/clients", "clients.csv", "document_id"),
        ("/providers", "providers.csv", "name"),
    ):
        listed = {str(row[column]) for row in walk(acme, path, per_page=100)}
        assert {row[column] for row in _sample(file)} <= listed, path


def test_pages_have_links_and_meta(acme: httpx.Client, warehouse: dict[str, Any]) -> None:
    query = {"warehouse": warehouse["whs_code"], "per_page": 10}
    page = acme.get("/warehouse-positions", params=query | {"page": 2})
    assert [row["bin_code"] for row in data(page)] == [f"A-{n}" for n in range(21, 31)]

    meta, links = page.json()["meta"], page.json()["links"]
    assert (meta["current_page"], meta["last_page"], meta["per_page"]) == (2, 3, 10)
    assert (meta["from"], meta["to"], meta["total"]) == (11, 20, 23)
    assert meta["path"] == f"{str(acme.base_url).rstrip('/')}/warehouse-positions"
    assert [link["active"] for link in meta["links"]].count(True) == 1
    for name, first in {"first": "A-11", "prev": "A-11", "next": "A-31", "last": "A-31"}.items():
        assert data(acme.get(links[name]))[0]["bin_code"] == first, name

    ends = acme.get(links["last"]).json()
    assert ends["links"]["next"] is None
    assert (ends["meta"]["from"], ends["meta"]["to"]) == (21, 23)
    assert acme.get(links["first"]).json()["links"]["prev"] is None
    beyond = acme.get("/warehouse-positions", params=query | {"page": 9}).json()
    assert (beyond["data"], beyond["meta"]["from"], beyond["meta"]["total"]) == ([], None, 23)


def test_reading_by_links_and_by_page_gives_the_same_rows(
    acme: httpx.Client, warehouse: dict[str, Any]
) -> None:
    query = {"warehouse": warehouse["whs_code"], "per_page": 5, "sort": "-bin_code"}
    by_links = walk(acme, "/warehouse-positions", **query)
    by_page = [
        row
        for page in range(1, 6)
        for row in data(acme.get("/warehouse-positions", params=query | {"page": page}))
    ]
    assert [row["bin_code"] for row in by_links] == [f"A-{n}" for n in range(33, 10, -1)]
    assert by_page == by_links


def test_whole_list_is_read_without_a_gap(acme: httpx.Client) -> None:
    by_number = [row["id"] for row in walk(acme, "/products", per_page=100)]
    assert by_number == sorted(set(by_number))
    by_name = walk(acme, "/products", per_page=1000, sort="name")
    assert len({row["id"] for row in by_name}) == len(by_name) >= 500


@pytest.mark.parametrize(
    ("path", "query", "column", "values"),
    [
        ("/products", {"item_code": "CAB-TE-1R0-50"}, "item_code", {"CAB-TE-1R0-50"}),
        ("/products", {"sku": "CAB-TE-1R0-50"}, "sku", {"CAB-TE-1R0-50"}),
        ("/products", {"barcode": "9520001040009"}, "item_code", {"CAB-TE-1R0-50"}),
        ("/products", {"search": "6242y 1.0"}, "item_code", {"CAB-TE-1R0-50", "CAB-TE-1R0-100"}),
        ("/products", {"type": "Cable and flex"}, "type", {"Cable and flex"}),
        ("/product-categories", {"search": "circuit"}, "name", {"Circuit protection"}),
        ("/clients", {"document_id": "999000100"}, "name", {"Brindley Electrical Contractors Ltd"}),
        ("/providers", {"search": "halden"}, "name", {"Halden Switchgear GmbH"}),
        ("/clients", {"email": "orders@hollinsrowe.example"}, "document_id", {999000211}),
        ("/clients", {"search": "LIFFEY", "sort": "-name"}, "document_type", {"I"}),
        ("/providers", {"email": "trade@tornadotools.example"}, "paymentinfo", {"60 days net"}),
        ("/warehouses", {"whs_code": "DUB"}, "name", {"Dublin regional warehouse"}),
        ("/warehouses", {"search": "birmingham"}, "whs_code", {"CEN"}),
        ("/warehouse-positions", {"warehouse": "DUB"}, "whs_code", {"DUB"}),
        (
            "/warehouse-positions",
            {"warehouse": "DUB", "search": "rec-"},
            "bin_code",
            {"REC-01", "REC-02"},
        ),
        ("/entry-documents", {"external_ref": "PO-2026-04101"}, "card_code", {"P20001"}),
        ("/entry-documents", {"card_code": "P20004", "type": "Orden de compra"}, "type",
         {"purchase_order"}),
        ("/entry-documents", {"source": "api", "per_page": 100}, "source", {"api"}),
        ("/exit-documents", {"status": "open", "priority": "Alta"}, "priority", {1}),
        ("/exit-documents", {"status": "open", "sort": "priority"}, "status", {"open"}),
    ],
)  # fmt: skip
def test_filters_return_matching_rows(
    acme: httpx.Client, path: str, query: dict[str, str], column: str, values: set[Any]
) -> None:
    answer = acme.get(path, params=query)
    assert {row[column] for row in data(answer)} == values
    for row in data(answer)[:2]:
        assert data(acme.get(f"{path}/{row['id']}"))["id"] == row["id"]


@pytest.fixture
def transfer_orders(acme: httpx.Client, run: str) -> list[int]:
    """The ids of three transfer orders to a new warehouse; the second one is released."""
    data(acme.post("/warehouses", json={"whs_code": f"T{run}", "name": "Kiosk"}), 201)
    picker = data(acme.get("/users"))[0]["id"]
    bodies: list[dict[str, Any]] = [
        {
            "from_warehouse": "CEN",
            "to_warehouse": f"T{run}",
            "external_ref": f"MOVE-{run}-{number}",
            "release": number == 2,
            "picker_id": picker,
            "lines": [{"item_code": "CAB-TE-1R0-50", "qty": number}],
        }
        for number in (1, 2, 3)
    ]
    made = [acme.post("/transfer-orders", json=body, headers=key()) for body in bodies]
    return [data(answer, 201)["id"] for answer in made]


def test_transfer_order_filters(acme: httpx.Client, run: str, transfer_orders: list[int]) -> None:
    def found(**query: str) -> list[int]:
        there = {"to_warehouse": f"T{run}", **query}
        rows = walk(acme, "/transfer-orders", sort="created_at", per_page=2, **there)
        assert all(row["lines"] is None for row in rows)
        return [row["id"] for row in rows]

    assert found() == transfer_orders
    assert found(status="released") == transfer_orders[1:2]
    assert found(from_warehouse="CEN", status="draft") == [transfer_orders[0], transfer_orders[2]]
    assert found(from_warehouse="DUB") == []
    assert found(external_ref=f"MOVE-{run}-3") == transfer_orders[2:]
    (kiosk,) = data(acme.get("/warehouses", params={"whs_code": f"T{run}"}))
    assert found(updated_since=kiosk["created_at"], **{"from": "2000-01-01"}) == transfer_orders
    assert found(updated_since="2100-01-01T00:00:00Z") == found(to="2000-01-01") == []


@pytest.mark.parametrize(
    ("path", "done", "nothing"),
    [
        ("/receipts", "synchronized", {"external_ref": "no such order", "status": "finalized"}),
        ("/pickings", "synchronized", {"external_ref": "no such order", "sort": "priority"}),
        ("/transfers", "transferred", {"from_warehouse": "MOON", "to_warehouse": "DUB"}),
        ("/waves", "released", {"warehouse": "MOON", "status": "released"}),
    ],
)
def test_lists_of_warehouse_work(
    acme: httpx.Client, beta: httpx.Client, path: str, done: str, nothing: dict[str, str]
) -> None:
    whole = acme.get(path)
    assert len(data(whole)) == min(25, whole.json()["meta"]["total"])
    assert data(acme.get(path, params=nothing)) == []
    assert data(acme.get(path, params={"to": "2000-01-01"})) == []
    assert data(beta.get(path)) == []
    refused(acme.get(f"{path}/999999999"), 404, "not_found")
    # Other tests create work at the same time, but only the sample has synchronized work.
    settled = acme.get(path, params={"status": done})
    assert {row["status"] for row in data(settled)} == {done}
    again = acme.get(settled.url, headers={"If-None-Match": settled.headers["ETag"]})
    assert again.status_code == httpx.codes.NOT_MODIFIED


def test_updated_since_returns_every_change(acme: httpx.Client, run: str) -> None:
    before = data(acme.post("/products", json={"item_code": f"E2E-{run}-1", "name": "A"}), 201)
    after = data(acme.post("/products", json={"item_code": f"E2E-{run}-2", "name": "B"}), 201)
    since = {"updated_since": after["updated_at"], "search": run}
    assert [row["id"] for row in walk(acme, "/products", **since)] == [after["id"]]
    touched = data(acme.patch(f"/products/{before['id']}", json={"name": "C"}))
    assert touched["updated_at"] > after["updated_at"]
    changed = {row["id"] for row in walk(acme, "/products", **since)}
    assert changed == {before["id"], after["id"]}


@pytest.mark.parametrize(
    ("path", "query", "wrong"),
    [
        ("/products", {"page": "0"}, ["page"]),
        ("/products", {"per_page": "x", "sort": "color"}, ["per_page", "sort"]),
        ("/products", {"updated_since": "2026-03-01T09:30:00"}, ["updated_since"]),
        ("/entry-documents", {"status": "lost", "type": "gift"}, ["status", "type"]),
        ("/warehouse-positions", {"warehouse_id": "-1"}, ["warehouse_id"]),
        ("/clients", {"document_id": "V-1", "email": ""}, ["document_id", "email"]),
        ("/transfer-orders", {"status": "open", "to_warehouse": ""}, ["status", "to_warehouse"]),
        ("/receipts", {"status": "open", "from": "today"}, ["from", "status"]),
        ("/pickings", {"sort": "name", "to": "2026-02-30"}, ["sort", "to"]),
        ("/transfers", {"status": "draft", "sort": "finalized_at"}, ["sort", "status"]),
        ("/waves", {"from": "2026-03-02", "to": "2026-03-01"}, ["to"]),
    ],
)
def test_every_invalid_parameter_is_named(
    acme: httpx.Client, path: str, query: dict[str, str], wrong: list[str]
) -> None:
    assert sorted(fields(acme.get(path, params=query))) == wrong

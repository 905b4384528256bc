"""Lists on the deployed stack: sample data, pages, filters and sort orders."""

import csv
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.responses import data, key, refused, walk

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


def test_whole_list_is_read_without_a_gap(acme: httpx.Client) -> None:
    by_number = [row["id"] for row in walk(acme, "/products", per_page=100)]
    assert by_number == sorted(set(by_number))
    by_name = walk(acme, "/products", per_page=1000, sort="name")
    assert len({row["id"] for row in by_name}) == len(by_name) >= 500


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

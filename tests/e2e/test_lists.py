"""Lists on the deployed stack: the sample data, read page by page."""

import csv
from pathlib import Path

import httpx

from tests.e2e.responses import walk

_SAMPLE = Path(__file__).parents[2] / "sample" / "acme"


def _sample(file: str) -> list[dict[str, str]]:
    with (_SAMPLE / file).open(newline="") as rows:
        return list(csv.DictReader(rows))


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


def test_sample_has_work_that_is_done(acme: httpx.Client) -> None:
    for path, done in (
        ("/receipts", "synchronized"),
        ("/pickings", "synchronized"),
        ("/transfers", "transferred"),
        ("/waves", "released"),
    ):
        assert {row["status"] for row in walk(acme, path, status=done)} == {done}, path

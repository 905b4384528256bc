"""The examples of the OpenAPI document fit the sample data, so that they can be tried."""

import csv
import json
from pathlib import Path
from typing import Any

from tests.cases import each_case
from tests.openapi import objects

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample" / "acme"
EXAMPLES: dict[str, Any] = json.loads((ROOT / "tools" / "words" / "examples.json").read_text())

NEW = {"ProductCreate", "WarehouseCreate", "PositionCreate"}
"""Examples that create master data; their codes are free."""


def _column(file: str, name: str) -> set[str]:
    with (SAMPLE / file).open(newline="") as rows:
        return {row[name] for row in csv.DictReader(rows)}


ITEMS = _column("products.csv", "item_code")
WAREHOUSES = _column("warehouses.csv", "whs_code")
BINS = _column("warehouse_positions.csv", "bin_code")
PARTNERS = _column("clients.csv", "code") | _column("providers.csv", "code")
CODES = {
    "item_code": ITEMS, "sku": ITEMS,
    "whs_code": WAREHOUSES, "warehouse_code": WAREHOUSES, "from_warehouse": WAREHOUSES,
    "to_warehouse": WAREHOUSES, "from_whs_code": WAREHOUSES, "to_whs_code": WAREHOUSES,
    "bin_code": BINS, "from_bin": BINS, "to_bin": BINS, "destination_bin": BINS,
    "card_code": PARTNERS, "partner_code": PARTNERS,
}  # fmt: skip


@each_case("model", sorted(EXAMPLES.keys() - NEW))
def test_example_names_only_codes_of_the_sample(model: str) -> None:
    named = [pair for node in objects(EXAMPLES[model]) for pair in node.items()]
    codes = [(name, value) for name, value in named if name in CODES and isinstance(value, str)]
    assert [(name, code) for name, code in codes if code not in CODES[name]] == []


def test_master_data_that_examples_create_does_not_exist_yet() -> None:
    assert EXAMPLES["ProductCreate"]["item_code"] not in ITEMS
    assert EXAMPLES["WarehouseCreate"]["whs_code"] not in WAREHOUSES
    assert EXAMPLES["PositionCreate"]["bin_code"] not in BINS
    assert EXAMPLES["PositionCreate"]["whs_code"] in WAREHOUSES


def test_batches_and_serials_of_examples_are_of_products_that_have_them() -> None:
    with (SAMPLE / "products.csv").open(newline="") as rows:
        products = {row["item_code"]: row for row in csv.DictReader(rows)}
    lines = [one for one in objects(EXAMPLES) if one.get("item_code") in ITEMS and "qty" in one]
    assert len(lines) > 10
    for line in lines:
        product = products[line["item_code"]]
        has_batch = bool(line.get("batch") or line.get("batch_num"))
        has_serials = bool(line.get("serials") or line.get("expected_series"))
        assert product["man_btch_num"] == "true" or not has_batch, line
        assert product["man_ser_num"] == "true" or not has_serials, line

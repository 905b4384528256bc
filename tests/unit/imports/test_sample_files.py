"""The sample import files are valid, as sample/README.md says, except for the expected errors."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from shared.integration.imports.files.reader import ParsedFile, read_file
from shared.integration.imports.files.row_groups import RowGrouper
from shared.integration.imports.kinds.stock_counts import StockCount
from shared.integration.imports.models import ImportKind
from shared.kernel.db.items import Item, Key
from shared.kernel.validation import check, problems_of
from shared.warehouse.catalog.drafts import more_problems
from shared.warehouse.catalog.models import KnownProduct, ProductCreate
from shared.warehouse.catalog.repository import code_key
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.documents.models import EntryDraft, ExitDraft
from shared.warehouse.documents.rules import examine
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.stock.adjustment_rules import adjustment_problems
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse

FOLDER = Path(__file__).parents[3] / "sample" / "imports"
ACME = FOLDER.parent / "acme"
MODELS: Mapping[ImportKind, type[BaseModel]] = {
    "products": ProductCreate,
    "exit_documents": ExitDraft,
    "entry_documents": EntryDraft,
    "stock_counts": StockCount,
}
KINDS: Mapping[str, ImportKind] = {
    "products.xlsx": "products",
    "orders.csv": "exit_documents",
    "opening-stock.csv": "stock_counts",
    "purchases-windows-1252.csv": "entry_documents",
    "orders-with-errors.csv": "exit_documents",
}
WITH_ERRORS = "orders-with-errors.csv"
EXPECTED = json.loads((FOLDER / "expected-errors.json").read_bytes())


def acme(name: str) -> list[dict[str, str]]:
    with (ACME / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def read(name: str) -> ParsedFile:
    file = read_file(FOLDER / name, name, KINDS[name], max_rows=2000)
    assert list(file.structure_errors) == []
    return file


@cache
def bodies(name: str) -> list[dict[str, Any]]:
    return [group.body for group in RowGrouper(read(name), KINDS[name], "UTC").groups()]


@cache
def known_products() -> Mapping[str, KnownProduct]:
    return {
        body["item_code"]: KnownProduct(
            id=number,
            item_code=body["item_code"],
            name=body["name"],
            by_batch=body["man_btch_num"],
            by_serial=body["man_ser_num"],
            in_stock=body["inventory_item"],
        )
        for number, body in enumerate(bodies("products.xlsx"))
    }


@cache
def aliases() -> Mapping[Key, Item]:
    """Return the aliases of the products, which have no units of measure."""
    return {code_key(code): {"id": known.id} for code, known in known_products().items()}


@cache
def known_positions() -> Mapping[tuple[str, str], KnownPosition]:
    return {
        (row["whs_code"], row["bin_code"]): KnownPosition(
            id=number,
            bin_code=row["bin_code"],
            type=row["type"],
            pickable=row["is_pickable"] == "true",
            disabled=row["disabled"] == "true",
            blocked=row["is_blocked"] == "true",
        )
        for number, row in enumerate(acme("warehouse_positions.csv"))
    }


def master_data(whs_code: str) -> MasterData:
    warehouses = {row["whs_code"]: row["name"] for row in acme("warehouses.csv")}
    name = warehouses.get(whs_code)
    known = {whs_code: KnownWarehouse(1, whs_code, name)} if name else {}
    return MasterData(known_products(), known, known_positions())


@cache
def problems(name: str) -> list[tuple[int, str]]:
    """Return row and field of every problem that the rules of single requests find in a file."""
    kind = KINDS[name]
    grouper = RowGrouper(read(name), kind, "UTC")
    found: list[tuple[int, str]] = []
    for group in grouper.groups():
        draft: Any = check(MODELS[kind], group.body)
        wrong = list(problems_of(draft))
        if kind == "stock_counts":
            wrong += adjustment_problems(draft, master_data(draft.warehouse), dated_counts=True)
        elif kind != "products":
            counted = lines_in_base_units(draft, aliases())
            findings = examine(counted, master_data(draft.warehouse_code))
            wrong += [*more_problems(counted, draft), *findings.invalid, *findings.blocked]
        grouper.reject(group, wrong)
        found += [
            (row, problem.field)
            for row, row_problems in group.problems.items()
            for problem in row_problems
        ]
    return found


def test_the_files_have_the_documented_sizes() -> None:
    assert len(bodies("products.xlsx")) == 2000
    assert len(bodies("orders.csv")) == 300
    assert 1150 <= len(read("orders.csv").rows) <= 1250
    assert len(bodies("purchases-windows-1252.csv")) == 60
    assert 190 <= len(bodies("opening-stock.csv")) <= 230


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {WITH_ERRORS}))
def test_every_row_is_valid(name: str) -> None:
    assert problems(name) == []


def test_the_products_are_new_to_acme_and_use_its_categories() -> None:
    catalog = bodies("products.xlsx")
    existing = acme("products.csv")
    for field in ("item_code", "name", "barcode"):
        new = [body[field] for body in catalog if field in body]
        assert len(set(new)) == len(new)
        assert not set(new) & {row[field] for row in existing}
    categories = {row["name"] for row in acme("product_categories.csv")}
    assert {body["type"] for body in catalog} <= categories
    kinds = Counter(
        (body["man_btch_num"], body["man_ser_num"], body["inventory_item"]) for body in catalog
    )
    assert len(kinds) == 4


def test_orders_go_to_partners_of_acme() -> None:
    partners = {row["code"]: row["name"] for row in acme("clients.csv") + acme("providers.csv")}
    for order in bodies("orders.csv"):
        assert partners[order["partner_code"]] == order["partner_name"]


def test_orders_are_of_every_type_and_priority() -> None:
    orders = bodies("orders.csv")
    assert {order["type"] for order in orders} == {
        "Sales order", "Delivery note", "Return to provider",
    }  # fmt: skip
    assert {order.get("priority") for order in orders} == {"1", "2", "3", None}
    assert len({order["doc_date"] for order in orders}) == 20
    lines = [line for order in orders for line in order["lines"]]
    assert any("batch" in line for line in lines)
    assert any("serials" in line for line in lines)
    assert any(line["qty"] % 1 for line in lines)


def test_sample_orders_have_references_addresses_and_metadata() -> None:
    for name in ("orders.csv", "purchases-windows-1252.csv"):
        for order in bodies(name):
            numbers = [line["external_ref"] for line in order["lines"]]
            assert len({*numbers}) == len(numbers)
    shipped = [order for order in bodies("orders.csv") if "carrier_code" in order]
    assert len(shipped) > 200
    assert {order["ship_to_address"]["country"] for order in shipped} == {"GB", "IE"}
    assert all(order["metadata"].keys() == {"route"} for order in shipped)
    lines = [line for body in bodies("purchases-windows-1252.csv") for line in body["lines"]]
    assert all(line["metadata"].keys() == {"centro_coste"} for line in lines)
    assert len({body["metadata"]["erp_id"] for body in bodies("products.xlsx")}) == 2000


def test_purchases_are_formatted_as_by_windows_in_spain() -> None:
    raw = (FOLDER / "purchases-windows-1252.csv").read_bytes()
    text = raw.decode("cp1252")
    assert text.startswith("Referencia;Tipo;Fecha de documento;")
    assert text.count("\r\n") == text.count("\n")
    assert set("ñáéíóúü€«»") <= set(text)
    with pytest.raises(UnicodeDecodeError):
        raw.decode()
    lines = [line for body in bodies("purchases-windows-1252.csv") for line in body["lines"]]
    assert any(line["qty"] % 1 for line in lines)
    assert any(line["qty"] > 1000 for line in lines)
    assert sum("destination_bin" in line for line in lines) > 20


def test_there_are_forty_two_errors_of_twenty_one_categories() -> None:
    categories = Counter(error["category"] for error in EXPECTED["errors"])
    assert categories == dict.fromkeys(EXPECTED["categories"], 2)
    assert len(categories) == 21
    assert len({error["row"] for error in EXPECTED["errors"]}) == 42


def test_the_problems_are_the_expected_errors() -> None:
    expected = [(error["row"], error["field"]) for error in EXPECTED["errors"]]
    assert sorted(problems(WITH_ERRORS)) == sorted(expected)


def test_the_file_has_the_described_size() -> None:
    assert len(read(WITH_ERRORS).rows) == EXPECTED["rows"]
    assert len(bodies(WITH_ERRORS)) == EXPECTED["documents"]


def test_unusual_values_are_in_rows_without_errors() -> None:
    unusual = {one["row"]: one for one in EXPECTED["unusual"]}
    assert not unusual.keys() & {error["row"] for error in EXPECTED["errors"]}
    rows = {row.number: row.cells for row in read(WITH_ERRORS).rows}
    indexes = {column.field: index for index, column in read(WITH_ERRORS).columns}
    formula_like = [one for one in unusual.values() if one["category"] == "formula_like"]
    assert len(formula_like) == 4
    for one in formula_like:
        assert str(rows[one["row"]][indexes[one["field"]]])[0] in "=+-@"

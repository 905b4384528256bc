"""The sample import files: still what the script makes, valid but for what is planted."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from pydantic import BaseModel

from shared.integration.imports.columns import ImportKind
from shared.integration.imports.reading import FileRows, read_file
from shared.integration.imports.units import Units
from shared.kernel.validation import check, problems_of
from shared.warehouse.catalog.models import KnownProduct, ProductCreate
from shared.warehouse.documents.models import EntryDraft, ExitDraft
from shared.warehouse.documents.rules import MasterData, examine
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse
from tools.sample_imports.__main__ import FOLDER, files

ACME = FOLDER.parent / "acme"
MODELS: Mapping[ImportKind, type[BaseModel]] = {
    "products": ProductCreate,
    "exit_documents": ExitDraft,
    "entry_documents": EntryDraft,
}
KINDS: Mapping[str, ImportKind] = {
    "products.xlsx": "products",
    "products.csv": "products",
    "orders.xlsx": "exit_documents",
    "orders.csv": "exit_documents",
    "purchases-windows-1252.csv": "entry_documents",
    "orders-with-errors.csv": "exit_documents",
}
FLAWED = "orders-with-errors.csv"
PLANTED = json.loads((FOLDER / "planted-errors.json").read_bytes())

made = cache(files)


def acme(name: str) -> list[dict[str, str]]:
    with (ACME / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def read(name: str) -> FileRows:
    file = read_file(FOLDER / name, name, KINDS[name], most_rows=2000)
    assert list(file.flaws) == []
    return file


def bodies(name: str) -> list[dict[str, Any]]:
    return [unit.body for unit in Units(read(name), KINDS[name], "UTC").all()]


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
        for number, body in enumerate(bodies("products.csv"))
    }


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
    warehouse = KnownWarehouse(1, whs_code, name) if name else None
    return MasterData(known_products(), warehouse, known_positions())


@cache
def problems(name: str) -> list[tuple[int, str]]:
    """Row and field of everything that the rules of single requests find in a file."""
    kind = KINDS[name]
    units = Units(read(name), kind, "UTC")
    found: list[tuple[int, str]] = []
    for unit in units.all():
        draft: Any = check(MODELS[kind], unit.body)
        wrong = list(problems_of(draft))
        if kind != "products":
            findings = examine(draft, master_data(draft.warehouse_code))
            wrong += [*findings.invalid, *findings.blocked]
        units.reject(unit, wrong)
        found += [
            (row, problem.field) for row, several in unit.problems.items() for problem in several
        ]
    return found


# The files and the script


@pytest.mark.parametrize("name", sorted([*KINDS, "planted-errors.json"]))
def test_the_script_still_makes_the_same_files(name: str) -> None:
    committed = (FOLDER / name).read_bytes()
    if name.endswith(".xlsx"):
        # not the bytes: another zlib may pack the same cells otherwise
        assert cells(committed) == cells(made()[name])
    else:
        assert committed == made()[name]


def cells(book: bytes) -> list[tuple[object, ...]]:
    sheet = openpyxl.load_workbook(BytesIO(book), read_only=True).worksheets[0]
    return list(sheet.iter_rows(values_only=True))


def test_nothing_else_is_there_and_all_of_it_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert sizes.keys() == made().keys()
    assert sum(sizes.values()) < 700_000


@pytest.mark.parametrize("name", ["products", "orders"])
def test_both_formats_say_the_same(name: str) -> None:
    assert bodies(f"{name}.xlsx") == bodies(f"{name}.csv")


# What is in them


def test_sizes() -> None:
    assert len(bodies("products.csv")) == 2000
    assert len(bodies("orders.csv")) == 300
    assert 1150 <= len(read("orders.csv").rows) <= 1250
    assert len(bodies("purchases-windows-1252.csv")) == 60


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {FLAWED}))
def test_every_row_is_valid(name: str) -> None:
    assert problems(name) == []


def test_the_catalogue_is_new_to_acme_and_in_its_categories() -> None:
    catalogue = bodies("products.csv")
    there = acme("products.csv")
    for field in ("item_code", "name", "barcode"):
        new = [body[field] for body in catalogue if field in body]
        assert len(set(new)) == len(new)
        assert not set(new) & {row[field] for row in there}
    categories = {row["name"] for row in acme("product_categories.csv")}
    assert {body["type"] for body in catalogue} <= categories
    kinds = Counter(
        (body["man_btch_num"], body["man_ser_num"], body["inventory_item"]) for body in catalogue
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
    assert {order.get("priority") for order in orders} == {"high", "normal", "low", None}
    assert len({order["doc_date"] for order in orders}) == 20
    lines = [line for order in orders for line in order["lines"]]
    assert any("batch" in line for line in lines)
    assert any("serials" in line for line in lines)
    assert any(line["qty"] % 1 for line in lines)


def test_purchases_are_written_as_windows_writes_them_in_spain() -> None:
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


# What is planted


def test_there_are_forty_errors_of_twenty_sorts() -> None:
    sorts = Counter(error["sort"] for error in PLANTED["errors"])
    assert sorts == dict.fromkeys(PLANTED["sorts"], 2)
    assert len(sorts) == 20
    assert len({error["row"] for error in PLANTED["errors"]}) == 40


def test_what_is_planted_is_wrong_and_nothing_else() -> None:
    planted = [(error["row"], error["field"]) for error in PLANTED["errors"]]
    assert sorted(problems(FLAWED)) == sorted(planted)


def test_the_file_holds_what_is_told_of_it() -> None:
    assert len(read(FLAWED).rows) == PLANTED["rows"]
    assert len(bodies(FLAWED)) == PLANTED["documents"]


def test_what_looks_odd_is_in_rows_without_errors() -> None:
    odd = {one["row"]: one for one in PLANTED["harmless"]}
    assert not odd.keys() & {error["row"] for error in PLANTED["errors"]}
    rows = {row.number: row.cells for row in read(FLAWED).rows}
    places = {column.field: place for place, column in read(FLAWED).columns}
    like_formulas = [one for one in odd.values() if one["sort"] == "like_a_formula"]
    assert len(like_formulas) == 4
    for one in like_formulas:
        assert str(rows[one["row"]][places[one["field"]]])[0] in "=+-@"

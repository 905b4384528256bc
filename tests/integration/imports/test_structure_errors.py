"""What is wrong with a file as a whole: told at once, and nothing of it can be applied."""

import random
from collections.abc import Mapping, Sequence

import pytest

from operations import provisioning
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import PLANS, Plan
from shared.integration.imports.files.columns import ImportKind
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv, as_xlsx
from tests.warehouse_scenario import WarehouseScenario

type Rows = Sequence[Sequence[object]]

ENTRY = [
    "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
]  # fmt: skip
GOOD = ["A", "purchase_order", "2026-03-01", "V-1", "YARD", "BRICK", "1"]
EXIT = ["Referencia", "Tipo", "Fecha", "Código de cliente", "Almacén", "Artículo", "Cantidad"]
TRANSFER = ["Reference", "From warehouse", "To warehouse", "Item code", "Quantity"]
_NO_HEADER = "None of the first 10 rows is a header with the columns "
_MIXED = "The file mixes kinds: the type {} belongs to exit_documents, and {} of it; see row {}."

CASES: Mapping[str, tuple[ImportKind, Rows, list[str]]] = {
    "nothing": ("products", [[]], ["The file is empty."]),
    "only a header": (
        "products",
        [["item_code", "name"]],
        ["The file has no rows below its header."],
    ),
    "rows without a header": (
        "products",
        [["A", "Good"], ["B", "Better"]],
        [_NO_HEADER + "Item code, Name."],
    ),
    "a header in row 11": (
        "products",
        [*[["Title"]] * 10, ["item_code", "name"], ["A", "Good"]],
        [_NO_HEADER + "Item code, Name."],
    ),
    "columns that are missing": (
        "entry_documents",
        [ENTRY[:-2], GOOD[:-2]],
        ["The column Item code (item_code) is missing.", "The column Quantity (qty) is missing."],
    ),
    "a column twice": (
        "products",
        [["item_code", "name", "SKU", "Nombre"], ["A", "Good", "B", "Better"]],
        [
            "The column Item code (item_code) is there more than once.",
            "The column Name (name) is there more than once.",
        ],
    ),
    "columns of another kind": (
        "transfer_orders",
        [ENTRY, GOOD],
        ["The columns are those of entry_documents, not of transfer_orders."],
    ),
    "columns of another kind in Spanish": (
        "entry_documents",
        [EXIT, ["A", "Orden de venta", "2026-03-01", "C-1", "YARD", "BRICK", "1"]],
        ["The columns are those of exit_documents, not of entry_documents."],
    ),
    "two kinds in one file": (
        "entry_documents",
        [
            ENTRY,
            GOOD,
            ["B", "Orden de venta", *GOOD[2:]],
            ["C", "orden de venta", *GOOD[2:]],
            ["D", "delivery_note", *GOOD[2:]],
        ],
        [
            _MIXED.format("Orden de venta", "2 rows are", 3),
            _MIXED.format("delivery_note", "a row is", 5),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_cannot_be_taken_says_why(name: str, desk: ImportDesk) -> None:
    kind, rows, errors = CASES[name]
    contents = {"file.csv": as_csv(rows), "file.xlsx": as_xlsx(rows)}
    for file, content in contents.items():
        answer = desk.upload(kind, file, content)
        if answer.status == 422:  # what is told by a look at the file is told at once
            assert answer.code == "import_refused"
            assert name == "nothing"
            continue
        one = answer.data
        assert (one["status"], one["structure_errors"]) == ("invalid", errors)
        assert one["rows"] == one["documents"] | {"error": None} or one["rows"]["total"] is None
        assert one["error_report_url"] is None
        refused = desk.erp.post(f"/imports/{one['id']}/commit")
        assert (refused.status, refused.code) == (409, "import_refused")


def test_a_file_of_no_bytes_is_refused(desk: ImportDesk) -> None:
    for name in ("empty.csv", "empty.xlsx"):
        answer = desk.upload("products", name, b"")
        assert (answer.status, answer.code) == (422, "import_refused"), answer.text


def test_the_plan_limits_the_rows(desk: ImportDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {**PLANS["essentials"].limits, "rows_per_import": 3}
    monkeypatch.setitem(
        PLANS,
        "essentials",
        Plan(frozenset({"api.public.enabled"}), limits, "professional"),
    )
    provisioning.set_plan(desk.slug, "essentials")
    directory.forget()
    header, *rows = [["item_code", "name"], *([f"P-{n}", "Good"] for n in range(4))]
    blank: list[str] = []
    for write, name in ((as_csv, "rows.csv"), (as_xlsx, "rows.xlsx")):
        three = write([["Title"], header, *rows[:2], blank, [" "], rows[2]])
        assert desk.imported("products", name, three)["rows"]["valid"] == 3
        one = desk.imported("products", name, write([header, *rows]))
        assert one["status"] == "invalid"
        assert one["structure_errors"] == [
            "The file has more than 3 rows, the most that the plan allows."
        ]


def test_a_header_of_stories_is_cut(desk: ImportDesk) -> None:
    chance = random.Random(1)  # noqa: S311 - text that cannot be compressed, no secret
    header = ["item_code", "name", *(chance.randbytes(5_000).hex() for _ in range(200))]
    one = desk.imported("products", "long.xlsx", as_xlsx([header, ["A", "Good"], ["B", ""]]))
    assert one["rows"] == {"total": 2, "valid": 1, "error": 1}, one
    assert desk.commit(one["id"])["status"] == "committed"


def test_exit_documents_are_no_entry_documents(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    rows = [ENTRY, ["A", "sale_order", *GOOD[2:]]]
    assert desk.imported("entry_documents", "out.csv", as_csv(rows))["status"] == "invalid"
    rows[0][3] = "card_code"
    assert desk.imported("exit_documents", "out.csv", as_csv(rows))["status"] == "validated"

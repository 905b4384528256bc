"""Structure errors make an import invalid, and nothing of it can be committed."""

from collections.abc import Mapping, Sequence

import pytest

from operations import provisioning
from shared.identity.tenancy.tenant import PLANS, Plan
from shared.integration.imports.models import ImportKind
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv, as_xlsx
from tests.tenant_cache import apply_now

type Rows = Sequence[Sequence[object]]

ENTRY = [
    "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
]  # fmt: skip
GOOD = ["A", "purchase_order", "2026-03-01", "V-1", "YARD", "BRICK", "1"]
EXIT = ["Referencia", "Tipo", "Fecha", "Código de cliente", "Almacén", "Artículo", "Cantidad"]
_NO_HEADER = "No header with the required columns Item code, Name was found in the first 10 rows."

CASES: Mapping[str, tuple[ImportKind, Rows, list[str]]] = {
    "an empty file": ("products", [[]], ["The file is empty."]),
    "only a header": (
        "products",
        [["item_code", "name"]],
        ["The file has no data rows below the header."],
    ),
    "rows without a header": (
        "products",
        [["A", "Good"], ["B", "Better"]],
        [_NO_HEADER],
    ),
    "a header in row 11": (
        "products",
        [*[["Title"]] * 10, ["item_code", "name"], ["A", "Good"]],
        [_NO_HEADER],
    ),
    "columns that are missing": (
        "entry_documents",
        [ENTRY[:-2], GOOD[:-2]],
        [
            "The required column Item code (item_code) is missing.",
            "The required column Quantity (qty) is missing.",
        ],
    ),
    "names that metadata cannot have, and one twice": (
        "products",
        [
            ["item_code", "name", "metadata.a b", "metadata.", "Metadata. x", "metadata.x"],
            ["A", "Good", "1", "2", "3", "4"],
        ],
        [
            (
                "The headers 'Metadata. x' (column 5) and 'metadata.x' (column 6) are both for"
                " metadata.x (metadata.x); keep one of them."
            ),
            *(
                f"The header {header!r} (column {column}) must be named with 1 to 40 letters,"
                " digits, dots, _ or -."
                for column, header in ((3, "metadata.a b"), (4, "metadata."))
            ),
        ],
    ),
    "a column twice": (
        "products",
        [["item_code", "name", "Item code", "Nombre"], ["A", "Good", "B", "Better"]],
        [
            (
                "The headers 'item_code' (column 1) and 'Item code' (column 3) are both for"
                " Item code (item_code); keep one of them."
            ),
            (
                "The headers 'name' (column 2) and 'Nombre' (column 4) are both for Name (name);"
                " keep one of them."
            ),
        ],
    ),
    "a column twice and another one missing": (
        "products",
        [["item_code", "ItemCode", "Tipo"], ["A", "B", "tool"]],
        [
            "The required column Name (name) is missing.",
            (
                "The headers 'item_code' (column 1) and 'ItemCode' (column 2) are both for"
                " Item code (item_code); keep one of them."
            ),
        ],
    ),
    "columns of another kind": (
        "transfer_orders",
        [ENTRY, GOOD],
        [
            (
                "The file has the columns of entry_documents, not of transfer_orders."
                " Upload it with the kind entry_documents."
            )
        ],
    ),
    "columns of another kind in Spanish": (
        "entry_documents",
        [EXIT, ["A", "Orden de venta", "2026-03-01", "C-1", "YARD", "BRICK", "1"]],
        [
            (
                "The file has the columns of exit_documents, not of entry_documents."
                " Upload it with the kind exit_documents."
            )
        ],
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
            (
                "The type Orden de venta belongs to exit_documents (2 rows, the first is row 3)."
                " Upload these rows as exit_documents."
            ),
            (
                "The type delivery_note belongs to exit_documents (row 5)."
                " Upload these rows as exit_documents."
            ),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_structure_errors_make_an_import_invalid(name: str, scenario: ImportScenario) -> None:
    kind, rows, errors = CASES[name]
    contents = {"file.csv": as_csv(rows), "file.xlsx": as_xlsx(rows)}
    for file, content in contents.items():
        answer = scenario.upload(kind, file, content)
        if answer.status == 422:  # found before the import is created
            assert answer.code == "import_refused"
            assert name == "an empty file"
            continue
        one = answer.data
        assert (one["status"], one["structure_errors"]) == ("invalid", errors)
        assert one["rows"] == one["documents"] | {"error": None} or one["rows"]["total"] is None
        assert one["error_report_url"] is None
        refused = scenario.erp.post(f"/imports/{one['id']}/commit")
        assert (refused.status, refused.code) == (409, "import_refused")


def test_an_empty_upload_is_refused(scenario: ImportScenario) -> None:
    for name in ("empty.csv", "empty.xlsx"):
        answer = scenario.upload("products", name, b"")
        assert (answer.status, answer.code) == (422, "import_refused"), answer.text


def test_the_plan_limits_the_number_of_rows(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {**PLANS["essentials"].limits, "rows_per_import": 3}
    monkeypatch.setitem(
        PLANS,
        "essentials",
        Plan(frozenset({"api.public.enabled"}), limits, "professional"),
    )
    apply_now(provisioning.set_plan, scenario.slug, "essentials")
    header, *rows = [["item_code", "name"], *([f"P-{n}", "Good"] for n in range(4))]
    blank: list[str] = []
    for write, name in ((as_csv, "rows.csv"), (as_xlsx, "rows.xlsx")):
        three = write([["Title"], header, *rows[:2], blank, [" "], rows[2]])
        assert scenario.import_file("products", name, three)["rows"]["valid"] == 3
        one = scenario.import_file("products", name, write([header, *rows]))
        assert one["status"] == "invalid"
        assert one["structure_errors"] == [
            (
                "The file has more than 3 data rows, the limit of the plan."
                " Split it into several files."
            )
        ]


@pytest.mark.usefixtures("yard_with_returns")
def test_exit_documents_are_refused_as_entry_documents(scenario: ImportScenario) -> None:
    rows = [ENTRY, ["A", "sale_order", *GOOD[2:]]]
    assert scenario.import_file("entry_documents", "out.csv", as_csv(rows))["status"] == "invalid"
    rows[0][3] = "card_code"
    assert scenario.import_file("exit_documents", "out.csv", as_csv(rows))["status"] == "validated"

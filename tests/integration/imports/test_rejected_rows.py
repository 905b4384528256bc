"""Every invalid row is reported with all of its problems, and the valid rows are applied."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.models import ImportKind
from shared.integration.imports.report.reasons import reason_in
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import (
    ReportedProblem,
    as_csv,
    as_xlsx,
    entry_row,
    report_rows,
)
from tests.integration.imports.outcome import report_problems

pytestmark = pytest.mark.usefixtures("yard_with_returns")

type Rows = list[list[object]]

PRODUCT: list[object] = ["item_code", "name", "barcode", "image_url", "man_btch_num", "sales_unit"]
PRODUCTS: Rows = [
    PRODUCT,
    ["A", "Good"],
    ["", "No code"],
    ["B", ""],
    ["C" * 51, "x" * 201, "1" * 65, "ftp://x", "maybe", "U" * 33],
    ["A ", "Twice"],
    ["D", "Bell\x07"],
    ["BRICK", "Taken"],
    ["E", "Long row", "", "", "", "", "extra"],
]
PROBLEMS_OF_PRODUCTS: set[ReportedProblem] = {
    (3, "item_code", "is required"),
    (4, "name", "is required"),
    (5, "item_code", "must have at most 50 characters"),
    (5, "name", "must have at most 200 characters"),
    (5, "barcode", "must have at most 64 characters"),
    (5, "image_url", "must be an http or https address"),
    (5, "man_btch_num", "must be yes or no"),
    (5, "sales_unit", "must have at most 32 characters"),
    (6, "item_code", "already used in row 2"),
    (7, "name", "must not contain control characters"),
    (8, "item_code", "is already taken by another product"),
    (9, "", "is in column 7, but the header has 6 columns"),
}

DOCUMENT: list[object] = [
    "external_ref", "type", "doc_date", "due_date", "partner_code", "warehouse_code",
    "destination_bin", "item_code", "qty", "batch", "expiry_date", "serials",
    "line_external_ref",
]  # fmt: skip


def line(ref: str, **cells: object) -> list[object]:
    """Return a row of an entry document, valid except for the given cells, in all columns."""
    row = entry_row(ref, **cells)
    return [row.get(str(name), "") for name in DOCUMENT]


ENTRIES: Rows = [
    DOCUMENT,
    line("OK"),
    line("TYPE", type="nonsense"),
    line("DATES", doc_date="31/02/2026", due_date="soon", expiry_date="2026-13-01"),
    line("WHERE", partner_code="", warehouse_code="NOWHERE", destination_bin="A-01"),
    line("BINS", destination_bin="Z-99"),
    line("BINS", destination_bin="X-01"),
    line("BINS", destination_bin="D-01"),
    line("LINES", item_code="GHOST", qty="0"),
    line("LINES", item_code="", qty="-1"),
    line("LINES", qty="many"),
    line("LINES", qty="1.1234567"),
    line("LINES", qty=""),
    line("SERVICE", item_code="HAULAGE"),
    line("LOTS", batch="L-1"),
    line("LOTS", item_code="CEMENT", serials="S-1", line_external_ref="10"),
    line("LOTS", item_code="DRILL", qty="2", serials="S-1", line_external_ref="10"),
    line("LOTS", item_code="DRILL", qty="2", serials="S-2, S-2"),
    line("LOTS", item_code="DRILL", qty="1.5"),
    line("HALF"),
    line("HALF", doc_date="2026-03-02", warehouse_code="SHOP"),
    line("LAST"),
    line("LAST", item_code="GHOST"),
    line("LAST"),
    line("EXPIRY", item_code="CEMENT", batch="L-1", expiry_date="2030-01-31"),
    line("EXPIRY", item_code="CEMENT", batch="L-1", expiry_date="31/01/2031"),
]
_OTHER_ROW = "rejected because row {} of the document has errors"
PROBLEMS_OF_ENTRIES: set[ReportedProblem] = {
    (3, "type", "must be one of purchase_order, goods_receipt, delivery_good"),
    (4, "doc_date", "must be a date, YYYY-MM-DD or, day first, dd/mm/yyyy"),
    (4, "due_date", "must be a date, YYYY-MM-DD or, day first, dd/mm/yyyy"),
    (4, "expiry_date", "must be a date, YYYY-MM-DD or, day first, dd/mm/yyyy"),
    (5, "partner_code", "is required"),
    (5, "warehouse_code", "no warehouse has the code NOWHERE"),
    (6, "destination_bin", "warehouse YARD has no position Z-99"),
    (7, "destination_bin", "position X-01 is blocked"),
    (8, "destination_bin", "position D-01 is disabled"),
    (9, "item_code", "no product has the code GHOST"),
    (9, "qty", "must be more than 0"),
    (10, "item_code", "is required"),
    (10, "qty", "must be more than 0"),
    (11, "qty", "must be a number"),
    (12, "qty", "must have at most 6 decimals"),
    (13, "qty", "is required"),
    (14, "item_code", "product HAULAGE is not kept in stock"),
    (15, "batch", "product BRICK is not managed by batch"),
    (16, "serials", "product CEMENT is not managed by serial"),
    (17, "serials", "is on the document already, at row 16"),
    (17, "serials", "1 given, 2 required"),
    (17, "line_external_ref", "is on the document already, at row 16"),
    (18, "serials", "is on the document already, at row 18"),
    (19, "qty", "must be a whole number: product DRILL is managed by serial"),
    (20, "", _OTHER_ROW.format(21)),
    (21, "doc_date", "differs from row 20 of the same document"),
    (21, "warehouse_code", "differs from row 20 of the same document"),
    (22, "", _OTHER_ROW.format(23)),
    (23, "item_code", "no product has the code GHOST"),
    (24, "", _OTHER_ROW.format(23)),
    (25, "", _OTHER_ROW.format(26)),
    (26, "expiry_date", "batch L-1 has the expiry date 2030-01-31 at row 25"),
}

ORDER: list[object] = [
    "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    "priority", "ship_to_address.city", "ship_to_address.country",
]  # fmt: skip
EXITS: Rows = [
    ORDER,
    ["A", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "1", "baja", "Bath", "GB"],
    ["B", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "1", "urgent", "x" * 101, "Spain"],
    ["C", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "1", "alta"],
    ["", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "2", "alta"],
    ["D", "sale_order", "2026-03-01", "C-1", "SHOP", "BRICK", "1", ""],
]
PROBLEMS_OF_EXITS: set[ReportedProblem] = {
    (3, "priority", "must be one of Alta, Normal, Baja"),
    (3, "ship_to_address.city", "must have at most 100 characters"),
    (
        3,
        "ship_to_address.country",
        "must be a country code of two capital letters (ISO 3166-1), such as ES",
    ),
    (
        4,
        "",
        "row 5 has no reference and may belong to this document; add it or remove the row",
    ),
    (5, "external_ref", "is required"),
}

TRANSFER: list[object] = [
    "external_ref", "from_warehouse", "to_warehouse", "item_code", "qty", "priority", "due_at",
    "expected_series", "batch_num",
]  # fmt: skip
TRANSFERS: Rows = [
    TRANSFER,
    ["A", "YARD", "SHOP", "BRICK", "1"],
    ["B", "YARD", "YARD", "BRICK", "1"],
    ["C", "YARD", "GHOST", "BRICK", "x", "1.5", "yesterday"],
    ["D", "YARD", "SHOP", "CEMENT", "1", "", "", "S-1"],
    ["E", "YARD", "SHOP", "DRILL", "1", "", "", "", "L-1"],
    ["F", "YARD", "SHOP", "HAULAGE", "1", "-1"],
    ["G", "YARD", "SHOP", "DRILL", "2", "", "", "S-1,S-2,S-3"],
    ["", "SHOP", "YARD", "BRICK", "1"],
]
PROBLEMS_OF_TRANSFERS: set[ReportedProblem] = {
    (3, "to_warehouse", "must be another warehouse than from_warehouse, YARD"),
    (4, "to_warehouse", "no warehouse has the code GHOST"),
    (4, "qty", "must be a number"),
    (4, "priority", "must be a whole number"),
    (4, "due_at", "must be a date and time such as 2026-03-01T09:30:00Z, or a day as 2026-03-01"),
    (5, "expected_series", "product CEMENT is not managed by serial"),
    (6, "batch_num", "product DRILL is not managed by batch"),
    (7, "item_code", "product HAULAGE is not kept in stock"),
    (7, "priority", "must be at least 0"),
    (8, "expected_series", "3 given, 2 required"),
    (9, "external_ref", "is required"),
}

RETURN: list[object] = [
    "external_ref", "exit_document_id", "warehouse_code", "partner_code", "item_code", "qty",
    "reason", "batch", "serials",
]  # fmt: skip
RETURNS: Rows = [
    RETURN,
    ["A", "", "YARD", "C-1", "BRICK", "1", "damaged"],
    ["B", "", "", "", "BRICK", "1"],
    ["C", "999", "", "", "BRICK", "1"],
    ["D", "x", "", "", "BRICK", "1", "bored"],
    ["E", "", "GHOST", "C-1", "HAULAGE", "1"],
    ["F", "", "YARD", "C-1", "DRILL", "2", "", "L-1", "S-1"],
    ["", "", "SHOP", "C-1", "BRICK", "1"],
]
PROBLEMS_OF_RETURNS: set[ReportedProblem] = {
    (3, "warehouse_code", "is required without exit_document_id"),
    (3, "partner_code", "is required without exit_document_id"),
    (4, "exit_document_id", "no exit document has the number, reference or id 999"),
    (5, "exit_document_id", "no exit document has the number, reference or id x"),
    (
        5,
        "reason",
        "must be one of 'damaged', 'defective', 'wrong_item', 'not_wanted' or 'other'",
    ),
    (6, "warehouse_code", "no warehouse has the code GHOST"),
    (6, "item_code", "product HAULAGE is not kept in stock"),
    (7, "batch", "product DRILL is not managed by batch"),
    (7, "serials", "1 given, 2 required"),
    (8, "external_ref", "is required"),
}

COUNT: list[object] = [
    "item_code", "warehouse", "bin_code", "counted_qty", "expected_qty", "batch", "serial",
    "inventory_status", "expiry_date",
]  # fmt: skip
COUNTS: Rows = [
    COUNT,
    ["BRICK", "YARD", "A-01", "5"],
    ["GHOST", "YARD", "A-01", "5"],
    ["BRICK", "GHOST", "A-01", "5"],
    ["BRICK", "YARD", "GHOST", "5"],
    ["HAULAGE", "YARD", "A-01", "5"],
    ["CEMENT", "YARD", "A-01", "5"],
    ["BRICK", "YARD", "B-01", "-1", "x"],
    ["DRILL", "YARD", "A-01", "2", "", "", "S-1"],
    ["BRICK", "YARD", "F-01", "7", "3"],
    ["BRICK", "YARD", "A-01", "1", "", "", "", "mint"],
    ["BRICK", "YARD", "A-01", "1", "", "", "", "Quarantine"],
    ["", "YARD", "A-01"],
    [" BRICK", "YARD", "A-01", "2", "", "", "", "cuarentena"],
]
PROBLEMS_OF_COUNTS: set[ReportedProblem] = {
    (3, "item_code", "no product has the code GHOST"),
    (4, "warehouse", "no warehouse has the code GHOST"),
    (5, "bin_code", "warehouse YARD has no position GHOST"),
    (6, "item_code", "product HAULAGE is not kept in stock"),
    (7, "batch", "is required: product CEMENT is managed by batch"),
    (8, "counted_qty", "must be at least 0"),
    (8, "expected_qty", "must be a number"),
    (9, "counted_qty", "must be 1 for a serial, or 0 if it is missing; 2 given"),
    (10, "expected_qty", "3 expected, 0 there"),
    (
        11,
        "inventory_status",
        "must be one of 'available', 'quarantine', 'damaged' or 'blocked'",
    ),
    (12, "item_code", "is the same stock as in row 14"),
    (13, "item_code", "is required"),
    (13, "counted_qty", "is required"),
    (14, "item_code", "is the same stock as in row 12"),
}

PICK_FACES: Rows = [
    ["item_code", "warehouse_code", "bin_code", "minimum", "maximum"],
    ["BRICK", "YARD", "F-01", "1", "2"],
    ["GHOST", "YARD", "F-01"],
    ["BRICK", "GHOST", "F-01"],
    ["BRICK", "YARD", "GHOST"],
    ["CEMENT", "YARD", "F-01", "5", "4"],
    ["CEMENT", "YARD", "A-01", "-1", "x"],
    ["BRICK", "YARD", "F-01", "3", "4"],
    ["", "YARD", "A-01"],
    ["HAULAGE", "YARD", "A-01"],
    ["DRILL", "YARD", "D-01"],
]
PROBLEMS_OF_PICK_FACES: set[ReportedProblem] = {
    (3, "item_code", "no product has the code GHOST"),
    (4, "warehouse_code", "no warehouse has the code GHOST"),
    (5, "bin_code", "warehouse YARD has no position GHOST"),
    (6, "maximum", "must be at least minimum (5)"),
    (7, "minimum", "must be at least 0"),
    (7, "maximum", "must be a number"),
    (8, "item_code", "already used in row 2"),
    (9, "item_code", "is required"),
    (10, "item_code", "product HAULAGE is not kept in stock"),
    (11, "bin_code", "position D-01 is disabled"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A file with invalid rows."""

    kind: ImportKind
    rows: Rows
    problems: set[ReportedProblem]
    documents: int
    """Number of documents, orders, products or pick faces."""
    valid: int
    """Number of the valid ones, of one row each."""

    @property
    def total(self) -> int:
        return len(self.rows) - 1


EACH = pytest.mark.parametrize(
    "case",
    [
        Case("products", PRODUCTS, PROBLEMS_OF_PRODUCTS, 8, 1),
        Case("entry_documents", ENTRIES, PROBLEMS_OF_ENTRIES, 11, 1),
        Case("exit_documents", EXITS, PROBLEMS_OF_EXITS, 5, 2),
        Case("transfer_orders", TRANSFERS, PROBLEMS_OF_TRANSFERS, 8, 1),
        Case("returns", RETURNS, PROBLEMS_OF_RETURNS, 7, 1),
        Case("stock_counts", COUNTS, PROBLEMS_OF_COUNTS, 13, 1),
        Case("pick_faces", PICK_FACES, PROBLEMS_OF_PICK_FACES, 10, 1),
    ],
    ids=lambda case: case.kind,
)


@EACH
def test_all_problems_are_reported_together(case: Case, scenario: ImportScenario) -> None:
    one = scenario.import_file(case.kind, "bad.csv", as_csv(case.rows), on_duplicate="fail")

    invalid_rows = case.total - case.valid
    assert (one["status"], one["structure_errors"]) == ("validated", [])
    assert one["rows"] == {"total": case.total, "valid": case.valid, "error": invalid_rows}
    counts = {"total": case.documents, "valid": case.valid, "committed": 0, "skipped": 0}
    assert one["documents"] == counts
    assert report_problems(scenario, one) == case.problems

    done = scenario.commit(one["id"])
    assert done["status"] == "committed"
    assert done["documents"] == counts | {"committed": case.valid}
    assert report_problems(scenario, done) == case.problems


@EACH
def test_reasons_are_in_the_language_of_the_headers(case: Case, scenario: ImportScenario) -> None:
    headers = {column.field: column.header.es for column in importer_of(case.kind).layout.columns}
    rows: Rows = [[headers[str(name)] for name in case.rows[0]], *case.rows[1:]]

    one = scenario.import_file(case.kind, "malo.csv", as_csv(rows), on_duplicate="fail")

    expected = {
        (row, headers.get(name, ""), reason_in("es", reason)) for row, name, reason in case.problems
    }
    assert report_problems(scenario, one) == expected
    assert {reason for *_, reason in expected}.isdisjoint(reason for *_, reason in case.problems)


def test_a_code_that_another_product_had_is_refused_in_the_language_of_the_headers(
    scenario: ImportScenario,
) -> None:
    product = scenario.erp.post("/products", {"item_code": "OLD", "name": "Product"}).ok(201)
    rows: Rows = [DOCUMENT, line("A", item_code="OLD")]
    scenario.commit(scenario.import_file("entry_documents", "a.csv", as_csv(rows))["id"])
    scenario.erp.post("/entry-documents/1/close").ok()
    scenario.erp.patch(f"/products/{product['id']}", {"item_code": "NEW"}).ok()

    file = as_csv([["Código de artículo", "Nombre"], ["OLD", "Otro"]])
    one = scenario.import_file("products", "malo.csv", file, on_duplicate="fail")

    reason = "fue el código de NEW (artículo, id 5); hay documentos o movimientos que lo nombran"
    assert report_problems(scenario, one) == {(2, "Código de artículo", reason)}


def test_metadata_that_would_have_too_many_names_with_those_there_is_refused_at_once(
    scenario: ImportScenario,
) -> None:
    names = {f"n{number}": "x" for number in range(49)}
    for code in ("FULL", "ROOM"):
        scenario.erp.post("/products", {"item_code": code, "name": code, "metadata": names}).ok(201)
    file = as_csv(
        [
            ["item_code", "name", "metadata.new", "metadata.more"],
            ["FULL", "Full", "a", "b"],
            ["ROOM", "Room", "a", ""],
            ["OTHER", "Other", "a", "b"],
        ]
    )

    one = scenario.import_file("products", "bad.csv", file)

    assert one["rows"] == {"total": 3, "valid": 2, "error": 1}
    assert report_problems(scenario, one) == {(2, "metadata", "must have at most 50 names, has 51")}
    skipping = scenario.import_file("products", "bad.csv", file, on_duplicate="skip")
    assert skipping["rows"] == {"total": 3, "valid": 3, "error": 0}


def test_an_import_without_valid_rows_is_invalid(scenario: ImportScenario) -> None:
    rows: Rows = [DOCUMENT, line("A"), line("A", item_code="GHOST")]
    one = scenario.import_file("entry_documents", "bad.csv", as_csv(rows))
    assert one["status"] == "invalid"
    assert one["rows"] == {"total": 2, "valid": 0, "error": 2}
    assert one["documents"] == {"total": 1, "valid": 0, "committed": 0, "skipped": 0}
    assert report_problems(scenario, one) == {
        (2, "", _OTHER_ROW.format(3)),
        (3, "item_code", "no product has the code GHOST"),
    }


@EACH
def test_a_corrected_report_can_be_imported(case: Case, scenario: ImportScenario) -> None:
    number = scenario.import_file(case.kind, "bad.csv", as_csv(case.rows), on_duplicate="fail")[
        "id"
    ]
    report = scenario.erp.get(f"/imports/{number}/error-report").content
    header, *rows = report_rows(report)
    assert header[3:][: len(case.rows[0])] == list(case.rows[0])

    uploaded = scenario.import_file(case.kind, "errors.xlsx", report, on_duplicate="fail")
    rejected = sorted({row for row, *_ in case.problems})
    # The report adds three columns.
    wider = ("in column 7, but the header has 6", "in column 10, but the header has 9")
    expected = {
        (rejected.index(row) + 2, field, reason.replace(*wider))
        for row, field, reason in case.problems
        if "row " not in reason
    }
    assert uploaded["rows"]["total"] == case.total - case.valid
    assert expected <= report_problems(scenario, uploaded)

    valid_row = next(row for row in case.rows[1:] if row[0] in {"A", "OK", "BRICK"})
    code = {"pick_faces": "CEMENT", "stock_counts": "BRICK"}.get(case.kind, "NEW")
    corrected = as_xlsx([header, [*rows[0][:3], code, *valid_row[1:]]])
    imported = scenario.import_file(case.kind, "corrected.xlsx", corrected)
    assert (imported["status"], imported["rows"]) == (
        "validated",
        {"total": 1, "valid": 1, "error": 0},
    )
    assert imported["error_report_url"] is None


def test_an_uploaded_report_has_no_values_for_cells_without_a_valid_one(
    scenario: ImportScenario,
) -> None:
    rows: Rows = [
        ["item_code", "name", "type", "hours"],
        ["A", "#N/A", "t", timedelta(hours=30)],
        ["B", "Good", timedelta(hours=25)],
    ]
    one = scenario.import_file("products", "bad.xlsx", as_xlsx(rows))
    invalid = "is not a valid value: {}"
    assert report_problems(scenario, one) == {
        (2, "name", invalid.format("#N/A")),
        (3, "type", invalid.format("25:00:00")),
    }
    report = scenario.erp.get(f"/imports/{one['id']}/error-report").content
    assert [row[3:] for row in report_rows(report)[1:]] == [
        ["A", "#N/A", "t", "30:00:00"],
        ["B", "Good", "#VALUE!", None],
    ]
    again = scenario.import_file("products", "errors.xlsx", report)
    assert again["rows"] == {"total": 2, "valid": 0, "error": 2}
    assert report_problems(scenario, again) == {
        (2, "name", invalid.format("#N/A")),
        (3, "type", invalid.format("#VALUE!")),
    }


def test_a_document_with_too_much_text_is_rejected(scenario: ImportScenario) -> None:
    rows: Rows = [[*DOCUMENT, "comments"], [*line("A"), "x"]]
    for index in range(30):
        serials = ", ".join(f"{index}-{number:05d}" for number in range(2_900))
        rows += [[*line("BIG", item_code="DRILL", qty="2900", serials=serials), "x"]]
    one = scenario.import_file("entry_documents", "big.csv", as_csv(rows))
    assert one["documents"] == {"total": 2, "valid": 1, "committed": 0, "skipped": 0}
    [message] = [
        message for row, _, message in report_problems(scenario, one) if "characters" in message
    ]
    assert message.endswith("characters in all rows, at most 800000 allowed")

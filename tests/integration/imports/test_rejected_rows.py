"""Every row that cannot be applied is told, with every reason at once; the others are applied."""

from dataclasses import dataclass
from io import BytesIO

import pytest
from openpyxl import load_workbook

from shared.integration.imports.columns import ImportKind
from tests.import_desk import ImportDesk
from tests.integration.imports.outcome import complained
from tests.integration.imports.sheets import Complaint, as_csv, as_xlsx, report_rows
from tests.warehouse_scenario import WarehouseScenario

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
BAD_PRODUCTS: set[Complaint] = {
    (3, "item_code", "is required"),
    (4, "name", "is required"),
    (5, "item_code", "must have at most 50 characters"),
    (5, "name", "must have at most 200 characters"),
    (5, "barcode", "must have at most 64 characters"),
    (5, "image_url", "must be an http or https address"),
    (5, "man_btch_num", "must be yes or no"),
    (5, "sales_unit", "must have at most 32 characters"),
    (6, "item_code", "is in row 2 already"),
    (7, "name", "must not contain control characters"),
    (8, "item_code", "is already taken by another product"),
    (9, "", "is beyond the last column"),
}

DOCUMENT: list[object] = [
    "external_ref", "type", "doc_date", "due_date", "partner_code", "warehouse_code",
    "destination_bin", "item_code", "qty", "batch", "expiry_date", "serials",
]  # fmt: skip


def line(ref: str, **cells: object) -> list[object]:
    """Write a row of an entry document that is good but for the cells given."""
    usual: dict[object, object] = {
        "external_ref": ref, "type": "purchase_order", "doc_date": "2026-03-01",
        "partner_code": "V-1", "warehouse_code": "YARD", "item_code": "BRICK", "qty": "1",
    }  # fmt: skip
    return [(usual | cells).get(name, "") for name in DOCUMENT]


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
    line("LOTS", item_code="CEMENT", serials="S-1"),
    line("LOTS", item_code="DRILL", qty="2", serials="S-1"),
    line("LOTS", item_code="DRILL", qty="2", serials="S-2, S-2"),
    line("LOTS", item_code="DRILL", qty="1.5"),
    line("HALF"),
    line("HALF", doc_date="2026-03-02", warehouse_code="SHOP"),
    line("LAST"),
    line("LAST", item_code="GHOST"),
    line("LAST"),
]
_HALF = "is rejected with its document, because of row "
BAD_ENTRIES: set[Complaint] = {
    (3, "type", "must be one of purchase_order, goods_receipt, delivery_good"),
    (4, "doc_date", "must be a date, YYYY-MM-DD or dd/mm/yyyy"),
    (4, "due_date", "must be a date, YYYY-MM-DD or dd/mm/yyyy"),
    (4, "expiry_date", "must be a date, YYYY-MM-DD or dd/mm/yyyy"),
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
    (18, "serials", "is on the document already, at row 18"),
    (19, "qty", "must be a whole number: product DRILL is managed by serial"),
    (20, "", _HALF + "21"),
    (21, "doc_date", "differs from row 20 of the same document"),
    (21, "warehouse_code", "differs from row 20 of the same document"),
    (22, "", _HALF + "23"),
    (23, "item_code", "no product has the code GHOST"),
    (24, "", _HALF + "23"),
}

ORDER: list[object] = [
    "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    "priority",
]  # fmt: skip
EXITS: Rows = [
    ORDER,
    ["A", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "1", "baja"],
    ["B", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "1", "urgent"],
    ["C", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "1", "alta"],
    ["", "sale_order", "2026-03-01", "C-1", "YARD", "BRICK", "2", "alta"],
    ["D", "sale_order", "2026-03-01", "C-1", "SHOP", "BRICK", "1", ""],
]
BAD_EXITS: set[Complaint] = {
    (3, "priority", "must be one of Alta, Normal, Baja"),
    (4, "external_ref", "row 5 may be of the same document, and does not say so"),
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
]
BAD_TRANSFERS: set[Complaint] = {
    (3, "to_warehouse", "must be another warehouse than from_warehouse"),
    (4, "to_warehouse", "no warehouse has the code GHOST"),
    (4, "qty", "must be a number"),
    (4, "priority", "must be a whole number"),
    (4, "due_at", "must be a date-time with offset, such as 2026-03-01T09:30:00Z"),
    (5, "expected_series", "product CEMENT is not managed by serial"),
    (6, "batch_num", "product DRILL is not managed by batch"),
    (7, "item_code", "product HAULAGE is not kept in stock"),
    (7, "priority", "must be at least 0"),
    (8, "expected_series", "3 given, 2 required"),
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
BAD_PICK_FACES: set[Complaint] = {
    (3, "item_code", "no product has the code GHOST"),
    (4, "warehouse_code", "no warehouse has the code GHOST"),
    (5, "bin_code", "warehouse YARD has no position GHOST"),
    (6, "maximum", "must be at least minimum (5)"),
    (7, "minimum", "must be at least 0"),
    (7, "maximum", "must be a number"),
    (8, "item_code", "is in row 2 already"),
    (9, "item_code", "is required"),
    (10, "item_code", "product HAULAGE is not kept in stock"),
    (11, "bin_code", "position D-01 is disabled"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A file of bad rows: what is wrong with it, how many documents it has, how many are good."""

    kind: ImportKind
    rows: Rows
    bad: set[Complaint]
    documents: int
    good: int
    """Each of one row."""

    @property
    def total(self) -> int:
        return len(self.rows) - 1


EACH = pytest.mark.parametrize(
    "case",
    [
        Case("products", PRODUCTS, BAD_PRODUCTS, 8, 1),
        Case("entry_documents", ENTRIES, BAD_ENTRIES, 10, 1),
        Case("exit_documents", EXITS, BAD_EXITS, 5, 2),
        Case("transfer_orders", TRANSFERS, BAD_TRANSFERS, 7, 1),
        Case("pick_faces", PICK_FACES, BAD_PICK_FACES, 10, 1),
    ],
    ids=lambda case: case.kind,
)


@EACH
def test_every_reason_is_told_at_once(
    case: Case, desk: ImportDesk, yard: WarehouseScenario
) -> None:
    del yard
    one = desk.imported(case.kind, "bad.csv", as_csv(case.rows), on_duplicate="fail")

    bad_rows = case.total - case.good
    assert (one["status"], one["structure_errors"]) == ("validated", [])
    assert one["rows"] == {"total": case.total, "valid": case.good, "error": bad_rows}
    counts = {"total": case.documents, "valid": case.good, "committed": 0}
    assert one["documents"] == counts
    assert complained(desk, one) == case.bad

    done = desk.commit(one["id"])
    assert done["status"] == "committed"
    assert done["documents"] == counts | {"committed": case.good}
    assert complained(desk, done) == case.bad


def test_no_good_row_is_an_invalid_import(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    rows: Rows = [DOCUMENT, line("A"), line("A", item_code="GHOST")]
    one = desk.imported("entry_documents", "bad.csv", as_csv(rows))
    assert one["status"] == "invalid"
    assert one["rows"] == {"total": 2, "valid": 0, "error": 2}
    assert one["documents"] == {"total": 1, "valid": 0, "committed": 0}
    assert complained(desk, one) == {
        (2, "", _HALF + "3"),
        (3, "item_code", "no product has the code GHOST"),
    }


def test_rows_of_a_document_need_not_lie_together(
    desk: ImportDesk, yard: WarehouseScenario
) -> None:
    rows: Rows = [DOCUMENT, line("A"), line("B", type="Orden de compra"), line("A", qty=" 2,5 ")]
    rows += [line("B", type="PURCHASE ORDER", qty="3"), line("A", type="goods_receipt")]
    one = desk.imported("entry_documents", "mixed.csv", as_csv(rows, separator=";"))
    desk.commit(one["id"])
    found = yard.erp.walk("/entry-documents", sort="created_at")
    assert {
        (shown["external_ref"], shown["type"], tuple(line["qty"] for line in shown["lines"]))
        for shown in found
    } == {
        ("A", "purchase_order", (1, 2.5)),
        ("B", "purchase_order", (1, 3)),
        ("A", "goods_receipt", (1,)),
    }


def test_what_differs_by_blanks_only_is_the_same(desk: ImportDesk, yard: WarehouseScenario) -> None:
    rows: Rows = [DOCUMENT, line("A"), line(" A"), line("A\u00a0")]
    rows += [line("7"), line("X")]
    rows[-1][0] = 7
    one = desk.imported("entry_documents", "blanks.xlsx", as_xlsx(rows))
    assert one["documents"]["total"] == 2
    assert desk.commit(one["id"])["documents"]["committed"] == 2
    found = {shown["external_ref"]: shown for shown in yard.erp.walk("/entry-documents")}
    assert {ref: len(shown["lines"]) for ref, shown in found.items()} == {"A": 3, "7": 2}


def test_rows_that_hold_nothing_are_no_rows(desk: ImportDesk) -> None:
    rows: Rows = [PRODUCT, ["A", "Good"], ["  ", "\u00a0"], [], ["B", "Better"]]
    one = desk.imported("products", "blank.xlsx", as_xlsx(rows))
    assert one["rows"] == {"total": 2, "valid": 2, "error": 0}


@EACH
def test_a_corrected_report_is_a_good_file(
    case: Case, desk: ImportDesk, yard: WarehouseScenario
) -> None:
    del yard
    number = desk.imported(case.kind, "bad.csv", as_csv(case.rows), on_duplicate="fail")["id"]
    report = desk.erp.get(f"/imports/{number}/error-report").content
    header, *below = report_rows(report)
    assert header[3:][: len(case.rows[0])] == list(case.rows[0])

    again = desk.imported(case.kind, "errors.xlsx", report, on_duplicate="fail")
    rejected = sorted({row for row, *_ in case.bad})
    still_bad = {
        (rejected.index(row) + 2, field, reason)
        for row, field, reason in case.bad
        if "row " not in reason and "control" not in reason  # shown as signs for them
    }
    assert again["rows"]["total"] == case.total - case.good
    assert still_bad <= complained(desk, again)

    good = next(row for row in case.rows[1:] if row[0] in {"A", "OK", "BRICK"})
    code = "CEMENT" if case.kind == "pick_faces" else "NEW"
    corrected = as_xlsx([header, [*below[0][:3], code, *good[1:]]])
    mended = desk.imported(case.kind, "corrected.xlsx", corrected)
    assert (mended["status"], mended["rows"]) == ("validated", {"total": 1, "valid": 1, "error": 0})
    assert mended["error_report_url"] is None


def test_formulas_of_strangers_stay_text(desk: ImportDesk) -> None:
    rows: Rows = [PRODUCT, ["A", "=CMD('x')", "@SUM(1)", "+1", "-1", "\t=1"]]
    one = desk.imported("products", "evil.csv", as_csv(rows))
    content = desk.erp.get(f"/imports/{one['id']}/error-report").content
    [sheet] = load_workbook(BytesIO(content)).worksheets
    assert {cell.data_type for cell in sheet[2]} <= {"s", "n"}
    assert sheet["E2"].value == "=CMD('x')"
    assert sheet["E2"].quotePrefix


def test_a_document_of_a_megabyte_is_rejected(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    rows: Rows = [[*DOCUMENT, "comments"], [*line("A"), "x"]]
    for at in range(30):
        serials = ", ".join(f"{at}-{number:05d}" for number in range(2_900))
        rows += [[*line("BIG", item_code="DRILL", qty="2900", serials=serials), "x"]]
    one = desk.imported("entry_documents", "big.csv", as_csv(rows))
    assert one["documents"] == {"total": 2, "valid": 1, "committed": 0}
    assert (3, "lines", "has more than 800000 characters in all its rows") in complained(desk, one)


def test_of_very_many_reasons_some_are_told(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    serials = "S-1," * 900
    rows: Rows = [DOCUMENT, line("A", item_code="DRILL", qty="900", serials=serials)]
    one = desk.imported("entry_documents", "twice.csv", as_csv(rows))
    [row] = report_rows(desk.erp.get(f"/imports/{one['id']}/error-report").content)[1:]
    told = row[2].split("\n")
    assert told == ["is on the document already, at row 2"] * 50 + ["and more"]

"""Import files are read: header, columns, rows, and errors of the file as a whole."""

from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from shared.integration.imports.files.reader import ParsedFile, read_file
from shared.integration.imports.languages import LANGUAGES, Language
from shared.integration.imports.models import ImportKind
from shared.kernel.spreadsheets.table import InvalidCell, UnreadableFile
from tests.cases import each_case
from tests.integration.imports.import_files import as_csv, as_xlsx, workbook_bytes
from tests.unit.imports.layouts import EACH_KIND, LAYOUTS

type Rows = Sequence[Sequence[object]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def read(
    folder: Path, rows: Rows | bytes, kind: ImportKind = "products", max_rows: int = 100
) -> ParsedFile:
    content = rows if isinstance(rows, bytes) else as_csv(rows)
    name = "file.xlsx" if content[:2] == b"PK" else "file.csv"
    path = folder / name
    path.write_bytes(content)
    return read_file(path, name, kind, max_rows=max_rows)


def fields(file: ParsedFile) -> list[str]:
    return [column.field for _, column in file.columns]


@each_case("language", LANGUAGES)
@EACH_KIND
def test_every_header_is_recognized_in_any_order(
    folder: Path, kind: ImportKind, language: Language
) -> None:
    columns = LAYOUTS[kind].columns[::-1]
    header = [f" {column.header.in_(language).upper()} *" for column in columns]
    file = read(folder, [header, ["x"] * len(columns)], kind)
    assert file.structure_errors == []
    assert fields(file) == [column.field for column in columns]
    assert file.language == language
    assert len(file.rows) == 1


def test_field_names_are_recognized_as_headers(folder: Path) -> None:
    for kind, layout in LAYOUTS.items():
        header = [column.field for column in layout.columns]
        assert fields(read(folder, [header, ["x"] * len(header)], kind)) == header


@EACH_KIND
def test_a_required_column_that_is_missing_is_named(folder: Path, kind: ImportKind) -> None:
    columns = LAYOUTS[kind].columns
    required = [column for column in columns if column.required]
    for header in (columns, required):
        for missing in required:
            names = [column.field for column in header if column is not missing]
            errors = read(folder, [names, ["x"] * len(names)], kind).structure_errors
            name = f"{missing.header.en} ({missing.field})"
            assert errors == [f"The required column {name} is missing."]


@pytest.mark.parametrize("above", range(10))
def test_the_header_is_found_in_the_first_ten_rows(folder: Path, above: int) -> None:
    rows = [*[["Title", "name"]] * above, ["item_code", "name"], ["A", "Good"]]
    file = read(folder, rows)
    assert [(row.number, row.cells) for row in file.rows] == [(above + 2, ["A", "Good"])]


def test_rows_keep_the_numbers_of_the_sheet(folder: Path) -> None:
    rows: Rows = [["item_code", "name"], [], ["A", "Good"], [None, " "], ["B", "Better"], []]
    for content in (as_csv(rows), as_xlsx(rows)):
        assert [row.number for row in read(folder, content).rows] == [3, 5]


def test_a_row_with_values_only_in_ignored_columns_is_skipped(folder: Path) -> None:
    rows = [["item_code", "name", "notes"], ["A", "Good", ""], ["", "", "see above"]]
    assert len(read(folder, rows).rows) == 1


def test_a_row_of_zeros_is_not_blank(folder: Path) -> None:
    file = read(folder, as_xlsx([["item_code", "name"], [0, False]]))
    assert [row.cells for row in file.rows] == [[0, False]]


def test_only_the_first_row_can_be_the_sample_row(folder: Path) -> None:
    header = ["item_code", "name"]
    sample = ["EXAMPLE-1", "Example product"]
    file = read(folder, [header, sample, ["A", "Good"], sample])
    assert [row.number for row in file.rows] == [3, 4]


def test_too_many_rows_are_a_structure_error(folder: Path) -> None:
    header = ["item_code", "name"]
    for count, errors in ((3, 0), (4, 1), (50, 1)):
        rows = [["Title"], header, *([f"P-{n}", "Good"] for n in range(count))]
        for content in (as_csv(rows), as_xlsx(rows)):
            file = read(folder, content, max_rows=3)
            assert len(file.rows) == 3
            assert len(file.structure_errors) == errors


def test_merged_cells_are_allowed_in_titles_only(folder: Path) -> None:
    book = Workbook()
    sheet = book.worksheets[0]
    for row in (["Title"], ["item_code", "name"], ["A", "Good"], ["B", None]):
        sheet.append(row)
    sheet.merge_cells("A1:B1")
    assert read(folder, workbook_bytes(book)).structure_errors == []
    sheet.merge_cells("A3:A4")
    assert read(folder, workbook_bytes(book)).structure_errors == [
        "The cells A3:A4 are merged. Unmerge them and enter a value in every row."
    ]


def test_formulas_are_reported_together_with_the_errors_of_the_header(folder: Path) -> None:
    book = Workbook()
    for row in (["item_code"], ["A"], ["=1+1"]):
        book.worksheets[0].append(row)
    assert read(folder, workbook_bytes(book)).structure_errors == [
        "The required column Name (name) is missing.",
        "A3 contains a formula. Save the file with values instead of formulas.",
    ]


def test_the_first_of_two_equal_headers_is_the_header(folder: Path) -> None:
    rows = [["item_code", "name"], ["item_code", "name"], ["A", "Good"]]
    assert [row.number for row in read(folder, rows).rows] == [2, 3]


def test_long_headers_are_truncated(folder: Path) -> None:
    header = ["item_code", "name", "x" * 500]
    assert [len(title) for title in read(folder, [header, ["A", "Good"]]).header] == [9, 4, 100]


@each_case(
    ("header", "first", "second", "count"),
    [
        (["item_code", "Name", "Nombre"], "'Name' (column 2)", "'Nombre' (column 3)", "both"),
        (["SKU", "name", "sku *"], "'SKU' (column 1)", "'sku *' (column 3)", "both"),
        (["name", "item_code", *["Nombre"] * 30], "'name' (column 1)", "'Nombre' (column 3)", ""),
    ],
)
def test_two_columns_of_one_name_are_a_structure_error(
    tmp_path_factory: pytest.TempPathFactory,
    header: list[str],
    first: str,
    second: str,
    count: str,
) -> None:
    names = {"Name": "Name (name)", "SKU": "Item code (item_code)"}
    name = names["SKU" if "SKU" in header else "Name"]
    errors = read(tmp_path_factory.mktemp("file"), [header, ["A", "Good"]]).structure_errors
    assert errors == [
        f"The headers {first} and {second} are {count or 'two of 31'} for {name}; keep one of them."
    ]


@each_case(
    ("kind", "header", "read_columns"),
    [
        ("products", ["Item code", "Name", "Description"], [0, 1]),
        ("products", ["Description", "Nombre", "Código de artículo"], [1, 2]),
        ("products", ["SKU", "Description"], [0, 1]),
        ("products", ["item_code", "sku", "name"], [0, 2, 1]),
        ("products", ["Code", "SKU", "Name"], [1, 2, 0]),
        ("products", ["ItemCode", "Name", "EAN", "Barcode"], [0, 1, 3, 2]),
        ("products", ["Referencia", "SKU", "Name"], [1, 2]),
        ("pick_faces", ["SKU", "Artículo", "WhsCode", "Bin"], [0, 2, 3]),
    ],
)
def test_documented_headers_take_precedence(
    tmp_path_factory: pytest.TempPathFactory,
    kind: ImportKind,
    header: list[str],
    read_columns: list[int],
) -> None:
    file = read(tmp_path_factory.mktemp("file"), [header, ["x"] * len(header)], kind)
    assert file.structure_errors == []
    assert [index for index, _ in file.columns] == read_columns


def test_headers_of_sap_business_one_are_recognized(folder: Path) -> None:
    header = ["DocDate", "DocDueDate", "CardCode", "CardName", "WhsCode", "ItemCode", "Quantity"]
    file = read(folder, [["Reference", "Type", *header], ["x"] * 9], "exit_documents")
    names = "doc_date due_date partner_code partner_name warehouse_code item_code qty"
    assert fields(file)[2:] == names.split()


def test_a_file_with_date_and_document_date_has_the_document_date(folder: Path) -> None:
    header = ["Reference", "Type", "Date", "Document date", *SPANISH_ENTRY[3:]]
    file = read(folder, [header, ["x"] * len(header)], "entry_documents")
    assert (file.structure_errors, fields(file)[2]) == ([], "doc_date")
    assert file.columns[2][0] == 3


SPANISH_ENTRY = ["Referencia", "Tipo", "Fecha", "Proveedor", "Almacén", "Artículo", "Cantidad"]


@each_case("beside", ["Lote", "Números de serie", "batch"])
def test_fecha_de_vencimiento_beside_a_lot_is_the_expiry_date(
    tmp_path_factory: pytest.TempPathFactory, beside: str
) -> None:
    header = [*SPANISH_ENTRY, "Fecha de vencimiento", beside]
    file = read(tmp_path_factory.mktemp("file"), [header, ["x"] * 9], "entry_documents")
    assert file.structure_errors == []
    assert (7, LAYOUTS["entry_documents"].by_field["expiry_date"]) in file.columns


def test_fecha_de_vencimiento_without_a_lot_is_ambiguous(folder: Path) -> None:
    header = [*SPANISH_ENTRY, "Fecha de vencimiento"]
    for kind in ("entry_documents", "exit_documents"):
        with_client = [one.replace("Proveedor", "partner_code") for one in header]
        [error] = read(folder, [with_client, ["x"] * 8], kind).structure_errors
        assert error == (
            "The header 'Fecha de vencimiento' may mean Expiry date (expiry_date) or Due date"
            " (due_date); write 'Fecha de caducidad' or 'Fecha de entrega' instead."
        )
    both = [*header, "Fecha de caducidad"]
    assert read(folder, [both, ["x"] * 9], "entry_documents").structure_errors == []


def formatted(value: object, number_format: str) -> bytes:
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.append(["Item code", "Name", "Kept in stock"])
    sheet.append([value, value, 1])
    for cell in sheet[2]:
        cell.number_format = number_format
    return workbook_bytes(book)


def test_codes_are_read_as_their_cells_show_them(folder: Path) -> None:
    for number_format, shown in {
        "General": 123, "@": 123, "00000": "00123", "0000-00": "0001-23", '"P"0': "P123",
        "#,##0": "123", ";;": None,
    }.items():  # fmt: skip
        rows = read(folder, formatted(123, number_format)).rows
        assert rows[0].cells == [shown, shown, 1], number_format


def test_codes_whose_cells_show_something_uncertain_are_invalid(folder: Path) -> None:
    cells = read(folder, formatted(123, "0.00")).rows[0].cells
    text = "123 in the number format 0.00; format the cell as text and enter it again"
    assert cells == [InvalidCell(text), InvalidCell(text), 1]
    assert [type(cell) for cell in cells] == [InvalidCell, InvalidCell, int]
    assert read(folder, formatted(10**20, "00000")).rows[0].cells[0] == 10**20


def test_dates_in_columns_of_codes_are_invalid(folder: Path) -> None:
    for value, number_format, shown in [
        (datetime(2026, 2, 1), "d-m", "2026-02-01"),  # noqa: DTZ001 - as in spreadsheets
        (time(9, 30), "h:mm", "09:30:00"),
    ]:
        cells = read(folder, formatted(value, number_format)).rows[0].cells
        text = f"{shown}, a date or time; format the cell as text and enter it again"
        assert cells[:2] == [InvalidCell(text)] * 2, number_format


@each_case("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_a_date_within_a_minute_before_midnight_is_the_next_day(
    tmp_path_factory: pytest.TempPathFactory, epoch: datetime
) -> None:
    book = Workbook()
    book.epoch = epoch
    sheet = book.worksheets[0]
    sheet.append([*SPANISH_ENTRY])
    moments = [(23, 59, 0), (23, 59, 59), (23, 58, 59), (12, 0, 0)]
    for moment in moments:
        sheet.append(["R", "T", datetime(2026, 2, 28, *moment), "P", "W", "A", 1])  # noqa: DTZ001
    path = tmp_path_factory.mktemp("file")
    rows = read(path, workbook_bytes(book), "entry_documents").rows
    assert [row.cells[2] for row in rows] == [
        date(2026, 3, 1), date(2026, 3, 1), date(2026, 2, 28), date(2026, 2, 28),
    ]  # fmt: skip


def test_blank_rows_do_not_count_towards_the_limit(folder: Path) -> None:
    rows: list[list[object]] = [["item_code", "name", "No"]]
    for number in range(20):
        rows += [[f"P-{number}", "Good", "x"], ["", " ", "x"]]

    file = read(folder, rows, max_rows=20)

    assert (len(file.rows), file.structure_errors) == (20, [])
    assert len(read(folder, rows, max_rows=19).structure_errors) == 1


def test_a_file_with_too_much_text_is_unreadable(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.files.reader._MAX_TEXT", 10_000)
    rows = [["item_code", "name"], *([f"P-{n}", "x" * 900] for n in range(20))]

    assert len(read(folder, rows[:11]).rows) == 10
    with pytest.raises(UnreadableFile, match="too much text"):
        read(folder, rows)


def test_codes_do_not_determine_the_decimal_separator(folder: Path) -> None:
    columns = ["item_code", "warehouse_code", "bin_code", "minimum"]
    rows = [columns, ["10.25", "W", "B", "1,250"], ["10.5", "W", "B", "2,500"]]

    assert read(folder, rows, "pick_faces").decimal_comma is None
    assert read(folder, [*rows, ["X", "W", "B", "2,5"]], "pick_faces").decimal_comma is True

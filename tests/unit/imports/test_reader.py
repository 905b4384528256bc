"""Import files are read: header, columns, rows, and errors of the file as a whole."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from openpyxl import Workbook

from shared.integration.imports.files.reader import ParsedFile, read_file
from shared.integration.imports.languages import LANGUAGES, Language
from shared.integration.imports.models import ImportKind
from shared.kernel.spreadsheets.table import UnreadableFile
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


def test_a_repeated_column_is_a_structure_error(folder: Path) -> None:
    header = ["item_code", "name", *(["Nombre"] * 30)]
    errors = read(folder, [header, ["A", "Good"]]).structure_errors
    assert errors == ["The column Name (name) appears 31 times; keep one of them."]


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

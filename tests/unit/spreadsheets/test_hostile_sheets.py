"""Workbooks with damaged or malicious sheets, strings or styles are refused."""

import pytest
from python_calamine import CalamineSheet, CalamineWorkbook

from shared.kernel.spreadsheets.table import UnreadableFile
from tests.cases import each_case
from tests.unit.spreadsheets.xlsx_packages import (
    MAIN,
    ROW,
    read,
    refused,
    rows_xml,
    workbook,
    workbook_parts,
    zip_parts,
)


@each_case(
    ("rows", "words"),
    [
        ('<row r="1"><c r="A1"><v>1</v></c>', "well-formed"),
        ('<row r="1"><c r="A1"><v>1</c></row>', "well-formed"),
        ('<row r="1"><c r="A1" t="str"><v>&unknown;</v></c></row>', "cannot be read"),
        ('<row r="1"><c r="A1" t="str"><v>\x01</v></c></row>', "well-formed"),
        ('<row r="1"><c r="A1" t="s"><v>7</v></c></row>', "cannot be read"),
        ('<row r="2"/><row r="1"/>', "row 1 follows row 2"),
        ('<row r="2"/><row r="2"/>', "row 2 follows row 2"),
        ("<row r='2'/><row r='1'/>", "row 1 follows row 2"),
        ('<row r="1048577"/>', "row 1048577"),
        ('<row r="9999999"/>', "row 9999999"),
        ('<row r="0"/>', "row 0"),
        ('<row r="-1"/>', "not a row number"),
        ('<row r="99999999999999999999"/>', "not a row number"),
        ('<row r="1"><c r="A2"><v>1</v></c></row>', "not a cell of row 1"),
        ('<row r="1"><c r="ZZZZ1"><v>1</v></c></row>', "not a cell of row 1"),
        ('<row r="1"><c r="1"><v>1</v></c></row>', "not a cell of row 1"),
        ('<row r="1"><c r="XFD1"><v>1</v></c></row>', "XFD1 has a value"),
        ("<a>" * 200 + "</a>" * 200, "too complex"),
        (f"<row r='1' x='{'y' * 9_000_000}'/>", "too "),
    ],
)
def test_malformed_sheets_are_refused(rows: str, words: str) -> None:
    assert words in refused(workbook(rows))


_SHEET, _STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
_EMPTY_SHEETS = (
    "", "x", "<worksheet/>", "<worksheet><sheetData>", "<chartsheet></chartsheet>", "<a></b>", "\0",
)  # fmt: skip
_MALFORMED_STRINGS = ("", "<sst><si><t>", "x", "<sst><si><t>\x01</t></si></sst>")


@each_case(
    ("path", "text"),
    [
        *((_SHEET, text) for text in _EMPTY_SHEETS),
        *((_STRINGS, text) for text in _MALFORMED_STRINGS),
    ],
)
def test_a_part_without_contents_is_refused(path: str, text: str) -> None:
    assert refused(zip_parts({**workbook_parts(ROW, strings=[]), path: text.encode()}))


@each_case(
    "cell",
    ['t="str"><v>{}</v>', 't="inlineStr"><is><t>{}</t></is>', 't="x"><v>{}</v>', 't="s"><v>0</v>'],
)
def test_invalid_utf_8_is_refused(cell: str) -> None:
    row = f'<row r="1"><c r="A1" {cell.format("BYTES")}</c></row>'
    package = workbook_parts(row, strings=["<t>BYTES</t>"] if "0" in cell else None)
    invalid = {path: part.replace(b"BYTES", b"\xff\xfe") for path, part in package.items()}

    assert package != invalid
    assert refused(zip_parts(invalid))


class PanicException(BaseException):
    """Has the name and the base class of the exception that a Rust extension raises on a panic."""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PanicException("index out of bounds"), UnreadableFile),
        (OverflowError(), UnreadableFile),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
@pytest.mark.parametrize(
    ("owner", "method"),
    [(CalamineWorkbook, "get_sheet_by_index"), (CalamineSheet, "to_python")],
)
def test_a_failure_of_the_reader_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    method: str,
    error: BaseException,
    expected: type[BaseException],
) -> None:
    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(owner, method, fail)
    with pytest.raises(expected):
        read(workbook(ROW))


def test_the_declared_number_of_strings_is_ignored() -> None:
    package = workbook_parts('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')
    package["xl/sharedStrings.xml"] = (
        f'<sst xmlns="{MAIN}" count="{2**62}" uniqueCount="{2**62}"><si><t>x</t></si></sst>'
    ).encode()

    assert read(zip_parts(package))[0].cells == ["x"]


def test_the_declared_dimension_is_ignored() -> None:
    sheet = rows_xml(ROW).replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>')

    assert len(read(workbook(sheet=sheet))) == 1


def test_the_number_of_styles_is_limited() -> None:
    styles = f'<styleSheet xmlns="{MAIN}"><cellXfs>{"<xf/>" * 65_491}</cellXfs></styleSheet>'

    assert "more than 65490 cell styles" in refused(
        zip_parts({**workbook_parts(ROW), "xl/styles.xml": styles.encode()})
    )

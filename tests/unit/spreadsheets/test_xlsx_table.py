""".xlsx files are read, in the usual and in unusual forms."""

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from shared.kernel.spreadsheets.open_table import check_file, open_table
from shared.kernel.spreadsheets.table import InvalidCell, Row, UnreadableFile
from tests.cases import each_case
from tests.unit.spreadsheets.xlsx_packages import (
    MAIN,
    cells,
    new_workbook,
    open_content,
    read,
    relationships_xml,
    rows_xml,
    workbook,
    workbook_bytes,
    workbook_parts,
    zip_parts,
)


def test_cells_have_their_types() -> None:
    book, sheet = new_workbook()
    sheet.append(
        [
            "007",
            "1E5",
            7,
            7.0,
            0.1,
            -2.5,
            1e15,
            True,
            False,
            " text ",
            "Ñandú 漢字 🚚",
            "a\nb",
            None,
            "x",
        ]
    )
    (row,) = read(workbook_bytes(book))

    assert row.cells == [
        "007", "1E5", 7, 7, Decimal("0.1"), Decimal("-2.5"), 10**15, True, False, " text ",
        "Ñandú 漢字 🚚", "a\nb", None, "x",
    ]  # fmt: skip
    types = [str, str, int, int, Decimal, Decimal, int, bool, bool, str, str, str, type(None), str]
    assert [type(cell) for cell in row.cells] == types


@each_case(
    ("text", "number"),
    [
        ("1.1000000000000001", Decimal("1.1")),
        ("0.30000000000000004", Decimal("0.30000000000000004")),
        ("-0", 0),
        ("1E3", 1000),
        ("1.5E-7", Decimal("1.5E-7")),
        ("9007199254740993", 9007199254740992),
        ("12345678901234567890", 12345678901234567000),
        ("1E22", 10**22),
        ("1E999", InvalidCell("a number that is too large")),
        ("NaN", InvalidCell("NaN")),
        ("1,5", InvalidCell("1,5")),
        (" 12 ", 12),
    ],
)
def test_numbers_are_integers_or_decimals(text: str, number: object) -> None:
    (row,) = cells(workbook(f'<row r="1"><c r="A1"><v>{text}</v></c></row>'))

    assert row == [number]
    assert not isinstance(row[0], float)


@pytest.mark.parametrize("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_dates_depend_on_the_calendar_of_the_file(epoch: datetime) -> None:
    values = [
        date(2026, 2, 28),
        datetime(2026, 12, 31, 23, 59, 59),  # noqa: DTZ001 - spreadsheets have no time zones
        time(6, 30),
        date(1999, 1, 1),
        date(9999, 12, 31),
    ]
    book, sheet = new_workbook()
    book.epoch = epoch
    sheet.append(values)
    (row,) = cells(workbook_bytes(book))

    assert row == values
    assert [type(cell) for cell in row] == [date, datetime, time, date, date]


def test_the_number_format_determines_dates() -> None:
    values = "".join(
        f'<c r="{column}1" s="{style}"><v>46000.25</v></c>'
        for style, column in enumerate("ABCDEFG")
    )
    (row,) = cells(workbook(f'<row r="1">{values}</row>'))

    timestamp = datetime(2025, 12, 9, 6)  # noqa: DTZ001
    duration = InvalidCell("1104006:00:00")
    assert row == [Decimal("46000.25"), *[timestamp] * 4, duration, Decimal("46000.25")]


def test_dates_may_be_in_iso_format() -> None:
    (row,) = cells(
        workbook(
            '<row r="1"><c r="A1" t="d"><v>2026-03-01</v></c>'
            '<c r="B1" t="d"><v>2026-03-01T06:30:00</v></c><c r="C1" t="d"><v>soon</v></c></row>'
        )
    )

    assert row == [date(2026, 3, 1), datetime(2026, 3, 1, 6, 30), "soon"]  # noqa: DTZ001


def test_rows_have_the_numbers_of_the_sheet() -> None:
    book, sheet = new_workbook()
    sheet["C7"], sheet["B8"], sheet["A20"], sheet["D90000"] = "c7", "b8", "a20", "d90000"
    table = open_content(workbook_bytes(book))

    expected = [
        Row(7, [None, None, "c7"]),
        Row(8, [None, "b8"]),
        Row(20, ["a20"]),
        Row(90000, [None, None, None, "d90000"]),
    ]
    assert list(table.rows()) == expected
    assert list(table.rows()) == expected, "rows can be read again"


def test_rows_and_cells_without_values_are_skipped() -> None:
    content = workbook(
        '<row r="1" ht="20"/><row r="2"><c r="A2" s="1"/></row><row r="3"><c r="A3"></c></row>'
        '<row r="4"><c r="A4" t="inlineStr"><is><t></t></is></c><c r="B4"><v></v></c></row>'
        '<row r="5"><c r="A5"><v>1</v></c><c r="B5" s="2" /></row>'
    )

    assert read(content) == [Row(5, [1])]


def test_the_first_visible_worksheet_is_read() -> None:
    book = Workbook()
    for title, state in (("Lists", "veryHidden"), ("Old", "hidden"), ("Products", "visible")):
        book.create_sheet(title).sheet_state = state
        book[title].append([title])
    book.remove(book["Sheet"])
    chart = book.create_chartsheet("Chart", 0)
    chart.add_chart(BarChart())
    book.create_sheet("Further").append(["Further"])

    assert cells(workbook_bytes(book)) == [["Products"]]


def test_a_workbook_needs_a_visible_worksheet() -> None:
    package = workbook_parts()
    package["xl/workbook.xml"] = package["xl/workbook.xml"].replace(
        b"sheetId", b'state="hidden" sheetId'
    )

    with pytest.raises(UnreadableFile, match="no visible sheet"):
        open_content(zip_parts(package))


def test_an_empty_sheet_has_no_rows() -> None:
    assert read(workbook_bytes(Workbook())) == []
    assert read(workbook(sheet=f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>')) == []


def test_shared_strings_in_all_forms() -> None:
    strings = [
        "<t>plain</t>",
        '<t xml:space="preserve"> kept </t>',
        '<r><t>rich</t></r><r><rPr><b/></rPr><t xml:space="preserve"> text</t></r>',
        '<t>漢字</t><rPh sb="0" eb="1"><t>かんじ</t></rPh><phoneticPr fontId="1"/>',
        "<t>A &amp; B &lt;C&gt; &#13;D</t>",
        "<t><![CDATA[<E> & F]]></t>",
        "<t>line_x000D_end</t>",
        "<t/>",
        '<t>東</t><phoneticPr fontId="1"/>',
    ]
    row = "".join(f'<c r="{chr(65 + n)}1" t="s"><v>{n}</v></c>' for n in range(len(strings)))
    (found,) = cells(workbook(f'<row r="1">{row}</row>', strings=strings))

    assert found == [
        "plain", " kept ", "rich text", "漢字", "A & B <C> \rD", "<E> & F", "line\rend", None, "東",
    ]  # fmt: skip


_SAME_ROWS = {
    "single quotes": "<row r='3'><c r='B3'><v>1</v></c>"
    "<c r='C3' t='inlineStr'><is><t>x</t></is></c></row>",
    "prefixes": '<x:row r="3"><x:c s="0" r="B3"><x:v>1</x:v></x:c>'
    '<x:c r="C3" t="str"><x:v>x</x:v></x:c></x:row>',
    "indented": '\n <row r="3">\n  <c r="B3">\n   <v>1</v>\n  </c>\n'
    '  <c r="C3" t="str"><v>x</v></c>\n </row>\n',
    "no references": '<row/><row/><row><c/><c><v>1</v></c><c t="str"><v>x</v></c></row>',
    "reversed": '<row r="3"><c r="C3" t="str"><v>x</v></c><c r="B3"><v>1</v></c></row>',
    "comments": '<!-- </row> <row r="2"> --><row r="3"><!-- </c> --><c r="B3"><v>1</v></c>'
    '<c r="C3" t="str"><v><![CDATA[x]]></v></c></row>',
    "attributes": '<row r="3" spans="2:3" x:dyDescent="0.25"><c r="B3" t="n" s="0"><v>1</v></c>'
    '<c r="C3" t="inlineStr" s="0"><is><r><t>x</t></r></is></c></row>',
}


@pytest.mark.parametrize("rows", _SAME_ROWS.values(), ids=_SAME_ROWS)
def test_rows_in_unusual_forms(rows: str) -> None:
    before = "" if "<row/>" in rows else '<row r="1"><c r="A1"><v>0</v></c></row>'
    after = '<row r="4"><c r="A4"><v>2</v></c></row>'
    sheet = rows_xml(before + rows + after).replace("<sheetData", f'<sheetData xmlns:x="{MAIN}"')
    found = read(workbook(sheet=sheet))

    assert found[-2:] == [Row(3, [None, 1, "x"]), Row(4, [2])]


def test_all_elements_may_have_a_prefix() -> None:
    sheet = (
        f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData><x:row r="2"><x:c r="A2" t="s"><x:v>0</x:v>'
        "</x:c></x:row></x:sheetData></x:worksheet>"
    )
    package = workbook_parts(sheet=sheet)
    package["xl/sharedStrings.xml"] = (
        f'<x:sst xmlns:x="{MAIN}"><x:si><x:t>text</x:t></x:si></x:sst>'.encode()
    )

    assert read(zip_parts(package)) == [Row(2, ["text"])]


def test_parts_may_have_other_paths_in_another_case() -> None:
    package = workbook_parts('<row r="1"><c r="A1"><v>1</v></c></row>')
    package["_rels/.rels"] = relationships_xml(("officeDocument", "/Book/Workbook.xml")).encode()
    package["book/workbook.xml"] = package.pop("xl/workbook.xml")
    del package["xl/_rels/workbook.xml.rels"]
    targets = relationships_xml(
        ("worksheet", "../XL/Worksheets/Sheet1.xml"), ("styles", "/xl/styles.xml")
    )
    package["Book/_rels/Workbook.xml.rels"] = targets.encode()

    assert cells(zip_parts(package)) == [[1]]


def test_a_cell_with_an_error_is_an_invalid_cell() -> None:
    row = (
        '<row r="2"><c r="A2" t="e"><v>#N/A</v></c><c r="B2" t="e"><v>#SPILL!</v></c>'
        '<c r="C2" t="str"><v>#N/A</v></c><c r="D2" t="b"><v>true</v></c><c r="E2" t="b"><v>?</v>'
        "</c></row>"
    )
    (found,) = cells(workbook(row))

    assert found == [InvalidCell("#N/A"), InvalidCell("#SPILL!"), "#N/A", True, InvalidCell("?")]
    assert str(found[0]) == "#N/A"


def test_a_text_that_is_too_long_is_an_invalid_cell() -> None:
    longest, too_long = "x" * 32_767, "y" * 32_768
    row = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        f'<c r="C1" t="str"><v>{longest}</v></c><c r="D1" t="str"><v>{too_long}</v></c></row>'
    )
    strings = [f"<t>{longest}</t>", f"<t>{too_long}</t>"]
    (found,) = cells(workbook(row, strings=strings))

    invalid = InvalidCell("a text of 32,768 characters")
    assert found == [longest, invalid, longest, invalid]


def test_formulas_are_structure_errors() -> None:
    book, sheet = new_workbook()
    sheet["A1"], sheet["C7"], sheet["B9"] = "title", "=A1", "=SUM(C1:C7)"
    table = open_content(workbook_bytes(book))

    advice = "contains a formula. Save the file with values instead of formulas."
    assert table.structure_errors == [f"C7 {advice}", f"B9 {advice}"]


def test_the_value_of_a_formula_is_read() -> None:
    content = workbook('<row r="4"><c r="B4" t="str"><f>A1&amp;"x"</f><v>yx</v></c></row>')
    table = open_content(content)

    assert len(table.structure_errors) == 1
    assert list(table.rows()) == [Row(4, [None, "yx"])]


def test_structure_errors_are_limited() -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><f>1</f></c></row>' for n in range(1, 500))

    assert len(open_content(workbook(rows)).structure_errors) == 20


def test_merged_cells_below_the_top_rows_are_structure_errors() -> None:
    book, sheet = new_workbook()
    for number in range(1, 15):
        sheet.append([number])
    for name in ("A1:E1", "A9:A12", "B13:C13", "A40:C41"):
        sheet.merge_cells(name)
    table = open_content(workbook_bytes(book))

    assert sorted(table.structure_errors) == [
        f"The cells {name} are merged. Unmerge them and enter a value in every row."
        for name in ("A9:A12", "B13:C13")
    ]
    assert [one.name for one in table.merged_at_top] == ["A1:E1"]
    assert (table.merged_at_top[0].first_row, table.merged_at_top[0].last_row) == (1, 1)


def test_a_value_beyond_the_last_column_is_refused() -> None:
    last = workbook(
        '<row r="1"><c r="A1"><v>1</v></c><c r="IV1"><v>2</v></c><c r="XFD1" s="1"/></row>'
    )
    (row,) = cells(last)
    assert row == [1, *[None] * 254, 2]

    with pytest.raises(UnreadableFile, match="IZ3 has a value"):
        open_content(workbook('<row r="3"><c r="IZ3"><v>2</v></c></row>'))


def test_a_file_can_be_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(workbook('<row r="1"><c r="A1"><v>1</v></c></row>'))
    check_file(path, "List.XLSX")
    table = open_table(path, "List.XLSX")
    path.unlink()

    assert list(table.rows()) == [Row(1, [1])]

"""What is read out of .xlsx files as programs write them, and as others may."""

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900

from shared.kernel.spreadsheets.open_table import inspect, open_table
from shared.kernel.spreadsheets.table import InvalidCell, Row, UnreadableFile
from tests.unit.spreadsheets.xlsx_packages import (
    MAIN,
    blank,
    cells,
    opened,
    parts,
    read,
    relations,
    rows_xml,
    saved,
    workbook,
    zipped,
)


def test_each_cell_comes_as_what_it_is() -> None:
    book, sheet = blank()
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
    (row,) = read(saved(book))

    assert row.cells == [
        "007", "1E5", 7, 7, Decimal("0.1"), Decimal("-2.5"), 10**15, True, False, " text ",
        "Ñandú 漢字 🚚", "a\nb", None, "x",
    ]  # fmt: skip
    kinds = [str, str, int, int, Decimal, Decimal, int, bool, bool, str, str, str, type(None), str]
    assert [type(cell) for cell in row.cells] == kinds


@pytest.mark.parametrize(
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
def test_numbers_are_whole_or_decimal(text: str, number: object) -> None:
    (row,) = cells(workbook(f'<row r="1"><c r="A1"><v>{text}</v></c></row>'))

    assert row == [number]
    assert not isinstance(row[0], float)


@pytest.mark.parametrize("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_dates_are_those_of_the_calendar_of_the_file(epoch: datetime) -> None:
    moments = [
        date(2026, 2, 28),
        datetime(2026, 12, 31, 23, 59, 59),  # noqa: DTZ001 - a spreadsheet knows no time zone
        time(6, 30),
        date(1999, 1, 1),
        date(9999, 12, 31),
    ]
    book, sheet = blank()
    book.epoch = epoch
    sheet.append(moments)
    (row,) = cells(saved(book))

    assert row == moments
    assert [type(cell) for cell in row] == [date, datetime, time, date, date]


def test_it_is_the_format_that_makes_a_date() -> None:
    values = "".join(
        f'<c r="{column}1" s="{style}"><v>46000.25</v></c>'
        for style, column in enumerate("ABCDEFG")
    )
    (row,) = cells(workbook(f'<row r="1">{values}</row>'))

    moment = datetime(2025, 12, 9, 6)  # noqa: DTZ001
    duration = InvalidCell("1104006:00:00")
    assert row == [Decimal("46000.25"), *[moment] * 4, duration, Decimal("46000.25")]


def test_dates_may_be_written_out() -> None:
    (row,) = cells(
        workbook(
            '<row r="1"><c r="A1" t="d"><v>2026-03-01</v></c>'
            '<c r="B1" t="d"><v>2026-03-01T06:30:00</v></c><c r="C1" t="d"><v>soon</v></c></row>'
        )
    )

    assert row == [date(2026, 3, 1), datetime(2026, 3, 1, 6, 30), "soon"]  # noqa: DTZ001


def test_numbers_of_rows_are_those_of_the_sheet() -> None:
    book, sheet = blank()
    sheet["C7"], sheet["B8"], sheet["A20"], sheet["D90000"] = "c7", "b8", "a20", "d90000"
    table = opened(saved(book))

    expected = [
        Row(7, [None, None, "c7"]),
        Row(8, [None, "b8"]),
        Row(20, ["a20"]),
        Row(90000, [None, None, None, "d90000"]),
    ]
    assert list(table.rows()) == expected
    assert list(table.rows()) == expected, "rows can be gone through again"


def test_reading_ends_one_row_after_the_last_that_is_wanted() -> None:
    content = workbook(
        "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in (2, 5, 7, 9))
    )

    assert [row.number for row in read(content, most_rows=2)] == [2, 5, 7]
    assert [row.number for row in read(content, most_rows=4)] == [2, 5, 7, 9]


def test_rows_and_cells_without_value_are_left_out() -> None:
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

    assert cells(saved(book)) == [["Products"]]


def test_a_workbook_needs_a_visible_worksheet() -> None:
    made = parts()
    made["xl/workbook.xml"] = made["xl/workbook.xml"].replace(b"sheetId", b'state="hidden" sheetId')

    with pytest.raises(UnreadableFile, match="no visible sheet"):
        opened(zipped(made))


def test_an_empty_sheet_has_no_rows() -> None:
    assert read(saved(Workbook())) == []
    assert read(workbook(sheet=f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>')) == []


def test_shared_strings_of_all_sorts() -> None:
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
    "no places": '<row/><row/><row><c/><c><v>1</v></c><c t="str"><v>x</v></c></row>',
    "backwards": '<row r="3"><c r="C3" t="str"><v>x</v></c><c r="B3"><v>1</v></c></row>',
    "comments": '<!-- </row> <row r="2"> --><row r="3"><!-- </c> --><c r="B3"><v>1</v></c>'
    '<c r="C3" t="str"><v><![CDATA[x]]></v></c></row>',
    "attributes": '<row r="3" spans="2:3" x:dyDescent="0.25"><c r="B3" t="n" s="0"><v>1</v></c>'
    '<c r="C3" t="inlineStr" s="0"><is><r><t>x</t></r></is></c></row>',
}


@pytest.mark.parametrize("rows", _SAME_ROWS.values(), ids=_SAME_ROWS)
def test_other_ways_to_write_the_same_rows(rows: str) -> None:
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
    made = parts(sheet=sheet)
    made["xl/sharedStrings.xml"] = (
        f'<x:sst xmlns:x="{MAIN}"><x:si><x:t>text</x:t></x:si></x:sst>'.encode()
    )

    assert read(zipped(made)) == [Row(2, ["text"])]


def test_parts_may_lie_elsewhere_and_be_spelt_in_another_case() -> None:
    made = parts('<row r="1"><c r="A1"><v>1</v></c></row>')
    made["_rels/.rels"] = relations(("officeDocument", "/Book/Workbook.xml")).encode()
    made["book/workbook.xml"] = made.pop("xl/workbook.xml")
    del made["xl/_rels/workbook.xml.rels"]
    targets = relations(("worksheet", "../XL/Worksheets/Sheet1.xml"), ("styles", "/xl/styles.xml"))
    made["Book/_rels/Workbook.xml.rels"] = targets.encode()

    assert cells(zipped(made)) == [[1]]


def test_a_cell_with_an_error_is_a_bad_cell() -> None:
    row = (
        '<row r="2"><c r="A2" t="e"><v>#N/A</v></c><c r="B2" t="e"><v>#SPILL!</v></c>'
        '<c r="C2" t="str"><v>#N/A</v></c><c r="D2" t="b"><v>true</v></c><c r="E2" t="b"><v>?</v>'
        "</c></row>"
    )
    (found,) = cells(workbook(row))

    assert found == [InvalidCell("#N/A"), InvalidCell("#SPILL!"), "#N/A", True, InvalidCell("?")]
    assert str(found[0]) == "#N/A"


def test_a_text_that_no_cell_can_hold_is_a_bad_cell() -> None:
    longest, too_long = "x" * 32_767, "y" * 32_768
    row = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        f'<c r="C1" t="str"><v>{longest}</v></c><c r="D1" t="str"><v>{too_long}</v></c></row>'
    )
    strings = [f"<t>{longest}</t>", f"<t>{too_long}</t>"]
    (found,) = cells(workbook(row, strings=strings))

    bad = InvalidCell("a text of 32,768 characters")
    assert found == [longest, bad, longest, bad]


def test_formulas_are_flaws_and_named() -> None:
    book, sheet = blank()
    sheet["A1"], sheet["C7"], sheet["B9"] = "title", "=A1", "=SUM(C1:C7)"
    table = opened(saved(book))

    advice = "holds a formula; save the file with values instead of formulas."
    assert table.flaws == [f"C7 {advice}", f"B9 {advice}"]


def test_the_value_of_a_formula_is_still_read() -> None:
    content = workbook('<row r="4"><c r="B4" t="str"><f>A1&amp;"x"</f><v>yx</v></c></row>')
    table = opened(content)

    assert len(table.flaws) == 1
    assert list(table.rows()) == [Row(4, [None, "yx"])]


def test_only_the_first_flaws_are_named() -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><f>1</f></c></row>' for n in range(1, 500))

    assert len(opened(workbook(rows)).flaws) == 20


def test_merged_cells_below_the_top_are_flaws() -> None:
    book, sheet = blank()
    for number in range(1, 15):
        sheet.append([number])
    for name in ("A1:E1", "A9:A12", "B13:C13", "A40:C41"):
        sheet.merge_cells(name)
    table = opened(saved(book))

    assert sorted(table.flaws) == [
        f"The cells {name} are merged; give every row its own value."
        for name in ("A9:A12", "B13:C13")
    ]
    assert [one.name for one in table.merged] == ["A1:E1"]
    assert (table.merged[0].first, table.merged[0].last) == (1, 1)


def test_columns_end_somewhere() -> None:
    last = workbook(
        '<row r="1"><c r="A1"><v>1</v></c><c r="IV1"><v>2</v></c><c r="XFD1" s="1"/></row>'
    )
    (row,) = cells(last)
    assert row == [1, *[None] * 254, 2]

    with pytest.raises(UnreadableFile, match="IW3 holds a value"):
        opened(workbook('<row r="3"><c r="IW3"><v>2</v></c></row>'))


def test_a_file_may_lie_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(workbook('<row r="1"><c r="A1"><v>1</v></c></row>'))
    inspect(path, "List.XLSX")
    table = open_table(path, "List.XLSX", most_rows=1)
    path.unlink()

    assert list(table.rows()) == [Row(1, [1])]

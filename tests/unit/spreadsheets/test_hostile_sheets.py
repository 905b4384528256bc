"""Workbooks whose sheets, strings or styles are damaged, or made to harm."""

import pytest
from python_calamine import CalamineSheet, CalamineWorkbook

from shared.kernel.spreadsheets.table import UnreadableFile
from tests.unit.spreadsheets.xlsx_packages import MAIN, parts, read, rows_xml, workbook, zipped

_ROW = '<row r="1"><c r="A1"><v>1</v></c></row>'


def _refused(content: bytes) -> str:
    with pytest.raises(UnreadableFile) as refusal:
        read(content)
    return refusal.value.message


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ('<row r="1"><c r="A1"><v>1</v></c>', "well-formed"),
        ('<row r="1"><c r="A1"><v>1</c></row>', "well-formed"),
        ('<row r="1"><c r="A1" t="str"><v>&unknown;</v></c></row>', "cannot be understood"),
        ('<row r="1"><c r="A1" t="str"><v>\x01</v></c></row>', "well-formed"),
        ('<row r="1"><c r="A1" t="s"><v>7</v></c></row>', "cannot be understood"),
        ('<row r="2"/><row r="1"/>', "row 1 follows row 2"),
        ('<row r="2"/><row r="2"/>', "row 2 follows row 2"),
        ("<row r='2'/><row r='1'/>", "row 1 follows row 2"),
        ('<row r="1048577"/>', "row 1048577"),
        ('<row r="9999999"/>', "row 9999999"),
        ('<row r="0"/>', "row 0"),
        ('<row r="-1"/>', "no row"),
        ('<row r="99999999999999999999"/>', "no row"),
        ('<row r="1"><c r="A2"><v>1</v></c></row>', "no cell of row 1"),
        ('<row r="1"><c r="ZZZZ1"><v>1</v></c></row>', "no cell of row 1"),
        ('<row r="1"><c r="1"><v>1</v></c></row>', "no cell of row 1"),
        ('<row r="1"><c r="XFD1"><v>1</v></c></row>', "XFD1 holds a value"),
        ("<a>" * 200 + "</a>" * 200, "too complex"),
        (f"<row r='1' x='{'y' * 9_000_000}'/>", "too "),
    ],
)
def test_sheets_that_make_no_sense_are_refused(rows: str, words: str) -> None:
    assert words in _refused(workbook(rows))


@pytest.mark.parametrize(
    "sheet",
    [
        "",
        "x",
        "<worksheet/>",
        "<worksheet><sheetData>",
        "<chartsheet></chartsheet>",
        "<a></b>",
        "\0",
    ],
)
def test_a_sheet_without_rows_is_refused(sheet: str) -> None:
    made = parts(_ROW)
    made["xl/worksheets/sheet1.xml"] = sheet.encode()

    assert _refused(zipped(made))


def test_shared_strings_that_make_no_sense_are_refused() -> None:
    for strings in ("", "<sst><si><t>", "x", "<sst><si><t>\x01</t></si></sst>"):
        made = parts(_ROW, strings=[])
        made["xl/sharedStrings.xml"] = strings.encode()
        assert _refused(zipped(made))


def test_bytes_that_are_no_text_are_refused() -> None:
    for form in ('t="str"><v>{}</v>', 't="inlineStr"><is><t>{}</t></is>', 't="x"><v>{}</v>'):
        made = parts(f'<row r="1"><c r="A1" {form.format("BYTES")}</c></row>')
        path = "xl/worksheets/sheet1.xml"
        made[path] = made[path].replace(b"BYTES", b"\xff\xfe")
        assert _refused(zipped(made))
    made = parts('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings=["<t>BYTES</t>"])
    path = "xl/sharedStrings.xml"
    made[path] = made[path].replace(b"BYTES", b"\xff\xfe")
    assert _refused(zipped(made))


class PanicException(BaseException):
    """Has the name and the base of what a Rust extension raises when it breaks down."""


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
def test_a_reader_that_breaks_down_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    method: str,
    error: BaseException,
    expected: type[BaseException],
) -> None:
    def break_down(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(owner, method, break_down)
    with pytest.raises(expected):
        read(workbook(_ROW))


def test_what_the_strings_say_of_their_number_is_not_believed() -> None:
    made = parts('<row r="1"><c r="A1" t="s"><v>0</v></c></row>')
    made["xl/sharedStrings.xml"] = (
        f'<sst xmlns="{MAIN}" count="{2**62}" uniqueCount="{2**62}"><si><t>x</t></si></sst>'
    ).encode()

    assert read(zipped(made))[0].cells == ["x"]


def test_what_the_sheet_says_of_its_size_is_not_believed() -> None:
    sheet = rows_xml(_ROW).replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>')

    assert len(read(workbook(sheet=sheet))) == 1


def test_styles_are_bounded() -> None:
    styles = f'<styleSheet xmlns="{MAIN}"><cellXfs>{"<xf/>" * 65_491}</cellXfs></styleSheet>'

    assert "too many cell styles" in _refused(
        zipped({**parts(_ROW), "xl/styles.xml": styles.encode()})
    )

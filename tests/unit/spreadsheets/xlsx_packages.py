"""Creates workbooks part by part: valid, unusual and malicious ones."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from shared.kernel.spreadsheets.open_table import open_table
from shared.kernel.spreadsheets.table import Row, Table, UnreadableFile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"

type Parts = dict[str, bytes]

ROW = '<row r="1"><c r="A1"><v>1</v></c></row>'
"""A row with one number."""

STYLES = f"""<styleSheet xmlns="{MAIN}"><numFmts>
<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>
<numFmt numFmtId="165" formatCode="0.00&quot; d&quot;"/>
</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>
<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="20"/>
<xf numFmtId="46"/><xf numFmtId="165"/></cellXfs></styleSheet>"""
"""Number formats of cells with s="0" and so on: general, date, custom date, date-time, time,
duration, a number with a word in its format."""


def rows_xml(rows: str) -> str:
    """Return a worksheet with rows."""
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def workbook_parts(
    rows: str = "", *, strings: Sequence[str] | None = None, date1904: str = "0", sheet: str = ""
) -> Parts:
    """Return the parts of a workbook with one sheet.

    Args:
        rows: The XML of its rows.
        strings: The inner XML of each shared string.
        date1904: The attribute of the workbook.
        sheet: The XML of the whole sheet, instead of `rows`.
    """
    package = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Override'
        f' PartName="/xl/workbook.xml" ContentType="{_CONTENT}.sheet.main+xml"/><Override'
        f' PartName="/xl/sharedStrings.xml" ContentType="{_CONTENT}.sharedStrings+xml"/></Types>',
        "_rels/.rels": relationships_xml(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}"><workbookPr'
        f' date1904="{date1904}"/><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": relationships_xml(
            ("worksheet", "worksheets/sheet1.xml"),
            ("styles", "styles.xml"),
            ("sharedStrings", "sharedStrings.xml"),
        ),
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet1.xml": sheet or rows_xml(rows),
    }
    if strings is not None:
        inside = "".join(f"<si>{one}</si>" for one in strings)
        package["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{inside}</sst>'
    return {path: text.encode() for path, text in package.items()}


def relationships_xml(*targets: tuple[str, str]) -> str:
    """Return relationships with the ids r1, r2 and so on, given (last word of the type, target)."""
    inside = "".join(
        f'<Relationship Id="r{number}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def zip_parts(package: Mapping[str, bytes]) -> bytes:
    """Return an archive with parts."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for path, content in package.items():
            archive.writestr(path, content)
    return file.getvalue()


def workbook(rows: str = "", **options: Any) -> bytes:
    """Return a workbook; the options are those of `workbook_parts`."""
    return zip_parts(workbook_parts(rows, **options))


def new_workbook() -> tuple[Workbook, Worksheet]:
    """Return a new openpyxl workbook and its only sheet."""
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    return book, sheet


def workbook_bytes(book: Workbook) -> bytes:
    """Return an openpyxl workbook as .xlsx."""
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def open_content(content: bytes, name: str = "list.xlsx") -> Table:
    """Open a file that is in memory."""
    return open_table(content, name)


def read(content: bytes, name: str = "list.xlsx") -> list[Row]:
    """Return all rows."""
    return list(open_content(content, name).rows())


def cells(content: bytes, name: str = "list.xlsx") -> list[list[Any]]:
    """Return the cells of all rows."""
    return [row.cells for row in read(content, name)]


def refused(content: bytes, name: str = "list.xlsx") -> str:
    """Return the message with which a file is refused."""
    with pytest.raises(UnreadableFile) as refusal:
        read(content, name)
    return str(refusal.value)

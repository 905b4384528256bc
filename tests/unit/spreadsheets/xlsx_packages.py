"""Workbooks written by hand, part by part: good ones, odd ones and hostile ones."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from shared.kernel.spreadsheets.open_table import open_table
from shared.kernel.spreadsheets.table import Row, Table

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"

type Parts = dict[str, bytes]

STYLES = f"""<styleSheet xmlns="{MAIN}"><numFmts>
<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>
<numFmt numFmtId="165" formatCode="0.00&quot; d&quot;"/>
</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>
<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="20"/>
<xf numFmtId="46"/><xf numFmtId="165"/></cellXfs></styleSheet>"""
"""Of cells with s="0" and so on: general, date, date of its own, date-time, time, duration, a
number with a word in its format."""


def rows_xml(rows: str) -> str:
    """Wrap rows into a worksheet."""
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def parts(
    rows: str = "", *, strings: Sequence[str] | None = None, date1904: str = "0", sheet: str = ""
) -> Parts:
    """Write the parts of a workbook with one sheet.

    Args:
        rows: XML of its rows.
        strings: XML inside of each shared string.
        date1904: Attribute of the workbook.
        sheet: XML of the whole sheet, in place of `rows`.
    """
    made = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Override'
        f' PartName="/xl/workbook.xml" ContentType="{_CONTENT}.sheet.main+xml"/><Override'
        f' PartName="/xl/sharedStrings.xml" ContentType="{_CONTENT}.sharedStrings+xml"/></Types>',
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><workbookPr'
        f' date1904="{date1904}"/><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            ("worksheet", "worksheets/sheet1.xml"),
            ("styles", "styles.xml"),
            ("sharedStrings", "sharedStrings.xml"),
        ),
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet1.xml": sheet or rows_xml(rows),
    }
    if strings is not None:
        inside = "".join(f"<si>{one}</si>" for one in strings)
        made["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{inside}</sst>'
    return {path: text.encode() for path, text in made.items()}


def relations(*targets: tuple[str, str]) -> str:
    """Write relationships with the ids r1, r2 and so on, of (last word of the type, target)."""
    inside = "".join(
        f'<Relationship Id="r{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def zipped(made: Mapping[str, bytes]) -> bytes:
    """Pack parts."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for path, content in made.items():
            archive.writestr(path, content)
    return file.getvalue()


def workbook(rows: str = "", **options: Any) -> bytes:
    """Pack a workbook; the options are those of `parts`."""
    return zipped(parts(rows, **options))


def blank() -> tuple[Workbook, Worksheet]:
    """Begin a workbook with openpyxl: the book and its only sheet."""
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    return book, sheet


def saved(book: Workbook) -> bytes:
    """Save with openpyxl."""
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def opened(content: bytes, name: str = "list.xlsx", *, most_rows: int = 1000) -> Table:
    """Open a file in memory."""
    return open_table(content, name, most_rows=most_rows)


def read(content: bytes, name: str = "list.xlsx", *, most_rows: int = 1000) -> list[Row]:
    """Read all rows."""
    return list(opened(content, name, most_rows=most_rows).rows())


def cells(content: bytes, name: str = "list.xlsx") -> list[list[Any]]:
    """Read all rows, without their numbers."""
    return [row.cells for row in read(content, name)]

"""The error report as a spreadsheet.

openpyxl makes the workbook: styles, header, widths. The rows are streamed into it as XML,
which takes a quarter of the time and no temporary file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from openpyxl import Workbook
from openpyxl.cell import Cell as SheetCell
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter

from shared.integration.imports.files.columns import Language, Words
from shared.integration.imports.report.rejected_rows import (
    REPORT_HEADERS,
    RejectedRow,
    RowProblem,
    is_of_report,
)
from shared.kernel.spreadsheets.table import BadCell, Cell

type _Look = Literal["text", "like a formula", "number", "day", "moment", "reason", "header"]

_TITLE = Words("Errors", "Errores")
_SHEET = "xl/worksheets/sheet1.xml"
_DIMENSION = re.compile(rb"<dimension [^>]*>")
_NO_ROWS = b"<sheetData></sheetData>"
_LAST_ROW = 1_048_576
_MOST_COLUMNS = 16_384
_MOST_CHARACTERS = 32_767
_DAY_0 = datetime(1899, 12, 30)  # noqa: DTZ001  spreadsheets know no time zones
_FIRST_DAY = date(1900, 3, 1)
"""Before it spreadsheets do not agree about the number of a day."""

_FORMATS: Mapping[_Look, str] = {
    "text": "@",  # what is typed over it stays text: 007, 1E5
    "like a formula": "@",
    "number": "General",
    "day": "yyyy-mm-dd",
    "moment": "yyyy-mm-dd hh:mm:ss",
    "reason": "@",
    "header": "@",
}
_WIDTHS = (11, 22, 70)
_WIDTH = 18
_RED, _PINK = "9C0006", "FFC7CE"

_LIKE_A_FORMULA = re.compile(r"[\t\r]|\s*[=+@\-\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]")
_NOT_PLAIN = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff&<>_]")
_NOT_ALLOWED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_READ_AS_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


type _Looks = Mapping[_Look, int]
"""Style of a cell by its look, as the workbook numbers it."""


@dataclass(frozen=True, slots=True)
class _Styles:
    """Styles of the columns that the report adds, of the file's own, and of cells that are bad."""

    ours: _Looks
    theirs: _Looks
    bad: _Looks


def write_report(
    rows: Iterable[RejectedRow],
    header: Sequence[str],
    language: Language,
    target: Path | BinaryIO,
) -> None:
    """Write the report as .xlsx, row by row.

    No cell is a formula, and a report that is uploaded again reads as the rows that were sent.
    Columns that an earlier report added are left out. Memory use does not depend on the number
    of rows.

    Args:
        rows: The rejected rows.
        header: The header of the uploaded file.
        language: The language of the added headers.
        target: The file to write.
    """
    added = {number for number, name in enumerate(header) if is_of_report(name)}
    kept = [name for number, name in enumerate(header) if number not in added]
    empty, styles = _empty_book(len(REPORT_HEADERS) + len(kept), language)
    with ZipFile(BytesIO(empty)) as parts, ZipFile(target, "w", ZIP_DEFLATED) as book:
        for name in parts.namelist():
            if name != _SHEET:
                book.writestr(name, parts.read(name))
                continue
            head, _, tail = parts.read(name).partition(_NO_ROWS)
            with book.open(name, "w") as sheet:
                sheet.write(_DIMENSION.sub(b"", head) + b"<sheetData>")
                sheet.write(_row(1, _header(kept, language, styles)))
                for number, row in enumerate(rows, 2):
                    sheet.write(_row(number, _cells(row, header, added, styles)))
                sheet.write(b"</sheetData>" + tail)


# The workbook


def _empty_book(columns: int, language: Language) -> tuple[bytes, _Styles]:
    """Make the report without rows, and the styles for them."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = _TITLE.in_(language)
    last = get_column_letter(min(columns, _MOST_COLUMNS))
    sheet.auto_filter.ref = f"A1:{last}{_LAST_ROW}"
    sheet.freeze_panes = f"{get_column_letter(len(REPORT_HEADERS) + 1)}2"
    widths = [*_WIDTHS, *[_WIDTH] * (columns - len(_WIDTHS))]
    for number, width in enumerate(widths[:_MOST_COLUMNS], 1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    line = Side("thin", color=_RED)
    frame = Border(left=line, right=line, top=line, bottom=line)
    styles = _Styles(
        ours=_looks(book, PatternFill("solid", fgColor=_PINK), Border()),
        theirs=_looks(book, PatternFill(), Border()),
        bad=_looks(book, PatternFill("solid", fgColor=_PINK), frame),
    )
    saved = BytesIO()
    book.save(saved)
    return saved.getvalue(), styles


def _looks(book: Workbook, fill: PatternFill, border: Border) -> _Looks:
    numbers: dict[_Look, int] = {}
    for look, number_format in _FORMATS.items():
        cell = SheetCell(book.worksheets[0], 1, 1)
        cell.number_format = number_format
        cell.fill, cell.border = fill, border
        cell.quotePrefix = look == "like a formula"
        cell.alignment = Alignment(vertical="top", wrap_text=look in {"reason", "header"})
        cell.font = Font("Calibri", 11, bold=look == "header")
        numbers[look] = cell.style_id
    return numbers


# The rows

type _Written = tuple[str, str, int]
"""A cell as XML: type, content, style."""


def _row(number: int, cells: Iterable[_Written | None]) -> bytes:
    inner = "".join(
        f'<c r="{get_column_letter(column)}{number}" s="{cell[2]}"{cell[0]}>{cell[1]}</c>'
        for column, cell in enumerate(cells, 1)
        if cell
    )
    return f'<row r="{number}">{inner}</row>'.encode()


def _header(kept: Sequence[str], language: Language, styles: _Styles) -> Iterator[_Written]:
    for words in REPORT_HEADERS:
        yield _text(words.in_(language), styles.ours, "header")
    for name in kept[: _MOST_COLUMNS - len(REPORT_HEADERS)]:
        yield _text(name, styles.theirs, "header")


def _cells(
    row: RejectedRow, header: Sequence[str], added: set[int], styles: _Styles
) -> Iterator[_Written | None]:
    fields = "\n".join(_name(problem, header) for problem in row.problems)
    reasons = "\n".join(problem.message for problem in row.problems)
    yield _number(row.number, styles.theirs)
    yield _text(fields, styles.theirs, "reason")
    yield _text(reasons, styles.theirs, "reason")
    bad = {problem.column for problem in row.problems if problem.column is not None}
    width = max(len(row.cells), *(column + 1 for column in bad), 0)
    shown = [column for column in range(width) if column not in added]
    for column in shown[: _MOST_COLUMNS - len(REPORT_HEADERS)]:
        value = row.cells[column] if column < len(row.cells) else None
        looks = styles.bad if column in bad else styles.theirs
        yield _cell(value, looks) if value is not None or column in bad else None


def _name(problem: RowProblem, header: Sequence[str]) -> str:
    known = problem.column is not None and problem.column < len(header)
    return (header[problem.column or 0] if known else "") or problem.field


def _cell(value: Cell, looks: _Looks) -> _Written:
    match value:
        case None:
            return "", "", looks["number"]
        case bool():
            return ' t="b"', f"<v>{value:d}</v>", looks["number"]
        case int() | Decimal():
            return _number(value, looks)
        case date():
            return _moment(value, looks)
        case str() | time() | BadCell():
            return _text(str(value), looks)


def _number(value: int | Decimal, looks: _Looks) -> _Written:
    # A spreadsheet keeps numbers as binary floats: others come back as they were as text only.
    if Decimal(repr(float(value))) == value:
        return "", f"<v>{value}</v>", looks["number"]
    return _text(str(value), looks)


def _moment(value: date, looks: _Looks) -> _Written:
    look: _Look = "moment" if isinstance(value, datetime) else "day"
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    if moment.tzinfo or moment.date() < _FIRST_DAY:
        return _text(value.isoformat(), looks)
    return "", f"<v>{(moment - _DAY_0) / timedelta(days=1)}</v>", looks[look]


def _text(value: str, looks: _Looks, look: _Look = "text") -> _Written:
    if _LIKE_A_FORMULA.match(value):
        look = "like a formula"
    space = ' xml:space="preserve"' if value != value.strip() else ""
    return ' t="inlineStr"', f"<is><t{space}>{_escaped(value)}</t></is>", looks[look]


def _escaped(value: str) -> str:
    """Write text so that every reader of .xlsx finds it as it was.

    What XML does not allow is shown as a sign for it; `_x0041_` is how .xlsx writes a
    character by its number, so a text that looks like that must say it does not mean it.
    """
    if len(value) > _MOST_CHARACTERS // 2:
        # The limit counts UTF-16 units.
        units = value.encode("utf-16-le", "surrogatepass")[: 2 * _MOST_CHARACTERS]
        value = units.decode("utf-16-le", "ignore")
    if not _NOT_PLAIN.search(value):
        return value
    allowed = _NOT_ALLOWED.sub(_sign, value)
    return escape(_READ_AS_ESCAPE.sub("_x005F_", allowed)).replace("\r", "_x000D_")


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < ord(" ") else "\ufffd"

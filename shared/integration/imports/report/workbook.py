"""Writes the error report as a workbook.

openpyxl creates the workbook with its styles, header and widths. The rows are streamed into it as
XML, which takes a quarter of the time and no temporary file.
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

from shared.integration.imports.languages import BilingualText, Language
from shared.integration.imports.report.reasons import reason_in
from shared.integration.imports.report.rejected_rows import (
    REPORT_HEADERS,
    SKIPPED_SHEET,
    RejectedRow,
    RowProblem,
    is_report_header,
)
from shared.kernel.spreadsheets.table import MAX_ROWS, Cell, InvalidCell

type _CellStyle = Literal[
    "text", "formula-like text", "number", "date", "datetime", "problem", "header"
]

_TITLE = BilingualText("Errors", "Errores")
_DIMENSION = re.compile(rb"<dimension [^>]*>")
_EMPTY_SHEET_DATA = b"<sheetData></sheetData>"
_MAX_COLUMNS = 16_384
_MAX_CHARACTERS = 32_767
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001  spreadsheets have no time zones
_FIRST_DAY = date(1900, 3, 1)
"""Spreadsheet programs disagree about the serial numbers of earlier days."""

_NUMBER_FORMATS: Mapping[_CellStyle, str] = {
    "text": "@",  # corrections such as 007 and 1E5 remain text
    "formula-like text": "@",
    "number": "General",
    "date": "yyyy-mm-dd",
    "datetime": "yyyy-mm-dd hh:mm:ss",
    "problem": "@",
    "header": "@",
}
_REPORT_WIDTHS = (11, 22, 70)
_FILE_COLUMN_WIDTH = 18
_RED, _PINK = "9C0006", "FFC7CE"

_ERROR_VALUES = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}
"""What a cell with an error may contain in every spreadsheet program."""
_FORMULA_LIKE = re.compile(r"[\t\r]|\s*[=+@\-\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]")
_NEEDS_ESCAPING = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff&<>_]")
_NOT_ALLOWED_IN_XML = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_LOOKS_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


type _StyleIds = Mapping[_CellStyle, int]
"""Style id in the workbook of each cell style."""


@dataclass(frozen=True, slots=True)
class _Styles:
    """Style ids of the report's own header, of other cells, and of cells with a problem."""

    report_header: _StyleIds
    normal: _StyleIds
    problem: _StyleIds


def write_report(
    rows: Iterable[RejectedRow],
    header: Sequence[str],
    language: Language,
    target: Path | BinaryIO,
    *,
    skipped: Iterable[RejectedRow] | None = None,
) -> None:
    """Write the report as .xlsx, row by row; `skipped` are rows of a second sheet.

    No cell is a formula. When the report is uploaded, its rows are read as they were sent: a cell
    that was refused because it has no usable value has none in the report. Columns that an earlier
    report added are left out. Memory use does not depend on the number of rows. The language is
    that of the headers that the report adds, and of the reasons.
    """
    report_columns = {number for number, name in enumerate(header) if is_report_header(name)}
    file_headers = [name for number, name in enumerate(header) if number not in report_columns]
    sheets = {_TITLE: rows} if skipped is None else {_TITLE: rows, SKIPPED_SHEET: skipped}
    titles = [title.in_(language) for title in sheets]
    empty, styles = _empty_workbook(len(REPORT_HEADERS) + len(file_headers), titles)
    by_part = {f"xl/worksheets/sheet{at}.xml": one for at, one in enumerate(sheets.values(), 1)}
    with ZipFile(BytesIO(empty)) as parts, ZipFile(target, "w", ZIP_DEFLATED) as book:
        for name in parts.namelist():
            if name not in by_part:
                book.writestr(name, parts.read(name))
                continue
            head, _, tail = parts.read(name).partition(_EMPTY_SHEET_DATA)
            with book.open(name, "w") as sheet:
                sheet.write(_DIMENSION.sub(b"", head) + b"<sheetData>")
                sheet.write(_row(1, _header(file_headers, language, styles)))
                for number, row in enumerate(by_part[name], 2):
                    reasons = "\n".join(reason_in(language, one.message) for one in row.problems)
                    sheet.write(_row(number, _cells(row, reasons, header, report_columns, styles)))
                sheet.write(b"</sheetData>" + tail)


def _empty_workbook(columns: int, titles: Sequence[str]) -> tuple[bytes, _Styles]:
    """Return the report without rows, and the styles for its rows."""
    book = Workbook()
    book.remove(book.worksheets[0])
    last = get_column_letter(min(columns, _MAX_COLUMNS))
    widths = [*_REPORT_WIDTHS, *[_FILE_COLUMN_WIDTH] * (columns - len(_REPORT_WIDTHS))]
    for title in titles:
        sheet = book.create_sheet(title)
        sheet.auto_filter.ref = f"A1:{last}{MAX_ROWS}"
        sheet.freeze_panes = f"{get_column_letter(len(REPORT_HEADERS) + 1)}2"
        for number, width in enumerate(widths[:_MAX_COLUMNS], 1):
            sheet.column_dimensions[get_column_letter(number)].width = width
    line = Side("thin", color=_RED)
    frame = Border(left=line, right=line, top=line, bottom=line)
    styles = _Styles(
        report_header=_create_styles(book, PatternFill("solid", fgColor=_PINK), Border()),
        normal=_create_styles(book, PatternFill(), Border()),
        problem=_create_styles(book, PatternFill("solid", fgColor=_PINK), frame),
    )
    saved = BytesIO()
    book.save(saved)
    return saved.getvalue(), styles


def _create_styles(book: Workbook, fill: PatternFill, border: Border) -> _StyleIds:
    ids: dict[_CellStyle, int] = {}
    for style, number_format in _NUMBER_FORMATS.items():
        cell = SheetCell(book.worksheets[0], 1, 1)
        cell.number_format = number_format
        cell.fill, cell.border = fill, border
        cell.quotePrefix = style == "formula-like text"
        cell.alignment = Alignment(vertical="top", wrap_text=style in {"problem", "header"})
        cell.font = Font("Calibri", 11, bold=style == "header")
        ids[style] = cell.style_id
    return ids


type _XmlCell = tuple[str, str, int]
"""A cell as XML: type attribute, content, style id."""


def _row(number: int, cells: Iterable[_XmlCell | None]) -> bytes:
    inner = "".join(
        f'<c r="{get_column_letter(column)}{number}" s="{cell[2]}"{cell[0]}>{cell[1]}</c>'
        for column, cell in enumerate(cells, 1)
        if cell
    )
    return f'<row r="{number}">{inner}</row>'.encode()


def _header(file_headers: Sequence[str], language: Language, styles: _Styles) -> Iterator[_XmlCell]:
    for words in REPORT_HEADERS:
        yield _text(words.in_(language), styles.report_header, "header")
    for name in file_headers[: _MAX_COLUMNS - len(REPORT_HEADERS)]:
        yield _text(name, styles.normal, "header")


def _cells(
    row: RejectedRow,
    reasons: str,
    header: Sequence[str],
    report_columns: set[int],
    styles: _Styles,
) -> Iterator[_XmlCell | None]:
    fields = "\n".join(_field_name(problem, header) for problem in row.problems)
    yield _number(row.number, styles.normal)
    yield _text(fields, styles.normal, "problem")
    yield _text(reasons, styles.normal, "problem")
    problem_columns = {problem.column for problem in row.problems if problem.column is not None}
    width = max(len(row.cells), *(column + 1 for column in problem_columns), 0)
    shown = [column for column in range(width) if column not in report_columns]
    for column in shown[: _MAX_COLUMNS - len(REPORT_HEADERS)]:
        value = row.cells[column] if column < len(row.cells) else None
        is_problem = column in problem_columns
        style_ids = styles.problem if is_problem else styles.normal
        if isinstance(value, InvalidCell) and is_problem:
            yield _error(value, style_ids)
        else:
            yield _cell(value, style_ids) if value is not None or is_problem else None


def _field_name(problem: RowProblem, header: Sequence[str]) -> str:
    known = problem.column is not None and problem.column < len(header)
    return (header[problem.column or 0] if known else "") or problem.field


def _cell(value: Cell, style_ids: _StyleIds) -> _XmlCell:
    match value:
        case None:
            return "", "", style_ids["number"]
        case bool():
            return ' t="b"', f"<v>{value:d}</v>", style_ids["number"]
        case int() | Decimal():
            return _number(value, style_ids)
        case date():
            return _date(value, style_ids)
        case str() | time() | InvalidCell():
            return _text(str(value), style_ids)


def _error(value: InvalidCell, style_ids: _StyleIds) -> _XmlCell:
    # A text would be accepted when the report is uploaded. The reason has what the cell displays.
    text = value.text if value.text in _ERROR_VALUES else "#VALUE!"
    return ' t="e"', f"<v>{text}</v>", style_ids["number"]


def _number(value: int | Decimal, style_ids: _StyleIds) -> _XmlCell:
    # Spreadsheets store numbers as binary floats. Other numbers are preserved only as text.
    if Decimal(repr(float(value))) == value:
        return "", f"<v>{value}</v>", style_ids["number"]
    return _text(str(value), style_ids)


def _date(value: date, style_ids: _StyleIds) -> _XmlCell:
    style: _CellStyle = "datetime" if isinstance(value, datetime) else "date"
    timestamp = value if isinstance(value, datetime) else datetime.combine(value, time())
    if timestamp.tzinfo or timestamp.date() < _FIRST_DAY:
        return _text(value.isoformat(), style_ids)
    return "", f"<v>{(timestamp - _EPOCH) / timedelta(days=1)}</v>", style_ids[style]


def _text(value: str, style_ids: _StyleIds, style: _CellStyle = "text") -> _XmlCell:
    if _FORMULA_LIKE.match(value):
        style = "formula-like text"
    space = ' xml:space="preserve"' if value != value.strip() else ""
    return ' t="inlineStr"', f"<is><t{space}>{_escaped(value)}</t></is>", style_ids[style]


def _escaped(value: str) -> str:
    """Return text as XML that every reader of .xlsx reads back unchanged.

    In .xlsx, `_x0041_` denotes a character by its code. Control characters, which XML does not
    allow, are written so, and refused again when the report is uploaded. The underscore of a text
    that looks like this is escaped. Unpaired surrogates and noncharacters are replaced.
    """
    if len(value) > _MAX_CHARACTERS // 2:
        # The limit counts UTF-16 units.
        units = value.encode("utf-16-le", "surrogatepass")[: 2 * _MAX_CHARACTERS]
        value = units.decode("utf-16-le", "ignore")
    if not _NEEDS_ESCAPING.search(value):
        return value
    text = escape(_LOOKS_ESCAPED.sub("_x005F_", value))
    return _NOT_ALLOWED_IN_XML.sub(_code_or_symbol, text)


def _code_or_symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"_x{code:04X}_" if code < ord(" ") else "\ufffd"

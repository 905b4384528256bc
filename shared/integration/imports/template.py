"""Creates the workbook of a template: a sheet to fill in, and a sheet of instructions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from io import BytesIO
from textwrap import wrap
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet
from openpyxl.writer.excel import ExcelWriter

from shared.integration.imports.files.columns import CellType, Column, FileLayout
from shared.integration.imports.files.sample_rows import sample_cell
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind
from shared.integration.imports.templates.instructions import (
    HEADINGS,
    REQUIRED,
    TITLE,
    UNKNOWN_CHOICE,
    file_rules,
)

_LAST_ROW = 1_048_576
_NUMBER_FORMATS: Mapping[CellType, str] = {
    "decimal": "General",
    "integer": "0",
    "date": "yyyy-mm-dd",
    "datetime": "yyyy-mm-dd hh:mm",
}
_TEXT_FORMAT = "@"
"""Number format of the other columns, which preserves leading zeros."""
_REQUIRED_FILL = PatternFill("solid", fgColor="1F4E78")
_OPTIONAL_FILL = PatternFill("solid", fgColor="DDEBF7")
_FONT = "Calibri"
_INSTRUCTION_WIDTHS = (24, 12, 70, 24)
_MIN_WIDTH, _MAX_WIDTH = 14, 40


def template_workbook(kind: ImportKind, language: Language) -> bytes:
    """Return the template of a kind as .xlsx."""
    layout = importer_of(kind).layout
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = layout.title.in_(language)
    instructions = book.create_sheet(TITLE.in_(language))
    choices = _write_instructions(instructions, layout, language)
    sheet.freeze_panes = "A2"
    for number, column in enumerate(layout.columns, 1):
        _write_column(sheet, number, column, language)
        if column.field in choices:
            letter = get_column_letter(number)
            validation = _drop_down(choices[column.field], language)
            validation.add(f"{letter}2:{letter}{_LAST_ROW}")
            sheet.add_data_validation(validation)
    return workbook_bytes(book)


def _write_column(sheet: Worksheet, number: int, column: Column, language: Language) -> None:
    name = column.header.in_(language) + (" *" if column.required else "")
    header = sheet.cell(1, number, name)
    header.font = Font(
        _FONT, 11, bold=column.required, color="FFFFFF" if column.required else "000000"
    )
    header.fill = _REQUIRED_FILL if column.required else _OPTIONAL_FILL
    example = column.example.in_(language)
    sample = sheet.cell(2, number, sample_cell(column, language))
    sample.font = Font(_FONT, 11, italic=True, color="808080")
    dimension = sheet.column_dimensions[get_column_letter(number)]
    dimension.number_format = sample.number_format = _NUMBER_FORMATS.get(
        column.cell_type, _TEXT_FORMAT
    )
    dimension.width = min(max(len(name) + 2, len(example) + 2, _MIN_WIDTH), _MAX_WIDTH)


def _drop_down(choices: str, language: Language) -> DataValidation:
    """Return a drop-down list of a cell range. Other values are accepted after a warning."""
    return DataValidation(
        type="list",
        formula1=choices,
        allow_blank=True,
        showErrorMessage=True,
        errorStyle="warning",
        error=UNKNOWN_CHOICE.in_(language),
    )


def _write_instructions(
    sheet: Worksheet, layout: FileLayout, language: Language
) -> Mapping[str, str]:
    """Write the sheet of instructions; return the cell range of each field's choices."""
    sheet.append([layout.title.in_(language)])
    sheet["A1"].font = Font(_FONT, 14, bold=True)
    for rule in file_rules(layout, language):
        for line in wrap(
            rule, sum(_INSTRUCTION_WIDTHS), initial_indent="• ", subsequent_indent="   "
        ):
            sheet.append([line])
    sheet.append([])
    sheet.append([heading.in_(language) for heading in HEADINGS])
    for cell in sheet[sheet.max_row]:
        cell.font, cell.fill = Font(_FONT, 11, bold=True), _OPTIONAL_FILL
    choices: dict[str, str] = {}
    for column in layout.columns:
        sheet.append(list(_description(column, language)))
        row = sheet.max_row
        sheet.cell(row, 1).font = Font(_FONT, 11, bold=column.required)
        sheet.cell(row, 3).alignment = Alignment(wrap_text=True, vertical="top")
        if column.choices:
            first = len(HEADINGS)
            last = first + len(column.choices) - 1
            cells = f"${get_column_letter(first)}${row}:${get_column_letter(last)}${row}"
            choices[column.field] = f"{quote_sheetname(sheet.title)}!{cells}"
    for number, width in enumerate(_INSTRUCTION_WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    return choices


def _description(column: Column, language: Language) -> Iterator[str]:
    yield column.header.in_(language)
    yield REQUIRED.in_(language) if column.required else ""
    yield column.description.in_(language)
    yield column.example.in_(language)
    for choice in column.choices:
        yield choice.in_(language)


_SAVED_AT = datetime(2026, 1, 1)  # noqa: DTZ001  spreadsheets have no time zones


def workbook_bytes(book: Workbook) -> bytes:
    """Return a workbook as .xlsx, with a fixed time of creation."""
    book.properties.created = book.properties.modified = _SAVED_AT
    book.properties.creator = "Stowage"
    saved, reproducible = BytesIO(), BytesIO()
    # Workbook.save() would write the current time.
    ExcelWriter(book, ZipFile(saved, "w")).save()
    with ZipFile(saved) as parts, ZipFile(reproducible, "w") as archive:
        for name in parts.namelist():
            info = ZipInfo(name, _SAVED_AT.timetuple()[:6])
            archive.writestr(info, parts.read(name), ZIP_DEFLATED)
    return reproducible.getvalue()

"""The sheets of a template: one to fill in, one that says how."""

from collections.abc import Iterator, Mapping
from textwrap import wrap

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from shared.integration.imports.files.columns import Column, Form, ImportKind, Language, Layout
from shared.integration.imports.files.sample_rows import sample_cell
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.templates.instructions import (
    HEADINGS,
    NOT_A_CHOICE,
    REQUIRED,
    TITLE,
    rules,
)
from shared.integration.imports.templates.reproducible_workbook import workbook_bytes

_LAST_ROW = 1_048_576
_FORMATS: Mapping[Form, str] = {
    "number": "General",
    "whole": "0",
    "day": "yyyy-mm-dd",
    "moment": "yyyy-mm-dd hh:mm",
}
_TEXT = "@"
"""Format of the other columns: leading zeros stay."""
_REQUIRED = PatternFill("solid", fgColor="1F4E78")
_OPTIONAL = PatternFill("solid", fgColor="DDEBF7")
_FONT = "Calibri"
_WIDTHS = (24, 12, 70, 24)
_NARROWEST, _WIDEST = 14, 40


def made(kind: ImportKind, language: Language) -> bytes:
    """Make the template; see `shared.integration.imports.templates.template`."""
    layout = LAYOUTS[kind]
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
    header.fill = _REQUIRED if column.required else _OPTIONAL
    example = column.example.in_(language)
    sample = sheet.cell(2, number, sample_cell(column, language))
    sample.font = Font(_FONT, 11, italic=True, color="808080")
    whole_column = sheet.column_dimensions[get_column_letter(number)]
    whole_column.number_format = sample.number_format = _FORMATS.get(column.form, _TEXT)
    whole_column.width = min(max(len(name) + 2, len(example) + 2, _NARROWEST), _WIDEST)


def _drop_down(choices: str, language: Language) -> DataValidation:
    """Offer the choices of a range; other words are let through after a warning."""
    return DataValidation(
        type="list",
        formula1=choices,
        allow_blank=True,
        showErrorMessage=True,
        errorStyle="warning",
        error=NOT_A_CHOICE.in_(language),
    )


def _write_instructions(sheet: Worksheet, layout: Layout, language: Language) -> Mapping[str, str]:
    """Write the sheet that says how; field → range of its choices on it."""
    sheet.append([layout.title.in_(language)])
    sheet["A1"].font = Font(_FONT, 14, bold=True)
    for rule in rules(layout, language):
        for line in wrap(rule, sum(_WIDTHS), initial_indent="• ", subsequent_indent="   "):
            sheet.append([line])
    sheet.append([])
    sheet.append([heading.in_(language) for heading in HEADINGS])
    for cell in sheet[sheet.max_row]:
        cell.font, cell.fill = Font(_FONT, 11, bold=True), _OPTIONAL
    choices: dict[str, str] = {}
    for column in layout.columns:
        sheet.append(list(_described(column, language)))
        row = sheet.max_row
        sheet.cell(row, 1).font = Font(_FONT, 11, bold=column.required)
        sheet.cell(row, 3).alignment = Alignment(wrap_text=True, vertical="top")
        if column.choices:
            first = len(HEADINGS)
            last = first + len(column.choices) - 1
            cells = f"${get_column_letter(first)}${row}:${get_column_letter(last)}${row}"
            choices[column.field] = f"{quote_sheetname(sheet.title)}!{cells}"
    for number, width in enumerate(_WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    return choices


def _described(column: Column, language: Language) -> Iterator[str]:
    yield column.header.in_(language)
    yield REQUIRED.in_(language) if column.required else ""
    yield column.note.in_(language)
    yield column.example.in_(language)
    for choice in column.choices:
        yield choice.in_(language)

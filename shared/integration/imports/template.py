"""The templates of import kinds: workbooks that users fill in and upload."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from io import BytesIO
from textwrap import wrap
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet
from openpyxl.writer.excel import ExcelWriter

from shared.identity.tenancy.tenant import PLANS
from shared.integration.imports.files.columns import CellType, Column, FileLayout
from shared.integration.imports.files.sample_rows import sample_cell
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import BilingualText, Language
from shared.integration.imports.models import ImportKind
from shared.kernel.spreadsheets.table import MAX_ROWS

_TITLE = BilingualText("Instructions", "Instrucciones")
_HEADINGS: Sequence[BilingualText] = (
    BilingualText("Column", "Columna"),
    BilingualText("Required", "Obligatoria"),
    BilingualText("Content", "Contenido"),
    BilingualText("Example", "Ejemplo"),
    BilingualText("Choices", "Valores posibles"),
)
_REQUIRED = BilingualText("yes", "sí")
_UNKNOWN_CHOICE = BilingualText(
    "This value is not in the list. Values of the list in the other language are accepted.",
    "Este valor no está en la lista. Se aceptan los valores de la lista en el otro idioma.",
)

_RULES: Mapping[BilingualText, set[CellType]] = {
    BilingualText(
        "Columns marked * are required. Other columns may be empty or missing. The order of"
        " columns does not matter. Columns with unknown headers are ignored.",
        "Las columnas marcadas con * son obligatorias. Las demás pueden estar vacías o faltar."
        " El orden no importa. Las columnas con títulos desconocidos se ignoran.",
    ): set(),
    BilingualText(
        "The grey sample row is ignored unless it is changed. It may be deleted.",
        "La fila de ejemplo en gris se ignora si no se modifica. Se puede borrar.",
    ): set(),
    BilingualText(
        "Dates: date cells, or text such as 2026-01-31 or 31/01/2026.",
        "Fechas: celdas de fecha, o texto como 2026-01-31 o 31/01/2026.",
    ): {"date", "datetime"},
    BilingualText(
        "Numbers: without units, with a decimal point or a decimal comma.",
        "Números: sin unidades, con punto decimal o coma decimal.",
    ): {"decimal", "integer"},
    BilingualText("Yes or no: yes, no.", "Sí o no: sí, no."): {"boolean"},
    BilingualText(
        "Codes are text: 007 remains 007.",
        "Los códigos son texto: 007 sigue siendo 007.",
    ): set(),
    BilingualText(
        "Formulas and merged cells are not accepted. Paste values instead.",
        "No se aceptan fórmulas ni celdas combinadas. Pegue valores.",
    ): set(),
    BilingualText(
        "Save the file as .xlsx or .csv. Only the first visible sheet is read.",
        "Guarde el archivo como .xlsx o .csv. Solo se lee la primera hoja visible.",
    ): set(),
}
"""Rule → the cell types that it concerns. An empty set means every file."""
_METADATA_RULE = BilingualText(
    "A column metadata.NAME, with a name of your choice, keeps texts of your own system.",
    "Una columna metadata.NOMBRE, con un nombre a su elección, guarda textos de su propio sistema.",
)
_LINE_METADATA_RULE = BilingualText(
    "A column lines.metadata.NAME keeps those of a line.",
    "Una columna lines.metadata.NOMBRE guarda los de una línea.",
)


def _file_rules(layout: FileLayout, language: Language) -> Iterator[str]:
    """Yield the rules for the whole sheet, one or two sentences each."""
    yield _row_rule(layout).in_(language)
    cell_types = {column.cell_type for column in layout.columns}
    for rule, concerned in _RULES.items():
        if not concerned or concerned & cell_types:
            yield rule.in_(language)
    if layout.has_metadata:
        yield _METADATA_RULE.in_(language)
        if layout.group_by:
            yield _LINE_METADATA_RULE.in_(language)
    yield _row_limits().in_(language)


def _row_rule(layout: FileLayout) -> BilingualText:
    if layout.group_by:
        return BilingualText(
            "Each row is one line. Rows with the same"
            f" {_join(layout, layout.group_by, 'en')} belong together. Their"
            f" {_join(layout, _head_fields(layout), 'en')} must be the same, or be given only in"
            " the first of these rows.",
            "Cada fila es una línea. Las filas que coinciden en"
            f" {_join(layout, layout.group_by, 'es')} van juntas."
            f" {_join(layout, _head_fields(layout), 'es')} deben ser iguales en todas, o indicarse"
            " solo en la primera.",
        )
    fields = [*layout.unique_fields, *layout.distinct_fields]
    return BilingualText(
        f"No two rows may have the same {_join(layout, fields, 'en')}.",
        f"No puede haber dos filas que coincidan en {_join(layout, fields, 'es')}.",
    )


def _head_fields(layout: FileLayout) -> Sequence[str]:
    return [
        column.field
        for column in layout.columns
        if not column.is_line_field and column.field not in layout.group_by
    ]


def _join(layout: FileLayout, fields: Sequence[str], language: Language) -> str:
    *names, last = [layout.by_field[field].header.in_(language) for field in fields]
    conjunction = BilingualText("and", "y").in_(language)
    return f"{', '.join(names)} {conjunction} {last}" if names else last


def _row_limits() -> BilingualText:
    english = ", ".join(
        f"{plan.limits['rows_per_import']:,} ({name.capitalize()})" for name, plan in PLANS.items()
    )
    spanish = english.translate({ord(","): "."}).replace("). ", "), ")
    return BilingualText(
        f"Rows per file, by plan: {english}.", f"Filas por archivo, según el plan: {spanish}."
    )


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


@cache
def template(kind: ImportKind, language: Language) -> bytes:
    """Return the template of a kind as .xlsx; repeated calls return the same bytes.

    The first sheet is the one to fill in: the header, in which required columns are marked, and a
    sample row that is ignored on upload. The second sheet has instructions.
    """
    layout = importer_of(kind).layout
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = layout.title.in_(language)
    instructions = book.create_sheet(_TITLE.in_(language))
    choices = _write_instructions(instructions, layout, language)
    sheet.freeze_panes = "A2"
    for number, column in enumerate(layout.columns, 1):
        _write_column(sheet, number, column, language)
        if column.field in choices:
            letter = get_column_letter(number)
            validation = _drop_down(choices[column.field], language)
            validation.add(f"{letter}2:{letter}{MAX_ROWS}")
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
        error=_UNKNOWN_CHOICE.in_(language),
    )


def _write_instructions(
    sheet: Worksheet, layout: FileLayout, language: Language
) -> Mapping[str, str]:
    """Write the sheet of instructions; return the cell range of each field's choices."""
    sheet.append([layout.title.in_(language)])
    sheet["A1"].font = Font(_FONT, 14, bold=True)
    for rule in _file_rules(layout, language):
        for line in wrap(
            rule, sum(_INSTRUCTION_WIDTHS), initial_indent="• ", subsequent_indent="   "
        ):
            sheet.append([line])
    sheet.append([])
    sheet.append([heading.in_(language) for heading in _HEADINGS])
    for cell in sheet[sheet.max_row]:
        cell.font, cell.fill = Font(_FONT, 11, bold=True), _OPTIONAL_FILL
    choices: dict[str, str] = {}
    for column in layout.columns:
        sheet.append(list(_description(column, language)))
        row = sheet.max_row
        sheet.cell(row, 1).font = Font(_FONT, 11, bold=column.required)
        sheet.cell(row, 3).alignment = Alignment(wrap_text=True, vertical="top")
        if column.choices:
            first = len(_HEADINGS)
            last = first + len(column.choices) - 1
            cells = f"${get_column_letter(first)}${row}:${get_column_letter(last)}${row}"
            choices[column.field] = f"{quote_sheetname(sheet.title)}!{cells}"
    for number, width in enumerate(_INSTRUCTION_WIDTHS, 1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    return choices


def _description(column: Column, language: Language) -> Iterator[str]:
    yield column.header.in_(language)
    yield _REQUIRED.in_(language) if column.required else ""
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

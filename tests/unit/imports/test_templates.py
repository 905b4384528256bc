"""The contents of templates: header, sample row, drop-down lists and instructions."""

from io import BytesIO
from zipfile import ZipFile

import openpyxl
from openpyxl.utils import get_column_letter, range_boundaries
from openpyxl.workbook import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from shared.identity.tenancy.tenant import PLANS
from shared.integration.imports.files.columns import normalize_header
from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind
from shared.integration.imports.template import template
from tests.unit.imports.layouts import EACH_KIND, EACH_KIND_AND_LANGUAGE, LAYOUTS

ORDERS: ImportKind = "exit_documents"


def opened(kind: ImportKind, language: Language) -> Workbook:
    return openpyxl.load_workbook(BytesIO(template(kind, language)))


def form_sheet(kind: ImportKind, language: Language) -> Worksheet:
    return opened(kind, language).worksheets[0]


def instructions(kind: ImportKind, language: Language) -> Worksheet:
    return opened(kind, language).worksheets[1]


@EACH_KIND
def test_a_header_belongs_to_one_column(kind: ImportKind) -> None:
    layout = LAYOUTS[kind]
    further = [
        normalize_header(header)
        for column in layout.columns
        for header in (*column.synonyms, *column.aliases)
    ]
    further += [normalize_header(one.header) for one in layout.ambiguous]
    documented = [header for column in layout.columns for header in column.documented_headers()]
    assert len({*documented, *further}) == len(documented) + len(further)


@EACH_KIND
def test_an_example_is_one_of_the_choices(kind: ImportKind) -> None:
    for column in LAYOUTS[kind].columns:
        if column.choices:
            assert column.example.en in {choice.en for choice in column.choices}
            assert column.example.es in {choice.es for choice in column.choices}


@EACH_KIND_AND_LANGUAGE
def test_required_columns_are_marked(kind: ImportKind, language: Language) -> None:
    for cell, column in zip(form_sheet(kind, language)[1], LAYOUTS[kind].columns, strict=True):
        assert str(cell.value).endswith(" *") == column.required
        assert bool(cell.font.b) == column.required


@EACH_KIND_AND_LANGUAGE
def test_the_sheet_to_fill_in_is_the_first_and_has_the_name_of_the_kind(
    kind: ImportKind, language: Language
) -> None:
    book = opened(kind, language)
    assert book.sheetnames[0] == LAYOUTS[kind].title.in_(language)
    assert len(book.sheetnames) == 2
    assert book.active is book.worksheets[0]
    assert book.worksheets[0].freeze_panes == "A2"


@EACH_KIND_AND_LANGUAGE
def test_text_columns_have_the_text_format(kind: ImportKind, language: Language) -> None:
    sheet = form_sheet(kind, language)
    formats = {
        column.field: sheet.column_dimensions[get_column_letter(number)].number_format
        for number, column in enumerate(LAYOUTS[kind].columns, 1)
    }
    for column in LAYOUTS[kind].columns:
        assert (formats[column.field] == "@") == (column.cell_type in {"text", "list", "boolean"})
        assert ("yyyy" in formats[column.field]) == (column.cell_type in {"date", "datetime"})


@EACH_KIND_AND_LANGUAGE
def test_drop_down_lists_apply_to_every_row(kind: ImportKind, language: Language) -> None:
    book = opened(kind, language)
    offered = {}
    for validation in book.worksheets[0].data_validations.dataValidation:
        sheet, _, cells = str(validation.formula1).rpartition("!")
        column, first, same, last = range_boundaries(str(validation.sqref))
        assert column
        assert column == same
        assert (first, last) == (2, 1_048_576)
        # A cell range: the separator of a written list depends on the settings of the machine.
        offered[LAYOUTS[kind].columns[column - 1].field] = [
            cell.value for row in book[sheet.strip("'")][cells.replace("$", "")] for cell in row
        ]
        # Values in the other language are accepted after a warning.
        assert validation.errorStyle == "warning"
        assert validation.type == "list"
    assert offered == {
        column.field: [choice.in_(language) for choice in column.choices]
        for column in LAYOUTS[kind].columns
        if column.choices
    }


@EACH_KIND_AND_LANGUAGE
def test_the_instructions_describe_every_column(kind: ImportKind, language: Language) -> None:
    rows = {row[0]: row[1:] for row in instructions(kind, language).values}
    for column in LAYOUTS[kind].columns:
        required, description, example, *_ = rows[column.header.in_(language)]
        assert (required == {"en": "yes", "es": "sí"}[language]) == column.required
        assert description == column.description.in_(language)
        assert example == column.example.in_(language)


@EACH_KIND_AND_LANGUAGE
def test_the_instructions_have_the_row_limits_of_each_plan(
    kind: ImportKind, language: Language
) -> None:
    text = "\n".join(str(row[0]) for row in instructions(kind, language).values if row[0])
    comma = {"en": ",", "es": "."}[language]
    for name, plan in PLANS.items():
        rows = f"{plan.limits['rows_per_import']:,}".replace(",", comma)
        assert f"{rows} ({name.capitalize()})" in text


def test_the_instructions_name_the_fields_that_rows_have_in_common() -> None:
    text = " ".join(str(row[0]) for row in instructions(ORDERS, "es").values if row[0])
    text = " ".join(text.split())
    assert "Las filas que coinciden en Referencia y Tipo van juntas" in text
    assert "Servicio del transportista y Comentarios deben ser iguales en todas" in text


def test_the_instructions_cover_only_the_cell_types_of_the_kind() -> None:
    faces = " ".join(str(row[0]) for row in instructions("pick_faces", "en").values)
    assert "Numbers" in faces
    assert "Dates" not in faces
    assert "No two rows may have the same Item code, Warehouse and Position." in faces


@EACH_KIND_AND_LANGUAGE
def test_a_template_always_has_the_same_bytes(kind: ImportKind, language: Language) -> None:
    assert template.__wrapped__(kind, language) == template(kind, language)
    with ZipFile(BytesIO(template(kind, language))) as parts:
        assert {info.date_time for info in parts.infolist()} == {(2026, 1, 1, 0, 0, 0)}
        assert parts.read("docProps/core.xml").count(b"2026-01-01T00:00:00Z") == 2

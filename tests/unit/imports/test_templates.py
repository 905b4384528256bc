"""Templates: what people get to fill in."""

from io import BytesIO
from zipfile import ZipFile

import openpyxl
import pytest
from openpyxl.utils import get_column_letter, range_boundaries
from openpyxl.workbook import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from shared.identity.tenancy.tenant import PLANS
from shared.integration.imports.files.columns import LANGUAGES, Language, Layout, normalize_header
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.templates.template import template
from shared.integration.imports.templates.workbook import made

EACH = pytest.mark.parametrize(
    ("layout", "language"),
    [(layout, language) for layout in LAYOUTS.values() for language in LANGUAGES],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
ORDERS = LAYOUTS["exit_documents"]


def opened(layout: Layout, language: Language) -> Workbook:
    return openpyxl.load_workbook(BytesIO(template(layout.kind, language)))


def form(layout: Layout, language: Language) -> Worksheet:
    return opened(layout, language).worksheets[0]


def instructions(layout: Layout, language: Language) -> Worksheet:
    return opened(layout, language).worksheets[1]


# The layouts themselves


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: str(layout.kind))
def test_a_header_means_one_column(layout: Layout) -> None:
    assert len(layout.by_name) == sum(len(column.names()) for column in layout.columns)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: str(layout.kind))
def test_an_example_is_one_of_the_choices(layout: Layout) -> None:
    for column in layout.columns:
        if column.choices:
            assert column.example.en in {choice.en for choice in column.choices}
            assert column.example.es in {choice.es for choice in column.choices}


# The sheet to fill in


@EACH
def test_every_column_is_there_and_recognised(layout: Layout, language: Language) -> None:
    headers = [str(cell.value) for cell in form(layout, language)[1]]
    assert [layout.by_name[normalize_header(header)] for header in headers] == list(layout.columns)


@EACH
def test_required_columns_are_marked(layout: Layout, language: Language) -> None:
    for cell, column in zip(form(layout, language)[1], layout.columns, strict=True):
        assert str(cell.value).endswith(" *") == column.required
        assert bool(cell.font.b) == column.required


@EACH
def test_the_sheet_is_named_after_the_kind_and_comes_first(
    layout: Layout, language: Language
) -> None:
    book = opened(layout, language)
    assert book.sheetnames[0] == layout.title.in_(language)
    assert len(book.sheetnames) == 2
    assert book.active is book.worksheets[0]
    assert book.worksheets[0].freeze_panes == "A2"


@EACH
def test_columns_of_text_keep_what_is_typed(layout: Layout, language: Language) -> None:
    sheet = form(layout, language)
    formats = {
        column.field: sheet.column_dimensions[get_column_letter(number)].number_format
        for number, column in enumerate(layout.columns, 1)
    }
    for column in layout.columns:
        assert (formats[column.field] == "@") == (column.form in {"text", "texts", "flag"})
        assert ("yyyy" in formats[column.field]) == (column.form in {"day", "moment"})


@EACH
def test_choices_are_offered_in_every_row(layout: Layout, language: Language) -> None:
    book = opened(layout, language)
    offered = {}
    for validation in book.worksheets[0].data_validations.dataValidation:
        sheet, _, cells = str(validation.formula1).rpartition("!")
        column, first, same, last = range_boundaries(str(validation.sqref))
        assert column
        assert column == same
        assert (first, last) == (2, 1_048_576)
        # a range: lists written out depend on the settings of the machine
        offered[layout.columns[column - 1].field] = [
            cell.value for row in book[sheet.strip("'")][cells.replace("$", "")] for cell in row
        ]
        # what means the same in the other language may be typed all the same
        assert validation.errorStyle == "warning"
        assert validation.type == "list"
    assert offered == {
        column.field: [choice.in_(language) for choice in column.choices]
        for column in layout.columns
        if column.choices
    }


# The instructions


@EACH
def test_every_column_is_explained(layout: Layout, language: Language) -> None:
    rows = {row[0]: row[1:] for row in instructions(layout, language).values}
    for column in layout.columns:
        required, note, example, *_ = rows[column.header.in_(language)]
        assert (required == {"en": "yes", "es": "sí"}[language]) == column.required
        assert note == column.note.in_(language)
        assert example == column.example.in_(language)


@EACH
def test_the_limits_of_each_plan_are_told(layout: Layout, language: Language) -> None:
    text = "\n".join(str(row[0]) for row in instructions(layout, language).values if row[0])
    comma = {"en": ",", "es": "."}[language]
    for name, plan in PLANS.items():
        rows = f"{plan.limits['rows_per_import']:,}".replace(",", comma)
        assert f"{rows} ({name.capitalize()})" in text


def test_what_rows_have_in_common_is_told() -> None:
    text = " ".join(str(row[0]) for row in instructions(ORDERS, "es").values if row[0])
    text = " ".join(text.split())
    assert "Las filas que coinciden en Referencia y Tipo van juntas" in text
    assert "Enviar a y Comentarios deben ser iguales en todas" in text


def test_only_what_there_is_is_explained() -> None:
    faces = " ".join(str(row[0]) for row in instructions(LAYOUTS["pick_faces"], "en").values)
    assert "Numbers" in faces
    assert "Dates" not in faces
    assert "No two rows may have the same Item code, Warehouse and Position." in faces


# The bytes


@EACH
def test_it_is_the_same_whenever_it_is_made(layout: Layout, language: Language) -> None:
    assert made(layout.kind, language) == template(layout.kind, language)
    with ZipFile(BytesIO(template(layout.kind, language))) as parts:
        assert {info.date_time for info in parts.infolist()} == {(2026, 1, 1, 0, 0, 0)}
        assert parts.read("docProps/core.xml").count(b"2026-01-01T00:00:00Z") == 2

"""The sample row of a template is ignored, however a spreadsheet shows it; no other row is."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from shared.integration.imports.files.columns import LANGUAGES, Column, Language, Layout
from shared.integration.imports.files.sample_rows import is_sample, sample_cell
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.kernel.spreadsheets.table import InvalidCell, Cell

EACH = pytest.mark.parametrize(
    ("layout", "language"),
    [(layout, language) for layout in LAYOUTS.values() for language in LANGUAGES],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
ORDERS = LAYOUTS["exit_documents"]


def sample(layout: Layout, language: Language, **other: Cell) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    for column in layout.columns:
        cells[column.field] = sample_cell(column, language)
    return cells | other


def as_csv(column: Column, cell: Cell) -> Cell:
    """The text that a person sees, as a spreadsheet of another country may write it."""
    match cell:
        case date():
            return f"{cell:%d/%m/%Y}"
        case Decimal():
            return f"{cell},00"
        case str() if not column.of_line:
            return f" {cell.upper()} "
        case _:
            return str(cell)


@EACH
def test_the_sample_row_is_recognised_as_it_is(layout: Layout, language: Language) -> None:
    assert is_sample(layout, sample(layout, language))


@EACH
def test_the_sample_row_is_recognised_as_text(layout: Layout, language: Language) -> None:
    cells = sample(layout, language)
    written = {name: as_csv(layout.by_field[name], cell) for name, cell in cells.items()}
    assert is_sample(layout, written)


@EACH
def test_the_sample_row_is_recognised_without_what_is_not_required(
    layout: Layout, language: Language
) -> None:
    required = {column.field for column in layout.columns if column.required}
    cells = {name: cell for name, cell in sample(layout, language).items() if name in required}
    assert is_sample(layout, cells)
    optional = {column.field: None for column in layout.columns if not column.required}
    assert is_sample(layout, {**cells, **optional})


@EACH
def test_a_row_of_which_anything_was_changed_is_not_the_sample(
    layout: Layout, language: Language
) -> None:
    for column in layout.columns:
        changed = sample(layout, language, **{column.field: "something else"})
        assert not is_sample(layout, changed), column.field
        if column.required:
            assert not is_sample(layout, sample(layout, language, **{column.field: None}))
            assert not is_sample(layout, sample(layout, language, **{column.field: " "}))


@pytest.mark.parametrize(
    ("field", "cell", "same"),
    [
        ("qty", 2, True),
        ("qty", Decimal("2.000"), True),
        ("qty", "2.0", True),
        ("qty", "2,00", True),
        ("qty", Decimal("2.1"), False),
        ("qty", "02 UN", False),
        ("qty", InvalidCell("#REF!"), False),
        ("doc_date", datetime.fromisoformat("2026-01-31T00:00:00"), True),
        ("doc_date", "31/1/2026", True),
        ("doc_date", "2026-01-31", True),
        ("doc_date", "31/01/2027", False),
        ("type", "ORDEN  DE VENTA", True),
        ("type", "sale_order", False),
        ("item_code", True, False),
    ],
)
def test_the_sample_row_however_a_reader_shows_it(
    field: str,
    cell: Cell,
    same: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert is_sample(ORDERS, sample(ORDERS, "en", **{field: cell})) is same

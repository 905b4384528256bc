"""The sample row of a template is recognized in every format, and no other row is."""

from datetime import date, datetime
from decimal import Decimal

from shared.integration.imports.files.columns import Column
from shared.integration.imports.files.sample_rows import is_sample_row, sample_cell
from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind
from shared.kernel.spreadsheets.table import Cell, InvalidCell
from tests.cases import each_case
from tests.unit.imports.layouts import EACH_KIND_AND_LANGUAGE, LAYOUTS

ORDERS: ImportKind = "exit_documents"


def sample(kind: ImportKind, language: Language, **other: Cell) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    for column in LAYOUTS[kind].columns:
        cells[column.field] = sample_cell(column, language)
    return cells | other


def as_csv(column: Column, cell: Cell) -> Cell:
    """Return the text that a spreadsheet program of another country may write."""
    match cell:
        case date():
            return f"{cell:%d/%m/%Y}"
        case Decimal():
            return f"{cell},00"
        case str() if not column.is_line_field:
            return f" {cell.upper()} "
        case _:
            return str(cell)


@EACH_KIND_AND_LANGUAGE
def test_the_sample_row_is_recognized_as_text(kind: ImportKind, language: Language) -> None:
    cells = sample(kind, language)
    written = {name: as_csv(LAYOUTS[kind].by_field[name], cell) for name, cell in cells.items()}
    assert is_sample_row(LAYOUTS[kind], written)


@EACH_KIND_AND_LANGUAGE
def test_the_sample_row_is_recognized_without_optional_columns(
    kind: ImportKind, language: Language
) -> None:
    required = {column.field for column in LAYOUTS[kind].columns if column.required}
    cells = {name: cell for name, cell in sample(kind, language).items() if name in required}
    assert is_sample_row(LAYOUTS[kind], cells)
    optional = {column.field: None for column in LAYOUTS[kind].columns if not column.required}
    assert is_sample_row(LAYOUTS[kind], {**cells, **optional})


@EACH_KIND_AND_LANGUAGE
def test_a_changed_row_is_not_the_sample_row(kind: ImportKind, language: Language) -> None:
    for column in LAYOUTS[kind].columns:
        changed = sample(kind, language, **{column.field: "something else"})
        assert not is_sample_row(LAYOUTS[kind], changed), column.field
        if column.required:
            assert not is_sample_row(LAYOUTS[kind], sample(kind, language, **{column.field: None}))
            assert not is_sample_row(LAYOUTS[kind], sample(kind, language, **{column.field: " "}))


@each_case(
    ("field", "cell", "is_sample"),
    [
        ("qty", 2, True),
        ("qty", Decimal("2.000"), True),
        ("qty", "2.0", True),
        ("qty", "2,00", True),
        ("qty", Decimal("2.1"), False),
        ("qty", "02 UN", False),
        ("qty", "1e99999999", False),
        ("qty", "NaN", False),
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
def test_the_sample_row_is_recognized_in_the_formats_of_spreadsheet_programs(
    field: str,
    cell: Cell,
    is_sample: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert is_sample_row(LAYOUTS[ORDERS], sample(ORDERS, "en", **{field: cell})) is is_sample

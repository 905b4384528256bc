"""Reads an import file: finds the header, recognizes the columns, checks the file as a whole."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import chain, islice
from pathlib import Path

from shared.integration.imports.files.cells import (
    EXACT_BELOW,
    cell_text,
    unambiguous,
    uses_decimal_comma,
)
from shared.integration.imports.files.columns import (
    AmbiguousHeader,
    CellType,
    Column,
    FileLayout,
    FoundColumns,
    find_columns,
    indexes_of,
    normalize_header,
)
from shared.integration.imports.files.sample_rows import is_sample_row
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import Language
from shared.integration.imports.models import IMPORT_KINDS, ImportKind
from shared.integration.imports.report.rejected_rows import is_report_header
from shared.kernel.spreadsheets.table import (
    MAX_COLUMNS,
    Cell,
    FormattedNumber,
    InvalidCell,
    Row,
    Table,
    UnreadableFile,
)
from shared.warehouse.documents.vocabulary import DocumentKind, type_of

_MAX_TEXT, _CHARACTERS_PER_CELL = 64_000_000, 8
"""Characters of all rows together, and what a cell adds to its text. A small workbook can
refer to one long text a million times. A file of 100 000 products has 20 million characters."""
_HEADER_SEARCH_ROWS = 10
"""The header is searched in the first rows that have a value."""
_MIDNIGHT_TOLERANCE = timedelta(minutes=1)
_TEXT_TYPES: frozenset[CellType] = frozenset({"text", "list"})
_MAX_ERRORS = 20
_MAX_HEADER_CHARACTERS = 100
"""Characters that are kept of a header, because the import record stores all headers."""

_OPPOSITE_KIND: Mapping[DocumentKind, tuple[DocumentKind, ImportKind]] = {
    "entry": ("exit", "exit_documents"),
    "exit": ("entry", "entry_documents"),
}


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The rows of a file below its header.

    Attributes:
        header: The headers of all columns, recognized or not.
        columns: The recognized columns, with their indexes in a row. See `FoundColumns`.
        rows: The rows with data.
        language: The language of most headers.
        decimal_comma: Whether numbers in text use a decimal comma; None if unknown.
        structure_errors: Errors of the file as a whole. A file with such errors is rejected.
    """

    header: Sequence[str] = ()
    columns: Sequence[tuple[int, Column]] = ()
    rows: Sequence[Row] = ()
    language: Language = "en"
    decimal_comma: bool | None = None
    structure_errors: Sequence[str] = ()

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.header)


@dataclass(frozen=True, slots=True)
class _Header:
    """A row that may be the header: its texts, and the columns that they name."""

    cells: Sequence[str]
    found: FoundColumns

    @property
    def columns(self) -> Sequence[tuple[int, Column]]:
        """The recognized columns, with their indexes."""
        return self.found.columns


def read_file(path: Path, name: str, kind: ImportKind | FileLayout, *, max_rows: int) -> ParsedFile:
    """Read a file with the columns of a kind and at most `max_rows` rows with data.

    `name` is the name under which it was uploaded. Instead of a kind, `kind` may be the layout of
    a file that is no import.

    Raises:
        UnreadableFile: The file is no readable spreadsheet.
    """
    # Imported here because it takes 100 ms, and most requests read no file.
    from shared.kernel.spreadsheets.open_table import open_table  # noqa: PLC0415

    layout = layout_of(kind)
    table = open_table(path, name)
    rows = table.rows()
    first_rows = list(islice(rows, _HEADER_SEARCH_ROWS))
    index, header = _find_header(first_rows, layout)
    if errors := _header_errors(header, kind, layout, first_rows):
        return ParsedFile(structure_errors=[*errors, *table.structure_errors][:_MAX_ERRORS])
    widest = MAX_COLUMNS + sum(map(is_report_header, header.cells))
    _check_width(first_rows[index], widest)
    types = {position: column.cell_type for position, column in header.columns}
    below = (_settled(row, types) for row in chain(first_rows[index + 1 :], rows))
    data_rows = _rows_with_data(below, header.columns, layout)
    kept = _within_limits(islice(data_rows, max_rows + 1), widest)
    errors = [
        *table.structure_errors,
        *_merged_cell_errors(table, first_rows[index]),
        *_row_errors(kept, header.columns, kind, max_rows),
    ]
    decimal_comma = _decimal_comma(kept, header.columns)
    if decimal_comma is not None:
        _resolve_numbers(kept, header.columns, decimal_comma=decimal_comma)
    return ParsedFile(
        header=header.cells,
        columns=header.columns,
        rows=kept[:max_rows],
        language=_language(header),
        decimal_comma=decimal_comma,
        structure_errors=errors[:_MAX_ERRORS],
    )


def layout_of(kind: ImportKind | FileLayout) -> FileLayout:
    """Return the layout of a kind of import, or the layout itself."""
    return kind if isinstance(kind, FileLayout) else importer_of(kind).layout


def _settled(row: Row, types: Mapping[int, CellType]) -> Row:
    """Return a row without the cells that mean something else than their value.

    In a column of texts, a number counts as its cell shows it; a date or time, of which only the
    value is known and not what was typed, is invalid. A date whose cell has the last
    minute of a day is the next day: some programs write midnight a little short. `types` has the
    types of the recognized columns by index.
    """
    for index, cell in enumerate(row.cells):
        if isinstance(cell, FormattedNumber):
            row.cells[index] = _shown(cell) if types.get(index) in _TEXT_TYPES else cell.value
        elif isinstance(cell, date | time) and types.get(index) in _TEXT_TYPES:
            row.cells[index] = InvalidCell(
                f"{cell_text(cell)}, a date or time; format the cell as text and enter it again"
            )
        elif isinstance(cell, datetime) and types.get(index) == "date":
            row.cells[index] = _nearest_day(cell)
    return row


def _shown(number: FormattedNumber) -> Cell:
    """Return what the cell of a number shows; a value with more digits than are kept stays."""
    if isinstance(number.value, int) and abs(number.value) >= EXACT_BELOW:
        return number.value
    if number.shown is None:
        return InvalidCell(
            f"{number:f} in the number format {number.code}; format the cell as text and"
            " enter it again"
        )
    return number.shown or None


def _nearest_day(moment: datetime) -> date:
    with suppress(OverflowError):  # the last day that there is
        moment += _MIDNIGHT_TOLERANCE
    return moment.date()


def _check_width(row: Row, widest: int) -> None:
    """Raise UnreadableFile if a row has more columns than a file may have and a report has added.

    Otherwise the error report of the file would have more columns than can be read.
    """
    if len(row.cells) > widest:
        raise UnreadableFile(
            f"Row {row.number} has {len(row.cells)} cells, at most {MAX_COLUMNS} allowed."
        )


def _within_limits(rows: Iterable[Row], widest: int) -> list[Row]:
    """Return the rows as a list; raise UnreadableFile if they are too wide or too long together."""
    kept: list[Row] = []
    size = 0
    for row in rows:
        _check_width(row, widest)
        size += _CHARACTERS_PER_CELL * len(row.cells)
        size += sum(len(cell) for cell in row.cells if isinstance(cell, str))
        if size > _MAX_TEXT:
            raise UnreadableFile(
                f"The file contains too much text: row {row.number} exceeds the limit."
                " Split it into several files."
            )
        kept.append(row)
    return kept


def _decimal_comma(rows: Sequence[Row], columns: Sequence[tuple[int, Column]]) -> bool | None:
    """Return whether the text cells of the numeric columns use a decimal comma."""
    return uses_decimal_comma(
        cell
        for row, index in _numeric_cells(rows, columns)
        if isinstance(cell := row.cells[index], str)
    )


def _resolve_numbers(
    rows: Sequence[Row], columns: Sequence[tuple[int, Column]], *, decimal_comma: bool
) -> None:
    """Replace texts such as 1,250 by numbers.

    The error report has some of the rows, which may not show the separator of the file.
    """
    for row, index in _numeric_cells(rows, columns):
        row.cells[index] = unambiguous(row.cells[index], decimal_comma=decimal_comma)


def _numeric_cells(
    rows: Sequence[Row], columns: Sequence[tuple[int, Column]]
) -> Iterator[tuple[Row, int]]:
    """Yield the rows, and the indexes of their cells in columns of numbers."""
    indexes = [index for index, column in columns if column.cell_type in {"decimal", "integer"}]
    return ((row, index) for row in rows for index in indexes if index < len(row.cells))


def _merged_cell_errors(table: Table, header: Row) -> list[str]:
    """Return the errors of merged cells below the header; a title above it may be merged."""
    return [merged.error for merged in table.merged_at_top if merged.last_row > header.number]


def _find_header(rows: Sequence[Row], layout: FileLayout) -> tuple[int, _Header]:
    """Return the row in which most columns are recognized, the first of several."""
    headers = [_header(row, layout) for row in rows] or [_Header([], FoundColumns())]
    index = max(range(len(headers)), key=lambda number: len(headers[number].columns))
    return index, headers[index]


def _header(row: Row, layout: FileLayout) -> _Header:
    titles = [_title(cell) for cell in row.cells]
    return _Header(titles, find_columns(titles, layout))


def _title(cell: Cell) -> str:
    return cell.strip()[:_MAX_HEADER_CHARACTERS] if isinstance(cell, str) else ""


def _header_errors(
    header: _Header, kind: ImportKind | FileLayout, layout: FileLayout, rows: Sequence[Row]
) -> list[str]:
    if not rows:
        return ["The file is empty."]
    found = header.found.fields
    missing = [column for column in layout.columns if column.required and column.field not in found]
    errors = [
        *(_repeated_error(header.cells, *one) for one in header.found.repeated),
        *(
            _ambiguous_error(header.cells[index], one, layout)
            for index, one in header.found.ambiguous
        ),
        *(
            f"The header {header.cells[index]!r} (column {index + 1}) {problem}."
            for index, problem in header.found.misnamed
        ),
    ]
    if not missing:
        return errors
    other = None
    if not isinstance(kind, FileLayout):
        other = _matching_kind(rows, header, other_than=kind)
    if other:
        return [
            f"The file has the columns of {other}, not of {kind}. Upload it with the kind {other}."
        ]
    if not found or (len(found) == 1 and len(missing) > 1):
        names = ", ".join(column.header.en for column in layout.columns if column.required)
        where = f"the first {_HEADER_SEARCH_ROWS} rows"
        return [f"No header with the required columns {names} was found in {where}."]
    absent = [
        f"The required column {column.header.en} ({column.field}) is missing." for column in missing
    ]
    return absent + errors


def _repeated_error(titles: Sequence[str], column: Column, indexes: Sequence[int]) -> str:
    """Return the error that several cells of the header name one column, by the first two."""
    first, second = indexes[:2]
    count = "both" if len(indexes) == 2 else f"two of {len(indexes)}"  # noqa: PLR2004 - the two
    return (
        f"The headers {titles[first]!r} (column {first + 1}) and {titles[second]!r} (column"
        f" {second + 1}) are {count} for {column.header.en} ({column.field}); keep one of them."
    )


def _ambiguous_error(title: str, one: AmbiguousHeader, layout: FileLayout) -> str:
    names = [layout.by_field[name].header for name in (one.field, one.other)]
    return (
        f"The header {title!r} may mean {names[0].en} ({one.field}) or {names[1].en} ({one.other});"
        f" write {names[0].es!r} or {names[1].es!r} instead."
    )


def _matching_kind(
    rows: Sequence[Row], header: _Header, *, other_than: ImportKind
) -> ImportKind | None:
    """Return another kind whose required columns are all there.

    More columns must be recognized than in `header`: the few that a return requires are also those
    of a document that lacks one.
    """
    for kind in IMPORT_KINDS:
        layout = importer_of(kind).layout
        _, other = _find_header(rows, layout)
        found = other.found.fields
        complete = all(column.field in found for column in layout.columns if column.required)
        if kind != other_than and complete and len(other.columns) > len(header.columns):
            return kind
    return None


def _rows_with_data(
    rows: Iterable[Row], columns: Sequence[tuple[int, Column]], layout: FileLayout
) -> Iterator[Row]:
    """Yield the rows without those that are blank and without the template's sample row."""
    indexes = [index for index, _ in columns]
    is_first = True
    for row in rows:
        cells = row.cells
        if all(is_blank(cells[index]) for index in indexes if index < len(cells)):
            continue
        if not (is_first and _is_sample(row, columns, layout)):
            yield row
        is_first = False


def is_blank(cell: Cell) -> bool:
    """Return whether a cell is empty or has only white space."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_sample(row: Row, columns: Sequence[tuple[int, Column]], layout: FileLayout) -> bool:
    indexes = indexes_of(columns)
    width = len(row.cells)
    values = {name: row.cells[index] for name, index in indexes.items() if index < width}
    return is_sample_row(layout, values)


def _row_errors(
    rows: Sequence[Row],
    columns: Sequence[tuple[int, Column]],
    kind: ImportKind | FileLayout,
    max_rows: int,
) -> Iterator[str]:
    if not rows:
        yield "The file has no data rows below the header."
    if len(rows) > max_rows:
        limit = "" if isinstance(kind, FileLayout) else ", the limit of the plan"
        yield f"The file has more than {max_rows} data rows{limit}. Split it into several files."
    layout = layout_of(kind)
    if layout.document_kind:
        yield from _mixed_type_errors(rows, columns, *_OPPOSITE_KIND[layout.document_kind])


def _mixed_type_errors(
    rows: Sequence[Row],
    columns: Sequence[tuple[int, Column]],
    other_kind: DocumentKind,
    other_import_kind: ImportKind,
) -> Iterator[str]:
    """Yield an error for each type in the rows that belongs to the other kind of document."""
    type_index = indexes_of(columns)["type"]
    counts: Counter[str] = Counter()
    first_rows: dict[str, Row] = {}
    for row in rows:
        cell = row.cells[type_index] if type_index < len(row.cells) else None
        other_type = type_of(other_kind, cell) if isinstance(cell, str) and cell else None
        if other_type:
            counts[other_type] += 1
            first_rows.setdefault(other_type, row)
    for other_type, count in counts.items():
        number, cells = first_rows[other_type]
        where = f"row {number}" if count == 1 else f"{count} rows, the first is row {number}"
        yield (
            f"The type {cells[type_index]} belongs to {other_import_kind} ({where})."
            f" Upload these rows as {other_import_kind}."
        )


def _language(header: _Header) -> Language:
    titles = [
        (normalize_header(header.cells[index]), column.header) for index, column in header.columns
    ]
    spanish = sum(title == normalize_header(names.es) for title, names in titles)
    english = sum(title == normalize_header(names.en) for title, names in titles)
    return "es" if spanish > english else "en"

"""Reads an import file: finds the header, recognizes the columns, checks the file as a whole."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from shared.integration.imports.files.cells import unambiguous, uses_decimal_comma
from shared.integration.imports.files.columns import Column, FileLayout, normalize_header
from shared.integration.imports.files.sample_rows import is_sample_row
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import Language
from shared.integration.imports.models import IMPORT_KINDS, ImportKind
from shared.integration.imports.report.rejected_rows import is_report_header
from shared.kernel.spreadsheets.table import MAX_COLUMNS, Cell, Row, Table, UnreadableFile
from shared.warehouse.documents.vocabulary import DocumentKind, type_of

_MAX_TEXT, _CHARACTERS_PER_CELL = 64_000_000, 8
"""Characters of all rows together, and what a cell counts besides its text. A small workbook can
refer to one long text a million times. A file of 100 000 products has 20 million characters."""
_HEADER_SEARCH_ROWS = 10
"""The header is searched in the first rows that have a value."""
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
        columns: The recognized columns, with their indexes in a row.
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


@dataclass(slots=True)
class _Header:
    cells: Sequence[str]
    columns: list[tuple[int, Column]] = field(default_factory=list)
    repeated: Counter[str] = field(default_factory=Counter)
    """How often each field occurs after its first column."""


def read_file(path: Path, name: str, kind: ImportKind, *, max_rows: int) -> ParsedFile:
    """Read a file with the columns of a kind and at most `max_rows` rows with data.

    `name` is the name under which it was uploaded.

    Raises:
        UnreadableFile: The file is no readable spreadsheet.
    """
    # Imported here because it takes 100 ms, and most requests read no file.
    from shared.kernel.spreadsheets.open_table import open_table  # noqa: PLC0415

    layout = importer_of(kind).layout
    table = open_table(path, name)
    rows = table.rows()
    first_rows = list(islice(rows, _HEADER_SEARCH_ROWS))
    index, header = _find_header(first_rows, layout)
    if errors := _header_errors(header, kind, layout, first_rows):
        return ParsedFile(structure_errors=[*errors, *table.structure_errors][:_MAX_ERRORS])
    widest = MAX_COLUMNS + sum(map(is_report_header, header.cells))
    _check_width(first_rows[index], widest)
    data_rows = _rows_with_data(chain(first_rows[index + 1 :], rows), header.columns, layout)
    kept = _within_limits(islice(data_rows, max_rows + 1), widest)
    errors = [
        *table.structure_errors,
        *_merged_cell_errors(table, first_rows[index]),
        *_row_errors(kept, header.columns, layout, max_rows),
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
    headers = [_header(row, layout) for row in rows] or [_Header([])]
    index = max(range(len(headers)), key=lambda number: len(headers[number].columns))
    return index, headers[index]


def _header(row: Row, layout: FileLayout) -> _Header:
    header = _Header([_title(cell) for cell in row.cells])
    fields: set[str] = set()
    for index, title in enumerate(header.cells):
        column = layout.by_header.get(normalize_header(title))
        if column is None:
            continue
        if column.field in fields:
            header.repeated[column.field] += 1
        else:
            fields.add(column.field)
            header.columns.append((index, column))
    return header


def _title(cell: Cell) -> str:
    return cell.strip()[:_MAX_HEADER_CHARACTERS] if isinstance(cell, str) else ""


def _header_errors(
    header: _Header, kind: ImportKind, layout: FileLayout, rows: Sequence[Row]
) -> list[str]:
    if not rows:
        return ["The file is empty."]
    found = {column.field for _, column in header.columns}
    missing = [column for column in layout.columns if column.required and column.field not in found]
    repeated = [
        f"The column {layout.by_field[name].header.en} ({name}) appears {count + 1} times;"
        " keep one of them."
        for name, count in header.repeated.items()
    ]
    if not missing:
        return repeated
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
    return absent + repeated


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
        found = {column.field for _, column in other.columns}
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
    values = {column.field: row.cells[index] for index, column in columns if index < len(row.cells)}
    return is_sample_row(layout, values)


def _row_errors(
    rows: Sequence[Row], columns: Sequence[tuple[int, Column]], layout: FileLayout, max_rows: int
) -> Iterator[str]:
    if not rows:
        yield "The file has no data rows below the header."
    if len(rows) > max_rows:
        yield (
            f"The file has more than {max_rows} data rows, the limit of the plan."
            " Split it into several files."
        )
    if layout.document_kind:
        yield from _mixed_type_errors(rows, columns, *_OPPOSITE_KIND[layout.document_kind])


def _mixed_type_errors(
    rows: Sequence[Row],
    columns: Sequence[tuple[int, Column]],
    other_kind: DocumentKind,
    other_import_kind: ImportKind,
) -> Iterator[str]:
    """Yield an error for each type in the rows that belongs to the other kind of document."""
    type_index = next(index for index, column in columns if column.field == "type")
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

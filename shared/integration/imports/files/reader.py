"""From a file to its rows: the header found, the columns recognised, the file as a whole judged."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from shared.integration.imports.files.columns import (
    Column,
    ImportKind,
    Language,
    Layout,
    header_key,
)
from shared.integration.imports.files.sample_rows import is_sample
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.kernel.spreadsheets.decimal_separator import decimal_comma
from shared.kernel.spreadsheets.open_table import open_table
from shared.kernel.spreadsheets.table import Cell, Row, Table, Unreadable
from shared.warehouse.documents.vocabulary import Kind, type_of

_MOST_SHEET_ROWS = 1_048_576
"""Of any sheet. Only rows that say something count for the plan, and these are found here."""
_MOST_SIZE, _CELL = 64_000_000, 8
"""Characters that rows may hold together, and as how many a cell by itself counts: a small
workbook can name one long text a million times. A catalogue of 100 000 products has 20 million."""
_HEADER_WITHIN = 10
"""Rows in which the header must be."""
_MOST_FLAWS = 20
_MOST_TITLE = 100
"""Characters of a header that are kept: the import itself keeps all headers."""

_OTHER_KIND: Mapping[ImportKind, tuple[ImportKind, Kind]] = {
    "entry_documents": ("exit_documents", "exit"),
    "exit_documents": ("entry_documents", "entry"),
}


@dataclass(frozen=True, slots=True)
class FileRows:
    """The rows of a file below its header.

    `columns` are the places of the columns in a row. With `flaws` the file cannot be taken
    as it is, whatever its rows are.
    """

    header: Sequence[str] = ()
    columns: Sequence[tuple[int, Column]] = ()
    rows: Sequence[Row] = ()
    language: Language = "en"
    decimal_comma: bool | None = None
    flaws: Sequence[str] = ()

    @property
    def width(self) -> int:
        """How many cells a row may have."""
        return len(self.header)


@dataclass(slots=True)
class _Header:
    cells: Sequence[str]
    columns: list[tuple[int, Column]] = field(default_factory=list)
    twice: list[Column] = field(default_factory=list)


def read_file(path: Path, name: str, kind: ImportKind, *, most_rows: int) -> FileRows:
    """Read a file of at most `most_rows` rows with data; Unreadable when it cannot be read."""
    layout = LAYOUTS[kind]
    table = open_table(path, name, most_rows=_MOST_SHEET_ROWS)
    rows = table.rows()
    first = list(islice(rows, _HEADER_WITHIN))
    at, header = _find_header(first, layout)
    flaws = _header_flaws(header, layout, first, nothing=not first)
    if flaws:
        return FileRows(flaws=flaws)
    below = _kept(_with_data(chain(first[at + 1 :], rows), header.columns, layout), most_rows + 1)
    flaws = [
        *table.flaws,
        *_merged(table, first[at]),
        *_row_flaws(below, header.columns, layout, most_rows),
    ]
    return FileRows(
        header=header.cells,
        columns=header.columns,
        rows=below[:most_rows],
        language=_language(header),
        decimal_comma=_decimal_comma(below, header.columns),
        flaws=flaws[:_MOST_FLAWS],
    )


def _kept(rows: Iterable[Row], most: int) -> list[Row]:
    """Keep the first rows; Unreadable when they are too much to be kept."""
    kept: list[Row] = []
    size = 0
    for row in islice(rows, most):
        size += _CELL * len(row.cells) + sum(len(c) for c in row.cells if isinstance(c, str))
        if size > _MOST_SIZE:
            message = f"The file holds too much text: more than fits by row {row.number}."
            raise Unreadable(message)
        kept.append(row)
    return kept


def _decimal_comma(rows: Sequence[Row], columns: Sequence[tuple[int, Column]]) -> bool | None:
    """Tell how the columns of numbers are written where they are text."""
    places = [place for place, column in columns if column.form in {"number", "whole"}]
    return decimal_comma(
        cell
        for row in rows
        for place in places
        if place < len(row.cells) and isinstance(cell := row.cells[place], str)
    )


def _merged(table: Table, header: Row) -> list[str]:
    """Find merged cells below the header; a title above it may be merged."""
    return [
        f"The cells {merged.name} are merged; give every row its own value."
        for merged in table.merged
        if merged.last > header.number
    ]


def _find_header(rows: Sequence[Row], layout: Layout) -> tuple[int, _Header]:
    """Find the row in which most columns are recognised, the first of several."""
    headers = [_header(row, layout) for row in rows] or [_Header([])]
    at = max(range(len(headers)), key=lambda number: len(headers[number].columns))
    return at, headers[at]


def _header(row: Row, layout: Layout) -> _Header:
    header = _Header([_title(cell) for cell in row.cells])
    known: set[str] = set()
    for place, title in enumerate(header.cells):
        column = layout.by_name.get(header_key(title))
        if column is None:
            continue
        if column.field in known:
            header.twice.append(column)
        else:
            known.add(column.field)
            header.columns.append((place, column))
    return header


def _title(cell: Cell) -> str:
    return cell.strip()[:_MOST_TITLE] if isinstance(cell, str) else ""


def _header_flaws(
    header: _Header, layout: Layout, rows: Sequence[Row], *, nothing: bool
) -> list[str]:
    if nothing:
        return ["The file is empty."]
    found = {column.field for _, column in header.columns}
    missing = [column for column in layout.columns if column.required and column.field not in found]
    if not missing:
        return [
            f"The column {column.header.en} ({column.field}) is there more than once."
            for column in header.twice
        ]
    other = _kind_of(rows, but=layout.kind)
    if other:
        return [f"The columns are those of {other}, not of {layout.kind}."]
    if not found or (len(found) == 1 and len(missing) > 1):
        names = ", ".join(column.header.en for column in layout.columns if column.required)
        return [f"None of the first {_HEADER_WITHIN} rows is a header with the columns {names}."]
    return [f"The column {column.header.en} ({column.field}) is missing." for column in missing]


def _kind_of(rows: Sequence[Row], *, but: ImportKind) -> ImportKind | None:
    """Tell of which other kind the columns are, if they are complete for one."""
    for kind, layout in LAYOUTS.items():
        _, header = _find_header(rows, layout)
        found = {column.field for _, column in header.columns}
        complete = all(column.field in found for column in layout.columns if column.required)
        if kind != but and complete:
            return kind
    return None


def _with_data(
    rows: Iterable[Row], columns: Sequence[tuple[int, Column]], layout: Layout
) -> Iterator[Row]:
    """Leave out rows that say nothing, and the template's sample row."""
    places = [place for place, _ in columns]
    awaits_sample = True
    for row in rows:
        cells = row.cells
        if all(_says_nothing(cells[place]) for place in places if place < len(cells)):
            continue
        if awaits_sample and _is_sample(row, columns, layout):
            awaits_sample = False
            continue
        awaits_sample = False
        yield row


def _says_nothing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _is_sample(row: Row, columns: Sequence[tuple[int, Column]], layout: Layout) -> bool:
    values = {column.field: row.cells[place] for place, column in columns if place < len(row.cells)}
    return is_sample(layout, values)


def _row_flaws(
    rows: Sequence[Row], columns: Sequence[tuple[int, Column]], layout: Layout, most_rows: int
) -> Iterator[str]:
    if not rows:
        yield "The file has no rows below its header."
    if len(rows) > most_rows:
        yield f"The file has more than {most_rows} rows, the most that the plan allows."
    other = _OTHER_KIND.get(layout.kind)
    if other:
        yield from _mixed_types(rows, columns, *other)


def _mixed_types(
    rows: Sequence[Row],
    columns: Sequence[tuple[int, Column]],
    other_kind: ImportKind,
    other: Kind,
) -> Iterator[str]:
    """Find rows whose type is one of the other kind of document."""
    place = next(place for place, column in columns if column.field == "type")
    strangers: Counter[str] = Counter()
    first: dict[str, Row] = {}
    for row in rows:
        cell = row.cells[place] if place < len(row.cells) else None
        known = type_of(other, cell) if isinstance(cell, str) and cell else None
        if known:
            strangers[known] += 1
            first.setdefault(known, row)
    for known, count in strangers.items():
        number, cells = first[known]
        yield (
            f"The file mixes kinds: the type {cells[place]} belongs to {other_kind}, and"
            f" {'a row is' if count == 1 else f'{count} rows are'} of it; see row {number}."
        )


def _language(header: _Header) -> Language:
    spanish = sum(
        header_key(header.cells[place]) == header_key(column.header.es)
        for place, column in header.columns
    )
    english = sum(
        header_key(header.cells[place]) == header_key(column.header.en)
        for place, column in header.columns
    )
    return "es" if spanish > english else "en"

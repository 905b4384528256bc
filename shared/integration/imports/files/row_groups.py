"""Groups the rows of a file: the rows of one document, or a single row of any other kind.

A row group is applied as a whole. Its cells are converted to the raw body of a single request,
which is validated afterwards.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from shared.integration.imports.files.cells import Converter, cell_text, converters
from shared.integration.imports.files.columns import (
    LINE_METADATA,
    LINE_PREFIX,
    METADATA,
    CellType,
    Column,
    FileLayout,
    indexes_of,
)
from shared.integration.imports.files.reader import ParsedFile, is_blank, layout_of
from shared.integration.imports.models import ImportKind
from shared.integration.imports.report.rejected_rows import RowProblem
from shared.kernel.db.facets import fold
from shared.kernel.errors import Problem
from shared.kernel.spreadsheets.table import Cell, InvalidCell, Row
from shared.warehouse.documents.vocabulary import type_of

type _GroupKey = tuple[str, ...]
"""The values of the fields `group_by`, and for a row without reference also its row number.
A type that does not exist begins with "?"."""
_BLANK_TYPE = "?"
"""The type of a row without one."""
type _FieldReader = tuple[int, Column, Converter]
"""Index in the row, its column, converter."""

_LINE_PATH = re.compile(r"\blines\.(\d+)\.[\w.]+")
"""The path of a field of a line in a message. The report shows the row instead."""
_MAX_PROBLEMS = 50
"""Problems of one row. A cell of 100 serials may have as many, and the report has one cell for
all of them."""


@dataclass(slots=True)
class RowGroup:
    """Rows that are applied together: the rows, the raw body, and the problems by row number.

    `differing` has what differs from an entity that exists, for which the group is skipped, as
    problems by row number.
    """

    rows: Sequence[Row]
    body: dict[str, object]
    problems: dict[int, list[RowProblem]] = field(default_factory=dict)
    differing: Mapping[int, Sequence[RowProblem]] = field(default_factory=dict)


def _converter(column: Column, convert: Mapping[CellType, Converter]) -> Converter:
    of_type = convert[column.cell_type]
    return (lambda cell: column.key_of(of_type(cell))) if column.keys else of_type


class RowGrouper:
    """Groups the rows of one file, which has no structure errors.

    `timezone` is the time zone of date-times without offset.
    """

    def __init__(self, file: ParsedFile, kind: ImportKind | FileLayout, timezone: str) -> None:
        self._layout = layout_of(kind)
        convert = converters(decimal_comma=file.decimal_comma, timezone=timezone)
        self._readers: list[_FieldReader] = [
            (index, column, _converter(column, convert)) for index, column in file.columns
        ]
        self._indexes = indexes_of(file.columns)
        self._file = file

    def groups(self) -> Iterator[RowGroup]:
        """Yield the groups in the order of their first rows."""
        if self._layout.group_by:
            yield from self._documents()
        else:
            yield from self._single_rows()

    def count(self) -> int:
        """Return the number of groups."""
        return len(self._rows_by_key) if self._layout.group_by else len(self._file.rows)

    def _single_rows(self) -> Iterator[RowGroup]:
        first_rows: dict[object, int] = {}
        unique_fields = self._layout.unique_fields
        repeated = self._repeated_rows() if self._layout.distinct_fields else {}
        for row in self._file.rows:
            body, problems = self._read_row(row)
            found = {row.number: problems} if problems else {}
            group = RowGroup([row], _with_objects(body), found)
            values = tuple(body.get(name) for name in unique_fields)
            if unique_fields and None not in values:
                first = first_rows.setdefault(values, row.number)
                if first != row.number:
                    self.reject(group, [Problem(unique_fields[0], f"already used in row {first}")])
            if other := repeated.get(row.number):
                field_name = next(iter(self._layout.distinct_fields))
                self.reject(group, [Problem(field_name, f"is the same stock as in row {other}")])
            yield group

    def _repeated_rows(self) -> Mapping[int, int]:
        """Return the numbers of the rows whose distinct fields another row has, with that row.

        It reads all rows of the file, whatever chunk is validated. Of nearly all rows, it keeps a
        hash only.
        """
        fields = self._layout.distinct_fields
        readers = [one for one in self._readers if one[1].field in fields]
        seen, doubtful = set[int](), set[int]()
        for row in self._file.rows:
            digest = hash(_values_of(row, readers, fields))
            (doubtful if digest in seen else seen).add(digest)
        rows_by_values: dict[tuple[object, ...], list[int]] = {}
        for row in self._file.rows if doubtful else ():
            values = _values_of(row, readers, fields)
            if values is not None and hash(values) in doubtful:
                rows_by_values.setdefault(values, []).append(row.number)
        several = (rows for rows in rows_by_values.values() if len(rows) > 1)
        return {row: rows[1] if row == rows[0] else rows[0] for rows in several for row in rows}

    def _documents(self) -> Iterator[RowGroup]:
        incomplete = self._incomplete_documents()
        for key, rows in self._rows_by_key.items():
            group = self._document(rows)
            for problem in incomplete.get(key, [])[:_MAX_PROBLEMS]:
                group.problems.setdefault(rows[0].number, []).append(problem)
            yield group

    @cached_property
    def _rows_by_key(self) -> Mapping[_GroupKey, list[Row]]:
        groups: dict[_GroupKey, list[Row]] = {}
        for row, key in zip(self._file.rows, self._keys, strict=True):
            # A row without reference is a group of its own.
            groups.setdefault(key if key[0] else (*key, str(row.number)), []).append(row)
        return groups

    @cached_property
    def _keys(self) -> Sequence[_GroupKey]:
        """The key of each row; a blank type is that of the only document with the reference above.

        Programs such as Shopify write the fields of an order only in its first row.
        """
        keys: list[_GroupKey] = []
        above: dict[str, set[_GroupKey]] = {}
        for row in self._file.rows:
            key = self._key(row)
            known = above.setdefault(key[0], set())
            if key[1:] == (_BLANK_TYPE,) and key[0] and len(known) == 1:
                key = next(iter(known))
            elif not _has_unknown_type(key):
                known.add(key)
            keys.append(key)
        return keys

    def _key(self, row: Row) -> _GroupKey:
        values = []
        for name in self._layout.group_by:
            cell = _cell(row, self._indexes[name])
            # Stripped as in the body: otherwise two documents could have the same reference.
            value = "" if isinstance(cell, InvalidCell) else cell_text(cell).strip()
            if name == "type" and self._layout.document_kind:
                invalid = "?" if isinstance(cell, InvalidCell) else ""
                value = type_of(self._layout.document_kind, value) or f"?{invalid}{fold(value)}"
            values.append(value)
        return tuple(values)

    def _incomplete_documents(self) -> Mapping[_GroupKey, list[RowProblem]]:
        """Return the problems of documents to which rows without reference or type may belong.

        Without these rows, the document might be created with only some of its lines.
        """
        by_reference: dict[str, list[_GroupKey]] = {}
        for key in self._rows_by_key:
            if not _has_unknown_type(key):
                by_reference.setdefault(key[0], []).append(key)
        problems: dict[_GroupKey, list[RowProblem]] = {}
        previous: _GroupKey | None = None
        for row, key in zip(self._file.rows, self._keys, strict=True):
            fault, candidates = "", []
            if not key[0]:
                fault = "no reference"
                candidates = [previous] if previous and self._may_belong_to(row, previous) else []
            elif _has_unknown_type(key):
                fault = "no valid type"
                candidates = by_reference.get(key[0], [])
            else:
                previous = key
            for candidate in candidates:
                message = (
                    f"row {row.number} has {fault} and may belong to this document;"
                    " add it or remove the row"
                )
                # A reason about another row belongs to no column.
                problems.setdefault(candidate, []).append(RowProblem(None, "", message))
        return problems

    def _may_belong_to(self, row: Row, key: _GroupKey) -> bool:
        """Return whether the head fields of `row` agree with those of the document."""
        head, document = (self._read_row(one)[0] for one in (row, self._rows_by_key[key][0]))
        return all(
            _is_same_value(head[column.field], document.get(column.field))
            for _, column, _ in self._readers
            if column.field in head and not column.is_line_field
        )

    def _document(self, rows: Sequence[Row]) -> RowGroup:
        lines: list[object] = []
        group = RowGroup(rows, {})
        first_rows: dict[str, int] = {}
        for row in rows:
            body, problems = self._read_row(row)
            if problems:
                group.problems[row.number] = problems
            line = {}
            for _, column, _ in self._readers:
                name = column.field
                if name not in body:
                    continue
                if column.is_line_field:
                    line[column.body_field] = body[name]
                elif name not in group.body:
                    group.body[name] = body[name]
                    first_rows[name] = row.number
                elif name not in self._layout.group_by and not _is_same_value(
                    body[name], group.body[name]
                ):
                    message = f"differs from row {first_rows[name]} of the same document"
                    problem = RowProblem(self._indexes[name], name, message)
                    group.problems.setdefault(row.number, []).append(problem)
            lines.append(_with_objects(line))
        group.body = {**_with_objects(group.body), "lines": lines}
        reference = self._layout.group_by[0]
        if reference not in group.body:  # single requests of some kinds do without one
            add_problem(group, Problem(reference, "is required"), self._indexes)
        return group

    def _read_row(self, row: Row) -> tuple[dict[str, object], list[RowProblem]]:
        cells = row.cells
        width = len(cells)
        body: dict[str, object] = {}
        problems: list[RowProblem] = []
        for index, column, convert in self._readers:
            name = column.field
            cell = cells[index] if index < width else None
            if is_blank(cell):
                continue
            try:
                value = convert(cell)
            except ValueError as error:
                problems.append(RowProblem(index, name, str(error)))
                continue
            if isinstance(value, str) and (not value or value.isspace()):
                continue
            if body.setdefault(name, value) != value:
                first = self._file.header[self._indexes[name]]
                message = f"differs from {body[name]} in the column {first}"
                problems.append(RowProblem(index, name, message))
        if width > self._file.width:
            beyond = range(self._file.width, width)
            extra = next((index for index in beyond if not is_blank(cells[index])), None)
            if extra is not None:
                message = f"is in column {extra + 1}, but the header has {self._file.width} columns"
                problems.append(RowProblem(extra, "", message))
        return body, problems

    def reject(
        self, group: RowGroup, problems: Iterable[Problem], chunk: Sequence[RowGroup] = ()
    ) -> None:
        """Add the problems of the body of `group`.

        Where rows are no documents, they may name other groups of the `chunk` as `lines.N`.
        """
        if chunk and not self._layout.group_by:
            rows = [one.rows[0] for one in chunk]
            problems = [_with_rows(problem, rows) for problem in problems]
        for problem in problems:
            add_problem(group, problem, self._indexes)

    def skip(self, group: RowGroup, differing: Iterable[Problem]) -> None:
        """Note that `group` is skipped, and what differs."""
        found = RowGroup(group.rows, group.body)
        for problem in differing:
            add_problem(found, problem, self._indexes)
        group.differing = found.problems


def add_problem(group: RowGroup, problem: Problem, indexes: Mapping[str, int]) -> None:
    """Add a problem of the body of `group` to the row and the column of its field.

    A cell that cannot be converted has a problem already, and its field is missing from the body;
    the problem that the field is required, or that another one is required without it, is then left
    out. `indexes` are the column indexes of the fields.
    """
    row, name = _origin(group, problem.field, indexes)
    known = group.problems.setdefault(row.number, [])
    if len(known) >= _MAX_PROBLEMS:
        known[_MAX_PROBLEMS:] = [
            RowProblem(None, "", f"has more problems; only the first {_MAX_PROBLEMS} are listed")
        ]
    elif not _is_unread(problem.message, name, known):
        message = _with_rows(problem, group.rows).message
        known.append(RowProblem(indexes.get(name), name, message))


def _with_rows(problem: Problem, rows: Sequence[Row]) -> Problem:
    """Return a problem whose message names rows in place of the lines of a body."""
    message = _LINE_PATH.sub(lambda path: f"row {rows[int(path[1])].number}", problem.message)
    return replace(problem, message=message)


def _is_unread(message: str, name: str, known: Iterable[RowProblem]) -> bool:
    """Return whether a field is only missing because a cell of its row cannot be converted."""
    names = {name, message.removeprefix("is required without ")}
    return message.startswith("is required") and any(one.field in names for one in known)


def _has_unknown_type(key: _GroupKey) -> bool:
    return any(value.startswith("?") for value in key[1:])


def count_characters(rows: Iterable[Row]) -> int:
    """Return the number of characters in all texts of `rows`."""
    return sum(len(cell) for row in rows for cell in row.cells if isinstance(cell, str))


def _values_of(
    row: Row, readers: Iterable[_FieldReader], fields: Mapping[str, str | None]
) -> tuple[object, ...] | None:
    """Return the values of the fields of a row; None if one is invalid, or required and missing.

    `fields` has the value that a blank cell counts as, None for a required field.
    """
    values: dict[str, object] = {}
    for index, column, convert in readers:
        try:
            value = convert(_cell(row, index))
        except ValueError:
            return None
        if value:
            values.setdefault(column.field, value)
    found = tuple(values.get(name, other) for name, other in fields.items())
    return None if None in found else found


def _is_same_value(value: object, other: object) -> bool:
    """Return whether two cells are equal, without regard to case and accents."""
    if isinstance(value, str) and isinstance(other, str):
        return fold(value.strip()) == fold(other.strip())
    return value == other


def _cell(row: Row, index: int) -> Cell:
    return row.cells[index] if index < len(row.cells) else None


def _with_objects(cells: Mapping[str, object]) -> dict[str, object]:
    """Return a body in which the fields with a path, such as `address.city`, are objects."""
    body: dict[str, object] = {}
    for path, value in cells.items():
        name, _, part = path.partition(".")
        inner = body.setdefault(name, {} if part else value)
        if part and isinstance(inner, dict):
            inner[part] = value
    return body


def _origin(group: RowGroup, path: str, indexes: Mapping[str, int]) -> tuple[Row, str]:
    """Return the row and the field of the column that a path of the body comes from."""
    parts = path.split(".")
    head, _, name = path.partition(METADATA)
    if name:
        field = f"{LINE_METADATA if head else METADATA}{name}"
        return group.rows[int(parts[1]) if head else 0], field
    if parts[0] == "lines" and len(parts) > 2 and parts[1].isdigit():  # noqa: PLR2004 - lines.N.field
        prefixed = f"{LINE_PREFIX}{parts[2]}"
        return group.rows[int(parts[1])], prefixed if prefixed in indexes else parts[2]
    return group.rows[0], path if path in indexes else parts[0]

"""From rows to units: what is applied as a whole, as the raw body of a single request.

A product or a pick face is one row; a document or a transfer order all rows that share its
key. Cells become what JSON would have; whether it is allowed is decided afterwards.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from shared.integration.imports.files.cells import Convert, converters, text
from shared.integration.imports.files.columns import ImportKind, Layout
from shared.integration.imports.files.reader import FileRows
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.report.rejected_rows import RowProblem
from shared.kernel.db.facets import fold
from shared.kernel.errors import Problem
from shared.kernel.spreadsheets.table import BadCell, Cell, Row
from shared.warehouse.documents.vocabulary import Kind, type_of

type _Key = tuple[str, ...]
"""What rows of one document share: reference and type. A type that is unknown begins with ?."""
type _Reader = tuple[int, str, Convert, bool]
"""Place in the row, field of the body, conversion, whether it is of a line."""

_PATH = re.compile(r"\blines\.(\d+)\.[\w.]+")
"""Of a line of the body, as messages name it; people who read a report know rows."""

_TYPES: Mapping[ImportKind, Kind] = {"entry_documents": "entry", "exit_documents": "exit"}


@dataclass(slots=True)
class Unit:
    """What is applied as a whole: its rows, its raw body, what is wrong with it, by row."""

    rows: Sequence[Row]
    body: dict[str, object]
    problems: dict[int, list[RowProblem]] = field(default_factory=dict)


_MOST_PROBLEMS = 50
"""Of a row: a cell of a hundred serials may have as many, and the report tells them in one."""


class Units:
    """Makes the units of one file."""

    def __init__(self, file: FileRows, kind: ImportKind, timezone: str) -> None:
        self._layout: Layout = LAYOUTS[kind]
        convert = converters(decimal_comma=file.decimal_comma, timezone=timezone)
        self._readers: list[_Reader] = [
            (place, column.field, convert[column.form], column.of_line)
            for place, column in file.columns
        ]
        self._places = {column.field: place for place, column in file.columns}
        self._file = file

    def all(self) -> Iterator[Unit]:
        """Yield the units in the order of their first rows."""
        if self._layout.key:
            yield from self._documents()
        else:
            yield from self._singles()

    def count(self) -> int:
        """Count the units."""
        return len(self._groups) if self._layout.key else len(self._file.rows)

    def _singles(self) -> Iterator[Unit]:
        seen: dict[object, int] = {}
        unique = self._layout.unique
        for row in self._file.rows:
            body, problems = self._read(row)
            unit = Unit([row], body, {row.number: problems} if problems else {})
            name = tuple(body.get(one) for one in unique)
            if None not in name:
                before = seen.setdefault(name, row.number)
                if before != row.number:
                    self.reject(unit, [Problem(unique[0], f"is in row {before} already")])
            yield unit

    def _documents(self) -> Iterator[Unit]:
        strays = self._strays()
        for key, rows in self._groups.items():
            unit = self._document(rows)
            for stray in strays.get(key, [])[:_MOST_PROBLEMS]:
                message = f"row {stray} may be of the same document, and does not say so"
                problem = RowProblem(None, self._layout.key[0], message)
                unit.problems.setdefault(rows[0].number, []).append(problem)
            yield unit

    @cached_property
    def _groups(self) -> Mapping[_Key, list[Row]]:
        groups: dict[_Key, list[Row]] = {}
        for row in self._file.rows:
            key = self._key(row)
            # A row without a reference belongs to no other row.
            groups.setdefault(key if key[0] else (*key, str(row.number)), []).append(row)
        return groups

    def _key(self, row: Row) -> _Key:
        values = []
        for name in self._layout.key:
            cell = _cell(row, self._places[name])
            # As the body will have it, or two documents would have one reference.
            value = "" if isinstance(cell, BadCell) else text(cell).strip()
            kind = _TYPES.get(self._layout.kind)
            if name == "type" and kind:
                value = type_of(kind, value) or f"?{fold(value)}"
            values.append(value)
        return tuple(values)

    def _strays(self) -> Mapping[_Key, list[int]]:
        """Find the documents that rows without a reference, or of no type, may belong to.

        They must not be made without these rows: that would be half a document.
        """
        of_reference: dict[str, list[_Key]] = {}
        for key in self._groups:
            if not _is_unknown(key):
                of_reference.setdefault(key[0], []).append(key)
        strays: dict[_Key, list[int]] = {}
        before: _Key | None = None
        for row in self._file.rows:
            key = self._key(row)
            if not key[0]:
                suspects = [before] if before and self._may_be_of(row, before) else []
            elif _is_unknown(key):
                suspects = of_reference.get(key[0], [])
            else:
                suspects, before = [], key
            for suspect in suspects:
                strays.setdefault(suspect, []).append(row.number)
        return strays

    def _may_be_of(self, row: Row, key: _Key) -> bool:
        """Tell whether nothing that a row says of its document speaks against this one."""
        said, known = (self._read(one)[0] for one in (row, self._groups[key][0]))
        return all(
            _same(said[name], known.get(name))
            for _, name, _, of_line in self._readers
            if name in said and not of_line
        )

    def _document(self, rows: Sequence[Row]) -> Unit:
        lines: list[object] = []
        unit = Unit(rows, {})
        said: dict[str, int] = {}
        key = self._layout.key
        for row in rows:
            body, problems = self._read(row)
            if problems:
                unit.problems[row.number] = problems
            line = {}
            for _, name, _, of_line in self._readers:
                if name not in body:
                    continue
                if of_line:
                    line[name] = body[name]
                elif name not in unit.body:
                    unit.body[name] = body[name]
                    said[name] = row.number
                elif name not in key and not _same(body[name], unit.body[name]):
                    message = f"differs from row {said[name]} of the same document"
                    problem = RowProblem(self._places[name], name, message)
                    unit.problems.setdefault(row.number, []).append(problem)
            lines.append(line)
        unit.body["lines"] = lines
        return unit

    def _read(self, row: Row) -> tuple[dict[str, object], list[RowProblem]]:
        cells = row.cells
        width = len(cells)
        body: dict[str, object] = {}
        problems: list[RowProblem] = []
        for place, name, convert, _ in self._readers:
            cell = cells[place] if place < width else None
            if cell is None or cell == "":
                continue
            try:
                value = convert(cell)
            except ValueError as error:
                problems.append(RowProblem(place, name, str(error)))
                continue
            if not (isinstance(value, str) and (not value or value.isspace())):
                body[name] = value
        if width > self._file.width:
            extra = next((place for place in range(self._file.width, width) if cells[place]), None)
            if extra is not None:
                problems.append(RowProblem(extra, "", "is beyond the last column"))
        return body, problems

    def reject(self, unit: Unit, problems: Iterable[Problem]) -> None:
        """Note what the rules find wrong with the body of a unit."""
        for problem in problems:
            reject(unit, problem, self._places)


def reject(unit: Unit, problem: Problem, places: Mapping[str, int]) -> None:
    """Note what is wrong with a body, in the row and column that it came from.

    What a cell could not be converted to is missing from the body; of that enough is said.
    """
    row, name = _origin(unit, problem.field)
    known = unit.problems.setdefault(row.number, [])
    if len(known) >= _MOST_PROBLEMS:
        known[_MOST_PROBLEMS:] = [RowProblem(None, "", "and more")]
    elif problem.message != "is required" or all(one.field != name for one in known):
        message = _PATH.sub(lambda path: f"row {unit.rows[int(path[1])].number}", problem.message)
        known.append(RowProblem(places.get(name), name, message))


def _is_unknown(key: _Key) -> bool:
    """Tell whether the type is none; there is at most one key a type that is known."""
    return any(value.startswith("?") for value in key[1:])


def characters(rows: Iterable[Row]) -> int:
    """Count the characters of all texts in rows."""
    return sum(len(cell) for row in rows for cell in row.cells if isinstance(cell, str))


def _same(one: object, other: object) -> bool:
    """Tell whether two cells say the same of a document."""
    if isinstance(one, str) and isinstance(other, str):
        return fold(one.strip()) == fold(other.strip())
    return one == other


def _cell(row: Row, place: int) -> Cell:
    return row.cells[place] if place < len(row.cells) else None


def _origin(unit: Unit, path: str) -> tuple[Row, str]:
    """Return the row and the field that a path of the body came from."""
    parts = path.split(".")
    if parts[0] == "lines" and len(parts) > 2 and parts[1].isdigit():  # noqa: PLR2004 - lines.N.field
        return unit.rows[int(parts[1])], parts[2]
    return unit.rows[0], parts[0]

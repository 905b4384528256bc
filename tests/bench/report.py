"""Result tables of benchmarks, and the bars that their figures must keep."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        cells: The text of each column.
        figures: Name → figure, for figures that are equal on every machine and in every run. They
            are compared with the baseline.
    """

    cells: Sequence[str]
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the row in the baseline."""
        return self.cells[0]


@dataclass(slots=True)
class Table:
    """Rows under a title, with a note on how they were measured.

    Attributes:
        columns: Heading of each column → the format of its numbers.
    """

    title: str
    columns: Mapping[str, str]
    note: str = ""
    rows: list[Row] = field(default_factory=list)

    def add(self, *values: object, figures: Mapping[str, float] | None = None) -> None:
        """Add a row with a value for each column: a text, a number, or None for an empty cell."""
        cells = [
            value if isinstance(value, str) else "" if value is None else format(value, form)
            for value, form in zip(values, self.columns.values(), strict=True)
        ]
        self.rows.append(Row(cells, figures or {}))

    def show(self, console: Console) -> None:
        """Print the table."""
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*row.cells)
        console.print(table)

    def markdown(self, measured: str) -> str:
        """Return note, rows, and when and where they were measured; the page has the heading."""
        lines = [
            self.note,
            "",
            "| " + " | ".join(self.columns) + " |",
            "|---" + "|---:" * (len(self.columns) - 1) + "|",
            *("| " + " | ".join(row.cells) + " |" for row in self.rows),
            "",
            measured,
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parsed(cls, title: str, section: str) -> "Table":
        """Return the table of a section of the page, without its note."""
        columns, _, *rows = (
            [cell.strip() for cell in line[1:-1].split(" | ")]
            for line in section.splitlines()
            if line.startswith("|")
        )
        return cls(title, dict.fromkeys(columns, ""), "", [Row(cells) for cells in rows])


def joined(tables: Iterable[Table]) -> list[Table]:
    """Return the tables, with the rows of all tables of one title in one."""
    found: dict[str, Table] = {}
    for table in tables:
        known = found.setdefault(table.title, Table(table.title, table.columns, table.note))
        known.rows += table.rows
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Bar:
    """The largest value, or the smallest one, that a column of a table may have.

    Attributes:
        table: Title of the table.
        rows: Pattern of the rows: it matches the beginning of the first two cells, joined by " | ".
        column: Heading of the column.
        most: The largest value.
        least: The smallest value, instead of `most`.
        missed: The value that must not get worse while the bar is missed. None when it is reached.
    """

    table: str
    rows: str
    column: str
    most: float | None = None
    least: float | None = None
    missed: float | None = None

    def __str__(self) -> str:
        limit = f"at most {self.most:g}" if self.least is None else f"at least {self.least:g}"
        return ": ".join(filter(None, (self.table, self.rows, self.column, limit)))

    def breaches(self, table: Table) -> Iterator[str]:
        """Yield how the table breaks the bar; see `breaches`."""
        values = list(self._values(table))
        reached = all(self._keeps(value, self.most, self.least) for _, value in values)
        if not values:
            yield f"{self}: no row has a value"
        elif reached and self.missed is not None:
            yield f"{self}: is reached, so remove `missed`"
        most, least, more = self.most, self.least, ""
        if self.missed is not None:
            most, least = (self.missed, None) if least is None else (None, self.missed)
            more = f"; it was missed with {self.missed:,g} before"
        for row, value in values:
            if not self._keeps(value, most, least):
                yield f"{self}: {value:,g} ({row}){more}"

    @staticmethod
    def _keeps(value: float, most: float | None, least: float | None) -> bool:
        return (most is None or value <= most) and (least is None or value >= least)

    def _values(self, table: Table) -> Iterator[tuple[str, float]]:
        """Yield the name and the value of the rows that have one."""
        at = list(table.columns).index(self.column)
        for row in table.rows:
            name, cell = " | ".join(row.cells[:2]), row.cells[at]
            if cell and re.match(self.rows, name):
                yield name, float(cell.replace(",", ""))


def breaches(bars: Sequence[Bar], tables: Sequence[Table]) -> list[str]:
    """Return how the tables, which have all rows, break the bars.

    Each bar must have a row, and must not be reached while it has `missed`. Bars of other tables
    are ignored.
    """
    return [
        breach
        for table in tables
        for bar in bars
        if bar.table == table.title
        for breach in bar.breaches(table)
    ]

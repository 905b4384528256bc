"""Result tables of benchmarks, with a bound and a result in each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

from tests.bench.charts import Chart

_WORDS = {True: "pass", False: "FAIL", None: ""}
_TARGET_WORDS = {True: "reached", False: "missed", None: ""}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        cells: The text of each column.
        bound: The bound of the row in words.
        passed: Whether the bound holds; None without a bound.
        figures: Name → figure, for figures that are equal on every machine and in every run. They
            are compared with the baseline.
        label: Name of the row in the baseline, if the first cell is not unique in its table.
        is_target: Whether the bound is a target for times, which a bench shows but does not judge.
    """

    cells: Sequence[str]
    bound: str = ""
    passed: bool | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    label: str = ""
    is_target: bool = False

    @property
    def fails(self) -> bool:
        """Whether the bound does not hold."""
        return self.passed is False and not self.is_target

    @property
    def verdict(self) -> str:
        """The result in a word."""
        return (_TARGET_WORDS if self.is_target else _WORDS)[self.passed]

    @property
    def name(self) -> str:
        """Name of the row in the baseline."""
        return self.label or self.cells[0]


@dataclass(slots=True)
class Table:
    """Rows under a title, with a note on how they were measured, and charts of them."""

    title: str
    columns: Sequence[str]
    note: str
    rows: list[Row] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all bounds hold."""
        return not any(row.fails for row in self.rows)

    @property
    def _has_bounds(self) -> bool:
        return any(row.bound for row in self.rows)

    def _columns(self) -> list[str]:
        return [*self.columns, *(("bound", "verdict") if self._has_bounds else ())]

    def _cells(self, row: Row) -> list[str]:
        return [*row.cells, *((row.bound, row.verdict) if self._has_bounds else ())]

    def show(self, console: Console) -> None:
        """Print the table."""
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for number, column in enumerate(self._columns()):
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*self._cells(row), style="red" if row.fails else "")
        console.print(table)

    def markdown(self) -> str:
        """Return note, charts and rows; the heading is that of the page."""
        columns = self._columns()
        lines = [self.note, ""] if self.note else []
        for chart in self.charts:
            lines += [f"![{chart.title}](performance/{chart.name}.svg)", ""]
        lines += [
            "| " + " | ".join(columns) + " |",
            "|---" + "|---:" * (len(columns) - 1) + "|",
            *("| " + " | ".join(self._cells(row)) + " |" for row in self.rows),
        ]
        return "\n".join(lines) + "\n"


def at_most(value: float, bound: float, form: str = "{:g}") -> tuple[str, bool]:
    """Return the text of an upper bound, and whether the figure is within it."""
    return f"≤ {form.format(bound)}", value <= bound

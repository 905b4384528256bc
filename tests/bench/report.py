"""Result tables of benchmarks, with a bound and a result in each row."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as RichTable

_WORDS = {True: "pass", False: "FAIL", None: ""}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table; `passed` is None without a bound."""

    cells: Sequence[str]
    bound: str = ""
    passed: bool | None = None


@dataclass(slots=True)
class Table:
    """Rows under a title, with a note on how they were measured."""

    title: str
    columns: Sequence[str]
    note: str
    rows: list[Row] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all bounds hold."""
        return all(row.passed is not False for row in self.rows)

    def show(self, console: Console) -> None:
        """Print the table."""
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for number, column in enumerate((*self.columns, "bound", "verdict")):
            table.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in self.rows:
            style = "red" if row.passed is False else ""
            table.add_row(*row.cells, row.bound, _WORDS[row.passed], style=style)
        console.print(table)

    def markdown(self) -> str:
        header = [*self.columns, "bound", "verdict"]
        lines = [
            f"## {self.title}",
            "",
            self.note,
            "",
            "| " + " | ".join(header) + " |",
            "|---" + "|---:" * (len(header) - 1) + "|",
        ]
        for row in self.rows:
            cells = [*row.cells, row.bound, _WORDS[row.passed]]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"


def at_most(value: float, bound: float, form: str = "{:g}") -> tuple[str, bool]:
    """Return the text of an upper bound, and whether the figure is within it."""
    return f"≤ {form.format(bound)}", value <= bound

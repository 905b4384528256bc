"""The recorded figures that must not grow: `baseline.json` beside this module.

It has figures that are equal on every machine and in every run: calls, round trips, capacity units,
examined items, sizes of packages. Times are not in it. Each row is a line.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from tests.bench import size
from tests.bench.report import Table
from tools.json_lines import json_lines

PATH = Path(__file__).with_name("baseline.json")
RECORD = "make compare ARGS=--record-baseline"
MEASURED = f"CI compares these figures; `{RECORD}` writes them."
"""Says on the page where such a table is from."""

type Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Title of a table → name of a row → name of a figure → figure."""


@dataclass(slots=True)
class Comparison:
    """The differences from the baseline.

    `missing` are the figures without one, `gone` those that are recorded, but were not measured.
    """

    compared: int = 0
    larger: list[str] = field(default_factory=list)
    smaller: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no figure grew, none is unknown, and all were measured."""
        return not self.larger and not self.missing and not self.gone

    def show(self, console: Console) -> None:
        """Print what differs, and what to do about it."""
        console.print(
            f"{self.compared:,} figures compared with tests/bench/{PATH.name}:"
            f" {len(self.larger)} larger, {len(self.smaller)} smaller."
        )
        for title, found in (
            ("Larger than the baseline", self.larger),
            ("Not in the baseline", self.missing),
            ("In the baseline, but not measured", self.gone),
            ("Smaller than the baseline", self.smaller),
        ):
            if found:
                console.print(f"{title}:")
                for one in found:
                    console.print(f"  {one}", soft_wrap=True)
        if not self.passed:
            console.print(f"Reduce larger figures, or record what is right with a reason: {RECORD}")
        elif self.smaller:
            console.print(f"Record the smaller figures, so that they stay: {RECORD}")


def figures_of(tables: Iterable[Table]) -> Figures:
    """Return the figures of tables that have some."""
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for table in tables:
        for row in table.rows:
            if row.figures:
                rows = found.setdefault(table.title, {})
                assert row.name not in rows, f"{table.title}: two rows are named {row.name}"
                rows[row.name] = row.figures
    return found


def load() -> Figures:
    """Return the recorded figures."""
    recorded: Figures = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    return recorded


def compare(recorded: Figures, measured: Figures) -> Comparison:
    """Compare measured figures with the recorded ones.

    Sizes are ignored when none was measured: then the package was not built.
    """
    result = Comparison()
    for table, rows in recorded.items():
        if table == size.TITLE and table not in measured:
            continue
        for row, figures in rows.items():
            known = measured.get(table, {}).get(row, {})
            result.gone += [f"{table}: {row}: {figure}" for figure in figures.keys() - known.keys()]
    for table, rows in measured.items():
        for row, figures in rows.items():
            before = recorded.get(table, {}).get(row, {})
            for figure, now in figures.items():
                if figure not in before:
                    result.missing.append(f"{table}: {row}: {figure}: {now:,g}")
                    continue
                result.compared += 1
                if now != before[figure]:
                    kind = result.larger if now > before[figure] else result.smaller
                    kind.append(f"{table}: {row}: {figure}: {before[figure]:,g} → {now:,g}")
    return result


def recorded_tables() -> Iterator[Table]:
    """Yield the recorded figures as tables; the first column is the name of the row."""
    for title, rows in load().items():
        columns = sorted({figure for figures in rows.values() for figure in figures})
        table = Table(title, {"": "", **dict.fromkeys(columns, ",.10g")})
        for row, figures in rows.items():
            table.add(row, *(figures.get(column) for column in columns), figures=figures)
        yield table


def record(measured: Figures) -> None:
    """Record measured figures; sizes stay when the package was not built."""
    sizes = {title: rows for title, rows in load().items() if title == size.TITLE}
    tables = json.loads(json.dumps({**sizes, **measured}, sort_keys=True))
    PATH.write_text(json_lines(tables, depth=2) + "\n", encoding="utf-8")

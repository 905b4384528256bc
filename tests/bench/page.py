"""docs/performance.md: a section per table, which says when and at which commit it was measured."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.report import Table
from tests.bench.state import ROOT

_HEAD = """# Performance

What requests, lists, imports and deliveries cost, and how long they take. `make bench` measures
everything and writes this page;
[CONTRIBUTING](../CONTRIBUTING.md#measure-what-a-change-costs)
says how to use it. Each section names the day and the commit of its figures.

Calls, round trips, units, examined items and sizes are equal on every machine and in every run.
They are compared with `tests/bench/baseline.json`: CI fails when one of them grows. Times depend on
the machine; they are shown and not judged, except for a few wide bounds.
"""
_GROUP = re.compile(r"^<!-- bench: (?P<group>[a-z-]+) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """The page and the folder of its charts.

    Args:
        path: The Markdown file; the charts are in the folder of the same name without `.md`.
        groups: The groups of the benchmark, in the order of the page.
    """

    path: Path = ROOT / "docs" / "performance.md"
    groups: Sequence[str] = ()

    def sections(self) -> dict[str, list[str]]:
        """Return group → its sections as they are; sections of unknown groups are dropped."""
        found: dict[str, list[str]] = {group: [] for group in self.groups}
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            group = _GROUP.search(section)
            if group and group["group"] in found:
                found[group["group"]].append(f"## {section.rstrip()}\n")
        return found

    def write(self, group: str, tables: Iterable[Table], measured: str) -> None:
        """Replace the sections of a group and its charts; `measured` says when and where."""
        sections: Mapping[str, list[str]] = self.sections()
        sections[group][:] = [_section(group, table, measured) for table in tables]
        parts = [section for group in self.groups for section in sections[group]]
        self.path.write_text("\n".join([_HEAD, *parts]), encoding="utf-8")
        folder = self.path.with_suffix("")
        folder.mkdir(exist_ok=True)
        for table in tables:
            for chart in table.charts:
                text = chart.svg(f"{table.title}. {measured}")
                (folder / f"{chart.name}.svg").write_text(text, encoding="utf-8")


def _section(group: str, table: Table, measured: str) -> str:
    return f"## {table.title}\n\n<!-- bench: {group} -->\n{measured}\n\n{table.markdown()}"

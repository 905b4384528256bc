"""docs/performance.md: a section per table, which says when and at which commit it was measured.

Sections that the benchmark did not write stay at the end.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.report import Table
from tests.bench.state import ROOT

_HEAD = """# Performance

What requests, lists, imports and deliveries cost, and how long they take. `make bench` measures
everything and writes this page ([how](../CONTRIBUTING.md#measure-what-a-change-costs)). Each
section names the day and the commit of its figures.

Calls, round trips, units and examined items are equal on every machine and in every run; those of
CI are compared with `tests/bench/baseline.json`. Times depend on the machine. The bars that the
figures must keep are in `tests/bench/bars.py`; `tests/unit/test_bench.py` names those that this
page breaks.
"""
_GROUP = re.compile(r"^<!-- bench: (?P<group>[a-z-]+) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """The page.

    Args:
        path: The Markdown file.
        groups: The groups of the benchmark, in the order of the page.
    """

    path: Path = ROOT / "docs" / "performance.md"
    groups: Sequence[str] = ()

    def tables(self) -> list[Table]:
        """Return the tables of the page."""
        written = [text for text in self._sections() if _GROUP.search(text)]
        return [Table.parsed(text.partition("\n")[0], text) for text in written]

    def _sections(self) -> list[str]:
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return re.split(r"^## ", text, flags=re.MULTILINE)[1:]

    def write(self, group: str, tables: Iterable[Table], measured: str) -> None:
        """Replace the sections of a group; `measured` says when and where.

        Sections of groups that no longer exist are removed.
        """
        sections: dict[str, list[str]] = {name: [] for name in self.groups}
        others: list[str] = []
        for section in self._sections():
            found = _GROUP.search(section)
            where = sections.get(found["group"]) if found else others
            if where is not None:
                where.append(f"## {section.rstrip()}\n")
        sections[group] = [
            f"## {table.title}\n\n<!-- bench: {group} -->\n{measured}\n\n{table.markdown()}"
            for table in tables
        ]
        parts = [section for name in self.groups for section in sections[name]] + others
        self.path.write_text("\n".join([_HEAD, *parts]), encoding="utf-8")

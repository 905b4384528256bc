"""docs/internals/performance.md: the tables of one run, and what people wrote about them below."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.report import Table
from tests.bench.state import ROOT

_HEAD = """# Performance

What requests, lists, imports and deliveries cost, and how long they take. `make bench` measures
everything in one run and writes this page
([how](../../CONTRIBUTING.md#measure-what-a-change-costs)).

Calls, round trips, units and examined items are equal on every machine and in every run; those of
CI are compared with `tests/bench/baseline.json`. Times depend on the machine. The bars that the
figures must keep are in `tests/bench/bars.py`; `tests/unit/test_bench.py` names those that this
page breaks.
"""
_END = "<!-- make bench writes everything above this line. -->\n"


@dataclass(frozen=True, slots=True)
class Page:
    """The page in a Markdown file."""

    path: Path = ROOT / "docs" / "internals" / "performance.md"

    def tables(self) -> list[Table]:
        """Return the tables of the page."""
        measured = self.path.read_text(encoding="utf-8").partition(_END)[0]
        sections = re.split(r"^## ", measured, flags=re.MULTILINE)[1:]
        return [Table.parsed(text.partition("\n")[0], text) for text in sections]

    def write(self, tables: Iterable[Table], measured: str) -> None:
        """Replace the tables; `measured` says when and where."""
        before = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        sections = (f"## {table.title}\n\n{table.markdown()}" for table in tables)
        parts = [_HEAD, f"{measured}\n", *sections, _END + before.partition(_END)[2]]
        self.path.write_text("\n".join(parts), encoding="utf-8")

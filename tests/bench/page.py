"""docs/internals/performance.md: the tables of one run, and what people wrote about them below."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

from tests.bench.report import Table
from tests.bench.state import ROOT

_HEAD = """# Performance

What requests, lists, imports and deliveries cost, and how long they take. `make bench` measures
everything in one run and writes this page
([how](../../CONTRIBUTING.md#measure-what-a-change-costs)).

Calls, round trips, units and examined items are equal on every machine and in every run. Those
that CI compares are recorded in `tests/bench/baseline.json`, and their tables here are written
together with it. Times depend on the machine. The bars that the figures must keep are in
`tests/bench/bars.py`; `tests/unit/test_bench.py` names those that this page or the recorded figures
break.
"""
_END = "<!-- make bench writes everything above this line. -->\n"


@dataclass(frozen=True, slots=True)
class Page:
    """The page in a Markdown file."""

    path: Path = ROOT / "docs" / "internals" / "performance.md"

    def tables(self) -> list[Table]:
        """Return the tables of the page."""
        return [Table.parsed(title, text) for title, text in self._sections().items()]

    def write(self, tables: Iterable[Table], measured: str) -> None:
        """Replace all tables; `measured` says when and where."""
        self._write({table.title: table.markdown(measured) for table in tables})

    def replace(self, tables: Iterable[Table], measured: str) -> None:
        """Replace those of the tables that the page has."""
        new = {table.title: table.markdown(measured) for table in tables}
        self._write({title: new.get(title, text) for title, text in self._sections().items()})

    def _sections(self) -> dict[str, str]:
        """Return title → text of the sections that are written here."""
        before = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        found = re.split(r"^## (.*)\n\n", before.partition(_END)[0], flags=re.MULTILINE)[1:]
        return {title: text.rstrip("\n") + "\n" for title, text in batched(found, 2, strict=True)}

    def _write(self, sections: Mapping[str, str]) -> None:
        before = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        texts = (f"## {title}\n\n{text}" for title, text in sections.items())
        self.path.write_text(
            "\n".join([_HEAD, *texts, _END + before.partition(_END)[2]]), encoding="utf-8"
        )

"""Run the benchmarks and check their bounds.

Figures are ratios or counts, so that they are comparable between machines. When a figure exceeds
its bound, the program exits with status 1.

  python -m tests.bench                    all groups
  python -m tests.bench --only lists       one group (can be repeated)
  python -m tests.bench --quick            fewer runs and rows, for a first look
  python -m tests.bench --write            also write docs/figures.md, after each group
"""

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from tests.bench import (
    cold_start,
    deliveries,
    handler_time,
    hot_partitions,
    import_reading,
    import_work,
    lists,
    memory,
    operations,
    rate_limit,
    round_trips,
    size,
    tenants,
    tokens,
)
from tests.bench.quiet import quiet
from tests.bench.report import Table

GROUPS: Mapping[str, Callable[[bool], list[Table]]] = {
    "cold-start": cold_start.measure,
    "size": size.measure,
    "memory": memory.measure,
    "round-trips": round_trips.measure,
    "rate-limit": rate_limit.measure,
    "warehouse-operations": operations.measure,
    "hot-partitions": hot_partitions.measure,
    "lists": lists.measure,
    "imports": import_reading.measure,
    "import-work": import_work.measure,
    "deliveries": deliveries.measure,
    "tenants": tenants.measure,
    "tokens": tokens.measure,
    "handler-time": handler_time.measure,
}
"""Name of a group → its benchmark; the argument is the value of --quick."""

_WIDTH = 150
"""Width of the output in columns when it is not a terminal."""

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and print their tables; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.write and options.quick:
        parser.error("--write cannot be combined with --quick")
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH)
    tables: list[Table] = []
    for name in options.only or GROUPS:
        began = time.monotonic()
        with quiet():
            measured = GROUPS[name](options.quick)
        for table in measured:
            table.show(console)
        console.print(f"[dim]{name}: {time.monotonic() - began:.0f} s[/dim]\n")
        tables += measured
        if options.write:
            _write(_sections() | {table.title: table.markdown() for table in measured})
    if options.write and not options.only:
        _write({table.title: table.markdown() for table in tables})
    broken = [table.title for table in tables if not table.passed]
    if broken:
        console.print(f"[red]Bounds exceeded: {'; '.join(broken)}[/red]")
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="run only this group")
    parser.add_argument("--quick", action="store_true", help="use fewer runs and rows")
    parser.add_argument("--write", action="store_true", help="write docs/figures.md")
    return parser


def _sections() -> dict[str, str]:
    """Return the sections of the page by their titles."""
    found = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {section.partition("\n")[0]: f"## {section.rstrip()}\n" for section in found}


def _write(sections: Mapping[str, str]) -> None:
    """Write the page with these sections."""
    head = f"""# Figures

The figures are ratios or counts, so that they are comparable between machines. `make bench`
measures them and fails when a figure exceeds its bound. `make bench ARGS=--write` writes this page,
`make bench ARGS="--write --only GROUP"` the sections of one group.

Last measured {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()} on {_machine()}.
"""
    PAGE.write_text("\n".join([head, *sections.values()]), encoding="utf-8")


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())

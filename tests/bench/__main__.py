"""Measure the figures that the documentation quotes.

Each figure is a ratio or a count, so that it says the same on every machine. Those with a
bound are a promise: when one is broken, the program ends with exit code 1.

  python -m tests.bench                    all groups
  python -m tests.bench --only lists       one group (may be given several times)
  python -m tests.bench --quick            fewer runs and rows: a look, not a figure
  python -m tests.bench --write            also write docs/figures.md
"""

import argparse
import os
import platform
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
    import_reading,
    import_work,
    lists,
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
    "round-trips": round_trips.measure,
    "rate-limit": rate_limit.measure,
    "floor": operations.measure,
    "lists": lists.measure,
    "imports": import_reading.measure,
    "import-work": import_work.measure,
    "deliveries": deliveries.measure,
    "tenants": tenants.measure,
    "tokens": tokens.measure,
    "handler-time": handler_time.measure,
}
"""Name → what measures the group; its argument is whether a quick look is enough."""

_WIDTH = 150
"""Columns where no terminal tells."""

PAGE = Path(__file__).parents[2] / "docs" / "figures.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.write and (options.only or options.quick):
        parser.error("--write takes all groups, measured in full")
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
        PAGE.write_text(_page(tables), encoding="utf-8")
        console.print(f"written: {PAGE}")
    broken = [table.title for table in tables if not table.passed]
    if broken:
        console.print(f"[red]broken: {'; '.join(broken)}[/red]")
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="this group alone")
    parser.add_argument("--quick", action="store_true", help="fewer runs, fewer rows")
    parser.add_argument("--write", action="store_true", help="write docs/figures.md")
    return parser


def _page(tables: Sequence[Table]) -> str:
    head = f"""# Figures

Each figure is a ratio or a count. `make bench` measures them again and fails when a bound is
broken; this page is written by `make bench ARGS=--write`.

Measured {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()} on {_machine()}.
"""
    return "\n".join([head, *(table.markdown() for table in tables)])


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())

"""Processor time of typical requests, compared with that of another checkout.

  python -m tests.bench.processor_time PATH [PAIRS]

PATH is a work tree of this repository, for example of the parent commit; `make build` has built
both. Both checkouts record the requests on moto, then fresh processes replay them without network
with what was built, in turn, so that other load on the machine affects both alike. Every process
imports the function, sends the first request, and repeats it. Figures are medians of the processor
times of the processes in milliseconds, and the median of the ratios of the pairs. The exit status
is 1 when PATH is at the commit for which there are bars, and one is broken.
"""

import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.bench.bars import BARS
from tests.bench.report import Table, breaches
from tests.bench.typical_requests import ROOT, Tasks, run, tasks

_PAIRS = 10
_FIGURES = {"import": "import", "both": "and first", "again": "repeated"}
_COLUMNS = [f"{figure}: {kind}" for figure in _FIGURES.values() for kind in ("old", "new", "ratio")]

_BEFORE = "26617321"
"""The commit for which there are bars."""

type _Pair = tuple[Mapping[str, float], Mapping[str, float]]
"""Figures of the other checkout and of this one."""


def main(arguments: list[str]) -> int:
    """Compare the checkout of this file with another one; return the exit status."""
    pairs = int(arguments[1]) if len(arguments) > 1 else _PAIRS
    roots = Path(arguments[0]).resolve(), ROOT
    theirs, ours = (_built(root, tasks(root)) for root in roots)
    table = new_table()
    for name in ours:
        measured = [(run(theirs[name]), run(ours[name])) for _ in range(pairs)]
        table.add(name, *(one for figure in _FIGURES for one in _compared(measured, figure)))
    table.show(Console(width=150))
    broken = breaches(BARS, [table]) if _commit(roots[0]).startswith(_BEFORE) else []
    for breach in broken:
        sys.stdout.write(f"{breach}\n")
    return 1 if broken else 0


def new_table() -> Table:
    """Return the table without rows."""
    columns = {"request": "", **dict.fromkeys(_COLUMNS, ".2f")}
    return Table("Processor time of typical requests", columns)


def _commit(root: Path) -> str:
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.check_output(command, cwd=root, text=True)  # noqa: S603 - of this line


def _built(root: Path, recorded: Tasks) -> Tasks:
    """Return the requests with the search paths of Lambda, of what a checkout has built."""
    build = root / ".aws-sam" / "build"
    layers = [str(path) for path in sorted(build.glob("*Layer/python"))]

    def search_path(task: dict[str, Any]) -> list[str]:
        package = task["handler"].split(".")[1]
        found = [path.parent for path in build.glob(f"*Function/functions/{package}")]
        if not found:
            sys.exit(f"{package} is not built: run `make build` in {root} first.")
        # Not the function that has several packages.
        return [str(min(found, key=lambda path: len([*path.iterdir()])).parent), *layers]

    return {name: task | {"path": search_path(task)} for name, task in recorded.items()}


def _compared(measured: Sequence[_Pair], figure: str) -> tuple[float, float, float]:
    before, after = (statistics.median(pair[side][figure] for pair in measured) for side in (0, 1))
    return before, after, statistics.median(one[figure] / other[figure] for other, one in measured)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run the benchmarks, judge their figures, and write docs/performance.md.

  python -m tests.bench                     all groups, printed only
  python -m tests.bench --only lists        one group (can be repeated)
  python -m tests.bench --quick             fewer runs and rows, for a first look
  python -m tests.bench --write             also write docs/performance.md, after each group
  python -m tests.bench --compare           only the figures that CI compares with the baseline
  python -m tests.bench --compare --record-baseline
                                            also record the figures that must not grow

The exit status is 1 when a figure breaks a bar or is larger than its baseline. Groups whose figures
do not depend on time run in two processes at once, the others alone.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from rich.console import Console

from tests.bench import (
    baseline,
    browser,
    cold_start,
    concurrent_picking,
    console_size,
    day,
    deliveries,
    import_reading,
    import_work,
    lists,
    operations,
    round_trips,
    searches,
    size,
)
from tests.bench.bars import BARS
from tests.bench.page import Page
from tests.bench.quiet import Measure, run_quietly
from tests.bench.report import Table, breaches
from tests.bench.state import current_state


@dataclass(frozen=True, slots=True)
class Group:
    """Tables that are measured together.

    Attributes:
        parts: What measures them; parts run at once if the group is not `timed`.
        timed: Whether it measures times, so that nothing else may run at the same time.
        compared: What measures the figures that CI compares, as fast as possible.
        merge: What makes the tables of the group of those of all parts.
    """

    parts: Sequence[Measure] = ()
    timed: bool = False
    compared: Sequence[Measure] = ()
    merge: Callable[[list[Table]], list[Table]] = list


GROUPS: Mapping[str, Group] = {
    "round-trips": Group([round_trips.measure], compared=[round_trips.measure]),
    "lists": Group(
        [partial(lists.measure, part=part) for part in range(lists.PARTS)],
        compared=[partial(lists.compared, part=part) for part in range(lists.PARTS)],
        merge=lists.merged,
    ),
    "searches": Group([searches.measure]),
    "day": Group([day.measure]),
    "cold-start": Group([cold_start.measure], timed=True),
    "concurrent-picking": Group([concurrent_picking.measure]),
    "imports": Group([import_reading.measure], timed=True),
    "import-work": Group([import_work.measure]),
    "deliveries": Group([deliveries.measure], compared=[deliveries.compared]),
    "browser": Group([browser.measure], timed=True),
    "warehouse-operations": Group(compared=[operations.compared]),
    "size": Group(compared=[size.compared]),
    "console-size": Group(compared=[console_size.compared]),
}
"""Name of a group → the group, in the order of the page; the last ones are only compared."""
MEASURED = [name for name, group in GROUPS.items() if group.parts]

_WIDTH = 150
"""Width of the output in columns when it is not a terminal."""
_PROCESSES = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and print their tables; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.quick and options.write:
        parser.error("--quick measures less than --write needs")
    if options.compare and (options.write or options.only):
        parser.error("--compare always measures the same and writes no page")
    if options.record_baseline and not options.compare:
        parser.error("--record-baseline needs --compare")
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH)
    state = current_state()
    if options.write:
        refuse(state.reason_against_writing())
    tables: list[Table] = []
    for name, measured, seconds in _measure(options):
        tables += measured
        for table in measured if not options.compare else ():
            table.show(console)
        console.print(f"[dim]{name}: {seconds:.0f} s[/dim]\n")
        if options.write:
            refuse(current_state().reason_against_comparing(state))
            Page(groups=MEASURED).write(name, measured, state.measured())
    whole = not (options.quick or options.compare)
    broken = breaches(BARS, tables, whole=whole)
    for breach in broken:
        console.print(f"[red]{breach}[/red]", soft_wrap=True)
    compared = not options.compare or _compare(tables, console, record=options.record_baseline)
    return 0 if compared and not broken else 1


def refuse(reason: str | None) -> None:
    """Exit with the reason, if there is one."""
    if reason:
        sys.exit(reason)


def _compare(tables: Sequence[Table], console: Console, *, record: bool) -> bool:
    """Compare the figures with the baseline; return whether none is larger."""
    figures = baseline.figures_of(tables)
    if record:
        baseline.record(figures)
    comparison = baseline.compare(baseline.load(), figures)
    comparison.show(console)
    return comparison.passed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=MEASURED, help="run only this group")
    for option, text in {
        "--quick": "use fewer runs and rows",
        "--write": "write docs/performance.md; needs a working tree without changes",
        "--compare": "measure only what CI compares with the baseline",
        "--record-baseline": "record the figures that must not grow",
    }.items():
        parser.add_argument(option, action="store_true", help=text)
    return parser


def _measure(options: argparse.Namespace) -> Iterator[tuple[str, list[Table], float]]:
    """Yield the name, the tables and the seconds of each group."""
    if options.compare:
        compared = {name: group.compared for name, group in GROUPS.items() if group.compared}
        yield from _at_once(compared, quick=True)
        return
    names = list(options.only or MEASURED)
    untimed = {name: GROUPS[name].parts for name in names if not GROUPS[name].timed}
    if untimed:
        yield from _at_once(untimed, quick=options.quick)
    for name in names:
        if GROUPS[name].timed:
            [part] = GROUPS[name].parts
            yield name, *run_quietly(part, options.quick)


def _at_once(
    parts: Mapping[str, Sequence[Measure]], *, quick: bool
) -> Iterator[tuple[str, list[Table], float]]:
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        # The longest ones first, so that both processes end at about the same time.
        order = sorted(parts, key=lambda name: -len(parts[name]))
        running = {
            name: [pool.submit(run_quietly, part, quick) for part in parts[name]] for name in order
        }
        for name, futures in running.items():
            done = [future.result() for future in futures]
            tables = [table for measured, _ in done for table in measured]
            yield name, GROUPS[name].merge(tables), sum(seconds for _, seconds in done)


if __name__ == "__main__":
    sys.exit(main())

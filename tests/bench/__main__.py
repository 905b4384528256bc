"""Run the benchmarks, compare their figures with the baseline, and write docs/performance.md.

  python -m tests.bench                     all groups, printed only
  python -m tests.bench --only lists        one group (can be repeated)
  python -m tests.bench --quick             fewer runs and rows, for a first look
  python -m tests.bench --write             also write docs/performance.md, after each group
  python -m tests.bench --record-baseline   also record the figures that must not grow
  python -m tests.bench --compare           only the figures that CI compares with the baseline
  python -m tests.bench --whole-day         replay a whole day instead of a part of it

The exit status is 1 when a bound is exceeded or a figure is larger than its baseline. Groups whose
figures do not depend on time run in two processes at once, the others alone.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from rich.console import Console

from tests.bench import (
    baseline,
    cold_start,
    day,
    deliveries,
    delivery_rate,
    handler_time,
    hot_partitions,
    import_reading,
    import_work,
    lists,
    memory,
    operations,
    rate_limit,
    round_trips,
    route_time,
    size,
    tenants,
    tokens,
)
from tests.bench.page import Page
from tests.bench.quiet import Measure, run_quietly
from tests.bench.report import Table
from tests.bench.state import current_state


@dataclass(frozen=True, slots=True)
class Group:
    """Tables that are measured together.

    Attributes:
        parts: What measures them; parts run at once if the group is not `timed`.
        timed: Whether it measures times, so that nothing else may run at the same time.
        compared: What measures the figures that CI compares, as fast as possible.
        draw: What adds notes and charts to the tables of all parts.
    """

    parts: Sequence[Measure]
    timed: bool = False
    compared: Sequence[Measure] = ()
    draw: Callable[[Sequence[Table]], None] | None = None


GROUPS: Mapping[str, Group] = {
    "round-trips": Group([round_trips.measure], compared=[round_trips.measure]),
    "route-time": Group([route_time.measure], timed=True),
    "handler-time": Group([handler_time.measure], timed=True),
    "day": Group([day.measure]),
    "lists": Group(
        [partial(lists.measure, part=part) for part in range(lists.PARTS)],
        compared=[partial(lists.compared, part=part) for part in range(lists.PARTS)],
        draw=lists.draw,
    ),
    "warehouse-operations": Group([operations.measure], compared=[operations.compared]),
    "hot-partitions": Group([hot_partitions.measure]),
    "cold-start": Group([cold_start.measure], timed=True),
    "memory": Group([memory.measure], timed=True),
    "size": Group([size.measure], compared=[size.compared]),
    "imports": Group([import_reading.measure], timed=True),
    "import-work": Group([import_work.measure]),
    "deliveries": Group([deliveries.measure], compared=[deliveries.compared]),
    "delivery-rate": Group([delivery_rate.measure], timed=True),
    "rate-limit": Group([rate_limit.measure]),
    "tenants": Group([tenants.measure]),
    "tokens": Group([tokens.measure]),
}
"""Name of a group → the group, in the order of the page."""

_WIDTH = 150
"""Width of the output in columns when it is not a terminal."""
_PROCESSES = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and print their tables; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.quick and (options.write or options.record_baseline):
        parser.error("--quick measures less than --write and --record-baseline need")
    if options.compare and (options.write or options.only):
        parser.error("--compare always measures the same and writes no page")
    if options.whole_day:
        os.environ[day.WHOLE_DAY] = "1"
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH)
    state = current_state()
    if options.write:
        refuse(state.reason_against_writing())
    tables: list[Table] = []
    for name, measured, seconds in _measure(options):
        tables += measured
        if draw := GROUPS[name].draw:
            draw(measured)
        for table in measured if not options.compare else ():
            table.show(console)
        console.print(f"[dim]{name}: {seconds:.0f} s[/dim]\n")
        if options.write:
            refuse(current_state().reason_against_comparing(state))
            Page(groups=tuple(GROUPS)).write(name, measured, state.measured())
    return 0 if _verdict(tables, options, console) else 1


def refuse(reason: str | None) -> None:
    """Exit with the reason, if there is one."""
    if reason:
        sys.exit(reason)


def _verdict(tables: Sequence[Table], options: argparse.Namespace, console: Console) -> bool:
    """Compare bounds and baseline; return whether all hold."""
    broken = [table.title for table in tables if not table.passed]
    if broken:
        console.print(f"[red]Bounds exceeded: {'; '.join(broken)}[/red]")
    figures = baseline.figures_of(tables)
    if options.record_baseline:
        baseline.record(figures, whole=not options.compare)
    comparison = baseline.compare(baseline.load(), figures)
    if options.quick:  # smaller sizes than the recorded ones
        comparison.missing.clear()
    if figures:
        comparison.show(console)
    return not broken and comparison.passed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=list(GROUPS), help="run only this group")
    for option, text in {
        "--quick": "use fewer runs and rows",
        "--write": "write docs/performance.md; needs a working tree without changes",
        "--record-baseline": "record the figures that must not grow",
        "--compare": "measure only what CI compares with the baseline",
        "--whole-day": "replay all requests of the day, for hours",
    }.items():
        parser.add_argument(option, action="store_true", help=text)
    return parser


def _measure(options: argparse.Namespace) -> Iterator[tuple[str, list[Table], float]]:
    """Yield the name, the tables and the seconds of each group."""
    names = list(options.only or GROUPS)
    if options.compare:
        parts = {name: GROUPS[name].compared for name in names if GROUPS[name].compared}
    else:
        parts = {name: GROUPS[name].parts for name in names if not GROUPS[name].timed}
    if sum(map(len, parts.values())) > 1:
        yield from _at_once(parts, quick=options.quick or options.compare)
    else:
        yield from ((name, *run_quietly(one, options.quick)) for name, [one] in parts.items())
    for name in () if options.compare else names:
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
            yield name, tables, sum(seconds for _, seconds in done)


if __name__ == "__main__":
    sys.exit(main())

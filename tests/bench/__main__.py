"""Run the benchmarks, judge their figures, and write docs/internals/performance.md.

  python -m tests.bench                     all groups, printed only
  python -m tests.bench --only lists        one group (can be repeated)
  python -m tests.bench --write             all groups; writes the page at the end
  python -m tests.bench --write --only day  replaces the tables of one group
  python -m tests.bench --compare           only the figures that CI compares with the baseline
  python -m tests.bench --compare --record-baseline
                                            also record the figures that must not grow, and write
                                            their tables of the page

The exit status is 1 when a figure breaks a bar or is larger than its baseline. What does not depend
on time runs in two processes at once, the rest afterwards, alone.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from rich.console import Console

from tests.bench import (
    baseline,
    browser,
    cold_start,
    concurrent_orders,
    concurrent_picking,
    console_size,
    day,
    deliveries,
    function_calls,
    imports,
    jobs,
    lists,
    operations,
    round_trips,
    searches,
    size,
)
from tests.bench.bars import BARS
from tests.bench.page import Page
from tests.bench.quiet import Measure, run_quietly
from tests.bench.report import Table, breaches, joined
from tests.bench.state import current_state


@dataclass(frozen=True, slots=True)
class Group:
    """Tables that are measured together.

    Attributes:
        parts: What measures them; parts of a group may run at once.
        timed: Whether it measures times, so that nothing else may run at the same time.
        compared: What measures the figures that CI compares, as fast as possible.
    """

    parts: Sequence[Measure] = ()
    timed: bool = False
    compared: Sequence[Measure] = ()


GROUPS: Mapping[str, Group] = {
    "round-trips": Group([round_trips.measure], compared=[round_trips.measure]),
    "lists": Group(
        [partial(lists.measure, part) for part in range(lists.PARTS)],
        compared=[partial(lists.compared, part) for part in range(lists.PARTS)],
    ),
    "searches": Group([searches.measure]),
    "day": Group([day.measure]),
    "jobs": Group([jobs.measure], compared=[jobs.measure]),
    "concurrent-picking": Group([concurrent_picking.measure]),
    "concurrent-orders": Group([concurrent_orders.measure]),
    "deliveries": Group([deliveries.measure], compared=[deliveries.measure]),
    "function-calls": Group([function_calls.measure], compared=[function_calls.measure]),
    "imports": Group([imports.measure], timed=True),
    "cold-start": Group([cold_start.measure], timed=True),
    "browser": Group([browser.measure], timed=True),
    "warehouse-operations": Group(compared=[operations.compared]),
    "size": Group(compared=[size.compared]),
    "console-size": Group(compared=[console_size.compared]),
}
"""Name of a group → the group, in the order of the page; the last ones are only compared."""

_WIDTH = 150
"""Width of the output in columns when it is not a terminal."""
_PROCESSES = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks and print their tables; return the exit status."""
    options = _options(arguments)
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH)
    state = current_state()
    if options.write:
        refuse(state.reason_against_writing())
    chosen = {name: GROUPS[name] for name in GROUPS if name in (options.only or GROUPS)}
    found: dict[str, list[Table]] = {name: [] for name in chosen}
    for name, tables, seconds in _measure(chosen, compare=options.compare):
        found[name] = tables
        for table in tables if not options.compare else ():
            table.show(console)
        console.print(f"[dim]{name}: {seconds:.0f} s of processor time[/dim]\n")
    tables = [table for name in chosen for table in found[name]]
    if options.write:
        refuse(current_state().reason_against_comparing(state))
        # Each table says of which commit it is.
        write = Page().replace if options.only else Page().write
        write(tables, state.measured())
    # Of what CI compares, a unit test judges the recorded figures.
    broken = [] if options.compare else breaches(BARS, tables)
    for breach in broken:
        console.print(f"[red]{breach}[/red]", soft_wrap=True)
    compared = not options.compare or _compare(tables, console, record=options.record_baseline)
    return 0 if compared and not broken else 1


def refuse(reason: str | None) -> None:
    """Exit with the reason, if there is one."""
    if reason:
        sys.exit(reason)


def _compare(tables: Sequence[Table], console: Console, *, record: bool) -> bool:
    """Compare the figures with the baseline; return whether none is larger, or they are recorded.

    What differs is also shown when it is recorded.
    """
    figures = baseline.figures_of(tables)
    comparison = baseline.compare(baseline.load(), figures)
    comparison.show(console)
    if record:
        baseline.record(figures)
        # Other tables of the page have more than CI compares.
        Page().replace((one for one in tables if one.title in figures), baseline.MEASURED)
    return record or comparison.passed


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    measured = [name for name, group in GROUPS.items() if group.parts]
    parser.add_argument("--only", action="append", choices=measured, help="run only this group")
    for option, text in {
        "--write": "write docs/internals/performance.md; needs a working tree without changes",
        "--compare": "measure only what CI compares with the baseline",
        "--record-baseline": "record the figures that must not grow",
    }.items():
        parser.add_argument(option, action="store_true", help=text)
    options = parser.parse_args(arguments)
    if options.compare and (options.write or options.only):
        parser.error("--compare always measures the same and writes no page")
    if options.record_baseline and not options.compare:
        parser.error("--record-baseline needs --compare")
    return options


def _measure(
    groups: Mapping[str, Group], *, compare: bool
) -> Iterator[tuple[str, list[Table], float]]:
    """Yield the name, the tables and the seconds of each group."""
    if compare:
        yield from _at_once({name: group.compared for name, group in groups.items()})
        return
    yield from _at_once({name: one.parts for name, one in groups.items() if not one.timed})
    for name, group in groups.items():
        if group.timed:
            yield from _at_once({name: group.parts})


def _at_once(
    groups: Mapping[str, Sequence[Measure]],
) -> Iterator[tuple[str, list[Table], float]]:
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        # The longest ones first, so that both processes end at about the same time.
        order = sorted(groups, key=lambda name: -len(groups[name]))
        running = {
            name: [pool.submit(run_quietly, part) for part in groups[name]] for name in order
        }
        for name, futures in running.items():
            done = [future.result() for future in futures]
            tables = [table for measured, _ in done for table in measured]
            if done:
                yield name, joined(tables), sum(seconds for _, seconds in done)


if __name__ == "__main__":
    sys.exit(main())

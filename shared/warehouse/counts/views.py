"""Conversion of counts to the responses of the interface."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from shared.kernel.caller import Caller
from shared.kernel.db.records import Record
from shared.kernel.fields import dict_of
from shared.warehouse.counts.actions import ACTIONS
from shared.warehouse.counts.models import (
    ChangedCount,
    Count,
    CountDetail,
    CountedLines,
    CountLine,
    CountProgress,
    CountSums,
    CountWithSums,
    StoredCount,
    StoredCountLine,
    count_code,
)
from shared.warehouse.counts.service import CountWithLines


def sees_expected(caller: Caller) -> bool:
    """Return whether a caller sees what is expected in a blind count."""
    return caller.kind == "client" or "inventory.manage" in caller.permissions


def count_in_list(
    sums: Mapping[int, CountSums], *, sees_expected: bool
) -> Callable[[Record[StoredCount]], Count]:
    """Return the view of counts in a list, for someone who sees what is expected or not."""

    def view(record: Record[StoredCount]) -> Count:
        count = record.entity
        return Count.from_stored(
            count, **_others(count, sums[count.id], sees_expected=sees_expected)
        )

    return view


def count_in_detail(count: CountWithLines, *, sees_expected: bool) -> CountDetail:
    """Return the view of one count with its lines."""
    entity = count.record.entity
    return CountDetail.from_stored(
        entity,
        **_others(entity, count.sums, sees_expected=sees_expected),
        lines=_lines(entity, count.lines, sees_expected=sees_expected),
        actions=ACTIONS.admitted(entity),
    )


def changed_count(count: CountWithSums, *, sees_expected: bool) -> ChangedCount:
    """Return the view of a count after a change."""
    entity = count.record.entity
    others = _others(entity, count.sums, sees_expected=sees_expected)
    return ChangedCount.from_stored(entity, **others, actions=ACTIONS.admitted(entity))


def counted_lines(
    count: StoredCount, lines: Iterable[StoredCountLine], *, sees_expected: bool
) -> CountedLines:
    """Return the view of lines that were counted."""
    return CountedLines(lines=_lines(count, lines, sees_expected=sees_expected))


def _lines(
    count: StoredCount, lines: Iterable[StoredCountLine], *, sees_expected: bool
) -> list[CountLine]:
    hidden = {} if sees_expected or not count.blind else {"expected_qty": None, "difference": None}
    return [dict_of(CountLine, line, **hidden) for line in lines]


def _others(count: StoredCount, sums: CountSums, *, sees_expected: bool) -> dict[str, Any]:
    """Return the fields of a response that are computed, or stored under another name."""
    shown = sees_expected or not count.blind
    progress = CountProgress(
        lines=count.lines + len(count.to_list),
        counted=sums.counted,
        differences=sums.differences if shown else None,
        units=sums.units,
    )
    return {
        "code": count_code(count.id),
        "warehouse_code": count.whs_code,
        "progress": progress,
    }

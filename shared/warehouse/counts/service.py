"""Use cases of counts: read, finish, recount and cancel them.

`creating`, `counting` and `posting` have the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.kernel.db import steps
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import run_steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.validation import Checked, ensure_valid, valid_entries
from shared.warehouse.counts import counting, creating, posting, repository, rules
from shared.warehouse.counts.actions import ACTIONS
from shared.warehouse.counts.models import (
    CountParameters,
    CountSums,
    CountWithSums,
    RecountedLines,
    StoredCount,
    StoredCountLine,
    count_code,
)
from shared.warehouse.counts.repository import COUNT_LINES, COUNTS

create_count = creating.create_count
count_goods = counting.count_goods
count_rows = counting.count_rows
stored_count = COUNTS.get
"""Returns a count as stored, without its lines."""
post_count = posting.post_count
sums_of = repository.read_sums


@dataclass(frozen=True, slots=True)
class CountWithLines:
    """A count with its lines and the sums over them."""

    record: Record[StoredCount]
    lines: list[StoredCountLine]
    sums: CountSums


def get_count(store: Store, number: int) -> CountWithLines:
    """Return a count with its lines."""
    record = COUNTS.get(store, number)
    lines = [one.entity for one in repository.read_lines(store, number, record.entity.line_nums)]
    return CountWithLines(record, lines, sum(map(rules.sums_of, lines), CountSums()))


def list_counts(
    store: Store, parameters: CountParameters
) -> tuple[Page[StoredCount], Mapping[int, CountSums]]:
    """Return a page of counts, and the sums over their lines by their ids."""
    store = store.repeatable()  # the sums were read together with the counts
    page = repository.list_counts(store, parameters)
    return page, repository.read_sums(store, (record.id for record in page.records))


def finish_count(tx: Transaction, number: int) -> CountWithSums:
    """Record that all lines of a count are counted; from now on none can be.

    Raises:
        Conflict: A line is not counted.
    """

    def step() -> CountWithSums | None:
        record = creating.listed(tx, number)
        if record is None:
            return None
        ACTIONS.ensure(record.entity, "finish")
        sums = repository.read_sums(tx.store, [number])[number]
        if sums.counted < record.entity.lines:
            _refuse(tx.store, record.entity, record.entity.lines - sums.counted)
        repository.close(tx, number)
        return CountWithSums(COUNTS.save(tx, record, record.entity, status="counted"), sums)

    return run_steps(tx, step)


def _refuse(store: Store, count: StoredCount, left: int) -> None:
    lines = (one.entity for one in repository.read_lines(store, count.id, count.line_nums))
    message = f"{left} of {count.lines} lines of {count_code(count.id)} are not counted."
    problems = rules.uncounted_problems(lines)
    raise Conflict(message, problems=rules.shortened(problems))


def recount(tx: Transaction, number: int, body: Checked[RecountedLines]) -> CountWithSums:
    """Set lines to be counted again; those that are not counted stay as they are."""

    def step() -> CountWithSums | None:
        record, before, lines = run_all(
            lambda: COUNTS.get(tx.store, number),
            lambda: repository.read_sums(tx.store, [number])[number],
            lambda: repository.read_lines(
                tx.store, number, [one for _, one in valid_entries(body.lines)]
            ),
        )
        known = {one.entity.line_num: one for one in lines}
        ensure_valid(body, rules.line_problems(record.entity, body.lines or (), known))
        ACTIONS.ensure(record.entity, "recount")
        is_closed = record.entity.status == "counted"
        left = [one for one in lines if one.entity.status == "counted"]
        part = left[: max(1, steps.STEP_ACTIONS - repository.SUM_SHARDS)]
        sums = CountSums()
        for one in part:
            COUNT_LINES.replace(tx, one, rules.to_recount(one.entity))
            sums -= rules.sums_of(one.entity)
        if is_closed and part:
            repository.reopen(tx, number, sums)
            record = COUNTS.save(tx, record, record.entity, status="counting", is_approved=False)
        elif part:
            repository.add_to_sums(tx, number, sums)
        return CountWithSums(record, before + sums) if len(part) == len(left) else None

    return run_steps(tx, step)


def cancel_count(tx: Transaction, number: int) -> CountWithSums:
    """Cancel a count; its stock can be in another one."""
    record = COUNTS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "cancel")
    cancelled = creating.cancel(tx, record)
    return CountWithSums(cancelled, repository.read_sums(tx.store, [number])[number])

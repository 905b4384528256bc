"""Post counts: adjust the stock by the differences, in steps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.kernel import references
from shared.kernel.db.records import Record
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem
from shared.warehouse.approvals import service as approvals
from shared.warehouse.counts import repository, rules
from shared.warehouse.counts.actions import ACTIONS
from shared.warehouse.counts.models import (
    CountSums,
    CountWithSums,
    StoredCount,
    StoredCountLine,
    count_code,
)
from shared.warehouse.counts.repository import COUNT_LINES, COUNTS
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.adjustment_lines import LineResult, LineRules, add_lines
from shared.warehouse.stock.models import StockRow

type HoldersOf = Callable[[StockRow], str | None]
"""Returns the work to which stock of a row is allocated, as text; None if none is found."""

_ADJUSTMENT_ACTIONS = 46
"""Actions that the adjustments of a step may take: at least two each, beside six for a level, a
total and the audit log. The step has room for their lines, the count and its sums, too."""
_LINES_PER_STEP = (_ADJUSTMENT_ACTIONS - 6) // 2


@dataclass(slots=True)
class _Adjusted:
    """What a step has made of lines: those that are done, and those that the stock refuses."""

    done: set[int] = field(default_factory=set)
    refused: dict[int, Problem] = field(default_factory=dict)
    sums: CountSums = field(default_factory=CountSums)


def post_count(
    tx: Transaction, number: int, holders_of: HoldersOf = lambda _row: None
) -> CountWithSums:
    """Adjust the stock by the differences of a count.

    The first step needs the approval, and from it on no line is counted until all are posted. A
    line that contradicts what has moved since it was counted is set to be counted again.

    Raises:
        Conflict: The stock does not allow some differences; the others are posted.
        ApprovalRequired: A line differs by more than `approval_adjustment_qty`.
    """
    refused = dict[int, Problem]()
    has_begun = False

    def committed(problems: Mapping[int, Problem]) -> None:
        nonlocal has_begun
        has_begun = True
        refused.update(problems)

    def step() -> CountWithSums | None:
        record = COUNTS.get(tx.store, number)
        if has_begun and record.entity.status != "counted":
            sums = repository.read_sums(tx.store, [number])[number]
            return CountWithSums(record, sums)  # another request has posted the rest
        ACTIONS.ensure(record.entity, "post")
        due = record.entity.to_post or _begin(tx, record.entity)
        part = [one for one in due if one not in refused][:_LINES_PER_STEP]
        adjusted = _adjust(tx, record.entity, part, holders_of)
        left = [one for one in due if one not in adjusted.done]
        problems = refused | adjusted.refused
        if all(one in problems for one in left):
            return _end(tx, record, adjusted.sums, problems)
        COUNTS.save(tx, record, record.entity, to_post=left)
        repository.correct_sums(tx, number, adjusted.sums)
        tx.after_step(lambda: committed(adjusted.refused))
        return None

    return run_steps(tx, step)


def _begin(tx: Transaction, count: StoredCount) -> list[int]:
    """Return the numbers of the lines to be posted; use the approval that they need."""
    records = repository.read_lines(tx.store, count.id, count.line_nums)
    lines = [record.entity for record in records]
    limit = settings_of(tx.company).approval_adjustment_qty
    need = None if limit is None else rules.approval_need(count, lines, limit)
    if need and not count.is_approved:
        approvals.require(tx, need)
    return rules.posting_order(lines)


def _adjust(
    tx: Transaction, count: StoredCount, numbers: Sequence[int], holders_of: HoldersOf
) -> _Adjusted:
    """Add the adjustments of the first lines, as many as fit into the step."""
    adjusted = _Adjusted()
    records = repository.read_lines(tx.store, count.id, numbers)
    if not records:
        return adjusted
    drafts = [rules.adjustment_of(record.entity, count) for record in records]
    line_rules = LineRules(None, holders_of=holders_of, actions=_ADJUSTMENT_ACTIONS)
    results = add_lines(tx, drafts, line_rules)
    for record, result in zip(records, results, strict=False):
        line = record.entity
        if result.code is None:
            COUNT_LINES.save(tx, record, line, movement_id=result.movement_id)
            adjusted.done.add(line.line_num)
        elif rules.contradicts(line, result.before if result.made else None):
            COUNT_LINES.replace(tx, record, rules.to_recount(line))
            adjusted.sums -= rules.sums_of(line)
            adjusted.done.add(line.line_num)
        else:
            adjusted.refused[line.line_num] = _refusal(line, result)
    return adjusted


def _refusal(line: StoredCountLine, result: LineResult) -> Problem:
    reason = "; ".join(problem.message for problem in result.problems)
    return Problem(f"lines.{line.line_num}", f"{rules.stock_text(line)}: {reason}")


def _end(
    tx: Transaction, record: Record[StoredCount], change: CountSums, refused: Mapping[int, Problem]
) -> CountWithSums:
    """Return the count after all lines are posted that can be.

    It is posted, or counted again if a line is to be counted again.
    """
    number = record.id
    sums = repository.read_sums(tx.store, [number])[number] + change
    if sums.counted < record.entity.lines:
        repository.reopen(tx, number, change)
        ended = COUNTS.save(
            tx, record, record.entity, status="counting", to_post=[], is_approved=False
        )
    elif refused:
        ended = COUNTS.save(tx, record, record.entity, to_post=[], is_approved=True)
    else:
        ended = COUNTS.save(tx, record, record.entity, status="posted", to_post=[])
        references.release_references(tx, COUNTS.kind, number)
    if refused:
        tx.commit_step()
        message = (
            f"The stock does not allow {len(refused)} of the differences of {count_code(number)}."
        )
        problems = [refused[one] for one in sorted(refused)]
        raise Conflict(message, problems=rules.shortened(problems))
    return CountWithSums(ended, sums)

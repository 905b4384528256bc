"""Several stock adjustments in one request: checked together, applied in steps.

The first step checks all of them, and nothing is applied if one is refused. Each step
records what is done, so that a repeat of the request continues after it and returns the response
that the request would have returned.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count
from typing import Any

from shared.identity.audit import service as audit
from shared.kernel.db.items import inflate
from shared.kernel.db.steps import STEP_ACTIONS, run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, StaleState, ValidationFailed
from shared.kernel.fields import ZERO
from shared.kernel.json_text import dumps, loads
from shared.kernel.validation import Checked, InvalidBody, given_fields, problems_of
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.need import ApprovalNeed
from shared.warehouse.catalog.drafts import own_lines, with_problems, with_values
from shared.warehouse.catalog.lines import differing_dates, numbered
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.adjustment_lines import (
    LineCode,
    LineReads,
    LineResult,
    LineRules,
    add_lines,
    examine_lines,
)
from shared.warehouse.stock.adjustment_models import (
    MAX_ADJUSTMENT_LINES,
    AdjustmentDraft,
    AdjustmentFields,
    AdjustmentLine,
    AdjustmentLines,
)
from shared.warehouse.stock.adjustment_rules import body_problems
from shared.warehouse.stock.adjustments import HoldersOf, MadeAdjustment, approval_need
from shared.warehouse.stock.models import StockRow

_HOLDERS_NAMED = 10
"""Refused lines whose message names the work that holds the stock; each takes several reads."""
_ACTIONS_PER_LINE = 4
"""Least actions of an adjustment that moves stock of a product: row, level, total, movement."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a request.

    `shown` is the line of the response; until it is applied, with the quantities that the check has
    found. `draft` is the line in base units; None once it was tried.
    """

    shown: AdjustmentLine
    draft: AdjustmentFields | None

    def dumped(self) -> Mapping[str, Any]:
        draft = self.draft and self.draft.model_dump(exclude_none=True)
        return {"shown": self.shown.model_dump(), "draft": draft}

    @classmethod
    def loaded(cls, stored: Mapping[str, Any]) -> "_Line":
        draft = stored["draft"]
        return cls(
            AdjustmentLine.model_validate(stored["shown"]),
            None if draft is None else AdjustmentFields.model_validate(draft),
        )

    def after(self, result: LineResult) -> "_Line":
        """Return the line after it was tried."""
        shown = result.adjustment
        if shown is None:  # its product or its position is gone, and so is its stock
            gone = {"status": "stale", "qty_before": ZERO, "qty_after": ZERO}
            shown = self.shown.model_copy(update=gone)
        return _Line(shown, None)


@dataclass(slots=True)
class _Work:
    """The lines of a request and what was read for them, from one step to the next."""

    lines: Sequence[_Line] | None
    reads: LineReads = field(default_factory=LineReads)
    is_tried: bool = False
    """Whether a step was run that is not committed."""


def adjust_lines(
    tx: Transaction,
    body: Checked[AdjustmentDraft],
    holders_of: HoldersOf = lambda _row: None,
) -> AdjustmentLines:
    """Make the adjustments of `lines` in their order, in as few transactions as possible.

    An adjustment that other requests have made impossible since the check is stale.

    Raises:
        StaleState: Of some lines another quantity is in stock than expected.
        Conflict: The stock does not allow some lines.
        ApprovalRequired: A line changes more than `approval_adjustment_qty`, and nobody approved
            the request.
    """
    work = _Work(None if tx.progress is None else _loaded(tx.progress))
    return run_steps(tx, lambda: _step(tx, body, holders_of, work))


def _step(
    tx: Transaction, body: Checked[AdjustmentDraft], holders_of: HoldersOf, work: _Work
) -> AdjustmentLines | None:
    if work.is_tried:
        work.reads.clear()
    work.is_tried = True
    lines = work.lines or _checked(tx, body, holders_of, work.reads)
    left = {at: line.draft for at, line in enumerate(lines) if line.draft}
    places = list(left)

    def may_exceed(at: int, made: MadeAdjustment) -> bool:
        planned = lines[places[at]].shown
        return (planned.qty_before, planned.qty_after) == (made.before, made.after)

    rules = LineRules(settings_of(tx.company).approval_adjustment_qty, may_exceed=may_exceed)
    results = add_lines(tx, list(left.values()), rules, work.reads) if left else []
    done = dict(zip(places, results, strict=False))
    after = [line.after(done[at]) if at in done else line for at, line in enumerate(lines)]
    if len(results) == len(left):
        return AdjustmentLines(lines=[line.shown for line in after])

    def committed() -> None:
        work.lines, work.is_tried = after, False
        work.reads.committed(tx)

    tx.after_step(committed)
    tx.record_progress(zlib.compress(dumps([line.dumped() for line in after]).encode()))
    return None


def _loaded(progress: bytes) -> list[_Line]:
    return [_Line.loaded(stored) for stored in loads(inflate(progress))]


def _checked(
    tx: Transaction, body: Checked[AdjustmentDraft], holders_of: HoldersOf, reads: LineReads
) -> list[_Line]:
    """Return the lines to be applied; refuse all of them if one cannot be."""
    sent = _lines_of(body)
    drafts = [
        line if given_fields(line, ["reason"]) else with_values(line, reason=body.reason)
        for line in sent
    ]
    asked = count()

    def few_holders(row: StockRow) -> str | None:
        return holders_of(row) if next(asked) < _HOLDERS_NAMED else None

    results = examine_lines(tx, drafts, LineRules(None, holders_of=few_holders), reads)
    own = [one for one in problems_of(body) if not one.field.startswith("lines.")]
    invalid = [*own, *body_problems(body, sent), *_problems(results, "invalid")]
    if invalid:
        raise ValidationFailed(invalid)
    if stale := list(_problems(results, "stale_state")):
        message = (
            f"The stock of {len(stale)} of {len(sent)} lines is not as expected; nothing was"
            " adjusted."
        )
        named = _problems(results, "stale_state", "conflict")
        raise StaleState(message, problems=list(named))
    if refused := list(_problems(results, "conflict")):
        message = f"{len(refused)} of {len(sent)} lines cannot be adjusted; nothing was."
        raise Conflict(message, problems=refused)
    made = [one.made for one in results if one.made]
    limit = settings_of(tx.company).approval_adjustment_qty
    if need := limit is not None and _approval_need(made, limit):
        approvals.require(tx, need)
    audit.reserve_entry_ids(tx, 1 + len(made) * _ACTIONS_PER_LINE // STEP_ACTIONS)
    shown = [one.adjustment for one in results if one.adjustment]
    return [
        _Line(line, one.planned.draft.model_copy(update={"unit": None}))
        for line, one in zip(shown, made, strict=True)
    ]


def _lines_of(body: Checked[AdjustmentDraft]) -> list[Checked[AdjustmentFields]]:
    """Return the lines of a body; those without a problem are valid, whatever the others are.

    Another date of a batch than a line before names is a problem of the line, not of the stock.
    """
    lines: list[Checked[AdjustmentFields]] = own_lines(body)
    valid = [
        line.model.model_construct({*line.model_fields_set}, **line.valid_values)
        if isinstance(line, InvalidBody) and not line.problems
        else line
        for line in lines[:MAX_ADJUSTMENT_LINES]
    ]
    return with_problems(valid, differing_dates(numbered(valid)))


def _problems(results: Sequence[LineResult], *codes: LineCode) -> Iterator[Problem]:
    for at, result in enumerate(results):
        for problem in result.problems if result.code in codes else ():
            field = f"lines.{at}.{problem.field}".removesuffix(".")
            yield replace(problem, field=field)


def _approval_need(made: Sequence[MadeAdjustment], limit: Decimal) -> ApprovalNeed | None:
    """Return why a request needs an approval: the lines that change more units than `limit`."""
    needs = [
        (at, approval_need(one, limit))
        for at, one in enumerate(made)
        if abs(one.after - one.before) > limit
    ]
    if not needs:
        return None
    first, need = needs[0]
    total = f" {len(needs)} lines need it." if len(needs) > 1 else ""
    message = f"lines.{first}: {need.message}{total}"
    figures = [figure for at, one in needs for figure in (Decimal(at), *one.figures)]
    return replace(need, message=message, figures=figures)

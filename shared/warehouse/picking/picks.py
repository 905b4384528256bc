"""Picks: allocated goods become staged stock at their position, where they await dispatch.

A request has one pick, several, or all that is allocated; see `catalog.several_lines`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from shared.kernel.db import steps
from shared.kernel.db.actions import Cost
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ServiceError, StaleState, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog.gtins import goods_resolved
from shared.warehouse.catalog.several_lines import (
    AppliedLines,
    SentLines,
    apply_lines,
    refusal_of,
    sent_lines,
)
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document
from shared.warehouse.master_data.named_codes import NamedCodes, picking_refusal
from shared.warehouse.picking import actions, pick_rules, rules
from shared.warehouse.picking.expiry import ExpiryRule
from shared.warehouse.picking.models import (
    PickDraft,
    PickingEnd,
    PicksDraft,
    StoredPicking,
    picking_code,
)
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.service import mark_finalized, record_exit_progress
from shared.warehouse.picking.staged_picks import PickPlan, StagedPicks
from shared.warehouse.settings.values import settings_of
from shared.warehouse.work.operators import operator_from_start, read_operator

_ACTIONS_PER_PART = 2
"""Actions that a part of a pick takes at least: its stock row and its movement."""


@dataclass(frozen=True, slots=True)
class PickTarget[R]:
    """What goods are picked for: `documents` in a picking, or the transfer order of it.

    Attributes:
        read: Returns the picking; raises Conflict or StaleState if it admits no picks.
        read_ahead: Reads what `save` needs, for documents with these ids, beside the stock.
        cost: Returns what `save` takes of the transaction for these documents.
        save: Saves the picking and what follows from it.
        unchanged: Returns what `save` returns, of a picking that did not change.
    """

    read: Callable[[], Record[StoredPicking]]
    read_ahead: Callable[[Collection[int]], object]
    cost: Callable[[Collection[int]], Cost]
    save: Callable[[Record[StoredPicking], StoredPicking], R]
    unchanged: Callable[[], R]


def pick(
    tx: Transaction, number: int, body: Checked[PicksDraft]
) -> tuple[Record[StoredPicking], Mapping[int, str]]:
    """Pick goods for the exit documents of a started picking; see `pick_lines`."""

    def read() -> Record[StoredPicking]:
        record = PICKINGS.get(tx.store, number)
        actions.ensure(record.entity, "picks")
        return record

    def read_documents(numbers: Collection[int]) -> list[Record[Document]]:
        # `record_exit_progress` finds them in the cache.
        return documents.get_documents(tx.store, "exit", sorted(numbers))

    def save(record: Record[StoredPicking], after: StoredPicking) -> Record[StoredPicking]:
        record_exit_progress(tx, after, rules.document_progress(record.entity, after))
        return PICKINGS.save(tx, record, after, operator=after.operator or read_operator(tx))

    target = PickTarget(
        read,
        read_documents,
        lambda numbers: sum((one.cost for one in read_documents(numbers)), Cost()),
        save,
        lambda: PICKINGS.get(tx.store, number),
    )
    return pick_lines(tx, body, target)


def pick_lines[R](
    tx: Transaction, body: Checked[PicksDraft], target: PickTarget[R]
) -> tuple[R, Mapping[int, str]]:
    """Pick goods; return the result, and why some lines were not applied.

    The goods are allocated to the picking, also where the position was blocked since, or replace
    allocated goods, as the setting `pick_substitution` allows. A serial that another picking has
    allocated at the same position changes places with the one that is allocated here, unless the
    order of the other picking names serials.

    Raises:
        Conflict: The goods are allocated to other work.
    """

    def step(left: Mapping[int, PickDraft] | None) -> AppliedLines[PickDraft, R]:
        if left is None:
            record = target.read()
            sent = _sent(body, record.entity)
            with goods_resolved(tx.store, sent.lines, sent.paths) as goods:
                return _pick_step(tx, record, dict(enumerate(goods)), target, sent)
        try:
            record = target.read()
        except (Conflict, StaleState) as ended:
            refused = {at: refusal_of(ended, draft) for at, draft in left.items()}
            return AppliedLines(target.unchanged(), refused=refused)
        return _pick_step(tx, record, left, target)

    return apply_lines(tx, PickDraft, step, target.unchanged)


def _sent(body: Checked[PicksDraft], picking: StoredPicking) -> SentLines[PickDraft]:
    def allocated() -> list[PickDraft]:
        return list(pick_rules.allocated_goods(picking))

    sent = sent_lines(body, PickDraft, "as_allocated", allocated)
    if sent.form == "all" and not (sent.lines or sent.problems):
        problem = Problem("as_allocated", f"nothing is allocated to {picking_code(picking.id)}")
        return replace(sent, problems=[problem])
    return sent


def _pick_step[R](
    tx: Transaction,
    record: Record[StoredPicking],
    lines: Mapping[int, Checked[PickDraft]],
    target: PickTarget[R],
    sent: SentLines[PickDraft] | None = None,
) -> AppliedLines[PickDraft, R]:
    """Pick the leading lines that fit into the transaction; with `sent`, check all of them."""
    refused: dict[int, ServiceError] = {}
    checks = sent is not None
    plans = _plans(tx, record.entity, lines, refused, checks=checks)
    is_refused = sent is not None and bool(refused or sent.problems)
    if sent and (sent.form == "single" or not plans):
        sent.refuse(refused, lines)
    picks = StagedPicks(tx, record, plans)
    if plans:
        run_all(
            lambda: picks.load(adds=not is_refused),
            lambda: target.read_ahead(picks.documents_of(plans)),
        )
        refused |= picks.stage(
            lambda staged: target.cost(picks.documents_of(staged)), checks=checks
        )
    if sent:
        sent.refuse(refused, lines)
    result = target.save(record, picks.post()) if picks.staged else target.unchanged()
    return AppliedLines(
        result,
        {
            at: plans[at].draft if at in plans else ensure_valid(draft)
            for at, draft in lines.items()
            if at not in picks.staged and at not in refused
        },
        {at: refusal_of(error, lines[at]) for at, error in refused.items()},
    )


# The plans


def _plans(
    tx: Transaction,
    picking: StoredPicking,
    lines: Mapping[int, Checked[PickDraft]],
    refused: dict[int, ServiceError],
    *,
    checks: bool,
) -> dict[int, PickPlan]:
    """Return what lines take, one after the other, and add those that are refused to `refused`.

    All lines if it `checks` them, otherwise the leading ones, as many as can fit into one step.
    """
    plans: dict[int, PickPlan] = {}
    expiry, planned = ExpiryRule(tx), 0
    if len(lines) > 1:
        _read_positions(tx, picking, lines.values())
    for at, draft in lines.items():
        if plans and planned > steps.STEP_ACTIONS and not checks:
            break
        try:
            plan = plans[at] = _plan(tx, picking, draft, expiry)
        except ValidationFailed as error:
            refused[at] = error
            continue
        planned += _ACTIONS_PER_PART * len(plan.parts)
        for part in plan.parts:
            picking = rules.without_allocation(picking, part)
    return plans


def _plan(
    tx: Transaction, picking: StoredPicking, checked: Checked[PickDraft], expiry: ExpiryRule
) -> PickPlan:
    """Return what a valid pick takes; raise ValidationFailed with all problems of another."""
    substitution = settings_of(tx.company).pick_substitution
    problems = list(pick_rules.pick_problems(picking, checked, substitution))
    if not pick_rules.is_allocated_at(picking, checked):
        problems += _position_problems(tx, picking, checked)
    draft = ensure_valid(checked, problems)
    parts = pick_rules.split_pick(picking, draft, substitution)
    if any(not part.exact for part in parts):
        # Other goods than the allocated ones also need a position that may be picked from.
        ensure_valid(draft, _position_problems(tx, picking, draft))
    product_id = picking.lines[parts[0].line].product_id
    return PickPlan(draft, product_id, picking.warehouse_id, parts, expiry)


def _position_problems(
    tx: Transaction, picking: StoredPicking, draft: Checked[PickDraft]
) -> Iterator[Problem]:
    """Yield why goods that are not allocated may not be picked at the position of a pick."""
    if draft.bin_code is None:
        return
    pair = (picking.whs_code, draft.bin_code)
    position = NamedCodes(positions=[pair]).read(tx).positions.get(pair)
    if refusal := picking_refusal(*pair, position):
        yield Problem("bin_code", refusal)


def _read_positions(
    tx: Transaction, picking: StoredPicking, lines: Iterable[Checked[PickDraft]]
) -> None:
    """Read the positions at which goods of lines are not allocated, into the cache."""
    bins = {one.bin_code for one in lines if not pick_rules.is_allocated_at(picking, one)}
    if bins:
        tx.store.get_many(NamedCodes(positions=((picking.whs_code, one) for one in bins)).keys)


# Transfer orders


def save_for_transfer_order(
    tx: Transaction, record: Record[StoredPicking], picking: StoredPicking
) -> Record[StoredPicking]:
    """Save the picking of a transfer order after picks.

    It is started by its first pick and finalized by its last one.
    """
    before, acting = record.entity, read_operator(tx)
    operator = before.operator or acting
    if before.status == "pending":
        operator = operator_from_start(before.operator, before.user_id, acting)
    start = {"status": "started", "started_at": before.started_at or tx.now, "operator": operator}
    picking = picking.model_copy(update=start)
    if not rules.is_incomplete(picking):
        return mark_finalized(tx, record, picking, PickingEnd())
    return PICKINGS.save(tx, record, picking)

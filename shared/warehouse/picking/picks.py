"""Picks: move allocated goods to staged stock at their position, where they await dispatch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog.gtins import goods_resolved
from shared.warehouse.documents import service as documents
from shared.warehouse.master_data.named_codes import NamedCodes, picking_refusal
from shared.warehouse.picking import actions, pick_rules, rules
from shared.warehouse.picking.allocation import MAX_INDEX_LAG_MS
from shared.warehouse.picking.expiry import ExpiryRule
from shared.warehouse.picking.holders import allocating_pickings
from shared.warehouse.picking.models import (
    Pick,
    PickDraft,
    PickingEnd,
    StoredPicking,
    picking_code,
)
from shared.warehouse.picking.pick_rules import PickPart
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.rules import Holder
from shared.warehouse.picking.service import mark_finalized, record_exit_progress
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.models import (
    InventoryStatus,
    MovementCause,
    RowKey,
    StockRefused,
    StockRow,
)
from shared.warehouse.stock.posting import StockPosting
from shared.warehouse.work.operators import operator_from_start, read_operator


@dataclass(frozen=True, slots=True)
class _PickPlan:
    """The allocations that a pick uses (`parts`), and the position and batch it takes goods from.

    Goods of a part that is not exact are taken instead of the allocated ones. `expiry` says which
    goods may be taken.
    """

    product_id: int
    warehouse_id: int
    bin_code: str
    batch: str | None
    parts: Sequence[PickPart]
    expiry: ExpiryRule

    def row_key(self, status: InventoryStatus, part: PickPart) -> RowKey:
        return RowKey(
            self.product_id, self.warehouse_id, self.bin_code, status, self.batch, part.serial
        )


def pick(tx: Transaction, number: int, draft: Checked[PickDraft]) -> Record[StoredPicking]:
    """Pick goods for the exit documents of a started picking; they become staged stock.

    They are allocated to the picking, also where the position was blocked since, or replace
    allocated goods, as the setting `pick_substitution` allows. A serial that another picking has
    allocated at the same position changes places with the one that is allocated here, unless the
    order of the other picking names serials.

    Raises:
        Conflict: The goods are allocated to other work.
    """
    with goods_resolved(tx.store, draft) as named:
        record = PICKINGS.get(tx.store, number)
        actions.ensure(record.entity, "picks")
        plan = _plan(tx, record.entity, named)
        posting, _ = run_all(
            lambda: _load_stock(tx, record.entity, plan),
            # Read ahead: `record_exit_progress` finds them in the cache.
            lambda: documents.get_documents(tx.store, "exit", _documents(record.entity, plan)),
        )
        picking = _stage_goods(tx, posting, record.entity, plan)
        record_exit_progress(tx, picking, rules.document_progress(record.entity, picking))
    return PICKINGS.save(tx, record, picking, operator=picking.operator or read_operator(tx))


# The plan


def _plan(
    tx: Transaction,
    picking: StoredPicking,
    checked: Checked[PickDraft],
) -> _PickPlan:
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
    return _PickPlan(
        product_id, picking.warehouse_id, draft.bin_code, draft.batch, parts, ExpiryRule(tx)
    )


def _documents(picking: StoredPicking, plan: _PickPlan) -> list[int]:
    """Return the ids of the documents for which goods are picked."""
    return sorted({picking.lines[part.line].document_id for part in plan.parts})


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


# Stock


def _load_stock(tx: Transaction, picking: StoredPicking, plan: _PickPlan) -> StockPosting:
    posting = StockPosting(tx, cause=MovementCause(type="picking", id=picking.id))
    targets = [plan.row_key("staged", part) for part in plan.parts]
    targets += [plan.row_key("available", part) for part in plan.parts if not part.exact]
    posting.load(
        rows=list({part.allocation.stock_id for part in plan.parts}),
        targets=targets,
        movements=len(plan.parts),
        beside=lambda rows: plan.expiry.read_ahead(picking, rows),
    )
    return posting


def _stage_goods(
    tx: Transaction, posting: StockPosting, picking: StoredPicking, plan: _PickPlan
) -> StoredPicking:
    """Make the stock changes of a pick, and exchange allocations; return the picking after it."""
    exchange = _Exchange.of(tx, posting, picking, plan)
    moved = _stage_parts(posting, picking, plan, exchange)
    posting.post()
    exchange.save(tx)
    for part, staged in moved:
        picking = rules.picked(picking, part, _stored_pick(posting, part, staged))
    return picking


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The other pickings that have allocated serials of a pick, by the ids of their rows."""

    expiry: ExpiryRule
    holders: Mapping[int, Holder]
    records: Mapping[int, Record[StoredPicking]]
    after: dict[int, StoredPicking]
    """The other pickings after the exchange, by id."""

    @classmethod
    def of(
        cls, tx: Transaction, posting: StockPosting, picking: StoredPicking, plan: _PickPlan
    ) -> "_Exchange":
        """Find the pickings with which a pick exchanges allocations.

        Raises:
            StaleRead: The index does not show yet who has allocated a serial.
        """
        rows = [
            row for part in plan.parts if (row := _allocated_row(posting, plan, part)) is not None
        ]
        found = allocating_pickings(tx.store, rows) if rows else []
        records = {record.id: record for record in found if record.id != picking.id}
        holders = rules.holders_by_row(
            {row.id for row in rows}, [record.entity for record in records.values()]
        )
        if len(holders) < len(rows) and tx.elapsed_ms < MAX_INDEX_LAG_MS:
            raise StaleRead
        return cls(plan.expiry, holders, records, {})

    def give(self, row: StockRow, part: PickPart, allocated: StockRow) -> bool:
        """Give the allocation of a part to the picking that has allocated `row`, if one has.

        `allocated` is the row of that allocation.

        Raises:
            ValidationFailed: The order of that picking names serials, or its goods may not have
                the expiry date of the allocation.
        """
        holder = self.holders.get(row.id)
        if holder is None:
            return False
        other = self.after.get(holder.picking, self.records[holder.picking].entity)
        line, code = other.lines[holder.line], picking_code(other.id)
        refusal = self.expiry.picking_refusal(other, line, allocated)
        reason = f"{code} would get other goods, and {refusal}" if refusal else None
        if line.serials:
            reason = f"the order of {code} names it"
        if reason:
            message = f"serial {part.serial} cannot be picked: {reason}"
            raise ValidationFailed([Problem("serials", message)])
        self.after[other.id] = rules.with_exchanged(other, holder, part.allocation)
        return True

    def save(self, tx: Transaction) -> None:
        """Save the other pickings."""
        for number, picking in self.after.items():
            PICKINGS.save(tx, self.records[number], picking)


def _allocated_row(posting: StockPosting, plan: _PickPlan, part: PickPart) -> StockRow | None:
    """Return the row of a serial that other work has allocated at the position of a part."""
    place = (part.allocation.bin_code, part.allocation.batch_num)
    if part.exact or part.serial is None or place != (plan.bin_code, plan.batch):
        return None
    key = plan.row_key("available", part)
    row = posting.changes.find(key)
    return row if row is not None and row.key == key and row.allocated else None


def _stage_parts(
    posting: StockPosting, picking: StoredPicking, plan: _PickPlan, exchange: _Exchange
) -> list[tuple[PickPart, StockRow]]:
    """Move the parts of a pick to staged stock; raise ValidationFailed with all problems."""
    moved: list[tuple[PickPart, StockRow]] = []
    problems: dict[Problem, None] = {}
    for at, part in enumerate(plan.parts):
        try:
            moved.append((part, _stage_part(posting, picking, plan, at, exchange)))
        except ValidationFailed as error:
            problems |= dict.fromkeys(error.problems)
            if part.serial is None:
                break  # the problem is that of the whole quantity
    if problems:
        raise ValidationFailed(list(problems))
    return moved


def _stage_part(
    posting: StockPosting, picking: StoredPicking, plan: _PickPlan, at: int, exchange: _Exchange
) -> StockRow:
    """Move the part at index `at` of a pick from available to staged stock; return that row."""
    part = plan.parts[at]
    allocated = posting.row(part.allocation.stock_id)
    theirs = _allocated_row(posting, plan, part)
    is_allocated = True
    if part.exact:
        row = allocated
    elif theirs is not None and exchange.give(theirs, part, posting.with_date(allocated)):
        row = theirs
    else:
        posting.changes.release(allocated, part.qty)
        row = _free_row(posting, plan, at)
        is_allocated = False
    line, goods = picking.lines[part.line], posting.with_date(row)
    if refusal := plan.expiry.picking_refusal(picking, line, goods):
        field = "item_code" if plan.batch is None else "batch"
        raise ValidationFailed([Problem(field, refusal)])
    staged = row.model_copy(update={"inventory_status": "staged"})
    try:
        moved = posting.changes.move(
            "pick", part.qty, source=row, target=staged, allocated=is_allocated
        )
    except StockRefused as refused:
        raise Conflict(f"The goods cannot be picked: {refused}.") from refused
    return moved or staged


def _free_row(posting: StockPosting, plan: _PickPlan, at: int) -> StockRow:
    """Return the row of the goods that are picked instead of those of the part at index `at`.

    Messages count the whole pick: the parts before this one are taken from the row already.

    Raises:
        ValidationFailed: There are fewer at the position.
        Conflict: There are enough, but they are allocated to other work.
    """
    part = plan.parts[at]
    picked = plain(sum((one.qty for one in plan.parts), ZERO))
    taken = sum((one.qty for one in plan.parts[:at]), ZERO)
    # A serial has one row for all places.
    key = plan.row_key("available", part)
    row = posting.changes.find(key)
    here = row is not None and row.key == key
    if row is None or not here or row.qty < part.qty:
        if part.serial is not None:
            message = f"serial {part.serial} is not available at {plan.bin_code}: {_found(row)}"
            raise ValidationFailed([Problem("serials", message)])
        there = plain(taken + (row.qty if row and here else ZERO))
        batch = "" if plan.batch is None else f" of batch {plan.batch}"
        message = f"{picked} picked, {there}{batch} in stock at {plan.bin_code}"
        raise ValidationFailed([Problem("qty", message)])
    if row.qty - row.allocated < part.qty:
        exact = sum((one.qty for one in plan.parts if one.exact), ZERO)
        own = f"{plain(exact)} allocated to the picking and " if exact else ""
        free = plain(taken - exact + row.qty - row.allocated)
        raise Conflict(
            f"{picked} of {row.item_code} picked at {plan.bin_code}, {own}{free} free there;"
            " the rest is allocated to other work."
        )
    return row


def _found(row: StockRow | None) -> str:
    """Return where a serial is; its row is that of the last place."""
    if row is None or not row.qty:
        return "it is not in stock"
    return f"it is {row.inventory_status} at {row.bin_code or 'no position'} in {row.whs_code}"


def _stored_pick(posting: StockPosting, part: PickPart, staged: StockRow) -> Pick:
    return Pick(
        staged_id=posting.row_id(staged),
        position_id=staged.position_id or 0,
        bin_code=staged.bin_code or "",
        batch_num=staged.batch_num,
        serial=part.serial,
        qty=part.qty,
        expiry_date=staged.expiry_date,
    )


# Transfer orders


def pick_for_transfer_order(
    tx: Transaction,
    record: Record[StoredPicking],
    draft: Checked[PickDraft],
) -> Record[StoredPicking]:
    """Pick goods for a transfer order; see `pick`.

    Its picking is started by its first pick and finalized by its last one.
    """
    before = record.entity

    def stage() -> StoredPicking:
        with goods_resolved(tx.store, draft) as named:
            plan = _plan(tx, before, named)
            return _stage_goods(tx, _load_stock(tx, before, plan), before, plan)

    picking, acting = run_all(stage, lambda: read_operator(tx))
    operator = before.operator or acting
    if before.status == "pending":
        operator = operator_from_start(before.operator, before.user_id, acting)
    start = {"status": "started", "started_at": before.started_at or tx.now, "operator": operator}
    picking = picking.model_copy(update=start)
    if not rules.is_incomplete(picking):
        return mark_finalized(tx, record, picking, PickingEnd())
    return PICKINGS.save(tx, record, picking)

"""Stock adjustments: counted quantities, increases, decreases and changes of status."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from shared.identity.audit import service as audit
from shared.identity.audit.models import Actor
from shared.kernel import references
from shared.kernel.clock import Instant
from shared.kernel.db.parallel import run_all
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, StaleState, ValidationFailed
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.need import ApprovalNeed, ApprovedResource
from shared.warehouse.catalog.unit_quantities import in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.adjustment_models import (
    ADJUSTMENT_METHODS,
    Adjustment,
    AdjustmentFields,
)
from shared.warehouse.stock.adjustment_rules import (
    adjustment_problems,
    is_correction,
    reason_problems,
)
from shared.warehouse.stock.corrections import correct_expiry_date
from shared.warehouse.stock.expiry import ensure_not_expired
from shared.warehouse.stock.models import RowKey, ShelfStatus, StockRefused, StockRow
from shared.warehouse.stock.posting import StockPosting, empty_row, fence_master_data
from shared.warehouse.stock.rules import shortage

type HoldersOf = Callable[[StockRow], str | None]
"""Returns the work to which stock of a row is allocated, as text; None if none is found."""

QUANTITIES = ("counted_qty", "increase", "decrease", "qty", "expected_qty")
"""Fields of an adjustment that count its unit."""

AUDITED_FIELDS = (
    "product_id", "item_code", "whs_code", "bin_code", "batch_num", "serial_number",
    "inventory_status", "to_status",
)  # fmt: skip
"""Fields of an adjustment that are copied into its entry in the audit log."""


@dataclass(frozen=True, slots=True)
class PlannedAdjustment:
    """A valid adjustment in base units.

    `here` is an empty row that describes its stock, `changed` one with the status that it gets.
    """

    draft: AdjustmentFields
    here: StockRow
    changed: StockRow | None

    @property
    def targets(self) -> list[RowKey]:
        """The keys of the rows that it can change."""
        return [row.key for row in (self.here, self.changed) if row]


@dataclass(frozen=True, slots=True)
class MadeAdjustment:
    """An adjustment with the quantities before and after it. `goods` describe its stock."""

    planned: PlannedAdjustment
    goods: StockRow
    before: Decimal
    after: Decimal

    def shown(self, movement_id: int | None) -> dict[str, object]:
        """Return the fields of `Adjustment` that are not those of its stock."""
        return {
            "movement_id": movement_id,
            "to_status": self.planned.draft.to_status,
            "qty_before": self.before,
            "qty_after": self.after,
            "expiry_date": self.goods.expiry_date,
            "reason": self.planned.draft.reason,
            "created_at": self.planned.here.created_at,
        }


def adjust_stock(
    tx: Transaction,
    draft: Checked[AdjustmentFields],
    holders_of: HoldersOf = lambda _row: None,
) -> Adjustment:
    """Adjust the stock of one product at one position and record a movement with the reason.

    Without a quantity or status, correct the expiry date of a batch; see `corrections`.

    Raises:
        StaleState: Another quantity is in stock than expected.
        Conflict: More stock would be removed than is available.
        ApprovalRequired: More than `approval_adjustment_qty` would change, and nobody approved it.
    """
    if is_correction(draft):
        return correct_expiry_date(tx, draft)
    fence_master_data(tx)
    posting = StockPosting(tx, reason=draft.reason)
    codes = NamedCodes.of_lines(draft.warehouse, [draft])
    items, _ = run_all(lambda: tx.store.get_many(codes.keys), lambda: audit.actor_of(tx))
    known = codes.known(tx, items)
    draft = in_base_units(draft, items, QUANTITIES)
    problems = [*reason_problems(draft), *adjustment_problems(draft, known)]
    draft = ensure_valid(draft, problems)
    planned = plan_adjustment(draft, known, tx.now)
    limit = settings_of(tx.company).approval_adjustment_qty
    reads: list[Callable[[], object]] = [lambda: audit.reserve_entry_ids(tx)]
    if limit is not None and _may_exceed(draft, limit):
        reads = approvals.reads_ahead(tx, own_entries=1) or reads
    run_all(lambda: posting.load(targets=planned.targets, movements=1), *reads)
    made = make_adjustment(posting, planned, tx.company.today, holders_of)
    if limit is not None and abs(made.after - made.before) > limit:
        approvals.require(tx, approval_need(made, limit))
    posting.post()
    numbers = posting.movement_ids
    shown = made.shown(numbers[0] if numbers else None)
    adjustment = Adjustment.from_stored(made.goods, **shown)
    if numbers:
        record_adjustment(tx, adjustment)
        references.record_use(tx, items.values())
    return adjustment


def plan_adjustment(draft: AdjustmentFields, known: MasterData, now: Instant) -> PlannedAdjustment:
    """Return a valid adjustment with the rows that describe its stock."""
    here = _row(draft, known, draft.inventory_status or "available", now)
    return PlannedAdjustment(
        draft, here, _row(draft, known, draft.to_status, now) if draft.to_status else None
    )


def make_adjustment(
    posting: StockPosting,
    planned: PlannedAdjustment,
    today: str,
    holders_of: HoldersOf = lambda _row: None,
) -> MadeAdjustment:
    """Make the stock change of an adjustment whose rows are loaded.

    Goods have expired, and do not become available, when their day has passed. A refusal of
    allocated stock names the work that `holders_of` returns for its row.

    Raises:
        ValidationFailed: The goods have expired, or their batch has another expiry date.
        StaleState: Another quantity is in stock than expected.
        Conflict: More stock would be removed than is available.
    """
    draft, here = planned.draft, planned.here
    status: ShelfStatus = draft.inventory_status or "available"
    row, before = stock_there(posting, here)
    if draft.to_status is not None:
        present = row.expiry_date if row and row.qty else None
        ensure_not_expired([("to_status", present, draft.to_status)], today)
    elif draft.increase is not None or (draft.counted_qty or ZERO) > before:
        here = _joined(posting, here)
        ensure_not_expired([("expiry_date", here.expiry_date, status)], today)
    elif draft.expiry_date is not None:
        _joined(posting, here)  # a count that adds nothing must not name another date either
    if draft.expected_qty is not None and draft.expected_qty != before:
        difference = f"{plain(draft.expected_qty)} expected, {plain(before)} there"
        message = f"The stock of {here.item_code} at {here.bin_code} has changed: {difference}."
        raise StaleState(message, problems=[Problem("expected_qty", difference)])
    try:
        after = _correct(posting, draft, row, here, planned.changed)
    except StockRefused as refused:
        reason = posting.serial_refusal(here) if row is None else None
        held = holders_of(row) if row and row.allocated else None
        allocated = f"; {plain(row.allocated)} allocated to {held}" if row and held else ""
        problem = Problem(method_of(draft), f"{reason or refused}{allocated}")
        message = f"The stock cannot be adjusted: {problem.message}."
        raise Conflict(message, problems=[problem]) from refused
    return MadeAdjustment(planned, row if row and row.qty else here, before, after)


def stock_there(posting: StockPosting, here: StockRow) -> tuple[StockRow | None, Decimal]:
    """Return the loaded row of the stock that `here` describes, if there is one, and its quantity.

    A serial has one row for all positions, statuses and batches.
    """
    row = posting.changes.find(here.key)
    if row is None or row.key != here.key:
        return None, ZERO
    return row, row.qty


def method_of(draft: AdjustmentFields) -> str:
    """Return the field that says how a valid adjustment changes the stock."""
    return next(name for name in ADJUSTMENT_METHODS if getattr(draft, name) is not None)


def _may_exceed(draft: AdjustmentFields, limit: Decimal) -> bool:
    """Return whether an adjustment may change more units than `limit`; a count may always."""
    given = draft.increase or draft.decrease or draft.qty  # each is above 0
    return given is None or given > limit


def approval_need(made: MadeAdjustment, limit: Decimal) -> ApprovalNeed:
    """Return why an adjustment needs an approval."""
    before, after, goods = made.before, made.after, made.goods
    message = (
        f"{plain(abs(after - before))} of {goods.item_code} at {goods.bin_code} would be adjusted,"
        f" from {plain(before)} to {plain(after)}; more than {plain(limit)} needs the approval of a"
        " user with approvals.grant."
    )
    resource = ApprovedResource(object="product", id=goods.product_id)
    return ApprovalNeed("adjustment", message, resource, [before, after])


def _joined(posting: StockPosting, goods: StockRow) -> StockRow:
    """Return goods that are added, with the expiry date of their batch.

    Raises:
        ValidationFailed: They have another date than the stock of the batch.
    """
    if refusal := posting.batches.join(goods, posting.changes.rows.values()):
        raise ValidationFailed([Problem("expiry_date", refusal)])
    return posting.batches.with_date(goods)


def record_adjustment(tx: Transaction, made: Adjustment, actor: Actor | None = None) -> None:
    """Add the entry of the audit log for an adjustment that moved stock; see `audit.record`."""
    audit.record(
        tx,
        "stock.adjusted",
        "stock_movement",
        made.movement_id,
        changes={"qty": (made.qty_before, made.qty_after)},
        details={name: getattr(made, name) for name in AUDITED_FIELDS},
        reason=made.reason,
        actor=actor,
    )


def _correct(
    posting: StockPosting,
    draft: AdjustmentFields,
    row: StockRow | None,
    here: StockRow,
    changed: StockRow | None,
) -> Decimal:
    """Make the stock change and return the quantity after it."""
    before = row.qty if row else ZERO
    if changed:
        qty = draft.qty or (row.qty - row.allocated if row else ZERO)
        if row is None or not qty:
            raise StockRefused(f"0 available of {here.item_code} at {here.bin_code}")
        posting.changes.move("status_change", qty, source=row, target=changed, reason=draft.reason)
        return before - qty
    if draft.counted_qty is not None:
        if row and draft.counted_qty < row.allocated:
            counted, allocated = plain(draft.counted_qty), plain(row.allocated)
            goods = f"{row.item_code} at {row.bin_code}"
            raise StockRefused(f"{counted} counted, {allocated} allocated of {goods}")
        difference = draft.counted_qty - before
    else:
        difference = draft.increase if draft.increase is not None else -(draft.decrease or ZERO)
    if difference > 0:
        posting.changes.move("adjustment", difference, target=here, reason=draft.reason)
    elif difference < 0:
        if row is None:
            raise StockRefused(shortage(here, -difference, ZERO))
        posting.changes.move("adjustment", -difference, source=row, reason=draft.reason)
    return before + difference


def _row(draft: AdjustmentFields, known: MasterData, status: ShelfStatus, now: Instant) -> StockRow:
    whs_code = draft.warehouse or ""
    return empty_row(
        known.products[draft.item_code or ""],
        known.warehouses[whs_code],
        known.positions[whs_code, draft.bin_code or ""],
        status=status,
        batch=draft.batch,
        serial=draft.serial,
        expiry_date=draft.expiry_date,
        now=now,
    )

"""Stock adjustments: counted quantities, increases, decreases and changes of status."""

from collections.abc import Callable, Iterator
from decimal import Decimal

from shared.identity.audit import service as audit
from shared.kernel import references
from shared.kernel.db.parallel import run_all
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, ensure_valid, given_fields, of_valid_fields
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.models import ApprovalNeed, ApprovedResource
from shared.warehouse.catalog.lines import GoodsLine, examine_goods
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.catalog.unit_quantities import in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.corrections import correct_expiry_date, is_correction
from shared.warehouse.stock.expiry import ensure_not_expired
from shared.warehouse.stock.models import (
    ADJUSTMENT_METHODS,
    Adjustment,
    AdjustmentDraft,
    ShelfStatus,
    StockRefused,
    StockRow,
)
from shared.warehouse.stock.posting import StockPosting, empty_row, fence_master_data
from shared.warehouse.stock.rules import shortage

type HoldersOf = Callable[[StockRow], str | None]
"""Returns the work to which stock of a row is allocated, as text; None if none is found."""

_AUDITED_FIELDS = (
    "product_id", "item_code", "whs_code", "bin_code", "batch_num", "serial_number",
    "inventory_status", "to_status",
)  # fmt: skip
"""Fields of an adjustment that are copied into its entry in the audit log."""


def adjust_stock(
    tx: Transaction,
    draft: Checked[AdjustmentDraft],
    holders_of: HoldersOf = lambda _row: None,
) -> Adjustment:
    """Adjust the stock of one product at one position and record a movement with the reason.

    Without a quantity or status, correct the expiry date of a batch; see `corrections`. Goods have
    expired, and do not become available, when their day has passed. A refusal of
    allocated stock names the work that `holders_of` returns for its row.

    Raises:
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
    draft = in_base_units(draft, items, ("counted_qty", "increase", "decrease", "qty"))
    draft = ensure_valid(draft, _problems(draft, known))
    status: ShelfStatus = draft.inventory_status or "available"
    here = _row(tx, draft, known, status)
    changed = _row(tx, draft, known, draft.to_status) if draft.to_status else None
    targets = [row.key for row in (here, changed) if row]
    limit = settings_of(tx.company).approval_adjustment_qty
    reads: list[Callable[[], object]] = [lambda: audit.reserve_entry_ids(tx)]
    if limit is not None and _may_exceed(draft, limit):
        reads = approvals.reads_ahead(tx, own_entries=1) or reads
    run_all(lambda: posting.load(targets=targets, movements=1), *reads)
    row = posting.changes.find(here.key)
    # A serial has one row for all positions, statuses and batches.
    if row and row.key != here.key:
        row = None
    before = row.qty if row else ZERO
    today = tx.company.today
    if draft.to_status is not None:
        present = row.expiry_date if row and row.qty else None
        ensure_not_expired([("to_status", present, draft.to_status)], today)
    elif draft.increase is not None or (draft.counted_qty or ZERO) > before:
        here = _joined(posting, here)
        ensure_not_expired([("expiry_date", here.expiry_date, status)], today)
    try:
        after = _correct(posting, draft, row, here, changed)
    except StockRefused as refused:
        reason = posting.serial_refusal(here) if row is None else None
        held = holders_of(row) if row and row.allocated else None
        allocated = f"; {plain(row.allocated)} allocated to {held}" if row and held else ""
        message = f"The stock cannot be adjusted: {reason or refused}{allocated}."
        raise Conflict(message) from refused
    if limit is not None and abs(after - before) > limit:
        approvals.require(tx, _approval_need(here, before, after, limit))
    posting.post()
    numbers = posting.movement_ids
    adjustment = Adjustment.from_stored(
        here,
        movement_id=numbers[0] if numbers else None,
        to_status=draft.to_status,
        qty_before=before,
        qty_after=after,
        expiry_date=(row if row and row.qty else here).expiry_date,
        reason=draft.reason,
    )
    if numbers:
        _record(tx, adjustment)
        references.record_use(tx, items.values())
    return adjustment


def _may_exceed(draft: AdjustmentDraft, limit: Decimal) -> bool:
    """Return whether an adjustment may change more units than `limit`; a count may always."""
    given = draft.increase or draft.decrease or draft.qty  # each is above 0
    return given is None or given > limit


def _approval_need(
    goods: StockRow, before: Decimal, after: Decimal, limit: Decimal
) -> ApprovalNeed:
    """Return why an adjustment from one quantity in stock to another needs an approval."""
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
    if refusal := posting.batches.join(goods):
        raise ValidationFailed([Problem("expiry_date", refusal)])
    return posting.batches.with_date(goods)


def _record(tx: Transaction, made: Adjustment) -> None:
    """Add the entry of the audit log for an adjustment that moved stock."""
    audit.record(
        tx,
        "stock.adjusted",
        "stock_movement",
        made.movement_id,
        changes={"qty": (made.qty_before, made.qty_after)},
        details={name: getattr(made, name) for name in _AUDITED_FIELDS},
        reason=made.reason,
    )


def _correct(
    posting: StockPosting,
    draft: AdjustmentDraft,
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
        posting.changes.move("status_change", qty, source=row, target=changed)
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
        posting.changes.move("adjustment", difference, target=here)
    elif difference < 0:
        if row is None:
            raise StockRefused(shortage(here, -difference, ZERO))
        posting.changes.move("adjustment", -difference, source=row)
    return before + difference


def _problems(draft: Checked[AdjustmentDraft], known: MasterData) -> Iterator[Problem]:
    """Yield every problem of an adjustment other than those of its fields."""
    yield from of_valid_fields(draft, _required_problems(draft))
    yield from _method_problems(draft)
    code, whs_code, bin_code = draft.item_code, draft.warehouse, draft.bin_code
    product = known.products.get(code or "")
    if code is not None and product is None:
        yield Problem("item_code", f"no product has the code {code}")
    yield from known.warehouse_problems("warehouse", whs_code)
    is_known = whs_code is not None and whs_code in known.warehouses
    if bin_code is not None and is_known and (whs_code, bin_code) not in known.positions:
        yield Problem("bin_code", f"warehouse {whs_code} has no position {bin_code}")
    if product:
        yield from _goods_problems(draft, product)


def _goods_problems(draft: Checked[AdjustmentDraft], product: KnownProduct) -> Iterator[Problem]:
    if not product.in_stock:
        yield Problem("item_code", f"product {product.item_code} is not kept in stock")
    serials = [draft.serial] if draft.serial is not None else None
    line = GoodsLine("", product.item_code, None, {"batch": draft.batch}, ("serial", serials))
    yield from examine_goods(line, product)
    if draft.serial is not None:
        for method in ("counted_qty", "increase", "decrease", "qty"):
            value: Decimal | None = getattr(draft, method)
            if value is not None and value not in {0, 1}:
                message = f"must be 1 for a serial, or 0 if it is missing; {value:f} given"
                yield Problem(method, message)


def _required_problems(draft: Checked[AdjustmentDraft]) -> Iterator[Problem]:
    for name in ("warehouse", "bin_code"):
        if getattr(draft, name) is None:
            yield Problem(name, "is required")


def _method_problems(draft: Checked[AdjustmentDraft]) -> Iterator[Problem]:
    given = given_fields(draft, ADJUSTMENT_METHODS)
    if len(given) != 1:
        wanted = f"exactly one of {', '.join(ADJUSTMENT_METHODS)} is required; {len(given)} given"
        yield Problem(given[1] if given else ADJUSTMENT_METHODS[0], wanted)
    others = [name for name in given if name != "increase"]
    if draft.expiry_date is not None and others:
        message = f"is not allowed with {others[0]}; only increase adds goods with a date"
        yield Problem("expiry_date", message)
    if draft.qty is not None and "to_status" not in given:
        yield Problem("qty", "is allowed only with to_status")
    status = draft.inventory_status or "available"
    if draft.to_status is not None and draft.to_status == status:
        yield Problem("to_status", f"must differ from inventory_status ({status})")


def _row(
    tx: Transaction, draft: AdjustmentDraft, known: MasterData, status: ShelfStatus
) -> StockRow:
    whs_code = draft.warehouse or ""
    return empty_row(
        known.products[draft.item_code],
        known.warehouses[whs_code],
        known.positions[whs_code, draft.bin_code or ""],
        status=status,
        batch=draft.batch,
        serial=draft.serial,
        expiry_date=draft.expiry_date,
        now=tx.now,
    )

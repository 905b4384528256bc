"""Correct the expiry date of a batch, in all its rows.

The batch gets the date first: stock that arrives or moves afterwards has it. Then the rows that
have another date are changed in steps, with transactions of their own. A repeated request does the
rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import batched

from shared.identity.audit import service as audit
from shared.kernel.db import steps
from shared.kernel.db.parallel import run_all
from shared.kernel.db.steps import commit_in_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid, invalid_fields
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.stock.adjustment_models import Adjustment, AdjustmentFields
from shared.warehouse.stock.batches import (
    Batch,
    batch_from_rows,
    lot_of,
    read_batch,
    require_date,
    rows_of,
    write_batch,
)
from shared.warehouse.stock.models import Lot
from shared.warehouse.stock.repository import STOCK, batch_key

_OTHER_ACTIONS = 2
"""Actions of a step that are not for its rows: for the batch, and for the claim of the request."""
_ROWS_AT_ONCE = 1_000
_NOT_ALLOWED = (
    "warehouse",
    "bin_code",
    "serial",
    "inventory_status",
    "qty",
    "expected_qty",
    "unit",
)


def correct_expiry_date(tx: Transaction, draft: Checked[AdjustmentFields]) -> Adjustment:
    """Give a batch and all its rows the expiry date of the draft, and record it in the audit log.

    There is or was stock of the batch.
    """
    product = NamedCodes(products=[draft.item_code]).read(tx).products.get(draft.item_code or "")
    draft = ensure_valid(draft, _problems(draft, product))
    if product is None or draft.batch is None or draft.expiry_date is None or not draft.reason:
        raise ValidationFailed(list(_problems(draft, product)))
    lot = (product.id, draft.batch)
    before, _ = run_all(lambda: _batch(tx, product, lot), lambda: audit.actor_of(tx))
    after = replace(before, expiry_date=draft.expiry_date)
    adjustment = Adjustment(
        movement_id=None,
        product_id=product.id,
        item_code=product.item_code,
        batch_num=draft.batch,
        expiry_date=draft.expiry_date,
        reason=draft.reason,
        created_at=tx.now,
    )
    if after != before:
        audit.record(
            tx,
            "stock.adjusted",
            "stock_movement",
            None,
            changes={"expiry_date": (before.expiry_date, after.expiry_date)},
            details={
                name: getattr(adjustment, name) for name in ("product_id", "item_code", "batch_num")
            },
            reason=draft.reason,
        )
    if after != before or not before.version:
        write_batch(tx, after)
    if not tx.is_empty:
        tx.commit_step()
    _correct_rows(tx, lot, draft.expiry_date)
    return adjustment


def _problems(draft: Checked[AdjustmentFields], product: KnownProduct | None) -> Iterator[Problem]:
    invalid = invalid_fields(draft)
    for name in ("item_code", "reason"):
        if getattr(draft, name) is None and name not in invalid:
            yield Problem(name, "is required")
    if draft.item_code is not None and product is None:
        yield Problem("item_code", f"no product has the code {draft.item_code}")
    if draft.batch is None and "batch" not in invalid:
        yield Problem("batch", "is required to correct its expiry date")
    elif product and not product.by_batch:
        yield Problem("batch", f"product {product.item_code} is not managed by batch")
    for name in _NOT_ALLOWED:
        if getattr(draft, name) is not None:
            message = "is not allowed without a quantity: an expiry date is that of a whole batch"
            yield Problem(name, message)


def _batch(tx: Transaction, product: KnownProduct, lot: Lot) -> Batch:
    """Return a batch; raise ValidationFailed if there has been no stock of it."""
    key = batch_key(lot)
    if batch := read_batch(tx.store.get_many([key]), lot):
        return batch
    if not any(True for _ in rows_of(tx.store, Batch(lot))):
        message = f"there has been no stock of batch {lot[1]} of {product.item_code}"
        raise ValidationFailed([Problem("batch", message)])
    return batch_from_rows(tx.store, lot)


def _correct_rows(tx: Transaction, lot: Lot, expiry_date: str) -> None:
    """Commit the date to the rows of a batch that have another one, in steps, apart from `tx`.

    Another request can correct the date meanwhile: every step writes the date that the batch has.
    """
    own = Transaction(tx.store.uncached(), caller=tx.caller)
    most = max(1, steps.STEP_ACTIONS - _OTHER_ACTIONS)

    def step(left: Sequence[int]) -> int:
        own.store.pause(0)  # ends with 503 before the time of the request is over
        part = left[:most]
        found = own.store.get_many([batch_key(lot), *map(STOCK.key, part)])
        batch = read_batch(found, lot)
        date = batch.expiry_date if batch else expiry_date
        for number in part:
            record = STOCK.from_items(found, number)
            if record and lot_of(record.entity) == lot:
                STOCK.update(own, record, {"expiry_date": date})
        if batch and not own.is_empty:
            require_date(own, batch)
        return len(part)

    batch = read_batch(own.store.get_many([batch_key(lot)]), lot) or Batch(lot, expiry_date)
    store = tx.store.uncached()
    wrong = (row.id for row in rows_of(store, batch) if row.entity.expiry_date != batch.expiry_date)
    for numbers in batched(wrong, _ROWS_AT_ONCE, strict=False):
        commit_in_steps(own, numbers, step)

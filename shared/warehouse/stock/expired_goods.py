"""Block the available goods of a company that are past their expiry date.

Each step is a transaction of its own, whose rows are blocked by its commit, so that a repeated run
continues with the others. Allocated goods stay; if they are released, the run of the next day
blocks them. A product that fails, for example because its level is wrong, is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import takewhile

from shared.identity.audit import service as audit
from shared.identity.audit.models import Actor
from shared.kernel.db.actions import Cost
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.fields import ZERO
from shared.kernel.observability import logger
from shared.warehouse.stock.adjustment_models import Adjustment
from shared.warehouse.stock.adjustments import record_adjustment
from shared.warehouse.stock.models import ExpiredRow, Place, StockRow
from shared.warehouse.stock.posting import StockPosting, raise_due_events, read_ahead
from shared.warehouse.stock.repository import EXPIRY_SINCE, STOCK, expired_rows

REASON = "expired"
SYSTEM = Actor(type="system", id=None)
STEP_SECONDS = 3.0
"""Time that a step may need; no step starts with less."""
_ROW_ACTIONS = 4
"""Least actions of a row: the row, the blocked one, the movement, the entry of the audit log."""
_ENTRY_ACTIONS = 2


@dataclass(slots=True)
class Blocked:
    """What one turn of a company has done."""

    movements: int = 0
    is_completed: bool = False
    """Whether nothing is left to block, except goods of products that failed."""
    failed_products: set[int] = field(default_factory=set)


def can_block(store: Store) -> bool:
    """Return whether the table has the index by expiry date, which its upgrade adds."""
    return store.version.complete >= EXPIRY_SINCE


def block_expired(store: Store, today: str) -> Blocked:
    """Move the available goods whose expiry date is before `today` to the status `blocked`.

    It is not completed when the deadline of the store is too near for another step. After a step
    that failed, the rest of its page is done product by product, to find the one that fails.
    """
    result, left, start, is_last, due = Blocked(), list[ExpiredRow](), None, False, set[Place]()
    one_product = False
    while left or not is_last:
        if store.deadline.remaining < STEP_SECONDS:
            break
        if not left:
            page, start = expired_rows(store, today, start)
            left = [row for row in page if row.product_id not in result.failed_products]
            is_last, one_product = start is None, False
            continue
        own = _of_one_product(left)
        rows = own if one_product else left
        try:
            block = partial(_block, rows=rows, today=today)
            done, posting = run_transaction(store, block, may_queue=False)
        except Exception:  # noqa: BLE001 - the other products go on
            if len(rows) == len(own):
                logger.exception("expired goods failed", product_id=own[0].product_id)
                result.failed_products.add(own[0].product_id)
                left = left[len(own) :]
            one_product = len(rows) > len(own)
            continue
        posting.update_due_levels(due)
        left, result.movements = left[done:], result.movements + len(posting.movement_ids)
    if due:
        run_transaction(store, partial(raise_due_events, places=due), may_queue=False)
    result.is_completed = is_last and not left
    return result


def _of_one_product(rows: Sequence[ExpiredRow]) -> list[ExpiredRow]:
    """Return the leading rows of the same product."""
    return list(takewhile(lambda row: row.product_id == rows[0].product_id, rows))


def _block(tx: Transaction, *, rows: Sequence[ExpiredRow], today: str) -> tuple[int, StockPosting]:
    """Block as many of the leading rows as fit into the transaction.

    The event of a level that later rows are expected to change is left to them.

    Returns:
        The number of rows that are done, and the changes.
    """
    ahead = read_ahead(rows, lambda row: row.product_id, lambda _: _ROW_ACTIONS)
    records = STOCK.get_many(tx.store, [row.id for row in ahead])
    wanted = [
        record.entity
        for record in records
        if _free(record.entity) and (record.entity.expiry_date or today) < today
    ]
    # What lies at a position keeps it and its product from being deleted: no fence is needed.
    posting = StockPosting(tx, reason=REASON)
    posting.load(
        rows=[row.id for row in wanted],
        targets=[_blocked(row).key for row in wanted],
        movements=len(wanted),
    )
    expired = [row for row in wanted if (posting.with_date(row).expiry_date or today) < today]

    def block(row: StockRow) -> None:
        posting.changes.move("status_change", _free(row), source=row, target=_blocked(row))

    def entries() -> Cost:
        return Cost(_ENTRY_ACTIONS * len(posting.changes.movements))

    added = posting.add_while_fitting(expired, block, entries)
    left = {row.id for row in expired[len(added) :]}
    done = next((at for at, row in enumerate(ahead) if row.id in left), len(ahead))
    posting.post({row.product_id for row in rows[done:]})
    if added:
        audit.reserve_entry_ids(tx, len(added))
    for row, number in zip(added, posting.movement_ids, strict=True):
        _record(tx, row, number)
    return done, posting


def _free(row: StockRow) -> Decimal:
    return row.qty - row.allocated if row.inventory_status == "available" else ZERO


def _blocked(row: StockRow) -> StockRow:
    return row.model_copy(update={"inventory_status": "blocked"})


def _record(tx: Transaction, row: StockRow, movement_id: int) -> None:
    """Add the entry of the audit log, in the form of that of an adjustment."""
    made = Adjustment.from_stored(
        row,
        movement_id=movement_id,
        to_status="blocked",
        qty_before=row.qty,
        qty_after=row.allocated,
        reason=REASON,
        created_at=tx.now,
    )
    record_adjustment(tx, made, SYSTEM)

"""Promise stock to the lines of a picking: first expired, pick faces, first received."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from shared.db.parallel import each
from shared.db.transaction import Overtaken, Transaction
from shared.db.unit_of_work import perform
from shared.stock import service as stock
from shared.stock.ledger import Ledger
from shared.stock.models import MovementCause, StockRow
from shared.warehouses import service as warehouses
from shared.work import picking_rules as rules
from shared.work.models import Allocation, StoredPicking, StoredPickingLine
from shared.work.repository import PICKINGS

LINES_PER_STEP = 10
_ROWS_PER_STEP = 30
"""Rows that one step promises; with the levels of ten products they fit into a transaction."""
_PATIENCE_MS = 1_500
"""How long the index may lag behind a level that says there is more than was found."""


def allocate_rest(tx: Transaction, number: int) -> None:
    """Allocate every line of a picking that lacks stock, in steps; what there is is promised.

    Each step is a transaction of its own; repeated, it goes on where it ended.
    """
    at = 0
    while True:
        start = at

        def step(own: Transaction, start: int = start) -> int | None:
            record = PICKINGS.get(own.store, number)
            if record.entity.status not in {"pending", "started"}:
                return None
            picking, end = allocate_lines(own, record.entity, start)
            if picking != record.entity:
                PICKINGS.replace(own, record, picking)
            return end

        following = perform(tx.store, step, caller=tx.caller)
        if following is None:
            tx.store.forget()
            return
        at = following


def allocate_lines(
    tx: Transaction, picking: StoredPicking, start: int
) -> tuple[StoredPicking, int | None]:
    """Stage promises for the next lines from `start` on that lack stock.

    Returns the picking with its allocations, and the line to go on with, None at the end.
    """
    lacking = [
        at for at in range(start, len(picking.lines)) if rules.unallocated(picking.lines[at]) > 0
    ]
    if not lacking:
        return picking, None
    now, later = lacking[:LINES_PER_STEP], lacking[LINES_PER_STEP:]
    after, left_at = _allocate(tx, picking, now)
    if left_at is not None:
        return after, left_at
    return after, later[0] if later else None


def _allocate(
    tx: Transaction, picking: StoredPicking, wanted: Sequence[int]
) -> tuple[StoredPicking, int | None]:
    products = sorted({picking.lines[at].product_id for at in wanted})
    found = each(lambda product: stock.free_rows(tx.store, product, picking.warehouse_id), products)
    ledger = Ledger(tx, cause=MovementCause(type="picking", id=picking.id))
    ledger.load(
        rows=[number for numbers in found for number in numbers],
        levels=[(product, picking.warehouse_id) for product in products],
        movements=0,
    )
    faces = _pick_faces(tx, picking, ledger)
    rows_left = _ROWS_PER_STEP
    for at in wanted:
        line = picking.lines[at]
        rows = [row for row in ledger.book.rows.values() if row.product_id == line.product_id]
        chosen = stock.choose(rows, faces, rules.unallocated(line), line.batch_num)
        _ensure_all_were_seen(tx, ledger, line, picking.warehouse_id, chosen)
        for row, qty in chosen[:rows_left]:
            ledger.book.allocate(row, qty)
            line = _promised(line, row, qty)
        picking = rules.with_line(picking, at, line)
        rows_left -= len(chosen)
        if rows_left <= 0:
            ledger.stage()
            return picking, at
    ledger.stage()
    return picking, None


def _pick_faces(tx: Transaction, picking: StoredPicking, ledger: Ledger) -> Mapping[int, bool]:
    """Tell of each position that may be picked from whether it is a pick face."""
    pairs = {(picking.whs_code, row.bin_code) for row in ledger.book.rows.values() if row.bin_code}
    items = tx.store.get_many(warehouses.position_key(*pair) for pair in pairs)
    known = warehouses.known_positions(tx, pairs, items)
    return {
        position.id: position.type == "pick_face"
        for position in known.values()
        if position.pickable and not position.disabled and not position.blocked
    }


def _ensure_all_were_seen(
    tx: Transaction,
    ledger: Ledger,
    line: StoredPickingLine,
    warehouse_id: int,
    chosen: Sequence[tuple[StockRow, Decimal]],
) -> None:
    """Look again when the level knows of free stock that the index did not show yet."""
    if sum((qty for _, qty in chosen), rules.NONE) >= rules.unallocated(line):
        return
    if ledger.lags(line.product_id, warehouse_id) and tx.waited_ms < _PATIENCE_MS:
        raise Overtaken


def _promised(line: StoredPickingLine, row: StockRow, qty: Decimal) -> StoredPickingLine:
    """Add a promise to a line, to the one on the same row if there is one."""
    before = next((one.qty for one in line.allocations if one.stock_id == row.id), rules.NONE)
    others = [one for one in line.allocations if one.stock_id != row.id]
    promise = Allocation(
        stock_id=row.id,
        position_id=row.position_id or 0,
        bin_code=row.bin_code or "",
        batch_num=row.batch_num,
        serial=row.serial_number,
        qty=before + qty,
    )
    return line.model_copy(update={"allocations": [*others, promise]})

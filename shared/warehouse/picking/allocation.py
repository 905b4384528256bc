"""Promise stock to the lines of pickings: first expired, pick faces, first received."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from shared.kernel.db.parallel import map_concurrently, run_both
from shared.kernel.db.transaction import StaleRead, Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import Allocation, StoredPicking, StoredPickingLine
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.ledger import Ledger
from shared.warehouse.stock.models import StockRow
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownPosition

LINES_PER_STEP = 10
_PRODUCTS_PER_STEP = 10
_PICKINGS_PER_STEP = 20
_ROWS_PER_STEP = 30
"""Rows that one step promises: with the levels of ten products and with twenty pickings they
fit into a transaction."""
_PATIENCE_MS = 1_500
"""How long the index may lag behind a level that says there is more than was found."""

type Place = tuple[int, int]
"""Where something is wanted: the id of a picking, and the index of its line."""


def allocate_rest(tx: Transaction, *numbers: int) -> None:
    """Allocate every line that lacks stock of pickings of one warehouse, the first one first.

    What there is is promised, in steps. Each is a transaction of its own; repeated, they go on
    where they ended. A picking that has ended is passed over.
    """
    records = PICKINGS.get_many(tx.store, numbers)
    wanted = [
        (record.id, at)
        for record in records
        if record.entity.status in {"pending", "started"}
        for at in _lacking(record.entity)
    ]
    products = {
        (record.id, at): line.product_id
        for record in records
        for at, line in enumerate(record.entity.lines)
    }
    while wanted:
        now = _next_step(wanted, products)

        def step(own: Transaction, now: Sequence[Place] = now) -> int:
            return _allocate_stored(own, now)

        done = run_transaction(tx.store, step, caller=tx.caller)
        wanted = wanted[done:]
    tx.store.clear_cache()


class MoreThanOneStep(Exception):
    """What a picking lacks is more than one transaction can promise; nothing is staged."""


def allocate_lines(tx: Transaction, picking: StoredPicking, *, whole: bool) -> StoredPicking:
    """Stage promises for the first lines of a picking that lack stock.

    `whole`: for all of them, or raise MoreThanOneStep.
    """
    wanted = [(picking.id, at) for at in _lacking(picking)]
    if whole and len(wanted) > LINES_PER_STEP:
        raise MoreThanOneStep
    after, _ = _allocate(tx, {picking.id: picking}, wanted[:LINES_PER_STEP], whole=whole)
    return after[picking.id]


def _lacking(picking: StoredPicking) -> list[int]:
    return [at for at, line in enumerate(picking.lines) if rules.unallocated(line) > 0]


def _next_step(wanted: Sequence[Place], products: Mapping[Place, int]) -> Sequence[Place]:
    """Take as many lines from the front as one transaction surely holds."""
    of: set[int] = set()
    pickings: set[int] = set()
    for end, place in enumerate(wanted):
        of.add(products[place])
        pickings.add(place[0])
        if len(of) > _PRODUCTS_PER_STEP or len(pickings) > _PICKINGS_PER_STEP:
            return wanted[:end]
    return wanted


def _allocate_stored(own: Transaction, wanted: Sequence[Place]) -> int:
    """Stage promises for these lines; how many of them are done with."""
    numbers = list(dict.fromkeys(number for number, _ in wanted))
    records = {
        record.id: record
        for record in PICKINGS.get_many(own.store, numbers)
        if record.entity.status in {"pending", "started"}
    }
    before = {number: record.entity for number, record in records.items()}
    lacking = [
        place
        for place in wanted
        if place[0] in before and rules.unallocated(before[place[0]].lines[place[1]]) > 0
    ]
    after, left = _allocate(own, before, lacking)
    for number, picking in after.items():
        if picking != before[number]:
            PICKINGS.replace(own, records[number], picking)
    return len(wanted) if left is None else wanted.index(lacking[left])


def _allocate(
    tx: Transaction,
    pickings: Mapping[int, StoredPicking],
    wanted: Sequence[Place],
    *,
    whole: bool = False,
) -> tuple[Mapping[int, StoredPicking], int | None]:
    """Stage promises; the pickings after them, and which line to go on with, None at the end."""
    if not wanted:
        return pickings, None
    after = dict(pickings)
    one = next(iter(after.values()))
    products = sorted({after[number].lines[at].product_id for number, at in wanted})
    found = map_concurrently(
        lambda product: stock.free_rows(tx.store, product, one.warehouse_id), products
    )
    rows = [row for rows in found for row in rows]
    bins = {row.bin_code for row in rows if row.bin_code}
    ledger = Ledger(tx)
    run_both(
        lambda: ledger.load(
            rows=[row.id for row in rows],
            levels=[(product, one.warehouse_id) for product in products],
            movements=0,
        ),
        # For `_pickable`, which finds what has been read.
        lambda: tx.store.get_many(warehouses.position_key(one.whs_code, code) for code in bins),
    )
    positions = _pickable(tx, one.whs_code, ledger.book.rows.values())
    used: set[int] = set()
    for turn, (number, at) in enumerate(wanted):
        line = after[number].lines[at]
        of_it = [row for row in ledger.book.rows.values() if row.product_id == line.product_id]
        faces = {place.id: place.is_pick_face_of(line.product_id) for place in positions}
        chosen = stock.choose(of_it, faces, rules.unallocated(line), line.batch_num)
        _ensure_all_were_seen(tx, ledger, line, one.warehouse_id, chosen)
        for row, qty in chosen:
            if row.id not in used and len(used) == _ROWS_PER_STEP:
                if whole:
                    raise MoreThanOneStep
                after[number] = rules.with_line(after[number], at, line)
                ledger.stage()
                return after, turn
            used.add(row.id)
            ledger.book.allocate(row, qty)
            line = _promised(line, row, qty)
        after[number] = rules.with_line(after[number], at, line)
    ledger.stage()
    return after, None


def _pickable(tx: Transaction, whs_code: str, rows: Iterable[StockRow]) -> list[KnownPosition]:
    """Find the positions of these rows that may be picked from."""
    pairs = {(whs_code, row.bin_code) for row in rows if row.bin_code}
    items = tx.store.get_many(warehouses.position_key(*pair) for pair in pairs)
    known = warehouses.known_positions(tx, pairs, items)
    return [
        position
        for position in known.values()
        if position.pickable and not position.disabled and not position.blocked
    ]


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
    if ledger.lags(line.product_id, warehouse_id) and tx.elapsed_ms < _PATIENCE_MS:
        raise StaleRead


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

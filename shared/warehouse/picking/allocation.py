"""Allocate stock to the lines of pickings: first expired, then pick faces, then first received."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from shared.kernel.db import steps
from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.lists.entity_pages import MAX_INDEX_LAG_MS
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.picking import filling, rules
from shared.warehouse.picking.expiry import ExpiryRule
from shared.warehouse.picking.free_stock import FreeStock
from shared.warehouse.picking.models import (
    ENDED_STATUSES,
    StoredPicking,
    StoredPickingLine,
)
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import Place, StockRow
from shared.warehouse.stock.posting import StockPosting, raise_due_events

_ACTIONS_PER_PRODUCT = 3
"""Actions that a product takes at least: a stock row, its level and the total."""
_ACTIONS_PER_DOCUMENT = 3
"""A document, its entry in the register of open documents, and the lookup item of the picking."""

type OpenLine = tuple[int, int]
"""A line that lacks stock: the id of its picking, and its index there."""
type _Choice = tuple[int, StockRow, Decimal]
"""Stock chosen for a line: the line's index in a sequence, the row, and the quantity."""


def allocate_rest(tx: Transaction, *numbers: int) -> None:
    """Allocate stock to every line that lacks some, of pickings in one warehouse, in their order.

    Lines get the stock there is; the rest of them stays unallocated. A picking that has ended is
    skipped. Everything is committed, in steps; a repeated call continues after the last step.
    Nothing may be added to `tx` before.
    """
    records = PICKINGS.get_many(tx.store, numbers)
    open_lines = [
        (record.id, at)
        for record in records
        if record.entity.status not in ENDED_STATUSES
        for at in _open_lines(record.entity)
    ]
    products = {
        (record.id, at): line.product_id
        for record in records
        for at, line in enumerate(record.entity.lines)
    }
    due: set[Place] = set()
    steps.commit_in_steps(tx, open_lines, lambda left: _allocate_step(tx, left, products, due))
    if due:
        # The lines that the events were left to may have got no stock.
        raise_due_events(tx, due)


class DoesNotFitOneTransaction(Exception):
    """The allocation of a picking takes more than one transaction; nothing is added."""


def allocate_lines(tx: Transaction, picking: StoredPicking, *, whole: bool) -> StoredPicking:
    """Allocate stock to the first lines of a picking that lack stock, as many as fit.

    With `whole`, for all of them: raises DoesNotFitOneTransaction when they do not fit.
    """
    products = {(picking.id, at): line.product_id for at, line in enumerate(picking.lines)}
    open_lines = [(picking.id, at) for at in _open_lines(picking)]
    ahead = _read_ahead(open_lines, products)
    if whole and len(ahead) < len(open_lines):
        raise DoesNotFitOneTransaction
    # The first document is among what every step may add; see STEP_ACTIONS.
    cost = Cost(1 + _ACTIONS_PER_DOCUMENT * (len(picking.documents) - 1))
    after, done, posting = _allocate(tx, {picking.id: picking}, ahead, {picking.id: cost})
    if whole and done < len(open_lines):
        raise DoesNotFitOneTransaction
    if posting:
        posting.post(later={products[line] for line in open_lines[done:]})
    return after[picking.id]


def _open_lines(picking: StoredPicking) -> list[int]:
    """Return the lines that lack stock: first those that require serials, then a batch or date."""
    found = [at for at, line in enumerate(picking.lines) if line.unallocated > 0]

    def choice(at: int) -> tuple[bool, bool]:
        line = picking.lines[at]
        return not line.serials, not filling.requires_lot(line)

    return sorted(found, key=choice)


def _read_ahead(lines: Sequence[OpenLine], products: Mapping[OpenLine, int]) -> Sequence[OpenLine]:
    """Return the lines at the front that one step may have room for, to read their stock at once.

    A product takes three actions at least, and each picking one.
    """
    seen_products: set[int] = set()
    seen_pickings: set[int] = set()
    for end, line in enumerate(lines):
        seen_products.add(products[line])
        seen_pickings.add(line[0])
        actions = _ACTIONS_PER_PRODUCT * len(seen_products) + len(seen_pickings)
        if end and actions > steps.STEP_ACTIONS:
            return lines[:end]
    return lines


def _allocate_step(
    tx: Transaction, left: Sequence[OpenLine], products: Mapping[OpenLine, int], due: set[Place]
) -> int:
    """Allocate stock to as many of the lines as fit; return how many need no more.

    `due` holds the levels whose events are left to later steps, once the step is committed.
    """
    lines = _read_ahead(left, products)
    numbers = list(dict.fromkeys(number for number, _ in lines))
    records = {
        record.id: record
        for record in PICKINGS.get_many(tx.store, numbers)
        if record.entity.status not in ENDED_STATUSES
    }
    before = {number: record.entity for number, record in records.items()}
    still_open = [
        line
        for line in lines
        if line[0] in before and before[line[0]].lines[line[1]].unallocated > 0
    ]
    costs = {number: record.cost for number, record in records.items()}
    after, done, posting = _allocate(tx, before, still_open, costs)
    completed = len(lines) if done == len(still_open) else lines.index(still_open[done])
    if posting:
        posting.post(later={products[line] for line in left[completed:]})
        tx.after_step(lambda: posting.update_due_levels(due))
    for number, picking in after.items():
        if picking != before[number]:
            PICKINGS.save(tx, records[number], picking)
    return completed


def _allocate(
    tx: Transaction,
    pickings: Mapping[int, StoredPicking],
    lines: Sequence[OpenLine],
    costs: Mapping[int, Cost],
) -> tuple[Mapping[int, StoredPicking], int, StockPosting | None]:
    """Book allocations for as many of the lines as fit; nothing is added to `tx` yet.

    `costs` is what the caller will add for each picking that changes. Returns the pickings with
    their allocations, the number of lines that need no more, and the posting; None when
    there are no lines.
    """
    if not lines:
        return pickings, 0, None
    posting, expiry = StockPosting(tx), ExpiryRule(tx)
    wanted = [(pickings[number], pickings[number].lines[at]) for number, at in lines]
    free = FreeStock(tx, posting, expiry, wanted)
    free.load()
    tried: list[int] = []

    def choices() -> Iterator[_Choice]:
        for turn, (number, at) in enumerate(lines):
            picking = pickings[number]
            line = picking.lines[at]
            wanted = free.wanted_goods((picking, line))
            rows = [
                row
                for row in posting.changes.rows.values()
                if row.product_id == line.product_id and filling.may_be_allocated(line, wanted, row)
            ]
            faces = {place.id: place.is_pick_face_of(line.product_id) for place in free.positions}
            chosen = stock.choose_rows(rows, faces, line.unallocated, line.batch_num)
            if sum((qty for _, qty in chosen), ZERO) < line.unallocated:
                skipped = line.product_id in free.skipped
                _ensure_all_were_seen(tx, posting, line, picking.warehouse_id, skipped=skipped)
            yield from ((turn, row, qty) for row, qty in chosen)

    def book(choice: _Choice) -> None:
        turn, row, qty = choice
        tried.append(turn)
        posting.changes.allocate(row, qty)

    def cost_of_pickings() -> Cost:
        return sum((costs[number] for number in {lines[turn][0] for turn in tried}), Cost())

    booked = posting.add_while_fitting(choices(), book, cost_of_pickings)
    after = dict(pickings)
    for turn, row, qty in booked:
        number, at = lines[turn]
        line = rules.with_allocation(after[number].lines[at], row, qty)
        after[number] = rules.with_line(after[number], at, line)
    is_full = len(booked) < len(tried)
    return after, tried[-1] if is_full else len(lines), posting


def _ensure_all_were_seen(
    tx: Transaction,
    posting: StockPosting,
    line: StoredPickingLine,
    warehouse_id: int,
    *,
    skipped: bool,
) -> None:
    """Raise StaleRead when a line lacks stock that its level counts and the index did not show.

    The rows of the serials that a line requires are not read from an index.
    """
    if line.serials:
        return
    misses = posting.misses_rows(line.product_id, warehouse_id, skipped=skipped)
    if misses and tx.elapsed_ms < MAX_INDEX_LAG_MS:
        raise StaleRead

"""Rules of the progress of work: what documents, pickings, returns and others should say.

Pure rules on plain data. Each function returns the entity as it follows from the work on it; the
fields that differ are drifts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from operations.verify.stock_rules import add
from shared.kernel.fields import ZERO
from shared.warehouse.documents import rules as document_rules
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.picking import rules as picking_rules
from shared.warehouse.picking.models import (
    ENDED_STATUSES,
    Pick,
    StoredPicking,
    StoredPickingLine,
)
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.returns import limits as return_limits
from shared.warehouse.returns.models import ReturnedGoods, StoredReturn, StoredReturnLine
from shared.warehouse.stock.models import Movement
from shared.warehouse.transfer_orders.models import StoredTransferLine, StoredTransferOrder
from shared.warehouse.waves.models import StoredWave
from shared.warehouse.waves.rules import RELEASED_STATUSES, status_from_pickings, with_size

type Lot = tuple[int, str | None, str | None]
"""Product, batch and serial."""

_OPEN = frozenset({"pending", "started"})
_WITH_GOODS = frozenset({"finalized", "synchronized"})


# Documents


def received_by_line(receipts: Iterable[StoredReceipt]) -> dict[int, Decimal]:
    """Return the quantities that receipts have received, by line of their document."""
    done: dict[int, Decimal] = {}
    for receipt in receipts:
        for line in receipt.lines:
            for number, qty in line.document_lines.items() if not line.undone else ():
                add(done, number, qty)
    return done


def picked_by_line(number: int, pickings: Iterable[StoredPicking]) -> dict[int, Decimal]:
    """Return the quantities that pickings have picked, by line of the exit document `number`."""
    done: dict[int, Decimal] = {}
    for picking in pickings:
        for line in picking.lines:
            if line.document_id == number:
                add(done, line.document_line, sum((pick.qty for pick in line.picks), ZERO))
    return done


def has_goods(work: StoredReceipt | StoredPicking) -> bool:
    """Return whether work has goods in stock or staged, or had them when they were dispatched."""
    if isinstance(work, StoredReceipt):
        return any(not line.undone for line in work.lines)
    return any(line.picks for line in work.lines)


def expected_document(
    document: Document,
    done: Mapping[int, Decimal],
    works: Collection[StoredReceipt | StoredPicking],
) -> Document:
    """Return a document as it follows from the receipts or pickings of it.

    Which pickings have left with it while it stayed open, only the document says: goods that are
    dispatched may also be those of a dispatch that was interrupted.
    """
    gone = [
        work
        for work in works
        if isinstance(work, StoredPicking)
        and work.id in document.dispatched_works
        and all(pick.dispatched for pick in _picks_for(work, document.id))
    ]
    left = picked_by_line(document.id, gone)
    blank = [
        document_rules.with_progress(
            line.model_copy(
                update={"done_qty": ZERO, "dispatched_qty": left.get(line.line_num, ZERO)}
            ),
            ZERO,
        )
        for line in document.lines
    ]
    open_works = [work.id for work in works if work.status in _OPEN]
    finished = [
        work.id
        for work in works
        if _is_finished(work, document) and work.id not in {one.id for one in gone}
    ]
    base = document.model_copy(
        update={
            "lines": blank,
            "works": _in_order(document.works, open_works),
            "finished": _in_order(document.finished, finished),
            "dispatched_works": _in_order(document.dispatched_works, [work.id for work in gone]),
        }
    )
    return document_rules.advanced(base, DocumentProgress(done=done))


def _is_finished(work: StoredReceipt | StoredPicking, document: Document) -> bool:
    """Return whether work for a document has ended with goods.

    A reverted picking has ended with those that had left before.
    Releases before 2.2 also named a picking that had goods for another of its documents only.
    """
    if isinstance(work, StoredReceipt):
        return work.status in _WITH_GOODS and has_goods(work)
    picks = list(_picks_for(work, document.id))
    if work.status not in _WITH_GOODS:
        return any(pick.dispatched for pick in picks)
    return bool(picks) or (work.id in document.finished and has_goods(work))


def _picks_for(picking: StoredPicking, document: int) -> Iterator[Pick]:
    """Yield the picks of a picking for a document."""
    for line in picking.lines:
        if line.document_id == document:
            yield from line.picks


def _in_order(stored: list[int], expected: list[int]) -> list[int]:
    """Return the expected ids, in the stored order if they are the same."""
    return stored if sorted(stored) == sorted(expected) else sorted(expected)


# Pickings


def expected_picking(picking: StoredPicking) -> StoredPicking:
    """Return a picking as it follows from its picks."""
    is_ended = picking.status in _WITH_GOODS
    lines = [_expected_line(line, is_ended=is_ended) for line in picking.lines]
    after = picking.model_copy(update={"lines": lines})
    if is_ended:
        return after.model_copy(update={"has_shortage": picking_rules.is_incomplete(after)})
    return after


def _expected_line(line: StoredPickingLine, *, is_ended: bool) -> StoredPickingLine:
    picked = sum((pick.qty for pick in line.picks), ZERO)
    after = line.model_copy(update={"picked_qty": picked})
    return after.model_copy(update={"status": picking_rules.line_status(after, ended=is_ended)})


def lots_of_picking(picking: StoredPicking) -> dict[Lot, Decimal]:
    """Return the quantities that a picking has picked, by lot."""
    lots: dict[Lot, Decimal] = {}
    for line in picking.lines:
        for pick in line.picks:
            add(lots, (line.product_id, pick.batch_num, pick.serial), pick.qty)
    return lots


def lots_of_receipt(receipt: StoredReceipt) -> dict[Lot, Decimal]:
    """Return the quantities that a receipt has received, by lot."""
    lots: dict[Lot, Decimal] = {}
    for line in receipt.lines:
        if line.undone:
            continue
        for serial in line.serials:
            add(lots, (line.product_id, line.batch_num, serial), Decimal(1))
        if not line.serials:
            add(lots, (line.product_id, line.batch_num, None), line.qty)
    return lots


def unequal_lines(receipt: StoredReceipt) -> Iterator[tuple[int, Decimal, Decimal]]:
    """Yield the lines whose quantity is not what counts for the lines of the document.

    Each as its number, the quantity that counts, and the received one.
    """
    for at, line in enumerate(receipt.lines):
        spread = sum(line.document_lines.values(), ZERO)
        if line.document_lines and spread != line.qty:
            yield at, spread, line.qty


def lots_of_movements(
    movements: Iterable[Movement], signs: Mapping[str, int]
) -> dict[Lot, Decimal]:
    """Return the quantities of movements by lot, each type with its sign."""
    lots: dict[Lot, Decimal] = {}
    for movement in movements:
        lot = (movement.product_id, movement.batch_num, movement.serial_number)
        add(lots, lot, signs.get(movement.type, 0) * movement.qty)
    return lots


# Returns


def expected_returned(returns: Iterable[StoredReturn]) -> ReturnedGoods:
    """Return what returns of one exit document take of its goods."""
    taken, nothing = ReturnedGoods(), ReturnedGoods()
    for one in returns:
        taken = return_limits.with_change(taken, nothing, return_limits.taken_by(one))
    return taken


def received_lots(one: StoredReturn) -> dict[Lot, Decimal]:
    """Return the quantities that a return has received, by lot."""
    lots: dict[Lot, Decimal] = {}
    for line in one.lines:
        for goods in line.goods:
            for serial in goods.serials:
                add(lots, (line.product_id, goods.batch_num, serial), Decimal(1))
            if not goods.serials:
                add(lots, (line.product_id, goods.batch_num, None), goods.qty)
    return lots


def restocked_lots(one: StoredReturn) -> dict[Lot, Decimal]:
    """Return the quantities of a return that have become available, by product."""
    lots: dict[Lot, Decimal] = {}
    for line in one.lines:
        qty = line.restocked_qty + line.returned_to_provider_qty
        add(lots, (line.product_id, None, None), qty)
    return lots


def scrapped_lots(one: StoredReturn) -> dict[Lot, Decimal]:
    """Return the quantities of a return that were scrapped, by product."""
    lots: dict[Lot, Decimal] = {}
    for line in one.lines:
        add(lots, (line.product_id, None, None), line.scrapped_qty)
    return lots


def by_product(lots: Mapping[Lot, Decimal]) -> dict[Lot, Decimal]:
    """Return the quantities of lots by product."""
    found: dict[Lot, Decimal] = {}
    for (product, _, _), qty in lots.items():
        add(found, (product, None, None), qty)
    return found


def undecided(line: StoredReturnLine) -> Decimal:
    """Return the received quantity of a line less that of its dispositions."""
    decided = (
        line.restocked_qty, line.quarantined_qty, line.scrapped_qty, line.lost_qty,
        line.returned_to_provider_qty,
    )  # fmt: skip
    return line.received_qty - sum(decided, ZERO)


def expected_return_status(one: StoredReturn) -> str:
    """Return the status of a return that follows from its goods, as far as it does."""
    if not any(line.goods for line in one.lines):
        return one.status if one.status in {"expected", "cancelled"} else "expected"
    if one.received_at is None:
        return "receiving"
    return "received" if any(line.open_qty for line in one.lines) else "dispositioned"


# Transfer orders


def expected_order(
    order: StoredTransferOrder, picking: StoredPicking | None
) -> StoredTransferOrder:
    """Return a transfer order as it follows from its picking."""
    picked = {line.document_line: line for line in picking.lines} if picking else {}
    lines = []
    for line in order.lines:
        work = picked.get(line.line_num)
        picks = work.picks if work else []
        update = {
            "picked_qty": sum((pick.qty for pick in picks), ZERO),
            "dispatched_qty": sum((pick.qty for pick in picks if pick.dispatched), ZERO),
            "serials": [pick.serial for pick in picks if pick.serial is not None],
        }
        lines.append(line.model_copy(update=update))
    return order.model_copy(update={"lines": lines})


def expected_order_status(order: StoredTransferOrder, picking: StoredPicking | None) -> str:
    """Return the status of a transfer order that follows from its picking, as far as it does."""
    if picking is None:
        return order.status if order.status in {"draft", "cancelled"} else "draft"
    match picking.status:
        case "pending":
            return "released"
        case "started":
            return "picking"
        case "cancelled":
            return "cancelled"
        case _:
            later = {"picked", "in_transit", "receiving", "received", "closed"}
            return order.status if order.status in later else "picked"


def transit_of(order: StoredTransferOrder) -> dict[Lot, Decimal]:
    """Return the quantities of an order in transit, by lot."""
    lots: dict[Lot, Decimal] = {}
    for line in order.lines:
        for goods in line.transit:
            add(lots, (line.product_id, goods.batch_num, goods.serial), goods.qty)
    return lots


def received_of(lines: Iterable[StoredTransferLine]) -> dict[int, Decimal]:
    """Return the received quantities of lines by product."""
    found: dict[int, Decimal] = {}
    for line in lines:
        add(found, line.product_id, line.received_qty)
    return found


# Waves


def expected_wave(wave: StoredWave, pickings: Sequence[StoredPicking]) -> StoredWave:
    """Return a wave as it follows from its pickings."""
    if wave.status == "cancelled":
        return wave
    by_id = {picking.id: picking for picking in pickings}
    open_ids = [
        number
        for number in wave.picking_ids
        if number not in by_id or by_id[number].status not in ENDED_STATUSES
    ]
    ended = {"ended_orders": Decimal(len(wave.picking_ids) - len(open_ids))}
    metrics = with_size(wave.metrics.model_copy(update=ended), wave.strategy, pickings)
    begun = any(picking.started_at is not None for picking in pickings)
    after = wave.model_copy(update={"open_ids": open_ids, "begun": begun, "metrics": metrics})
    if wave.status in RELEASED_STATUSES | {"picked"}:
        return after.model_copy(update={"status": status_from_pickings(after)})
    return after

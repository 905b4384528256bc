"""Goods that may not be packed because of their expiry date."""

from collections.abc import Callable

from shared.kernel.db.parallel import run_all
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, RuleBlocked
from shared.kernel.fields import ZERO, plain
from shared.warehouse.documents import service as documents
from shared.warehouse.packing.models import (
    ContentsDraft,
    PackedGoods,
    StoredPackingLine,
    StoredPackingOrder,
)
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.expiry import ExpiryRule
from shared.warehouse.stock import service as stock


def ensure_may_leave(
    tx: Transaction,
    order: StoredPackingOrder,
    line: StoredPackingLine,
    goods: PackedGoods,
    draft: ContentsDraft,
) -> None:
    """Raise RuleBlocked if `goods`, which belong to `line`, may not leave with their expiry date.

    Goods with neither batch nor date, and goods of returns to providers, need no read.
    """
    batch, expiry = line.batch_num, ExpiryRule(tx)
    if batch is None and line.expiry_date is None:
        return
    document_type = order.document_type or _document_type(tx, order)
    if not expiry.limits(document_type):
        return

    def refused(what: str, date: str | None) -> str | None:
        return expiry.refusal(document_type, line.product_id, what, date)

    if batch is None:
        refusal = _refusal_of_picked(tx, order, line, goods, refused)
    else:
        lot = (line.product_id, batch)
        # The date may have been corrected since the goods were picked.
        dates, _ = run_all(
            lambda: stock.batch_dates(tx.store, [lot]),
            lambda: expiry.read_for([document_type], [line.product_id]),
        )
        refusal = refused(f"batch {batch} of {line.item_code}", dates.get(lot, line.expiry_date))
    if refusal:
        raise RuleBlocked([Problem("batch" if draft.batch else "item_code", refusal)])


def _document_type(tx: Transaction, order: StoredPackingOrder) -> str:
    return documents.get_document(tx.store, "exit", order.exit_document_id).entity.type


def _refusal_of_picked(
    tx: Transaction,
    order: StoredPackingOrder,
    line: StoredPackingLine,
    goods: PackedGoods,
    refused: Callable[[str, str | None], str | None],
) -> str | None:
    """Return why goods without a batch may not be packed; None if they may.

    A line may have expired goods and good ones. Serials tell them apart. Goods without serials may
    be packed up to the quantity that was picked with a good date. `refused(name, date)` returns why
    goods may not be packed; None if they may.
    """
    first = refused(line.item_code, line.expiry_date)
    if first is None:
        return None
    picks = [
        pick
        for record in picking_service.get_pickings(tx.store, order.picking_ids)
        for one in record.entity.lines
        if (one.document_id, one.product_id) == (order.exit_document_id, line.product_id)
        for pick in one.picks
    ]
    if goods.serials:
        found = (
            refused(f"serial {pick.serial} of {line.item_code}", pick.expiry_date)
            for pick in picks
            if pick.serial in goods.serials
        )
        return next(filter(None, found), None)
    good = sum((one.qty for one in picks if not refused("", one.expiry_date)), ZERO)
    left = max(good - line.packed_qty, ZERO)
    return f"{first}; others left to pack: {plain(left)}" if goods.qty > left else None

"""Rules of pickings: their lines, their ends, and a picking after a pick, undo or dispatch."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, given_fields, valid_entries
from shared.warehouse.approvals.need import ApprovalNeed, ApprovedResource
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.picking.models import (
    Allocation,
    Pick,
    PickingDraft,
    PickingEnd,
    PickStatus,
    StoredPicking,
    StoredPickingLine,
    packing_order_code,
    picking_code,
)
from shared.warehouse.picking.pick_rules import PickPart
from shared.warehouse.stock.models import StockRow

_MAX_LINES = 1000


def document_ids(draft: Checked[PickingDraft]) -> list[int]:
    """Return the different ids of the documents that a draft names."""
    one = [] if draft.document_id is None else [draft.document_id]
    return list(dict.fromkeys([*one, *(each for _, each in valid_entries(draft.document_ids))]))


def document_problems(
    draft: Checked[PickingDraft], found: Sequence[Record[Document]]
) -> Iterator[Problem]:
    """Yield every problem of the documents that a draft names; `found` are those that exist."""
    if len(given_fields(draft, ("document_id", "document_ids"))) != 1:
        yield Problem("document_id", "give either document_id or document_ids")
    known = {record.id for record in found}
    named = [("document_id", draft.document_id)]
    named += [(f"document_ids.{at}", one) for at, one in valid_entries(draft.document_ids)]
    for field, number in named:
        if number is not None and number not in known:
            yield Problem(field, f"no exit document has the id {number}")
    field = "document_id" if draft.document_ids is None else "document_ids"
    whs_codes = sorted({record.entity.whs_code for record in found})
    if len(whs_codes) > 1:
        yield Problem(field, f"must be of one warehouse, not of {', '.join(whs_codes)}")
    lines = len(lines_for(found))
    if lines > _MAX_LINES:
        yield Problem(field, f"{lines} lines are open; a picking has at most {_MAX_LINES}")


def shortage_problems(picking: StoredPicking, end: Checked[PickingEnd]) -> Iterator[Problem]:
    """Yield a problem when lines were not picked completely and `end` has no reason."""
    short = sum(line.picked_qty < line.qty for line in picking.lines)
    if short and end.shortage_reason is None:
        lines = len(picking.lines)
        message = f"is required: {short} of {lines} lines were not picked completely"
        yield Problem("shortage_reason", message)


def approval_need(picking: StoredPicking, limit: Decimal | None) -> ApprovalNeed | None:
    """Return why finalizing a picking needs an approval; None within the limit.

    `limit` is a percentage of the picking's quantity; None for no limit.
    """
    wanted = sum((line.qty for line in picking.lines), ZERO)
    short = wanted - sum((line.picked_qty for line in picking.lines), ZERO)
    if limit is None or short * 100 <= limit * wanted:
        return None
    message = (
        f"{plain(short)} of {plain(wanted)} units of {picking_code(picking.id)} would not be"
        f" picked; more than {plain(limit)} % needs the approval of a user with approvals.grant."
    )
    resource = ApprovedResource(object="picking", id=picking.id)
    # Of each line: the same shortage of other goods is another decision.
    figures = [figure for line in picking.lines for figure in (line.qty, line.picked_qty)]
    return ApprovalNeed("shortage", message, resource, figures)


def lines_for(documents: Iterable[Record[Document]]) -> list[StoredPickingLine]:
    """Return the lines that pick every open quantity of the documents."""
    return [
        StoredPickingLine(
            document_id=record.id,
            document_line=line.line_num,
            external_ref=line.external_ref,
            product_id=line.product_id,
            item_code=line.item_code,
            qty=line.open_qty,
            batch_num=line.batch,
            serials=line.serials,
            expiry_date=line.expiry_date,
        )
        for record in documents
        for line in record.entity.lines
        if line.open_qty
    ]


def line_status(line: StoredPickingLine, *, ended: bool = False) -> PickStatus:
    """Return the status of a line; with `ended`, an incomplete line is short."""
    if line.picked_qty >= line.qty:
        return "picked"
    if ended:
        return "short"
    return "partial" if line.picked_qty else "open"


def with_line(picking: StoredPicking, at: int, line: StoredPickingLine) -> StoredPicking:
    """Return the picking with one of its lines replaced."""
    lines = [*picking.lines]
    lines[at] = line.model_copy(update={"status": line_status(line)})
    return picking.model_copy(update={"lines": lines})


# Picks


def picked(picking: StoredPicking, part: PickPart, pick: Pick) -> StoredPicking:
    """Return the picking after a part of a pick: the allocation reduced, the pick added."""
    line = without_allocation(picking, part).lines[part.line]
    picks = list(_merged(line.picks, pick))
    picked_qty = line.picked_qty + part.qty
    after = line.model_copy(update={"picks": picks, "picked_qty": picked_qty})
    return with_line(picking, part.line, after)


def without_allocation(picking: StoredPicking, part: PickPart) -> StoredPicking:
    """Return the picking without the allocation that a part of a pick uses."""
    line = picking.lines[part.line]
    left = list(_reduced(line.allocations, part.allocation, part.qty))
    return with_line(picking, part.line, line.model_copy(update={"allocations": left}))


@dataclass(frozen=True, slots=True)
class Holder:
    """The allocation of another picking, of its line with the index `line`."""

    picking: int
    line: int
    allocation: Allocation


def holders_by_row(rows: Collection[int], pickings: Iterable[StoredPicking]) -> dict[int, Holder]:
    """Return the allocation of each of these stock rows, which are of serials, by id of the row."""
    return {
        one.stock_id: Holder(picking.id, at, one)
        for picking in pickings
        for at, line in enumerate(picking.lines)
        for one in line.allocations
        if one.stock_id in rows
    }


def with_exchanged(picking: StoredPicking, holder: Holder, given: Allocation) -> StoredPicking:
    """Return the picking of a holder with the allocation `given` instead of its own."""
    line = picking.lines[holder.line]
    allocations = [given if one is holder.allocation else one for one in line.allocations]
    return with_line(picking, holder.line, line.model_copy(update={"allocations": allocations}))


def _merged(picks: Iterable[Pick], pick: Pick) -> Iterator[Pick]:
    """Yield the picks with another one; picks of the same staged row are added up."""
    for one in picks:
        if one.staged_id == pick.staged_id and not one.dispatched:
            pick = pick.model_copy(update={"qty": one.qty + pick.qty}).in_place_of(one)
        else:
            yield one
    yield pick


def _reduced(
    allocations: Iterable[Allocation], used: Allocation, qty: Decimal
) -> Iterator[Allocation]:
    for one in allocations:
        if one.stock_id != used.stock_id:
            yield one
        elif one.qty > qty:
            yield one.model_copy(update={"qty": one.qty - qty})


def with_allocation(line: StoredPickingLine, row: StockRow, qty: Decimal) -> StoredPickingLine:
    """Return the line with an allocation more; two allocations of one stock row become one."""
    before = next((one for one in line.allocations if one.stock_id == row.id), None)
    others = [one for one in line.allocations if one.stock_id != row.id]
    allocation = Allocation(
        stock_id=row.id,
        position_id=row.position_id or 0,
        bin_code=row.bin_code or "",
        batch_num=row.batch_num,
        serial=row.serial_number,
        qty=before.qty + qty if before else qty,
    )
    if before:
        allocation = allocation.in_place_of(before)
    return line.model_copy(update={"allocations": [*others, allocation]})


# Dispatched goods


def refusal_to_undo(picking: StoredPicking) -> str | None:
    """Return why staged goods of a picking cannot return to their positions; None if they can."""
    code = picking_code(picking.id)
    if leaving := _documents_leaving(picking):
        names = ", ".join(leaving)
        return f"{code} cannot be undone: the dispatch of {names} is not finished; repeat it first."
    staged = {
        line.document_id
        for line in picking.lines
        if any(not pick.dispatched for pick in line.picks)
    }
    if orders := {order for one in staged if (order := picking.packing_order_for(one))}:
        packing = ", ".join(packing_order_code(order) for order in sorted(orders))
        return f"{code} cannot be undone: its goods are in {packing}; cancel that first."
    return None


def refusal_to_revert(picking: StoredPicking) -> str | None:
    """Return why a picking that has ended cannot be reverted; None if it can."""
    picks = [pick for line in picking.lines for pick in line.picks]
    if picks and all(pick.dispatched for pick in picks):
        code = picking_code(picking.id)
        return f"{code} cannot be reverted: its goods are already dispatched."
    return refusal_to_undo(picking)


def _documents_leaving(picking: StoredPicking) -> list[str]:
    """Return the documents of which some goods are dispatched and others are still staged."""
    dispatched = {
        is_gone: {
            line.document_id
            for line in picking.lines
            if any(pick.dispatched == is_gone for pick in line.picks)
        }
        for is_gone in (True, False)
    }
    both = dispatched[True] & dispatched[False]
    return [str(document.doc_num) for document in picking.documents if document.id in both]


def lines_afterwards(picking: StoredPicking) -> list[StoredPickingLine]:
    """Return the lines of a picking that was undone: all, or those that left if some did."""
    left = [line for line in picking.lines if line.picks]
    if left:
        return [
            line.model_copy(update={"qty": line.picked_qty, "status": "picked"}) for line in left
        ]
    return lines_as_started(picking)


def lines_as_started(picking: StoredPicking) -> list[StoredPickingLine]:
    """Return the lines of a picking with their statuses before its end: none is short."""
    return [line.model_copy(update={"status": line_status(line)}) for line in picking.lines]


def is_incomplete(picking: StoredPicking) -> bool:
    """Return whether a line was not picked completely."""
    return any(line.picked_qty < line.qty for line in picking.lines)


def document_progress(
    before: StoredPicking,
    after: StoredPicking,
    ended_work: int | None = None,
    *,
    with_goods: Collection[int] = (),
    without: Collection[int] = (),
) -> dict[int, DocumentProgress]:
    """Return the progress of the documents of a picking between two of its states, by their ids.

    Documents without progress are left out, unless the picking `ended_work` ends; so are those
    with the ids `without`, whose goods have left. `with_goods` are the ids of the documents for
    which the picking ends with goods.
    """
    done: dict[int, dict[int, Decimal]] = {one.id: {} for one in after.documents}
    for old, new in zip(before.lines, after.lines, strict=True):
        if more := new.picked_qty - old.picked_qty:
            of_document = done[new.document_id]
            of_document[new.document_line] = of_document.get(new.document_line, ZERO) + more
    return {
        document: DocumentProgress(lines, ended_work=ended_work, with_goods=document in with_goods)
        for document, lines in done.items()
        if lines or (ended_work is not None and document not in without)
    }

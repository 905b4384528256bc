"""Rules of picking, as pure functions: lines to pick, and which allocations a pick uses."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, given_fields, invalid_fields, of_valid_fields
from shared.warehouse.approvals.models import ApprovalNeed, ApprovedResource
from shared.warehouse.catalog.lines import batch_problems, serial_problems
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.picking.models import (
    MAX_SERIALS,
    Allocation,
    Pick,
    PickDraft,
    PickingDraft,
    PickingEnd,
    PickStatus,
    StoredPicking,
    StoredPickingLine,
    packing_order_code,
    picking_code,
)
from shared.warehouse.settings.values import Substitution
from shared.warehouse.stock.models import StockRow
from shared.warehouse.work.ranks import rank_of

_MAX_LINES = 1000


def document_ids(draft: Checked[PickingDraft]) -> list[int]:
    """Return the different ids of the documents that a draft names."""
    one = [] if draft.document_id is None else [draft.document_id]
    return list(dict.fromkeys([*one, *(draft.document_ids or ())]))


def document_problems(
    draft: Checked[PickingDraft], found: Sequence[Record[Document]]
) -> Iterator[Problem]:
    """Yield every problem of the documents that a draft names; `found` are those that exist."""
    if len(given_fields(draft, ("document_id", "document_ids"))) != 1:
        yield Problem("document_id", "give either document_id or document_ids")
    known = {record.id for record in found}
    named = [("document_id", draft.document_id)]
    named += [(f"document_ids.{at}", one) for at, one in enumerate(draft.document_ids or ())]
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
        )
        for record in documents
        for line in record.entity.lines
        if line.open_qty
    ]


def priority_of(documents: Sequence[int | None]) -> int | None:
    """Return the most urgent of the priorities of documents; None when no document has one."""
    has_one = any(priority is not None for priority in documents)
    return min(map(rank_of, documents)) if has_one else None


def urgency(documents: Sequence[Document]) -> dict[str, Any]:
    """Return the priority and the due date of a picking that follow from its documents."""
    due = [one.due_date for one in documents if one.due_date is not None]
    priority = priority_of([one.priority for one in documents])
    return {"priority": priority, "due_date": min(due, default=None)}


def carrier_of(found: Sequence[Record[Document]]) -> str | None:
    """Return the carrier of the document of a picking; None for several documents."""
    return found[0].entity.carrier_code if len(found) == 1 else None


def may_be_allocated(line: StoredPickingLine, row: StockRow) -> bool:
    """Return whether a stock row has the batch and the serial that the document requires."""
    is_named = not line.serials or row.serial_number in line.serials
    return is_named and accepts_batch(line, row.batch_num)


def missing_serials(line: StoredPickingLine) -> list[str]:
    """Return the serials that the document requires and that are neither picked nor allocated."""
    parts: list[Allocation | Pick] = [*line.picks, *line.allocations]
    there = {part.serial for part in parts}
    return [serial for serial in line.serials if serial not in there]


def required_batches(line: StoredPickingLine) -> frozenset[str]:
    """Return the batches of which the document requires one; empty when it names none."""
    return frozenset([line.batch_num] if line.batch_num else line.batches)


def accepts_batch(line: StoredPickingLine, batch: str | None) -> bool:
    """Return whether goods of a batch, None without one, are what the document requires."""
    required = required_batches(line)
    return not required or batch in required


def filling_rank(line: StoredPickingLine, draft: Checked[PickDraft]) -> int:
    """Return the rank of a line among those that picked goods fill; the lower are filled first.

    0 for a line that requires the batch or a serial of the goods, 1 for one that requires nothing,
    2 for the others.
    """
    if line.serials:
        return 0 if {*line.serials} & {*(draft.serials or ())} else 2
    required = required_batches(line)
    return 0 if draft.batch in required else 2 if required else 1


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


@dataclass(frozen=True, slots=True)
class PickPart:
    """The part of a pick that uses one allocation: `qty` for the line with the index `line`.

    `exact` is true when the allocated stock itself was picked, not other stock instead.
    """

    line: int
    allocation: Allocation
    qty: Decimal
    exact: bool
    serial: str | None = None


def pick_problems(
    picking: StoredPicking, draft: Checked[PickDraft], substitution: Substitution
) -> Iterator[Problem]:
    """Yield every problem of a pick that can be found without reading the stock.

    Where the document names no serials, another one of the same position and batch may always be
    picked instead. The serials and the batch that it names may be replaced with "any" only.
    """
    if draft.item_code is None:
        return
    allocated = [allocation for _, allocation in _allocations_of(picking, draft.item_code)]
    if not allocated:
        code = picking_code(picking.id)
        message = f"{draft.item_code} has no allocation in {code} that is not picked yet"
        yield Problem("item_code", message)
        return
    # Products that are managed by serial are always allocated by serial.
    by_serial = any(one.serial is not None for one in allocated)
    wrong_serials = list(of_valid_fields(draft, serial_problems(draft, by_serial=by_serial)))
    yield from wrong_serials
    if {"bin_code", "batch"} & invalid_fields(draft):
        return
    usable = _usable(picking, draft, substitution)
    if not usable:
        yield _not_allocated_problem(allocated, draft, substitution)
        return
    # Products that are managed by batch are always allocated by batch.
    yield from batch_problems(draft, by_batch=allocated[0].batch_num is not None)
    left = sum((allocation.qty for _, allocation in usable), ZERO)
    if draft.qty is None:
        return
    if left < draft.qty:
        picked, rest = plain(draft.qty), plain(left)
        yield Problem("qty", f"{picked} picked, {rest} of {draft.item_code} left to pick there")
        return
    if draft.serials and not wrong_serials:
        _, refused = _split_serials(picking, usable, draft, substitution)
        yield from _not_named_problems(picking, draft, refused)
    parts = 0 if draft.serials else len(list(_split_quantity(usable, draft, draft.qty)))
    if parts > MAX_SERIALS:
        message = (
            f"uses {parts} allocations, at most {MAX_SERIALS} per request; pick a smaller quantity"
        )
        yield Problem("qty", message)


def split_pick(
    picking: StoredPicking, draft: PickDraft, substitution: Substitution
) -> list[PickPart]:
    """Split a pick without problems over the allocations that it uses or replaces."""
    usable = _usable(picking, draft, substitution)
    if draft.serials:
        return _split_serials(picking, usable, draft, substitution)[0]
    return list(_split_quantity(usable, draft, draft.qty))


def is_allocated_at(picking: StoredPicking, draft: Checked[PickDraft]) -> bool:
    """Return whether a pick is of goods that are allocated to the picking at that position."""
    code, bin_code = draft.item_code, draft.bin_code
    return code is not None and any(
        allocation.bin_code == bin_code for _, allocation in _allocations_of(picking, code)
    )


def _usable(
    picking: StoredPicking, draft: Checked[PickDraft], substitution: Substitution
) -> list[tuple[int, Allocation]]:
    """Return the allocations that a pick can use, those of its position and batch first.

    Each of both in the order in which lines are filled.
    """
    allocated = sorted(
        _allocations_of(picking, draft.item_code),
        key=lambda one: filling_rank(picking.lines[one[0]], draft),
    )
    here = [one for one in allocated if matches(one[1], draft)]
    return here + [
        (at, one)
        for at, one in allocated
        if (at, one) not in here and _may_replace(picking.lines[at], one, draft, substitution)
    ]


def _allocations_of(
    picking: StoredPicking, item_code: str | None
) -> Iterator[tuple[int, Allocation]]:
    for at, line in enumerate(picking.lines):
        if line.item_code == item_code:
            for allocation in line.allocations:
                yield at, allocation


def matches(part: Allocation | Pick, draft: Checked[PickDraft]) -> bool:
    """Return whether an allocation or a pick is at the position, and of the batch, of a body."""
    return (part.bin_code, part.batch_num) == (draft.bin_code, draft.batch)


def _may_replace(
    line: StoredPickingLine,
    allocation: Allocation,
    draft: Checked[PickDraft],
    substitution: Substitution,
) -> bool:
    match substitution:
        case "any":
            return True
        case "position":
            return allocation.batch_num == draft.batch
        case "batch":
            return allocation.bin_code == draft.bin_code and accepts_batch(line, draft.batch)
        case _:
            return False


def _not_allocated_problem(
    allocated: Sequence[Allocation], draft: Checked[PickDraft], substitution: Substitution
) -> Problem:
    bins = sorted({one.bin_code for one in allocated})
    if draft.bin_code not in bins and substitution != "position":
        return Problem("bin_code", f"must be a position where it is allocated: {', '.join(bins)}")
    batches = sorted({one.batch_num or "none" for one in allocated})
    return Problem("batch", f"must be a batch that is allocated there: {', '.join(batches)}")


def _split_quantity(
    usable: Sequence[tuple[int, Allocation]], draft: Checked[PickDraft], qty: Decimal
) -> Iterator[PickPart]:
    left = qty
    for at, allocation in usable:
        part = min(left, allocation.qty)
        if part > 0:
            yield PickPart(at, allocation, part, exact=matches(allocation, draft))
            left -= part


def _split_serials(
    picking: StoredPicking,
    usable: Sequence[tuple[int, Allocation]],
    draft: Checked[PickDraft],
    substitution: Substitution,
) -> tuple[list[PickPart], list[str]]:
    """Return the parts of a pick of serials, and the serials for which no allocation may be used.

    A serial that the document names uses an allocation of its line, another one an allocation of
    a line that names none.
    """
    rest, parts, refused = list(usable), list[PickPart](), list[str]()
    named = {
        serial: at
        for at, line in enumerate(picking.lines)
        if line.item_code == draft.item_code
        for serial in line.serials
    }

    def may_use(at: int, serial: str) -> bool:
        if substitution == "any":
            return True
        return named[serial] == at if serial in named else not picking.lines[at].serials

    serials = draft.serials or []
    same = {one.serial: (at, one) for at, one in rest if one.serial in serials}
    rest = [one for one in rest if one[1].serial not in same]
    for serial in sorted(serials, key=lambda serial: serial not in same):
        found = same.get(serial) or next((one for one in rest if may_use(one[0], serial)), None)
        if found is None:
            refused.append(serial)
            continue
        if serial not in same:
            rest.remove(found)
        at, allocation = found
        exact = serial in same and matches(allocation, draft)
        parts.append(PickPart(at, allocation, allocation.qty, exact=exact, serial=serial))
    return parts, refused


def _not_named_problems(
    picking: StoredPicking, draft: Checked[PickDraft], refused: Sequence[str]
) -> Iterator[Problem]:
    """Yield a problem when serials are picked for lines whose document names others."""
    if not refused:
        return
    lines = [line for line in picking.lines if line.item_code == draft.item_code]
    named = [one.serial for line in lines if line.serials for one in line.allocations if one.serial]
    message = (
        f"{', '.join(refused)} cannot be picked: the order names serials, and"
        f" {', '.join(named[:MAX_SERIALS])} are left to pick"
    )
    yield Problem("serials", message)


def picked(picking: StoredPicking, part: PickPart, pick: Pick) -> StoredPicking:
    """Return the picking after a part of a pick: the allocation reduced, the pick added."""
    line = picking.lines[part.line]
    allocations = list(_reduced(line.allocations, part.allocation, part.qty))
    after = line.model_copy(
        update={
            "allocations": allocations,
            "picks": list(_merged(line.picks, pick)),
            "picked_qty": line.picked_qty + part.qty,
        }
    )
    return with_line(picking, part.line, after)


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
    if begun := _documents_leaving(picking):
        names = ", ".join(begun)
        return f"{code} cannot be undone: the dispatch of {names} has begun; repeat it first."
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
    with_goods: bool = False,
    without: Collection[int] = (),
) -> dict[int, DocumentProgress]:
    """Return the progress of the documents of a picking between two of its states, by their ids.

    Documents without progress are left out, unless the picking `ended_work` ends; so are those
    with the ids `without`, whose goods have left.
    """
    done: dict[int, dict[int, Decimal]] = {one.id: {} for one in after.documents}
    for old, new in zip(before.lines, after.lines, strict=True):
        if more := new.picked_qty - old.picked_qty:
            of_document = done[new.document_id]
            of_document[new.document_line] = of_document.get(new.document_line, ZERO) + more
    return {
        document: DocumentProgress(lines, ended_work=ended_work, with_goods=with_goods)
        for document, lines in done.items()
        if lines or (ended_work is not None and document not in without)
    }

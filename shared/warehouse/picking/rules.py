"""Rules of picking, as pure functions: lines to pick, and which allocations a pick uses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.identity.tenancy.tenant import Substitution
from shared.kernel.db.collection import Record
from shared.kernel.errors import Problem, ValidationFailed
from shared.warehouse.documents.models import Document
from shared.warehouse.picking.models import (
    MAX_SERIALS,
    Allocation,
    Pick,
    PickDraft,
    PickStatus,
    StoredPicking,
    StoredPickingLine,
)

NONE = Decimal(0)


def lines_for(documents: Iterable[Record[Document]]) -> list[StoredPickingLine]:
    """Return the lines that pick every open quantity of the documents."""
    return [
        StoredPickingLine(
            document_id=record.id,
            document_line=line.line_num,
            product_id=line.product_id,
            item_code=line.item_code,
            qty=line.open_qty,
            picked_qty=NONE,
            status="open",
            batch_num=line.batch,
        )
        for record in documents
        for line in record.entity.lines
        if line.open_qty
    ]


def unallocated(line: StoredPickingLine) -> Decimal:
    """Return the quantity of a line that is neither picked nor allocated."""
    return line.qty - line.picked_qty - sum((one.qty for one in line.allocations), NONE)


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


def split_pick(
    picking: StoredPicking, draft: PickDraft, substitution: Substitution
) -> list[PickPart]:
    """Split a pick over the allocations of the picking that it uses or replaces.

    Another serial of the same position and batch may always be picked instead. Raises
    ValidationFailed when the goods are not allocated to the picking and may not be picked instead.
    """
    allocated = list(_allocations_of(picking, draft.item_code))
    if not allocated:
        message = f"{draft.item_code} has no allocation in PKG-{picking.id} that is not picked yet"
        raise ValidationFailed([Problem("item_code", message)])
    here = [one for one in allocated if _matches(one[1], draft)]
    usable = here + [
        one for one in allocated if one not in here and _may_replace(one[1], draft, substitution)
    ]
    if not usable:
        raise ValidationFailed(
            [_not_allocated_problem([allocation for _, allocation in allocated], draft)]
        )
    left = sum((allocation.qty for _, allocation in usable), NONE)
    if left < draft.qty:
        picked, rest = f"{draft.qty.normalize():f}", f"{left.normalize():f}"
        message = f"{picked} picked, {rest} of {draft.item_code} left to pick there"
        raise ValidationFailed([Problem("qty", message)])
    found = list(_split_serials(usable, draft) if draft.serials else _split_quantity(usable, draft))
    if len(found) > MAX_SERIALS:
        message = (
            f"uses {len(found)} allocations, at most {MAX_SERIALS} per request;"
            " pick a smaller quantity"
        )
        raise ValidationFailed([Problem("qty", message)])
    return found


def serial_problems(picking: StoredPicking, draft: PickDraft) -> list[Problem]:
    """Return the problems of the serials of a pick.

    Products that are managed by serial are always allocated by serial.
    """
    lines = [line for line in picking.lines if line.item_code == draft.item_code]
    by_serial = any(one.serial is not None for line in lines for one in line.allocations)
    serials = set(draft.serials or ())
    if by_serial and not serials:
        return [Problem("serials", f"is required: product {draft.item_code} is managed by serial")]
    if serials and not by_serial:
        return [Problem("serials", f"product {draft.item_code} is not managed by serial")]
    if serials and (len(draft.serials or ()) != draft.qty or len(serials) != draft.qty):
        qty = f"{draft.qty.normalize():f}"
        message = f"{len(serials)} different serials given, qty is {qty}; they must be equal"
        return [Problem("serials", message)]
    return []


def _allocations_of(picking: StoredPicking, item_code: str) -> Iterator[tuple[int, Allocation]]:
    for at, line in enumerate(picking.lines):
        if line.item_code == item_code:
            for allocation in line.allocations:
                yield at, allocation


def _matches(allocation: Allocation, draft: PickDraft) -> bool:
    return (allocation.bin_code, allocation.batch_num) == (draft.bin_code, draft.batch)


def _may_replace(allocation: Allocation, draft: PickDraft, substitution: Substitution) -> bool:
    match substitution:
        case "any":
            return True
        case "position":
            return allocation.batch_num == draft.batch
        case "batch":
            return allocation.bin_code == draft.bin_code
        case _:
            return False


def _not_allocated_problem(allocated: Sequence[Allocation], draft: PickDraft) -> Problem:
    bins = sorted({one.bin_code for one in allocated})
    if draft.bin_code not in bins:
        return Problem("bin_code", f"must be a position where it is allocated: {', '.join(bins)}")
    batches = sorted({one.batch_num or "none" for one in allocated})
    return Problem("batch", f"must be a batch that is allocated there: {', '.join(batches)}")


def _split_quantity(
    usable: Sequence[tuple[int, Allocation]], draft: PickDraft
) -> Iterator[PickPart]:
    left = draft.qty
    for at, allocation in usable:
        part = min(left, allocation.qty)
        if part > 0:
            yield PickPart(at, allocation, part, exact=_matches(allocation, draft))
            left -= part


def _split_serials(
    usable: Sequence[tuple[int, Allocation]], draft: PickDraft
) -> Iterator[PickPart]:
    rest = list(usable)
    serials = list(draft.serials or ())
    for serial in list(serials):
        same = next((one for one in rest if one[1].serial == serial), None)
        if same:
            rest.remove(same)
            serials.remove(serial)
            yield PickPart(same[0], same[1], same[1].qty, exact=True, serial=serial)
    for serial, (at, allocation) in zip(serials, rest, strict=False):
        yield PickPart(at, allocation, allocation.qty, exact=False, serial=serial)


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


def _merged(picks: Iterable[Pick], pick: Pick) -> Iterator[Pick]:
    """Yield the picks with another one; picks of the same staged row are added up."""
    for one in picks:
        if one.staged_id == pick.staged_id and not one.dispatched:
            pick = pick.model_copy(update={"qty": one.qty + pick.qty})
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


def has_shortage(picking: StoredPicking) -> bool:
    """Return whether a line was not picked completely."""
    return any(line.picked_qty < line.qty for line in picking.lines)

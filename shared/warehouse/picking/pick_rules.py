"""Rules of picks: the problems of a pick, and the allocations that it uses or replaces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import batched

from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, invalid_fields, of_valid_fields
from shared.warehouse.catalog.lines import batch_problems, serial_problems
from shared.warehouse.catalog.several_lines import line_quantities
from shared.warehouse.picking.filling import accepts_batch, filling_rank
from shared.warehouse.picking.models import (
    MAX_SERIALS,
    Allocation,
    Pick,
    PickDraft,
    StoredPicking,
    StoredPickingLine,
    picking_code,
)
from shared.warehouse.settings.values import Substitution

_ONE = Decimal(1)


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


def allocated_goods(picking: StoredPicking) -> Iterator[PickDraft]:
    """Yield picks of everything that is allocated, where it is, in the order of the lines."""
    places = dict.fromkeys(
        (line.item_code, one.bin_code, one.batch_num)
        for line in picking.lines
        for one in line.allocations
    )
    for item_code, bin_code, batch in places:
        place = PickDraft(item_code=item_code, bin_code=bin_code, batch=batch, qty=_ONE)
        # In the order in which a pick uses them, so that it uses no others.
        found = [one for _, one in _usable(picking, place, "none")]
        for part in batched(found, MAX_SERIALS, strict=False):
            serials = [one.serial for one in part if one.serial is not None]
            for qty in line_quantities(sum((one.qty for one in part), ZERO)):
                yield place.model_copy(update={"qty": qty, "serials": serials or None})


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
    others = [
        (at, one)
        for at, one in allocated
        if not matches(one, draft) and _may_replace(picking.lines[at], one, draft, substitution)
    ]
    # Other goods may have another date than a line requires.
    return here + sorted(others, key=lambda one: picking.lines[one[0]].expiry_date is not None)


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
    places = bins if substitution == "position" else [draft.bin_code]
    batches = sorted({one.batch_num or "none" for one in allocated if one.bin_code in places})
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

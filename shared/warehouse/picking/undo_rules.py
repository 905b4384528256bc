"""Rules of undoing single picks: what is wrong with an undo, and the picking after it."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.catalog.lines import tracking_problems
from shared.warehouse.picking.filling import filling_rank
from shared.warehouse.picking.models import (
    MAX_SERIALS,
    Pick,
    PickDraft,
    StoredPicking,
    picking_code,
)
from shared.warehouse.picking.pick_rules import matches
from shared.warehouse.picking.rules import with_allocation, with_line
from shared.warehouse.stock.models import StockRow
from shared.warehouse.work.rules import place_problems


@dataclass(frozen=True, slots=True)
class UndonePick:
    """The part `qty` of a pick of the line with the index `line`, which is undone."""

    line: int
    pick: Pick
    qty: Decimal


def undo_problems(picking: StoredPicking, draft: Checked[PickDraft]) -> Iterator[Problem]:
    """Yield every problem of an undo: the goods that it names must be picked at the position."""
    code = draft.item_code
    if code is None:
        return
    if all(line.item_code != code for line in picking.lines):
        yield Problem("item_code", f"{code} is not on {picking_code(picking.id)}")
        return
    staged = [pick for _, pick in _staged(picking, draft)]
    # Products that are managed by serial or batch are always picked by serial or batch.
    wrong = [
        problem
        for one in staged[:1]
        for problem in tracking_problems(
            draft, by_serial=one.serial is not None, by_batch=one.batch_num is not None
        )
    ]
    yield from wrong
    if any(problem.field != "serials" for problem in wrong):
        return
    yield from place_problems("picked", code, draft.bin_code, [pick.bin_code for pick in staged])
    if draft.qty is None or {"bin_code", "batch", "serials"} & invalid_fields(draft):
        return
    here = [pick for pick in staged if matches(pick, draft)]
    there = sum((pick.qty for pick in here), ZERO)
    if there < draft.qty:
        yield Problem("qty", _not_picked(draft, draft.qty, there))
    elif draft.serials and not wrong:
        others = sorted(set(draft.serials) - {pick.serial for pick in here})
        if others:
            yield Problem("serials", f"not picked at {draft.bin_code}: {', '.join(others)}")
    elif (parts := len(list(split_undo(picking, draft, draft.qty)))) > MAX_SERIALS:
        message = (
            f"undoes {parts} picks, at most {MAX_SERIALS} per request; undo a smaller quantity"
        )
        yield Problem("qty", message)


def _not_picked(draft: Checked[PickDraft], qty: Decimal, there: Decimal) -> str:
    batch = "" if draft.batch is None else f" of batch {draft.batch}"
    return (
        f"{plain(qty)} to undo, {plain(there)} of {draft.item_code}{batch} picked"
        f" at {draft.bin_code}"
    )


def split_undo(
    picking: StoredPicking, draft: Checked[PickDraft], qty: Decimal
) -> Iterator[UndonePick]:
    """Split an undo without problems over the picks that it undoes, the last line first."""
    for at, pick in _staged(picking, draft):
        is_named = not draft.serials or pick.serial in draft.serials
        part = min(qty, pick.qty)
        if part > 0 and is_named and matches(pick, draft):
            yield UndonePick(at, pick, part)
            qty -= part


def _staged(picking: StoredPicking, draft: Checked[PickDraft]) -> Iterator[tuple[int, Pick]]:
    """Yield the picks of an item that are not dispatched, with the indexes of their lines.

    The line that was filled last comes first.
    """
    lines = sorted(enumerate(picking.lines), key=lambda one: filling_rank(one[1], draft))
    for at, line in reversed(lines):
        if line.item_code == draft.item_code:
            yield from ((at, pick) for pick in line.picks if not pick.dispatched)


def unpicked(picking: StoredPicking, part: UndonePick, row: StockRow) -> StoredPicking:
    """Return the picking after a part of a pick was undone: allocated in the stock `row`."""
    line = picking.lines[part.line]
    left = part.pick.qty - part.qty
    rest = [part.pick.model_copy(update={"qty": left})] if left else []
    picks = [one for one in line.picks if one is not part.pick]
    update = {"picks": [*picks, *rest], "picked_qty": line.picked_qty - part.qty}
    line = with_allocation(line.model_copy(update=update), row, part.qty)
    return with_line(picking, part.line, line)

"""Rules of transfers, as pure functions: which goods may be moved, and to which positions."""

from collections.abc import Iterator, Sequence

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import GoodsLine, examine_goods, numbered, repeated_serials
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.transfers.models import (
    MAX_SERIALS,
    StoredTransfer,
    TransferDraft,
    TransferLine,
    TransferMove,
)
from shared.warehouse.work.models import Operator

MAX_LINE_ACTIONS = MAX_PLANNED_ACTIONS - 12
"""Actions for the lines of a transfer. The other 12 are for the transfer, its two events, the
counters of four collections and of both warehouses in them, and the stored response."""
_ACTIONS_PER_LINE = 2
"""The stock counts of two positions, or of the product and the new position: its count does not
change when all of it leaves a position."""
_ACTIONS_PER_LEVELS = 4
"""The levels of the product in two warehouses, each with its event."""
_ACTIONS_PER_ROW = 4
"""Goods without serial: two rows, the alias of a new row, and a movement."""
_ACTIONS_PER_SERIAL = 2
"""A serial: its row, which is the same at every position, and a movement. Goods of a batch also
take one action per batch."""

type _LineSize = tuple[str | None, str | None, int]
"""Item code, batch and number of serials of a line."""


def examine(draft: Checked[TransferDraft], known: MasterData) -> Iterator[Problem]:
    """Yield every problem of a transfer other than those of its fields."""
    for field in ("from_warehouse", "to_warehouse"):
        yield from known.warehouse_problems(field, getattr(draft, field))
    seen: dict[tuple[str, str], str] = {}
    lines: Sequence[Checked[TransferMove]] = draft.lines or ()
    for path, line in numbered(lines):
        yield from _goods_problems(path, line, known)
        yield from repeated_serials(path, line.item_code, line.serials, seen)
        yield from _bin_problems(path, line, draft, known)
    if draft.from_warehouse is not None and draft.to_warehouse is not None:
        yield from _size_problems(draft, lines)


def _goods_problems(path: str, line: Checked[TransferMove], known: MasterData) -> Iterator[Problem]:
    code = line.item_code
    if code is None:
        return
    product = known.products.get(code)
    field = f"{path}.item_code"
    if product is None:
        yield Problem(field, f"no product has the code {code}")
        return
    if not product.in_stock:
        yield Problem(field, f"product {code} is not kept in stock")
    yield from examine_goods(GoodsLine.of(path, line), product)


def _bin_problems(
    path: str, line: Checked[TransferMove], draft: Checked[TransferDraft], known: MasterData
) -> Iterator[Problem]:
    ends: tuple[tuple[str, str | None, str | None], ...] = (
        ("from_bin", draft.from_warehouse, line.from_bin),
        ("to_bin", draft.to_warehouse, line.to_bin),
    )
    for field, whs_code, bin_code in ends:
        if whs_code is None or bin_code is None or whs_code not in known.warehouses:
            continue
        refusal = known.placing_refusal(whs_code, bin_code)
        if refusal and (field == "to_bin" or (whs_code, bin_code) not in known.positions):
            yield Problem(f"{path}.{field}", refusal)
    if line.from_bin is not None and ends[0][1:] == ends[1][1:]:
        yield Problem(f"{path}.to_bin", f"must be another position than from_bin, {line.from_bin}")


def _size_problems(
    draft: Checked[TransferDraft], lines: Sequence[Checked[TransferMove]]
) -> Iterator[Problem]:
    apart = draft.from_warehouse != draft.to_warehouse
    sizes = [(line.item_code, line.batch, len(line.serials or ())) for line in lines]
    if _line_actions(sizes, apart=apart) > MAX_LINE_ACTIONS:
        serials = sum(one for _, _, one in sizes)
        batches = len(_lots(sizes))
        message = (
            f"{len(lines)} lines with {serials} serials and {batches} batches do not fit into"
            " one transfer; send at most 11 lines within a warehouse (9 if each has another batch)"
            " or 6 between two, or one line with 30 serials"
        )
        yield Problem("lines", message)


def _line_actions(sizes: Sequence[_LineSize], *, apart: bool) -> int:
    """Return the actions of lines between two warehouses, or within one."""
    own = _ACTIONS_PER_LINE + (_ACTIONS_PER_LEVELS if apart else 0)
    rows = sum(_ACTIONS_PER_SERIAL * one if one else _ACTIONS_PER_ROW for _, _, one in sizes)
    return rows + own * len(sizes) + len(_lots(sizes))


def _lots(sizes: Sequence[_LineSize]) -> set[tuple[str | None, str]]:
    return {(item_code, batch) for item_code, batch, _ in sizes if batch is not None}


def fit_one_transfer(lines: Sequence[TransferLine]) -> bool:
    """Return whether one transfer within a warehouse can move all these lines."""
    sizes = [(line.item_code, line.batch_num, len(line.serials)) for line in lines]
    is_short = all(len(line.serials) <= MAX_SERIALS for line in lines)
    return is_short and _line_actions(sizes, apart=False) <= MAX_LINE_ACTIONS


def new_transfer(  # noqa: PLR0913 - the facts of a transfer
    number: int,
    draft: TransferDraft,
    known: MasterData,
    *,
    user_id: int | None,
    operator: Operator | None,
    now: str,
) -> StoredTransfer:
    """Return the transfer that a draft becomes, in the state `pending`."""
    return StoredTransfer(
        id=number,
        status="pending",
        from_whs_code=draft.from_warehouse,
        to_whs_code=draft.to_warehouse,
        reason=draft.reason,
        comments=draft.comments,
        user_id=user_id,
        operator=operator,
        created_at=now,
        updated_at=now,
        lines=[
            TransferLine(
                product_id=known.products[line.item_code].id,
                item_code=line.item_code,
                qty=line.qty,
                batch_num=line.batch,
                serials=line.serials or [],
                from_bin=line.from_bin,
                to_bin=line.to_bin,
                inventory_status=line.inventory_status or "available",
            )
            for line in draft.lines
        ],
    )


def unusable_targets(transfer: StoredTransfer, known: MasterData) -> Iterator[str]:
    """Yield a message for each line whose goods may no longer be put at their destination."""
    for at, line in enumerate(transfer.lines, start=1):
        if refusal := known.placing_refusal(transfer.to_whs_code or "", line.to_bin or ""):
            yield f"line {at}: {refusal}"

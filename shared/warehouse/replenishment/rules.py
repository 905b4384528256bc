"""Rules of replenishment on plain data: what a pick face needs, and which stock fills it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, given_fields, valid_entries
from shared.warehouse.catalog.lines import parts_of
from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.replenishment.models import SELECTIONS, ReplenishmentDraft
from shared.warehouse.stock.models import StockRow
from shared.warehouse.stock.service import choose_rows
from shared.warehouse.transfers.models import TransferLine
from shared.warehouse.warehouses.models import KnownPosition

RESERVE = "reserve"
"""Type of the positions that are emptied before others."""

type Goods = tuple[str | None, str | None, str | None]
"""Position, batch and serial of stock of a product."""
type Taken = dict[Goods, Decimal]
"""What transfers that are not executed take of the stock of a product."""


def draft_problems(
    draft: Checked[ReplenishmentDraft], known: Mapping[int, PickFace]
) -> Iterator[Problem]:
    """Yield every problem of a draft; `known` has those of the named pick faces that exist."""
    selected = [
        name for name in given_fields(draft, SELECTIONS) if getattr(draft, name) is not False
    ]
    if len(selected) != 1:
        yield Problem("pick_face_ids", "give either pick_face_ids or all")
    if draft.after is not None and "all" not in selected:
        yield Problem("after", "is not allowed without all")
    for at, number in valid_entries(draft.pick_face_ids):
        face = known.get(number)
        if face is None:
            yield Problem(f"pick_face_ids.{at}", f"no pick face has the id {number}")
        elif draft.warehouse_code not in {None, face.whs_code}:
            message = f"pick face {number} is in warehouse {face.whs_code}"
            yield Problem(f"pick_face_ids.{at}", message)


def is_usable(row: StockRow, first_day: str | None) -> bool:
    """Return whether pickings can be given the stock of a row.

    `first_day` is the earliest expiry date that goods may have; None for any.
    """
    is_good = first_day is None or row.expiry_date is None or row.expiry_date >= first_day
    return row.inventory_status == "available" and is_good


def needed(face: PickFace, qty: Decimal, coming: Decimal) -> Decimal | None:
    """Return what a pick face with a quantity lacks to its maximum, else to its minimum.

    None if it has its minimum. `coming` is on its way there.
    """
    if face.minimum is None or qty >= face.minimum:
        return None
    most = face.minimum if face.maximum is None else face.maximum
    return max(ZERO, most - qty - coming)


def fitting(needed: Decimal, room: Decimal | None) -> Decimal:
    """Return how much of what is needed has room at the pick face; `room` is None for any."""
    return needed if room is None else max(ZERO, min(needed, room))


def source_positions(positions: Iterable[KnownPosition]) -> dict[int, bool]:
    """Return the ids of the positions to take stock from, and whether they are reserves.

    Pick faces are left out, and positions from which nothing is allocated.
    """
    return {
        one.id: one.type == RESERVE
        for one in positions
        if not (one.disabled or one.blocked or one.products or one.type == "pick_face")
    }


def goods_of(row: StockRow) -> Goods:
    """Return what tells stock of a product from other stock of it."""
    return row.bin_code, row.batch_num, row.serial_number


def take(taken: Taken, lines: Iterable[TransferLine]) -> None:
    """Add what lines take to `taken`."""
    for line in lines:
        for serial, qty in parts_of(line.qty, line.serials):
            goods = (line.from_bin, line.batch_num, serial)
            taken[goods] = taken.get(goods, ZERO) + qty


def free_rows(rows: Iterable[StockRow], taken: Taken) -> list[StockRow]:
    """Return rows of a product, of which what is taken counts as allocated."""
    return [
        row.model_copy(update={"allocated": row.allocated + taken.get(goods_of(row), ZERO)})
        for row in rows
    ]


def lines_to(
    face: PickFace,
    qty: Decimal,
    rows: Iterable[StockRow],
    positions: Mapping[int, bool],
    fit: Callable[[Sequence[TransferLine]], bool],
) -> list[TransferLine]:
    """Return the lines that bring up to `qty` to a pick face, as many as one transfer has room for.

    What expires first comes first, then what lies at a reserve, then the oldest receipt.
    """
    lines: list[TransferLine] = []
    for row, part in choose_rows(rows, positions, qty):
        longer = _with_part(lines, face, row, part)
        if not fit(longer):
            break
        lines = longer
    return lines


def _with_part(
    lines: Sequence[TransferLine], face: PickFace, row: StockRow, qty: Decimal
) -> list[TransferLine]:
    """Return the lines with a part of a row; serials of one position and batch share a line."""
    place = (row.bin_code, row.batch_num)
    serials = [] if row.serial_number is None else [row.serial_number]
    for at, line in enumerate(lines):
        if serials and (line.from_bin, line.batch_num) == place:
            more = {"qty": line.qty + qty, "serials": [*line.serials, *serials]}
            return [*lines[:at], line.model_copy(update=more), *lines[at + 1 :]]
    line = TransferLine(
        product_id=row.product_id,
        item_code=row.item_code,
        qty=qty,
        batch_num=row.batch_num,
        serials=serials,
        from_bin=row.bin_code,
        to_bin=face.bin_code,
    )
    return [*lines, line]

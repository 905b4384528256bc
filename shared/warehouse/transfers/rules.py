"""Decisions about transfers, on plain data: what may be moved, and where to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.kernel.errors import Conflict, Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import Claim, examine_goods
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.transfers.models import (
    StoredTransfer,
    TransferDraft,
    TransferLine,
    TransferMove,
    TransferStatus,
)
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse
from shared.warehouse.work_records import Operator

ROOM = 90
"""Actions that one transaction leaves for what moves: the other 10 are for the transfer, its
events, the register of open work, counters and the answer."""
_PER_LINE = 3
"""Actions for what the product and its two positions hold."""
_PER_LEVELS = 4
"""Actions for the levels of a product in two warehouses, and the events that tell of them."""
_PER_ROW = 4
"""Actions for stock that lies there by quantity: two rows, the key of a new one, a movement."""
_PER_SERIAL = 2
"""Actions for a serial, which is one row wherever it lies: the row and a movement."""


@dataclass(frozen=True, slots=True)
class MasterData:
    """What the database knows of the codes that a transfer names.

    Positions are by the codes of warehouse and position.
    """

    products: Mapping[str, KnownProduct]
    warehouses: Mapping[str, KnownWarehouse]
    positions: Mapping[tuple[str, str], KnownPosition]


def examine(draft: Checked[TransferDraft], known: MasterData) -> Iterator[Problem]:
    """Yield every problem of a transfer besides those of its fields."""
    for field in ("from_warehouse", "to_warehouse"):
        code: str | None = getattr(draft, field)
        if code is not None and code not in known.warehouses:
            yield Problem(field, f"no warehouse has the code {code}")
    seen: dict[tuple[str, str], str] = {}
    lines: Sequence[Checked[TransferMove]] = draft.lines or ()
    for at, line in enumerate(lines):
        path = f"lines.{at}"
        yield from _goods_problems(path, line, known)
        yield from _serials_seen(path, line, seen)
        yield from _bin_problems(path, line, draft, known)
    if draft.from_warehouse is not None and draft.to_warehouse is not None:
        yield from _room_problems(draft, lines)


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
    claim = Claim(path, code, line.qty, {"batch": line.batch}, ("serials", line.serials))
    yield from examine_goods(claim, product)


def _serials_seen(
    path: str, line: Checked[TransferMove], seen: dict[tuple[str, str], str]
) -> Iterator[Problem]:
    """Yield a problem for each serial that an earlier line already moves."""
    code = line.item_code
    if code is None:
        return
    for number, serial in enumerate(line.serials or ()):
        first = seen.setdefault((code, serial), path)
        if first != path:
            yield Problem(f"{path}.serials.{number}", f"is moved already, by {first}")


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
        position = known.positions.get((whs_code, bin_code))
        if position is None:
            message = f"warehouse {whs_code} has no position {bin_code}"
            yield Problem(f"{path}.{field}", message)
        elif field == "to_bin" and (closed := _closed(position)):
            yield Problem(f"{path}.{field}", closed)
    if line.from_bin is not None and ends[0][1:] == ends[1][1:]:
        yield Problem(f"{path}.to_bin", "must be another position than from_bin")


def _closed(position: KnownPosition) -> str | None:
    """Tell why nothing may be put to a position, None when it may."""
    if position.disabled:
        return f"position {position.bin_code} is disabled"
    return f"position {position.bin_code} is blocked" if position.blocked else None


def _room_problems(
    draft: Checked[TransferDraft], lines: Sequence[Checked[TransferMove]]
) -> Iterator[Problem]:
    apart = draft.from_warehouse != draft.to_warehouse
    actions = sum(_actions(line, apart=apart) for line in lines)
    if actions > ROOM:
        message = (
            "are more than can be moved at once: send at most 12 lines inside a warehouse or 8"
            " between two, fewer with many serials; a line alone may have 40"
        )
        yield Problem("lines", message)


def _actions(line: Checked[TransferMove], *, apart: bool) -> int:
    rows = _PER_SERIAL * len(line.serials) if line.serials else _PER_ROW
    return rows + _PER_LINE + (_PER_LEVELS if apart else 0)


def new_transfer(
    number: int, draft: TransferDraft, known: MasterData, *, user_id: int | None, now: str
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
        operator=Operator(id=draft.operator_id, name=None) if draft.operator_id else None,
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


def closed_ends(transfer: StoredTransfer, known: MasterData) -> Iterator[str]:
    """Tell of each line of a stored transfer whose goods may no longer be put to their end."""
    for at, line in enumerate(transfer.lines, start=1):
        position = known.positions[transfer.to_whs_code or "", line.to_bin or ""]
        if closed := _closed(position):
            yield f"line {at}: {closed}"


def ensure_status(transfer: StoredTransfer, *allowed: TransferStatus) -> None:
    """Refuse what the state of a transfer does not allow."""
    if transfer.status not in allowed:
        wanted = " or ".join(allowed)
        message = f"The transfer is {transfer.status}; this needs it to be {wanted}."
        raise Conflict(message)

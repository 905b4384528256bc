"""The pickings to which stock is allocated: to name them, or to exchange allocations with them."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import batched

from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.fields import ZERO, plain
from shared.kernel.references import open_records
from shared.warehouse.documents import service as documents
from shared.warehouse.picking.models import StoredPicking, picking_code
from shared.warehouse.picking.repository import PICKINGS, transfer_pickings
from shared.warehouse.stock.models import StockRow

_SHOWN = 10
"""Most pickings that one message names."""
_MOST_READ = 500
"""Most documents and most pickings that are read for one message."""
_BATCH = 100


def holders_of(store: Store, row: StockRow) -> str | None:
    """Return the pickings to which stock of a row is allocated, with the quantities, as text.

    None when none is found: a picking may have ended since the row was read, and an index that
    lags by moments may not show it.
    """
    found: dict[str, Decimal] = {}
    numbers = _open_pickings(store, row, _MOST_READ)[:_MOST_READ]
    for batch in batched(numbers, _BATCH, strict=False):
        for record in PICKINGS.get_many(store, batch):
            if qty := _allocated(record.entity, row.id):
                found[_name(record.entity)] = qty
        if sum(found.values(), ZERO) >= row.allocated:
            break
    if not found:
        return None
    named = ", ".join(f"{name} ({plain(qty)})" for name, qty in list(found.items())[:_SHOWN])
    if sum(found.values(), ZERO) < row.allocated:
        return f"{named} and others"
    return named if len(found) <= _SHOWN else f"{named} and {len(found) - _SHOWN} more"


def allocating_pickings(store: Store, rows: Sequence[StockRow]) -> list[Record[StoredPicking]]:
    """Return the pickings to which rows of one product in one warehouse are allocated.

    Those of transfer orders are found through an index that may lag by moments.
    """
    numbers = {row.id for row in rows}
    return [
        record
        for record in PICKINGS.get_many(store, _open_pickings(store, rows[0]))
        if any(one.stock_id in numbers for line in record.entity.lines for one in line.allocations)
    ]


def _open_pickings(store: Store, row: StockRow, most: int | None = None) -> list[int]:
    """Return the open pickings of the documents with a product in a warehouse.

    `most` is the number of exit documents that are read; None for all.
    """
    named = list(open_records(store, "product", row.product_id))
    exits = sorted(number for kind, number in named if kind == "exit")[:most]
    found = documents.get_documents(store, "exit", exits) if exits else []
    numbers = {work for one in found if one.entity.whs_code == row.whs_code
               for work in one.entity.works}  # fmt: skip
    if any(kind == "transfer_order" for kind, _ in named):
        numbers.update(transfer_pickings(store, row.whs_code))
    return sorted(numbers)


def _allocated(picking: StoredPicking, row: int) -> Decimal:
    allocations = (one for line in picking.lines for one in line.allocations)
    return sum((one.qty for one in allocations if one.stock_id == row), ZERO)


def _name(picking: StoredPicking) -> str:
    """Return the code of a picking, or of the transfer order that is picked through it."""
    transfers = (one.doc_num for one in picking.documents if one.type == "transfer_order")
    return str(next(transfers, picking_code(picking.id)))

"""Ended work that the other system has not acknowledged, and what it changed of what is on hand.

Receipts and pickings are acknowledged by `synchronize`, transfers by `acknowledge`. Nothing is
recorded of returns. Picked goods are on hand until they are dispatched.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

from shared.kernel.db.lists.cursor import Cursor
from shared.kernel.db.lists.page import Page
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.events.feed import FeedHead, read_entries
from shared.kernel.events.feed_order import head_with
from shared.kernel.list_parameters import ListParameters
from shared.warehouse.picking import service as picking
from shared.warehouse.picking.models import PickingParameters, StoredPicking, picking_code
from shared.warehouse.receiving import service as receiving
from shared.warehouse.receiving.models import ReceiptParameters, StoredReceipt
from shared.warehouse.stock.models import Place
from shared.warehouse.transfers import service as transfers
from shared.warehouse.transfers.models import StoredTransfer, TransferParameters
from shared.warehouse.warehouses import service as warehouses

type WorkKind = Literal["receipt", "picking", "transfer"]

_PAGE = 100
MAX_WORKS = 500
"""Unacknowledged works of a kind that are looked at, the newest first."""
MAX_TRANSFERS = 5_000
"""Executed transfers among which those without answer are found, the newest first."""


@dataclass(frozen=True, slots=True)
class UnacknowledgedWork:
    """Work, and by how much it changed what is on hand of a batch at one place."""

    kind: WorkKind
    id: int
    code: str | None
    batch: str | None
    qty: Decimal

    def added_to(self, other: "UnacknowledgedWork | None") -> "UnacknowledgedWork":
        """Return the work with what it changed of another batch, too."""
        return replace(self, qty=self.qty + other.qty) if other else self


type _Changes = Iterator[tuple[str, int, str | None, Decimal]]
"""Codes of warehouses, products, batches, and what work changed of what is on hand."""


def unacknowledged(store: Store, head: FeedHead) -> Mapping[Place, Sequence[UnacknowledgedWork]]:
    """Return the unacknowledged work by the place whose stock it changed, oldest first.

    Work that has changed behind the head of the feed is left out: until then it had not ended, or
    not in this way.

    Raises:
        Conflict: A new feed has begun meanwhile.
        ServiceUnavailable: The relay has not appended what was read until the deadline.
    """
    receipts, pickings, moved = run_all(
        lambda: list(_finalized_receipts(store)),
        lambda: list(_finalized_pickings(store)),
        lambda: list(_transferred(store)),
    )
    codes = warehouses.warehouse_ids(store)
    found = defaultdict[Place, list[UnacknowledgedWork]](list)
    works: list[tuple[WorkKind, Record[Any], str | None, _Changes]] = [
        *(("receipt", one, None, _of_receipt(one.entity)) for one in receipts),
        *(("picking", one, picking_code(one.id), _of_picking(one.entity)) for one in pickings),
        *(("transfer", one, None, _of_transfer(one.entity)) for one in moved),
    ]
    works.sort(key=lambda work: (work[1].entity.created_at, work[1].id))
    changed = _changed_behind(store, head, [record for _, record, _, _ in works])
    for kind, record, code, changes in works:
        if (kind, record.id) in changed:
            continue
        sums = defaultdict[tuple[Place, str | None], Decimal](Decimal)
        for whs_code, product_id, batch, qty in changes:
            if whs_code in codes:
                sums[(product_id, codes[whs_code]), batch] += qty
        for (place, batch), qty in sums.items():
            if qty:
                found[place].append(UnacknowledgedWork(kind, record.id, code, batch, qty))
    return found


def _of_receipt(receipt: StoredReceipt) -> _Changes:
    for line in receipt.lines:
        if not line.undone:
            yield receipt.whs_code, line.product_id, line.batch_num, line.qty


def _of_picking(stored: StoredPicking) -> _Changes:
    for line in stored.lines:
        for pick in line.picks:
            if pick.dispatched:
                yield stored.whs_code, line.product_id, pick.batch_num, -pick.qty


def _of_transfer(transfer: StoredTransfer) -> _Changes:
    for line in transfer.lines:
        for whs_code, qty in (
            (transfer.from_whs_code, -line.qty),
            (transfer.to_whs_code, line.qty),
        ):
            if whs_code is not None:
                yield whs_code, line.product_id, line.batch_num, qty


def _changed_behind(
    store: Store, head: FeedHead, records: Sequence[Record[Any]]
) -> set[tuple[str, ResourceId]]:
    """Return object and id of what has changed behind a head, as far as it shows in records."""
    latest = head_with(store, head, [one.written_by for one in records if one.written_by])
    return {
        (change.object, change.id)
        for entry in read_entries(store, latest, head.position)
        for change in entry.changes
    }


def _finalized_receipts(store: Store) -> Iterator[Record[StoredReceipt]]:
    parameters = ReceiptParameters(status=("finalized",), per_page=_PAGE)
    return islice(_rows(store, receiving.list_receipts, parameters), MAX_WORKS)


def _finalized_pickings(store: Store) -> Iterator[Record[StoredPicking]]:
    parameters = PickingParameters(status=("finalized",), per_page=_PAGE)
    return islice(_rows(store, picking.list_pickings, parameters), MAX_WORKS)


def _transferred(store: Store) -> Iterator[Record[StoredTransfer]]:
    parameters = TransferParameters(status=("transferred",), per_page=_PAGE)
    moved = islice(_rows(store, transfers.list_transfers, parameters), MAX_TRANSFERS)
    return islice((one for one in moved if one.entity.sap_status is None), MAX_WORKS)


def _rows[E, P: ListParameters](
    store: Store, read: Callable[[Store, P], Page[E]], parameters: P
) -> Iterator[Record[E]]:
    """Yield the rows of a list, each once although rows come to it or leave it meanwhile."""
    while True:
        page = read(store, parameters)
        yield from page.records
        if page.next_mark is None:
            return
        cursor = Cursor("", page.page + 1, page.per_page, page.next_mark)
        parameters = parameters.model_copy(update={"page": cursor.page, "cursor": cursor})

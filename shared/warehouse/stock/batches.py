"""Batches: all stock of a product and batch has one expiry date.

One item per product and batch has the date, and the rows in stock copy it. A change that gives
stock to an empty row, or another date to a row, also replaces the item on the condition that it
has not changed since it was read. Other changes of stock need no write of it: a row that has stock
keeps its date.

The item names the rows that were created a moment ago, which the index of batches may not show yet.
With them, the rows of a batch that are found after its item was read are complete, as long as the
item does not change.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import batched, chain

from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.stock.models import Lot, RowKey, StockRow
from shared.warehouse.stock.repository import STOCK, batch_key

_RECENT_MS = 10_000
"""Age up to which an index may not show a new row: its commit may have taken seconds."""
_MAX_NEW_ROWS = 300
"""Most rows that an item names; a step creates some 20."""
_ROWS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Batch:
    """The expiry date of a batch, None if it has none.

    `new_rows` are the ids of rows that were created shortly before `changed_ms`. The version is 0
    while the batch is not stored. `is_out` is whether it is known that nothing of it is in stock.
    """

    lot: Lot
    expiry_date: str | None = None
    version: int = 0
    changed_ms: int = 0
    new_rows: frozenset[int] = frozenset()
    is_out: bool = False


def lot_of(row: StockRow | RowKey) -> Lot | None:
    """Return product and batch of a row; None without a batch."""
    return None if row.batch_num is None else (row.product_id, row.batch_num)


def read_batch(found: Mapping[Key, Item], lot: Lot) -> Batch | None:
    """Return a batch from the items that were read; None if it is not stored."""
    item = found.get(batch_key(lot))
    if item is None:
        return None
    return Batch(
        lot, item.get("expiry_date"), item["version"], item["changed_ms"],
        frozenset(item.get("new_rows", ())),
    )  # fmt: skip


def write_batch(tx: Transaction, batch: Batch, new_rows: Collection[int] = ()) -> None:
    """Add a batch, on the condition that the stored one has not changed since it was read.

    `new_rows` are the ids of the rows of the batch that the transaction creates.
    """
    is_recent = batch.changed_ms > tx.now_ms - _RECENT_MS
    known = sorted(batch.new_rows.difference(new_rows)) if is_recent else []
    named = {*known[-_MAX_NEW_ROWS:], *new_rows}
    item = item_at(
        batch_key(batch.lot),
        expiry_date=batch.expiry_date,
        version=batch.version + 1,
        changed_ms=tx.now_ms,
        new_rows=named or None,
    )
    tx.replace(item, version=batch.version)


def require_date(tx: Transaction, batch: Batch) -> None:
    """Make the commit fail with StaleRead when a batch gets another date."""
    tx.check(
        batch_key(batch.lot),
        condition="expiry_date = :date",
        values={":date": batch.expiry_date},
    )


def rows_of(store: Store, batch: Batch) -> Iterator[Record[StockRow]]:
    """Yield the rows of a batch, with and without stock, as they are after it was read."""
    product_id, batch_num = batch.lot
    pages = id_pages(store, STOCK, "batch", batch_num, product_id=id_text(product_id))
    seen = set[int]()
    for numbers in chain([sorted(batch.new_rows)], pages):
        for some in batched(numbers, _ROWS_AT_ONCE, strict=False):
            new = [number for number in some if number not in seen]
            seen.update(new)
            # Rows that were read together with the item may be older than it.
            found = store.get_many(map(STOCK.key, new), uncached=True) if new else {}
            for number in new:
                record = STOCK.from_items(found, number)
                if record and lot_of(record.entity) == batch.lot:
                    yield record


def batch_from_rows(store: Store, lot: Lot) -> Batch:
    """Return a batch that is not stored: its earliest date in stock.

    Data of an earlier release may have several dates.
    """
    rows = (record.entity for record in rows_of(store, Batch(lot)))
    dates = [row.expiry_date for row in rows if row.qty]
    return Batch(lot, min(filter(None, dates), default=None), is_out=not dates)


def batch_dates(store: Store, lots: Iterable[Lot]) -> dict[Lot, str | None]:
    """Return the expiry dates of those batches that are stored."""
    found = store.get_many(map(batch_key, lots := list(lots)))
    return {lot: batch.expiry_date for lot in lots if (batch := read_batch(found, lot))}


def other_dates(store: Store, wanted: Mapping[Lot, Collection[str]]) -> Mapping[Lot, str | None]:
    """Return the expiry dates of those batches in stock that do not have the `wanted` dates."""
    found = store.get_many(map(batch_key, wanted))

    def other_batch(lot: Lot) -> Batch | None:
        batch = read_batch(found, lot) or batch_from_rows(store, lot)
        if batch.is_out or {batch.expiry_date} == set(wanted[lot]):
            return None
        return batch if any(one.entity.qty for one in rows_of(store, batch)) else None

    batches = map_concurrently(other_batch, list(wanted))
    return {batch.lot: batch.expiry_date for batch in batches if batch}


class Batches:
    """The batches of the stock that one transaction touches.

    `dates` has the expiry date of each batch that was read.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._batches: dict[Lot, Batch] = {}
        self.dates: dict[Lot, str | None] = {}

    def add_stored(
        self, lots: Iterable[Lot], found: Mapping[Key, Item], derived: Callable[[Lot], Batch | None]
    ) -> list[Lot]:
        """Add the batches among the items that were read; return those that are not known.

        `derived` returns a batch that is not stored, if its date is known without its rows.
        """
        unread = []
        for lot in lots:
            if batch := read_batch(found, lot) or derived(lot):
                self._add(batch)
            else:
                unread.append(lot)
        return unread

    def add_derived(self, lots: Iterable[Lot]) -> None:
        """Add batches that are not stored, with the dates of their rows."""
        for lot in lots:
            self._add(batch_from_rows(self._tx.store, lot))

    def _add(self, batch: Batch) -> None:
        self._batches[batch.lot] = batch
        self.dates[batch.lot] = batch.expiry_date

    def join(self, goods: StockRow, changed: Iterable[StockRow] = ()) -> str | None:
        """Let goods join the stock of their batch, or return why they cannot.

        If they have a date, and nothing of the batch is in stock, the batch gets their date.
        `changed` are rows as they are with the changes made so far.
        """
        lot, date = lot_of(goods), goods.expiry_date
        if lot is None or date is None or self.dates[lot] == date:
            return None
        batch = self._batches[lot]
        rows = () if batch.is_out else rows_of(self._tx.store, batch)
        own = [row for row in changed if lot_of(row) == lot]
        known = {row.id for row in own}
        others = (record.entity for record in rows if record.id not in known)
        if any(row.qty for row in chain(own, others)):
            return _refusal(goods, batch.expiry_date)
        self._add(replace(batch, expiry_date=date))
        return None

    def with_date(self, goods: StockRow) -> StockRow:
        """Return goods with the expiry date of their batch; without a batch, they keep theirs."""
        lot = lot_of(goods)
        if lot is None:
            return goods
        return goods.model_copy(update={"expiry_date": self.dates[lot]})

    def first_receipt(self, lot: Lot) -> str | None:
        """Return when the oldest goods of a batch that was read were received; None without any."""
        rows = rows_of(self._tx.store, self._batches[lot])
        return min((record.entity.received_at for record in rows), default=None)

    def write(self, lot: Lot, new_rows: Collection[int]) -> None:
        """Add the batch of rows that get stock or another date; `new_rows` are new ones of them."""
        write_batch(self._tx, self._batches[lot], new_rows)


def _refusal(goods: StockRow, expiry_date: str | None) -> str:
    return date_refusal(goods.item_code, goods.batch_num, expiry_date, goods.expiry_date)


def date_refusal(item_code: str, batch: str | None, there: str | None, given: str | None) -> str:
    """Return why a date may not be given for a batch that is in stock with the date `there`."""
    what = f"batch {batch} of {item_code} is in stock"
    if there is None:
        return f"{what} without an expiry date, {given} given; correct the date of the batch first"
    return f"{what} with the expiry date {there}, {given} given"

"""The room at the positions where goods of one transaction arrive, if the company enforces it.

With the setting `capacity` at `enforce`, every arrival counts in the item of its position, and one
that is checked depends on the count that it has read: of two that meet, one is retried. What
lies there is in the rows themselves. The item says which rows have stock; as it also has their
number, an incomplete list is noticed, and completed from the index.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO, plain
from shared.warehouse.catalog import service as catalog
from shared.warehouse.master_data import uses
from shared.warehouse.master_data.uses import PositionCount, stock_count_key
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock import rules
from shared.warehouse.stock.models import StockRow
from shared.warehouse.stock.repository import STOCK, ids_at_position
from shared.warehouse.stock.room import Packagings, is_limited, room_for
from shared.warehouse.stock.rules import StockChanges
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import StoredPosition


@dataclass(frozen=True, slots=True)
class _Place:
    """A position with a capacity, what its item says, and its rows with stock."""

    position: StoredPosition
    count: PositionCount
    rows: Mapping[int, StockRow]


class PositionRooms:
    """The room at the positions where goods of one transaction arrive."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._enforced = settings_of(tx.company).capacity == "enforce"
        self._places: dict[int, _Place] = {}
        self._unlimited: set[int] = set()
        self._packagings: Packagings = {}

    def load(self, targets: Iterable[StockRow]) -> None:
        """Read what lies at the positions of `targets`; nothing unless the room is enforced."""
        store, goods = self._tx.store, list(targets) if self._enforced else []
        numbers = sorted({one.position_id for one in goods if one.position_id is not None})
        if not numbers:
            return
        # The counts are read before the rows that they count.
        positions = warehouses.stored_positions(store, numbers, also=map(stock_count_key, numbers))
        limited = [one for one in positions if is_limited(one)]
        self._unlimited |= set(numbers) - {one.id for one in limited}
        counts = uses.position_counts(store, [one.id for one in limited])
        rows = self._rows(limited, counts)
        products = {row.product_id for of_place in rows.values() for row in of_place.values()}
        self._packagings = catalog.packagings(
            store, sorted(products | {one.product_id for one in goods})
        )
        for one in limited:
            self._places[one.id] = _Place(one, counts[one.id], rows[one.id])

    def _rows(
        self, positions: list[StoredPosition], counts: Mapping[int, PositionCount]
    ) -> dict[int, dict[int, StockRow]]:
        """Return the rows with stock of positions, by the ids of both.

        Raises:
            StaleRead: The index does not show yet all the rows that the counts have.
        """
        store = self._tx.store
        known = {one.id: {*counts[one.id].ids} for one in positions}
        found = self._stocked(known)
        missed = [one for one in positions if len(found[one.id]) < counts[one.id].rows]
        if missed:
            listed = map_concurrently(
                lambda one: ids_at_position(store, one.warehouse_id, one.bin_code), missed
            )
            known |= {
                one.id: {*ids} | known[one.id] for one, ids in zip(missed, listed, strict=True)
            }
            found = self._stocked(known)
        if any(len(found[one.id]) < counts[one.id].rows for one in missed):
            raise StaleRead
        return found

    def _stocked(self, known: Mapping[int, set[int]]) -> dict[int, dict[int, StockRow]]:
        wanted = sorted({number for ids in known.values() for number in ids})
        rows = [record.entity for record in STOCK.get_many(self._tx.store, wanted)]
        return {
            position: {row.id: row for row in rows if row.qty and row.position_id == position}
            for position in known
        }

    def refusal(self, changes: StockChanges, target: StockRow, qty: Decimal) -> str | None:
        """Return why `qty` more of a loaded target does not fit beside the changes made so far."""
        place = self._places.get(target.position_id or 0)
        if place is None:
            return None
        contents: dict[int, Decimal] = {}
        for row in self._rows_after(place, changes):
            contents[row.product_id] = contents.get(row.product_id, ZERO) + row.qty
        room = room_for(target.product_id, place.position, contents, self._packagings)
        if room is None or qty <= room:
            return None
        # Goods that moved between rows meanwhile may have been read twice.
        self._tx.read_twice("room")
        fits = plain(max(room, ZERO))
        return f"{plain(qty)} requested, {fits} of {target.item_code} fit at {target.bin_code}"

    @staticmethod
    def _rows_after(place: _Place, changes: StockChanges) -> list[StockRow]:
        """Return the rows with stock of a place after the changes made so far."""
        changed = [*changes.rows.values()]
        ids = {row.id for row in changed}
        rows = [*changed, *(row for row in place.rows.values() if row.id not in ids)]
        return [row for row in rows if row.qty and row.position_id == place.position.id]

    def changed(self, changes: StockChanges) -> dict[int, int]:
        """Return the positions that `post` writes, with the changes of their numbers of rows."""
        changed = [*changes.changed()]
        found = rules.stock_count_changes(changes.stored, changed)
        return dict.fromkeys(self._arriving(changes), 0) | found

    def _arriving(self, changes: StockChanges) -> set[int]:
        """Return the positions where arrivals count."""
        if not self._enforced:
            return set()
        return rules.arrivals(changes.stored, changes.changed()) - self._unlimited

    def post(self, changes: StockChanges) -> None:
        """Add the changes of the numbers of stock rows of positions, and count arrivals there."""
        arriving = self._arriving(changes)
        for position, more in sorted(self.changed(changes).items()):
            place = self._places.get(position)
            if position not in arriving:
                uses.change_stock_count(self._tx, position, more)
            elif place is None:
                uses.record_arrival(self._tx, position, more, None)
            else:
                ids = {row.id for row in self._rows_after(place, changes)}
                uses.record_arrival(self._tx, position, more, place.count, ids)

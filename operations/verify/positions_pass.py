"""Third pass: the number of stock rows of each position, and the rows that its item names."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import batched
from typing import Any

from operations.verify.findings import Drift, Fix, shown
from operations.verify.table_access import ids_in, set_number
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.warehouse.master_data.uses import NAMED_ROWS, stock_count_key
from shared.warehouse.stock.models import StockRow
from shared.warehouse.stock.repository import STOCK
from shared.warehouse.warehouses.models import StoredPosition
from shared.warehouse.warehouses.repository import POSITIONS

CHUNK = 100
"""Positions of a chunk."""


@dataclass(slots=True)
class PositionsPass:
    """Checks the counts of positions; `last` is the greatest id of one."""

    store: Store
    last: int
    name: str = "positions"

    def chunks(self, position: Any) -> Iterator[tuple[list[int], Any]]:
        """Yield chunks of ids from `position` on."""
        for numbers in batched(range(int(position or 1), self.last + 1), CHUNK, strict=False):
            yield list(numbers), numbers[-1] + 1

    def look(self, numbers: Sequence[int]) -> Mapping[int, list[Drift]]:
        """Return the drifts of the counts of positions."""
        positions = {each.id: each for each in POSITIONS.get_many(self.store, numbers)}
        counts = self.store.get_many(map(stock_count_key, numbers))
        rows = map_concurrently(lambda number: self._rows(positions.get(number)), list(numbers))
        found: dict[int, list[Drift]] = {}
        for number, there in zip(numbers, rows, strict=True):
            item = counts.get(stock_count_key(number), {})
            at_position = [row for row in there if row.entity.position_id == number]
            versions = tuple((row.id, row.version) for row in at_position)
            stored = int(item["holds"]) if item else None
            expected = sum(row.entity.qty > 0 for row in at_position)
            if (stored or 0) != expected:
                drift = _wrong_count(stock_count_key(number), number, stored, expected, versions)
                found.setdefault(number, []).append(drift)
            named = {int(row) for row in item.get(NAMED_ROWS, ())}
            others = self._others(number, named - {row.id for row in at_position})
            if others:
                drift = _other_rows(stock_count_key(number), number, named, others)
                found.setdefault(number, []).append(drift)
        return found

    def _others(self, number: int, rows: Iterable[int]) -> set[int]:
        """Return those of `rows` that are not at a position."""
        wanted = set(rows)
        read = STOCK.get_many(self.store, sorted(wanted)) if wanted else []
        return wanted - {row.id for row in read if row.entity.position_id == number}

    def _rows(self, position: Record[StoredPosition] | None) -> list[Record[StockRow]]:
        """Return the rows at the code of a position, also those of other warehouses."""
        if position is None:
            return []
        return STOCK.get_many(
            self.store, list(ids_in(self.store, STOCK, "bin_code", position.entity.bin_code))
        )


def _wrong_count(
    key: Key, number: int, stored: int | None, expected: int, versions: Hashable
) -> Drift:
    # A row that gets its first or loses its last unit changes the count in the same transaction.
    fix = Fix(("held", number), lambda tx: set_number(tx, key, "holds", stored, expected))
    return Drift(
        "held.wrong", f"position {number}", "holds", shown(stored), str(expected),
        (stored, versions), fix,
    )  # fmt: skip


def _other_rows(key: Key, number: int, named: AbstractSet[int], others: AbstractSet[int]) -> Drift:
    # An arrival that finds no rows named reads them from the index, and names them again.
    fix = Fix(
        ("named", number),
        lambda tx: tx.update(
            key,
            f"REMOVE {NAMED_ROWS}",
            condition=f"{NAMED_ROWS} = :seen",
            values={":seen": {*named}},
        ),
    )
    return Drift(
        "held.rows", f"position {number}", NAMED_ROWS, shown(named),
        shown(named - others), tuple(sorted(named)), fix,
    )  # fmt: skip

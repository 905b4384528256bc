"""Rules of stock: the ledger, the rows, the levels and the work that allocates stock must agree.

Pure rules on plain data. A quantity is recorded three times: as movements, as a row, and as a part
of a level. The two that agree show which one is wrong.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, NamedTuple

from shared.kernel.db.records import Record
from shared.kernel.fields import ZERO
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.stock.level_rules import level_share
from shared.warehouse.stock.models import Movement, Quantities, StockRow, StoredLevel

QUANTITIES = tuple(Quantities.model_fields)


class StockPlace(NamedTuple):
    """Where stock of a product is, as the ledger and the rows name it."""

    whs_code: str
    bin_code: str | None
    status: str
    batch: str | None
    serial: str | None

    @property
    def text(self) -> str:
        """The place in words."""
        named = (self.whs_code, self.bin_code or "in transit", self.status, self.batch, self.serial)
        return " ".join(part for part in named if part)


def place_of(row: StockRow) -> StockPlace:
    """Return the place of a row."""
    return StockPlace(
        row.whs_code, row.bin_code, row.inventory_status, row.batch_num, row.serial_number
    )


def add[K](sums: dict[K, Decimal], key: K, qty: Decimal) -> None:
    """Add a quantity to a sum, and leave out sums of zero."""
    total = sums.pop(key, ZERO) + qty
    if total:
        sums[key] = total


def add_movement(sums: dict[StockPlace, Decimal], movement: Movement) -> None:
    """Add a movement to the quantities of its places."""
    lot = (movement.batch_num, movement.serial_number)
    for place, sign in ((movement.origin, -1), (movement.target, 1)):
        if place:
            named = StockPlace(place.whs_code, place.bin_code, place.inventory_status, *lot)
            add(sums, named, sign * movement.qty)


def row_problems(row: StockRow) -> Iterator[tuple[str, str, str]]:
    """Yield field, stored and expected value of each value of a row that contradicts another."""
    if not ZERO <= row.allocated <= row.qty:
        yield "allocated", f"{row.allocated:f}", f"0 to {row.qty:f}"
    if row.inventory_status not in {"available", "staged"} and row.allocated:
        yield "allocated", f"{row.allocated:f}", "0"
    if row.inventory_status == "staged" and row.allocated != row.qty:
        yield "allocated", f"{row.allocated:f}", f"{row.qty:f}"
    if (row.position_id is None) != (row.inventory_status == "in_transit"):
        yield "position_id", str(row.position_id), "none in transit, one elsewhere"
    if row.serial_number is not None and row.qty not in {0, 1}:
        yield "qty", f"{row.qty:f}", "0 or 1 of a serial"


def allocations_of(picking: StoredPicking) -> dict[int, Decimal]:
    """Return the quantities that a picking has allocated, by id of the row."""
    found: dict[int, Decimal] = {}
    for line in picking.lines:
        for one in line.allocations:
            add(found, one.stock_id, one.qty)
        for pick in line.picks:
            if not pick.dispatched:
                add(found, pick.staged_id, pick.qty)
    return found


type Sums = dict[str, Decimal]
type Verdict = Literal["rows", "source", "unknown"]
"""Which is wrong, the rows or what they follow from: the level agrees with the other, or with
neither."""


@dataclass(slots=True)
class WarehouseStock:
    """The rows of a product in a warehouse, summed up, and the level that is stored for them.

    `rows` sums the rows as they are. `by_ledger` is the difference that the ledger makes to it,
    `by_work` that of the allocations of work.
    """

    rows: Sums = field(default_factory=dict)
    by_ledger: Sums = field(default_factory=dict)
    by_work: Sums = field(default_factory=dict)
    level: Record[StoredLevel] | None = None

    def stored(self) -> Sums:
        """Return the quantities of the stored level; zero if there is none."""
        return {name: getattr(self.level.entity, name) for name in QUANTITIES} if self.level else {}

    def verdict(self) -> Verdict:
        """Return what is wrong where rows and ledger differ."""
        return self._verdict(self.by_ledger, [name for name in QUANTITIES if name != "allocated"])

    def work_verdict(self) -> Verdict:
        """Return what is wrong where the allocations of rows and work differ."""
        return self._verdict(self.by_work, ["allocated"])

    def _verdict(self, difference: Sums, names: Sequence[str]) -> Verdict:
        stored = self.stored()

        def agrees(more: Sums) -> bool:
            return all(
                stored.get(name, ZERO) == self.rows.get(name, ZERO) + more.get(name, ZERO)
                for name in names
            )

        if agrees({}):
            return "source"
        return "rows" if agrees(difference) else "unknown"

    @property
    def is_clear(self) -> bool:
        """Whether it is known what the level should be."""
        return (not self.by_ledger or self.verdict() != "unknown") and (
            not self.by_work or self.work_verdict() != "unknown"
        )

    def expected(self) -> Sums:
        """Return the quantities that the level should have."""
        return sum_of(
            [
                self.rows,
                self.by_ledger if self.verdict() == "rows" else {},
                self.by_work if self.work_verdict() == "rows" else {},
            ]
        )


def add_share(sums: Sums, row: StockRow) -> None:
    """Add what a row adds to its level."""
    for name, qty in level_share(row).items():
        add(sums, name, qty)


def share_of(place: StockPlace, qty: Decimal) -> Sums:
    """Return what a quantity at a place adds to a level, except the allocated quantity."""
    if place.status == "in_transit":
        return {"in_transit": qty}
    same = {place.status: qty} if place.status in {"quarantine", "damaged", "blocked"} else {}
    return {"on_hand": qty, **same}


def differing_quantities(
    stored: Mapping[str, Decimal], expected: Mapping[str, Decimal]
) -> Iterator[tuple[str, Decimal, Decimal]]:
    """Yield name, stored and expected value of the quantities that differ."""
    for name in QUANTITIES:
        one, other = stored.get(name, ZERO), expected.get(name, ZERO)
        if one != other:
            yield name, one, other


def sum_of(several: Iterable[Sums]) -> Sums:
    """Return the sum of several quantities by name."""
    total: Sums = {}
    for one in several:
        for name, qty in one.items():
            add(total, name, qty)
    return total

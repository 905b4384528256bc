"""What people recorded, and what the interface shows that came of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.e2e.console.floor.handheld import TIMES
from tests.e2e.console.floor.site import Site
from tests.e2e.responses import walk

_SIGNS = {"receipt": 1, "pick": 1, "receipt_undone": -1, "pick_undone": -1}


class Movement(NamedTuple):
    """Goods that somebody received, picked or counted in a task."""

    task: str
    item: str
    position: str
    qty: float

    @property
    def text(self) -> str:
        """What the device calls it."""
        return f"{self.qty} {TIMES} {self.item}, {self.position}"

    @property
    def kind(self) -> str:
        """Kind of its task, such as `pickings`."""
        return self.task.partition("/")[0]


@dataclass
class Records:
    """What one person recorded and did not take back, in its order; kept by the test alone."""

    user: int
    movements: list[Movement] = field(default_factory=list)
    _undone: set[tuple[str, str]] = field(default_factory=set)

    def last_of(self, task: str) -> Movement | None:
        """Return what the person recorded last in a task."""
        return next((one for one in reversed(self.movements) if one.task == task), None)

    def take_back(self, movement: Movement) -> None:
        """Forget a movement that was undone."""
        self.movements.remove(movement)
        self._undone.add((movement.task, movement.text))

    def discard(self, task: str, text: str) -> None:
        """Forget a movement that was refused; it may be undone already."""
        if (task, text) not in self._undone:
            [refused] = [one for one in self.movements if (one.task, one.text) == (task, text)]
            self.movements.remove(refused)


def expected_movements(everybody: Iterable[Records]) -> Counter[tuple[int, Movement]]:
    """Return how often each movement of stock must be in the ledger."""
    return Counter(
        (records.user, one)
        for records in everybody
        for one in records.movements
        if one.kind != "counts"
    )


def ledger(site: Site) -> Counter[tuple[int, Movement]]:
    """Return the movements of stock that people made, less those that were undone."""
    found: Counter[tuple[int, Movement]] = Counter()
    for row in walk(site.client, "/stock-movements", warehouse=site.warehouse, per_page=100):
        if row["user_id"] is None:
            continue
        sign = _SIGNS[row["type"]]
        is_pick = row["type"].startswith("pick")
        place = row["from" if is_pick == (sign > 0) else "to"]["bin_code"]
        task = f"{'pickings' if is_pick else 'receipts'}/{row['document']['id']}"
        movement = Movement(task, row["item_code"], place, row["qty"])
        found[row["user_id"], movement] += sign
    return Counter({key: count for key, count in found.items() if count})


type Quantities = Mapping[tuple[str, str], float]
"""Task or item, item or position → quantity."""


def recorded(everybody: Iterable[Records], kind: str) -> Quantities:
    """Return what people recorded in each task of a kind, by item."""
    sums: Counter[tuple[str, str]] = Counter()
    for records in everybody:
        for one in records.movements:
            if one.kind == kind:
                sums[one.task, one.item] += _thousandths(one.qty)
    return _units(sums)


def shown(site: Site, tasks: Iterable[str]) -> Quantities:
    """Return what the tasks show as received or picked, by item."""
    sums: Counter[tuple[str, str]] = Counter()
    for task in tasks:
        for line in site.get(f"/{task}")["lines"]:
            done = line["picked_qty" if task.startswith("pickings/") else "qty"]
            sums[task, line["item_code"]] += _thousandths(done)
    return _units(sums)


def stock_after(site: Site, start: Quantities, everybody: Iterable[Records]) -> Quantities:
    """Return what must lie where to be picked: with received goods, without picked ones."""
    sums = Counter({key: _thousandths(qty) for key, qty in start.items()})
    for records in everybody:
        for one in records.movements:
            sign = {"receipts": 1, "pickings": -1, "counts": 0}[one.kind]
            key = one.item.removeprefix(f"{site.run}-"), one.position
            sums[key] += sign * _thousandths(one.qty)
    return _units(sums)


def _thousandths(qty: float) -> int:
    return round(1000 * qty)


def _units(thousandths: Mapping[tuple[str, str], int]) -> Quantities:
    return {key: qty / 1000 for key, qty in thousandths.items() if qty}


def counted_wrong(site: Site, count: str, everybody: Iterable[Records]) -> list[str]:
    """Return the lines of a count that do not show what one of the people counted there last.

    A line to be counted again shows nothing: a count came after a later one of somebody else, or
    after its goods had moved.
    """
    last: dict[tuple[str, str], dict[int, float]] = {}
    for records in everybody:
        for one in records.movements:
            if one.task == count:
                last.setdefault((one.item, one.position), {})[records.user] = one.qty
    found = {(line["item_code"], line["bin_code"]): line for line in site.get(f"/{count}")["lines"]}
    again = {place for place, line in found.items() if line["status"] == "recount"}
    shown = {
        place: line["counted_qty"] for place, line in found.items() if line["status"] == "counted"
    }
    return [
        f"{place}: {shown.get(place)} counted, recorded {dict(last.get(place, {}))}"
        for place in sorted((last.keys() | shown.keys()) - (again & last.keys()))
        if shown.get(place) not in last.get(place, {}).values()
    ]

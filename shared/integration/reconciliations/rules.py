"""Decisions of reconciliations on plain data: what is compared, what differs, what explains it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO
from shared.warehouse.stock.models import Place


class StockKey(NamedTuple):
    """The stock of a product in a warehouse: of a batch, or of all batches if it is None."""

    product_id: int
    warehouse_id: int
    batch: str | None

    @property
    def place(self) -> Place:
        """The ids of the product and the warehouse."""
        return self.product_id, self.warehouse_id


@dataclass(frozen=True, slots=True)
class FoundDifference:
    """A quantity that differs."""

    key: StockKey
    theirs: Decimal
    ours: Decimal

    @property
    def qty(self) -> Decimal:
        """What is here more than there."""
        return self.ours - self.theirs


@dataclass(frozen=True, slots=True)
class SentLine:
    """A valid line: what it names, with its path for messages."""

    path: str
    key: StockKey
    qty: Decimal


def doubled_lines(lines: Iterable[SentLine]) -> Iterator[Problem]:
    """Yield a problem for each line that counts stock which a line before it counts, too."""
    first: dict[StockKey, str] = {}
    of_place: dict[Place, str] = {}
    whole: dict[Place, str] = {}
    for line in lines:
        place, batch = line.key.place, line.key.batch
        other = first.get(line.key)
        if other is None:
            other = of_place.get(place) if batch is None else whole.get(place)
        if other is not None:
            yield Problem(f"{line.path}.batch", f"this stock is counted by {other} already")
            continue
        first[line.key] = line.path
        of_place.setdefault(place, line.path)
        if batch is None:
            whole[place] = line.path


def places_by_batch(keys: Iterable[StockKey]) -> set[Place]:
    """Return the places of which batches are compared."""
    return {key.place for key in keys if key.batch is not None}


def with_missing(
    theirs: Mapping[StockKey, Decimal], ours: Mapping[StockKey, Decimal]
) -> dict[StockKey, Decimal]:
    """Return the quantities of a complete list: 0 of all stock that it does not name."""
    return {**{key: ZERO for key, qty in ours.items() if qty}, **theirs}


def ours_by_key(
    place: Place, qty: Decimal, batches: Mapping[str | None, Decimal], *, by_batch: bool
) -> dict[StockKey, Decimal]:
    """Return the stock of a place by what is compared; stock without a batch counts as `""`."""
    if not by_batch:
        return {StockKey(*place, None): qty}
    return {StockKey(*place, batch or ""): amount for batch, amount in batches.items()}


def differences(
    theirs: Mapping[StockKey, Decimal], ours: Mapping[StockKey, Decimal]
) -> list[FoundDifference]:
    """Return what differs of what is compared, the largest first."""
    found = [
        FoundDifference(key, qty, ours.get(key, ZERO))
        for key, qty in theirs.items()
        if qty != ours.get(key, ZERO)
    ]
    return sorted(found, key=lambda one: (-abs(one.qty), one.key[:2], one.key.batch or ""))


def is_explained(difference: FoundDifference, quantities: Collection[Decimal]) -> bool:
    """Return whether quantities add up to a difference."""
    return bool(quantities) and sum(quantities, ZERO) == difference.qty

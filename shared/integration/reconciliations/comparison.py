"""Compares the quantities of another system with what is on hand, and explains what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from shared.integration.changes.service import expired_position
from shared.integration.reconciliations import rules
from shared.integration.reconciliations.figures import Figures, figures_after
from shared.integration.reconciliations.models import (
    MAX_DIFFERENCES,
    MAX_SHOWN,
    ExplainingMovement,
    OpenWork,
    StockDifference,
)
from shared.integration.reconciliations.movements import PlaceMovement, movements_after
from shared.integration.reconciliations.open_work import UnacknowledgedWork, unacknowledged
from shared.integration.reconciliations.rules import FoundDifference, StockKey
from shared.kernel.db.sequences import last_id
from shared.kernel.db.store import Store
from shared.kernel.events.feed import FeedHead
from shared.kernel.events.feed_order import FeedPlace, place_at
from shared.warehouse.stock.models import Place
from shared.warehouse.stock.service import OnHand
from shared.warehouse.warehouses import service as warehouses


@dataclass(frozen=True, slots=True)
class Scope:
    """What is compared, and since when.

    `started` is the head before the stock was read, at `started_ms`. `after` is the place of the
    position that the other quantities include. `warehouse_id` is None for all warehouses.
    """

    started: FeedHead
    started_ms: int
    warehouse_id: int | None
    is_complete: bool
    after: FeedPlace | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a comparison: what differs, the largest first, and the first 1,000 shown."""

    head: FeedHead
    compared: int
    found: Sequence[FoundDifference]
    shown: Sequence[StockDifference]
    item_codes: Mapping[int, str] = field(default_factory=dict)
    warehouse_codes: Mapping[int, str] = field(default_factory=dict)

    @property
    def equal(self) -> int:
        """The number of quantities that are equal."""
        return self.compared - len(self.found)


def kept_place(store: Store, head: FeedHead, position: int | None) -> FeedPlace | None:
    """Return the place of a position.

    Raises:
        Gone: What follows it is not kept any more.
    """
    if position is None:
        return None
    if place := place_at(store, head, position):
        return place
    raise expired_position(head, position)


def all_places(store: Store, warehouse_id: int | None) -> list[Place]:
    """Return all places where stock may be, of all warehouses if `warehouse_id` is None.

    They follow from the sequences of ids, so that none is missed that an index does not show yet.
    """
    last, wanted = _sides(store, warehouse_id)
    return [(product, warehouse) for product in range(1, last + 1) for warehouse in wanted]


def number_of_places(store: Store, warehouse_id: int | None) -> int:
    """Return the number of `all_places`."""
    last, wanted = _sides(store, warehouse_id)
    return last * len(wanted)


def _sides(store: Store, warehouse_id: int | None) -> tuple[int, Sequence[int]]:
    """Return the last id of a product, and the ids of the warehouses."""
    ids = sorted(set(warehouses.warehouse_ids(store).values()))
    return last_id(store, "product"), ids if warehouse_id is None else [warehouse_id]


def compare(
    store: Store,
    scope: Scope,
    theirs: Mapping[StockKey, Decimal],
    read: Mapping[Place, OnHand],
    item_codes: Mapping[int, str],
) -> Outcome:
    """Compare quantities with those of places that were read; `item_codes` are of their products.

    Raises:
        Conflict: A new feed has begun meanwhile.
        ServiceUnavailable: The relay has not appended what was read until the deadline.
    """
    sent = {key.place for key in theirs}

    def is_wanted(place: Place) -> bool:
        return place in sent or (scope.is_complete and scope.warehouse_id in {None, place[1]})

    figures = figures_after(store, scope.started, read, is_wanted)
    by_batch = rules.places_by_batch(theirs)
    ours: dict[StockKey, Decimal] = {}
    for place, one in figures.on_hand.items():
        if is_wanted(place):
            ours |= rules.ours_by_key(place, one.qty, one.batches, by_batch=place in by_batch)
    if scope.is_complete:
        theirs = rules.with_missing(theirs, ours)
    found = rules.differences(theirs, ours)
    codes = {place[0]: one.item_code for place, one in figures.on_hand.items() if one.item_code}
    names = _Names(
        {**codes, **item_codes},
        {one.id: one.whs_code for one in warehouses.all_warehouses(store).values()},
    )
    shown = _explained(store, scope, figures, found[:MAX_DIFFERENCES], names) if found else []
    return Outcome(figures.head, len(theirs), found, shown, names.items, names.warehouses)


@dataclass(frozen=True, slots=True)
class _Names:
    items: Mapping[int, str]
    warehouses: Mapping[int, str]


def _explained(
    store: Store,
    scope: Scope,
    figures: Figures,
    found: Sequence[FoundDifference],
    names: _Names,
) -> list[StockDifference]:
    """Return differences with what explains them: movements, or open work without a position."""
    if scope.after is None:
        works = unacknowledged(store, figures.head)
        return [
            _by_work(one, _works_of(works.get(one.key.place, ()), one.key), names) for one in found
        ]
    places = [one.key.place for one in found]
    moved = movements_after(store, figures.head, scope.after, scope.started_ms, places)
    return [
        _by_movements(one, _of_batch(moved.get(one.key.place, ()), one.key), names) for one in found
    ]


def _works_of(found: Sequence[UnacknowledgedWork], key: StockKey) -> list[UnacknowledgedWork]:
    """Return the work that changed a stock, each once."""
    sums: dict[tuple[str, int], UnacknowledgedWork] = {}
    for one in found:
        if key.batch is None or (one.batch or "") == key.batch:
            sums[one.kind, one.id] = one.added_to(sums.get((one.kind, one.id)))
    return list(sums.values())


def _of_batch(found: Sequence[PlaceMovement], key: StockKey) -> list[PlaceMovement]:
    return [one for one in found if key.batch is None or (one.batch or "") == key.batch]


def _by_work(
    one: FoundDifference, works: Sequence[UnacknowledgedWork], names: _Names
) -> StockDifference:
    shown = [
        OpenWork(object=work.kind, id=work.id, code=work.code, qty=work.qty)
        for work in works[-MAX_SHOWN:]
    ]
    explained = rules.is_explained(one, [work.qty for work in works])
    return _difference(one, names, explained=explained, open_work=shown, open_work_total=len(works))


def _by_movements(
    one: FoundDifference, moved: Sequence[PlaceMovement], names: _Names
) -> StockDifference:
    shown = [
        ExplainingMovement(
            id=found.movement.id,
            type=found.movement.type,
            qty=found.qty,
            document=found.movement.document,
            at=found.movement.created_at,
        )
        for found in moved[-MAX_SHOWN:]
    ]
    explained = rules.is_explained(one, [found.qty for found in moved])
    return _difference(one, names, explained=explained, movements=shown, movements_total=len(moved))


def _difference(
    one: FoundDifference, names: _Names, *, explained: bool, **explanation: Any
) -> StockDifference:
    return StockDifference(
        item_code=names.items.get(one.key.product_id, ""),
        warehouse_code=names.warehouses.get(one.key.warehouse_id, ""),
        batch=one.key.batch or None,
        theirs=one.theirs,
        ours=one.ours,
        difference=one.qty,
        explained=explained,
        **explanation,
    )

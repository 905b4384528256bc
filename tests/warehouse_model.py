"""A model of the expected stock, orders and work of a warehouse.

It keeps plain sums and does not share any rule with the service.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from shared.warehouse.documents.models import Document
from tests.stock_invariants import StoredState

ZERO = Decimal(0)
OPEN_BINS = ("A-01", "B-01", "F-01")
"""Positions of every warehouse where putaway and picking are allowed."""


class Place(NamedTuple):
    """Item, lot and position of some stock; stock in transit has no position."""

    item: str
    whs: str
    bin: str | None
    batch: str | None
    serial: str | None
    status: str = "available"


type Sums = dict[Place, Decimal]


def sums() -> defaultdict[Any, Decimal]:
    """Return sums that are zero unless they are set."""
    return defaultdict(Decimal)


def add[K](to: dict[K, Decimal], name: K, qty: Decimal) -> None:
    """Add a quantity to a sum, and remove a sum of zero."""
    total = to.pop(name, ZERO) + qty
    if total:
        to[name] = total


@dataclass(slots=True)
class Order:
    """An entry or exit document: ordered and done quantity by item, and the ids of its work."""

    id: int
    whs: str
    wanted: dict[str, Decimal]
    done: dict[str, Decimal] = field(default_factory=sums)
    closed: bool = False
    open_work: set[int] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)

    @property
    def has_open_lines(self) -> bool:
        """Whether the order is open and has an open quantity."""
        return not self.closed and any(self.open_qty(item) > 0 for item in self.wanted)

    def open_qty(self, item: str) -> Decimal:
        return max(ZERO, self.wanted[item] - self.done[item])

    def record_progress(self, item: str, qty: Decimal) -> None:
        """Add to the done quantity of an item; a negative quantity undoes progress."""
        self.done[item] += qty


@dataclass(slots=True)
class Receipt:
    """A receipt of an order, and the received quantity by place."""

    id: int
    order: Order
    status: str = "pending"
    received: Sums = field(default_factory=sums)


@dataclass(slots=True)
class Picking:
    """A picking for an exit document or for a transfer order, whose `order` has the id 0."""

    id: int
    order: Order
    wanted: dict[str, Decimal]
    status: str = "pending"
    allocated: Sums = field(default_factory=dict)
    picked: Sums = field(default_factory=dict)
    dispatched: bool = False
    was_started: bool = False

    @property
    def ended(self) -> bool:
        """Whether the picking is in a final status."""
        return self.status not in {"pending", "started"}

    def unallocated(self, item: str) -> Decimal:
        """Return the quantity of an item that is neither picked nor allocated."""
        known = [*self.allocated.items(), *self.picked.items()]
        return self.wanted[item] - sum((qty for place, qty in known if place.item == item), ZERO)

    @property
    def is_short(self) -> bool:
        """Whether less was picked than requested."""
        return sum(self.picked.values(), ZERO) < sum(self.wanted.values(), ZERO)


type PackedLot = tuple[str, str, str]
"""Item, batch and serial of packed goods; empty for none."""


@dataclass(slots=True)
class Unit:
    """A handling unit: its contents by lot, and the unit in which it stands."""

    id: int
    parent: "Unit | None" = None
    sscc: str = ""
    status: str = "open"
    contents: dict[PackedLot, Decimal] = field(default_factory=dict)

    @property
    def level(self) -> int:
        """1 for a unit that stands in no other."""
        return 1 + (self.parent.level if self.parent else 0)


@dataclass(slots=True)
class PackingOrder:
    """A packing order of an exit document, for the goods of its pickings."""

    id: int
    order: Order
    pickings: list[Picking]
    status: str = "open"
    units: list[Unit] = field(default_factory=list)
    staged: dict[PackedLot, Decimal] = field(init=False)
    """The picked quantities by lot."""
    has_passed: bool = False
    """Whether its tags were those of its goods since it has changed last."""

    def __post_init__(self) -> None:
        self.staged = sums()
        for picking in self.pickings:
            for place, qty in picking.picked.items():
                self.staged[place.item, place.batch or "", place.serial or ""] += qty

    @property
    def is_active(self) -> bool:
        """Whether it is neither shipped nor cancelled."""
        return self.status not in {"shipped", "cancelled"}

    def packed(self, lot: PackedLot) -> Decimal:
        """Return the quantity of a lot that is in units."""
        return sum((unit.contents.get(lot, ZERO) for unit in self.units), ZERO)

    @property
    def empty_units(self) -> list[Unit]:
        """Return the open units in which no goods and no other units are."""
        empty: list[Unit] = []
        for unit in reversed(self.units):
            others = [one for one in self.units if one.parent is unit and one not in empty]
            if unit.status == "open" and not unit.contents and not others:
                empty.append(unit)
        return empty

    @property
    def is_complete(self) -> bool:
        """Whether everything is in closed units; open ones may be empty."""
        is_packed = all(self.packed(lot) == qty for lot, qty in self.staged.items())
        empty = self.empty_units
        return is_packed and all(one.status == "closed" or one in empty for one in self.units)

    def ship(self) -> None:
        """Follow the dispatch of the document."""
        self.status = "shipped"
        for unit in self.units:
            unit.status = "dispatched"


@dataclass(slots=True)
class Wave:
    """A wave of pickings; `status` is the status that the last action on it set."""

    id: int
    pickings: list[Picking]
    status: str = "draft"

    @property
    def state(self) -> str:
        """The state of the wave, which follows its pickings once it is released."""
        if self.status != "released":
            return self.status
        if all(one.ended for one in self.pickings):
            return "picked"
        return "in_progress" if any(one.was_started for one in self.pickings) else "released"


@dataclass(slots=True)
class TransferOrder:
    """A transfer order and its quantities in transit."""

    id: int
    destination: str
    picking: Picking
    status: str = "released"
    in_transit: Sums = field(default_factory=sums)


@dataclass(slots=True)
class Transfer:
    """A transfer of a quantity from one place to another."""

    id: int
    source: Place
    target: Place
    qty: Decimal
    done: bool


@dataclass(slots=True)
class CustomerReturn:
    """A return of an exit document; `undecided` are received goods, in the order of arrival.

    `deliveries` is the number of exit documents with which goods of it go to their provider.
    """

    id: int
    order: Order
    announced: dict[str, Decimal]
    status: str = "expected"
    received: dict[str, Decimal] = field(default_factory=sums)
    batches: dict[tuple[str, str], Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    serials: set[str] = field(default_factory=set)
    undecided: Sums = field(default_factory=sums)
    deliveries: int = 0

    def taken(self, item: str) -> Decimal:
        """Return what the return takes of an item of its exit document."""
        if self.status == "cancelled":
            return ZERO
        received = self.received.get(item, ZERO)
        is_open = self.status in {"expected", "receiving"}
        return max(received, self.announced.get(item, ZERO)) if is_open else received

    def parts(self, place: Place, qty: Decimal) -> Sums:
        """Return the goods of the item, batch and serial of a place that a disposition takes."""
        found: Sums = {}
        for each, left in self.undecided.items():
            if (each.item, each.batch, each.serial) == (place.item, place.batch, place.serial):
                part = min(left, qty - sum(found.values(), ZERO))
                found |= {each: part} if part else {}
        return found


@dataclass(slots=True)
class ModelApproval:
    """An approval of a refused request, and the figures that the rule has read."""

    id: int
    path: str
    body: Mapping[str, object] | None
    figures: object
    status: str = "pending"


@dataclass(slots=True)
class WarehouseModel:
    """The expected state of all warehouses."""

    stock: Sums = field(default_factory=dict)
    entries: list[Order] = field(default_factory=list)
    exits: list[Order] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    pickings: list[Picking] = field(default_factory=list)
    transfer_orders: list[TransferOrder] = field(default_factory=list)
    packing_orders: list[PackingOrder] = field(default_factory=list)
    waves: list[Wave] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    returns: list[CustomerReturn] = field(default_factory=list)
    approvals: list[ModelApproval] = field(default_factory=list)
    departures: dict[tuple[str, str], Order | None] = field(default_factory=dict)
    """Item and serial → the exit document with which it last left, None if it left otherwise."""
    validations: dict[int, str] = field(default_factory=dict)
    """Id of an RFID validation → its result."""
    rfid_required: bool = False
    shortage_percent: Decimal | None = None
    adjustment_qty: Decimal | None = None

    def open_approval(self, path: str, body: Mapping[str, object] | None) -> ModelApproval | None:
        """Return the pending or granted approval of a request, if any."""
        of_request = (one for one in self.approvals if (one.path, one.body) == (path, body))
        return next((one for one in of_request if one.status in {"pending", "granted"}), None)

    def active_packing(self, picking: Picking) -> PackingOrder | None:
        """Return the active packing order of a picking, if any."""
        found = (one for one in self.packing_orders if one.is_active and picking in one.pickings)
        return next(found, None)

    def transfer_order_of(self, picking: Picking) -> TransferOrder | None:
        """Return the transfer order of a picking, if it is for one."""
        return next((one for one in self.transfer_orders if one.picking is picking), None)

    def allocated(self, place: Place) -> Decimal:
        """Return the quantity at a place that is allocated to pickings."""
        return sum((one.allocated.get(place, ZERO) for one in self.pickings), ZERO)

    def available(self, place: Place) -> Decimal:
        """Return the quantity at a place that is not allocated."""
        return self.stock.get(place, ZERO) - self.allocated(place)

    def pickable(self, item: str, whs: str) -> Decimal:
        """Return the quantity of an item that can be allocated in a warehouse."""
        return sum(
            (
                self.available(place)
                for place in self.stock
                if (place.item, place.whs, place.status) == (item, whs, "available")
                and place.bin in OPEN_BINS
            ),
            ZERO,
        )

    def returnable(self, order: Order, item: str) -> Decimal:
        """Return what can still be returned of an item of an exit document."""
        sent = sum(
            (
                qty
                for picking in self.pickings
                if picking.order is order and picking.dispatched
                for place, qty in picking.picked.items()
                if place.item == item
            ),
            ZERO,
        )
        return sent - sum((one.taken(item) for one in self.returns if one.order is order), ZERO)

    def sent_serials(self, order: Order) -> set[str]:
        """Return the serials that left with an exit document."""
        return {
            place.serial
            for picking in self.pickings
            if picking.order is order and picking.dispatched
            for place in picking.picked
            if place.serial
        }

    def returnable_of_batch(self, order: Order, item: str, batch: str) -> Decimal:
        """Return what can still be received of a batch of an exit document."""
        sent = sum(
            qty
            for picking in self.pickings
            if picking.order is order and picking.dispatched
            for place, qty in picking.picked.items()
            if (place.item, place.batch) == (item, batch)
        )
        taken = (one.batches.get((item, batch), ZERO) for one in self.returns if one.order is order)
        return sent - sum(taken, ZERO)

    def has_serial(self, item: str, serial: str | None) -> bool:
        """Return whether a serial is in stock anywhere."""
        return any(place.serial == serial for place in self.stock if serial and place.item == item)

    def move(
        self,
        source: Place | None,
        target: Place | None,
        qty: Decimal,
        *,
        order: Order | None = None,
        undone: bool = False,
    ) -> None:
        """Move a quantity; without a source it enters the stock, without a target it leaves.

        It leaves for an exit document `order`, or its arrival is `undone`.
        """
        if source:
            add(self.stock, source, -qty)
        if target:
            add(self.stock, target, qty)
        elif source and source.serial and not undone:
            self.departures[source.item, source.serial] = order

    def pick(self, picking: Picking, place: Place, qty: Decimal) -> None:
        """Move an allocated quantity to staged stock."""
        add(picking.allocated, place, -qty)
        add(picking.picked, place, qty)
        self.move(place, place._replace(status="staged"), qty)
        picking.order.record_progress(place.item, qty)

    def undo_pick(self, picking: Picking, place: Place, qty: Decimal) -> None:
        """Move a picked quantity back, allocated to the picking."""
        add(picking.picked, place, -qty)
        add(picking.allocated, place, qty)
        self.move(place._replace(status="staged"), place, qty)
        picking.order.record_progress(place.item, -qty)

    def unpick(self, picking: Picking, status: str) -> None:
        """Undo a picking and set its status."""
        for place, qty in picking.picked.items():
            self.move(place._replace(status="staged"), place, qty)
            picking.order.record_progress(place.item, -qty)
        picking.allocated.clear()
        picking.picked.clear()
        picking.status = status
        picking.order.open_work.discard(picking.id)
        picking.order.finished.discard(picking.id)

    def assert_matches(self, state: StoredState) -> None:
        """Compare the model with the state that the service has stored."""
        rows = {
            Place(
                row.item_code, row.whs_code, row.bin_code, row.batch_num, row.serial_number,
                row.inventory_status,
            ): row
            for row in state.rows
            if row.qty
        }  # fmt: skip
        assert {place: row.qty for place, row in rows.items()} == self.stock
        allocated: Sums = {}
        for picking in self.pickings:
            for place, qty in picking.allocated.items():
                add(allocated, place, qty)
        assert {
            place: row.allocated
            for place, row in rows.items()
            if row.allocated and place.status == "available"
        } == allocated
        self._assert_levels_match(state)
        _assert_orders_match(self.entries, state.entries)
        _assert_orders_match(self.exits, state.exits)
        statuses: Iterable[tuple[Iterable[Any], Iterable[Any]]] = (
            (self.receipts, state.receipts), (self.returns, state.returns),
            (self.pickings, state.pickings), (self.packing_orders, state.packing_orders),
        )  # fmt: skip
        for mine, stored in statuses:
            assert {one.id: one.status for one in mine} == {one.id: one.status for one in stored}
        assert {one.id: one.status for one in self.approvals} == {
            one.id: one.stage for one in state.approvals
        }
        assert self.validations == {one.id: one.result for one in state.validations}
        self._assert_packing_matches(state)

    def _assert_packing_matches(self, state: StoredState) -> None:
        units = [unit for order in self.packing_orders for unit in order.units]
        assert {
            unit.id: (unit.status, sum(unit.contents.values(), ZERO), len(unit.contents))
            for unit in units
        } == {
            unit.id: (
                unit.status,
                sum((one.qty for one in unit.contents), ZERO),
                sum(max(1, len(one.serials)) for one in unit.contents),
            )
            for unit in state.units
        }

    def _assert_levels_match(self, state: StoredState) -> None:
        expected: dict[tuple[str, str | None], Decimal] = sums()
        for place, qty in self.stock.items():
            if place.status != "in_transit":
                for whs in (place.whs, None):
                    expected[place.item, whs] += qty
        shown = {
            (level.item_code, level.whs_code): level.on_hand
            for level in [*state.levels, *state.totals]
            if level.on_hand
        }
        assert shown == expected


def _assert_orders_match(orders: list[Order], documents: list[Document]) -> None:
    stored = {
        document.id: (
            document.status == "closed",
            {line.item_code: line.done_qty for line in document.lines if line.done_qty},
        )
        for document in documents
    }
    assert stored == {
        order.id: (order.closed, {item: qty for item, qty in order.done.items() if qty})
        for order in orders
    }

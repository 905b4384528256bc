"""Read what pick faces need: in four round trips, unless the first rows of stock are not enough."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import batched

from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.store import Store
from shared.kernel.fields import ZERO
from shared.warehouse.catalog import service as catalog
from shared.warehouse.pick_faces import service as pick_faces
from shared.warehouse.pick_faces.models import KnownPickFace, PickFace
from shared.warehouse.replenishment import rules
from shared.warehouse.replenishment.faces import FaceStock, is_room_enforced, read_faces
from shared.warehouse.replenishment.models import Need
from shared.warehouse.replenishment.rules import Taken
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import FreeRow, StockRow
from shared.warehouse.transfers import service as transfers
from shared.warehouse.transfers.models import StoredTransfer, TransferLine
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse

_ROWS = 100
"""Rows of a product that are considered at once: those that expire first, then the oldest."""
_ROUNDS = 5
"""Times that more rows are read for the products of which the rows so far are not enough."""


@dataclass(frozen=True, slots=True)
class _ShortFace:
    """A pick face with less than its minimum; `transfer` is on its way there."""

    face: PickFace
    qty: Decimal
    needed: Decimal
    transfer: StoredTransfer | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """The stock of some products in a warehouse.

    `free` has the rows of each product with available stock, in the order of allocation, `taken`
    what transfers that are not executed take of them.
    """

    store: Store
    warehouse: KnownWarehouse
    free: Mapping[int, Sequence[FreeRow]]
    taken: Mapping[int, Taken]

    def usable_rows(self, numbers: Iterable[int], bins: Iterable[str] = ()) -> list[StockRow]:
        """Read those of the rows that pickings can be given; with them the positions `bins`.

        A serial may have moved to another warehouse, which the index does not show yet.
        """
        keys = [warehouses.position_key(self.warehouse.whs_code, one) for one in bins]
        rows = stock.rows_by_id(self.store, numbers, also=keys).values()
        here = (row for row in rows if row.warehouse_id == self.warehouse.id)
        return [row for row in here if rules.is_usable(row, self.first_day)]

    def has_seen(self, one: _ShortFace, there: FaceStock) -> bool:
        """Return whether the quantity of a pick face includes all that is known to lie there."""
        rows = [row for row in there.rows if row.product_id == one.face.product_id]
        free = (row.qty - row.allocated for row in rows if rules.is_usable(row, self.first_day))
        return not there.index_lags and sum(free, ZERO) <= one.qty

    @property
    def first_day(self) -> str | None:
        """The earliest expiry date that goods may have; None for any."""
        blocks = settings_of(self.store.company).expired_stock == "block"
        return self.store.company.today if blocks else None

    def sources(self, wanted: Mapping[int, Decimal]) -> dict[int, "_Sources"]:
        """Read stock to fill pick faces, until there is as much as is wanted of each product."""
        found = {product: _Sources([], {}) for product in wanted}
        left = {product: self.free[product] for product in wanted}
        # Positions that stock is not taken from: their other rows are not read.
        closed: set[str | None] = set()
        for _ in range(_ROUNDS):
            part = [row for rows in left.values() for row in rows[:_ROWS]]
            bins = {row.bin_code for row in part if row.bin_code}
            rows = self.usable_rows([row.id for row in part], bins)
            at = warehouses.find_positions(self.store, self.warehouse.whs_code, bins)
            positions = rules.source_positions(at.values())
            closed |= bins - {code for code, one in at.items() if one.id in positions}
            for row in rows:
                found[row.product_id].rows.append(row)
            for product in left:
                found[product].positions.update(positions)
            left = {
                product: rest
                for product, free in left.items()
                if (rest := [row for row in free[_ROWS:] if row.bin_code not in closed])
                and found[product].qty(wanted[product], self.taken[product]) < wanted[product]
            }
            if not left:
                break
        return found


@dataclass(frozen=True, slots=True)
class _Sources:
    """Rows of a product, and the positions to take them from: id → whether it is a reserve."""

    rows: list[StockRow]
    positions: dict[int, bool]

    def qty(self, wanted: Decimal, taken: Taken) -> Decimal:
        """Return how much of what is wanted the rows have."""
        chosen = stock.choose_rows(rules.free_rows(self.rows, taken), self.positions, wanted)
        return sum((qty for _, qty in chosen), ZERO)

    def lines_to(self, face: PickFace, qty: Decimal, taken: Taken) -> list[TransferLine]:
        """Return the lines that bring stock to a pick face, which is taken from now on."""
        rows = rules.free_rows(self.rows, taken)
        lines = rules.lines_to(face, qty, rows, self.positions, transfers.fit_one_transfer)
        rules.take(taken, lines)
        return lines


def read_needs(
    store: Store,
    warehouse: KnownWarehouse,
    faces: Sequence[KnownPickFace],
    *,
    exact: bool = False,
) -> list[Need]:
    """Return those of the pick faces that have less than their minimum, in the same order.

    `exact` needs say whether an index has missed goods there; it takes more round trips. `store` is
    repeatable: it keeps the aliases of products and positions for the caller.
    """
    code, products = warehouse.whs_code, sorted({face.product_id for face in faces})
    numbers = [face.id for face in faces]
    keys = [
        *map(pick_faces.stored_pick_face_key, numbers),
        *(catalog.product_key(face.item_code) for face in faces),
        *(warehouses.position_key(code, face.bin_code) for face in faces),
        *(transfers.waiting_replenishments_key(code, product) for product in products),
    ]
    free: dict[int, list[FreeRow]] = {}
    cut = set[int]()

    def read_free(product: int) -> None:
        free[product], is_all = stock.many_free_rows(store, product, warehouse.id)
        if not is_all:
            cut.add(product)

    # The keys are read 100 at a time; what follows finds them in the cache.
    parts = [partial(store.get_many, part) for part in batched(keys, 100, strict=False)]
    reads: list[Callable[[], object]] = [*(partial(read_free, one) for one in products), *parts]
    map_concurrently(lambda read: read(), reads)
    records = pick_faces.get_pick_faces(store, numbers)
    waiting = transfers.waiting_replenishments(store, code, products)
    reading = _Reading(store, warehouse, free, {product: {} for product in products})
    places = {(face.product_id, face.bin_code) for face in faces}
    at_faces = [
        row.id
        for product, rows in free.items()
        for row in rows
        if (product, row.bin_code) in places
    ]
    # Of a product with more free rows than are read, those at a pick face may be behind them.
    behind = [face.bin_code for face in faces if face.product_id in cut]
    listed = map_concurrently(lambda one: stock.listed_at(store, warehouse.id, one), behind)
    at_faces += [one.id for at, _ in listed for one in at if one.product_id in cut]
    rows, moving = run_all(
        lambda: reading.usable_rows(at_faces),
        lambda: transfers.get_transfers(
            store, [one for of_product in waiting.values() for one in of_product.values()]
        ),
    )
    coming = [record.entity for record in moving]
    for transfer in coming:
        rules.take(reading.taken[transfer.lines[0].product_id], transfer.lines)
    short = _short([record.entity for record in records], rows, coming)
    return _with_lines(reading, short, exact=exact)


def _short(
    faces: Iterable[PickFace], rows: Iterable[StockRow], coming: Iterable[StoredTransfer]
) -> list[_ShortFace]:
    """Return the pick faces that have less than their minimum."""
    there: dict[tuple[int, str | None], Decimal] = {}
    for row in rows:
        at = (row.product_id, row.bin_code)
        there[at] = there.get(at, ZERO) + row.qty - row.allocated
    # By the position: a pick face that is assigned anew has another id.
    transfer_to = {(one.lines[0].product_id, one.lines[0].to_bin): one for one in coming}
    found: list[_ShortFace] = []
    for face in faces:
        place = (face.product_id, face.bin_code)
        qty, transfer = there.get(place, ZERO), transfer_to.get(place)
        lines = transfer.lines if transfer else ()
        needed = rules.needed(face, qty, sum((line.qty for line in lines), ZERO))
        if needed is not None:
            found.append(_ShortFace(face, qty, needed, transfer))
    return found


def _with_lines(reading: _Reading, short: Sequence[_ShortFace], *, exact: bool) -> list[Need]:
    """Return the needs with the lines that fill them, of which no two take the same stock.

    With the setting `capacity` at `enforce`, the lines bring no more than fits.
    """
    bins = [one.face.bin_code for one in short]
    positions = warehouses.find_positions(reading.store, reading.warehouse.whs_code, bins)
    usable = {bin_code for bin_code, at in positions.items() if not (at.disabled or at.blocked)}
    filled = [one for one in short if one.transfer is None and one.face.bin_code in usable]
    there: dict[int, FaceStock] = {}
    is_enforced = is_room_enforced(reading.store)

    def read_there() -> None:
        to_fill = [one.face for one in filled]
        there.update(read_faces(reading.store, reading.warehouse, to_fill, positions))

    if is_enforced:
        read_there()
    fitting = {
        one.face.id: rules.fitting(one.needed, at.room if (at := there.get(one.face.id)) else None)
        for one in filled
    }
    wanted: dict[int, Decimal] = {}
    for one in filled:
        product = one.face.product_id
        wanted[product] = wanted.get(product, ZERO) + fitting[one.face.id]
    sources, _ = run_all(
        lambda: reading.sources(wanted),
        lambda: read_there() if exact and not is_enforced else None,
    )
    needs: list[Need] = []
    for one in short:
        product, lines = one.face.product_id, list[TransferLine]()
        if one in filled:
            qty = fitting[one.face.id]
            lines = sources[product].lines_to(one.face, qty, reading.taken[product])
        number = one.transfer.id if one.transfer else None
        is_seen = (at := there.get(one.face.id)) is None or reading.has_seen(one, at)
        needs.append(Need(one.face, one.qty, one.needed, number, lines, is_seen))
    return needs

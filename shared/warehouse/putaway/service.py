"""Suggest positions for arriving goods, in four round trips however large the warehouse is."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import chain, islice

from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import ZERO
from shared.warehouse.catalog import service as catalog
from shared.warehouse.master_data import uses
from shared.warehouse.pick_faces import service as pick_faces
from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.putaway import rules
from shared.warehouse.putaway.models import PutawayParameters, PutawaySuggestion
from shared.warehouse.putaway.rules import Candidate
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import FreeRow, StockRow
from shared.warehouse.stock.service import Contents, Packagings
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import (
    KnownPosition,
    KnownWarehouse,
    SequencedPosition,
    StoredPosition,
)

_WINDOW = 100
"""Positions that are looked at first for an empty one: those at the beginning of the pick sequence,
and such without one."""
_UNORDERED = 40
"""Positions without a pick sequence among them, if there are so many: often the reserve has none,
while the pick faces have one."""
_SAMPLES, _SAMPLE = 8, 12
"""When none of them is empty: so many parts of the rest, and positions that are looked at in each.
Both together are as many as one call reads."""
_EMPTY = 15
"""Empty positions whose capacity is looked at."""
_BINS = 10
"""Positions with the same goods that are looked at."""


def suggest(store: Store, parameters: PutawayParameters) -> list[PutawaySuggestion]:
    """Return up to five positions for goods, the best first."""
    store, code = store.repeatable(), parameters.warehouse
    (first, unordered, last), (warehouse, product_id), faces = run_all(
        lambda: map_concurrently(
            lambda read: read(),
            [
                partial(warehouses.sequenced_positions, store, code, 0, _WINDOW),
                partial(warehouses.sequenced_positions, store, code, None, _WINDOW),
                partial(warehouses.last_in_sequence, store, code),
            ],
        ),
        lambda: _known(store, parameters),
        lambda: pick_faces.ids_of_product(store, code, parameters.item_code),
    )
    window = _window(first, unordered)
    starts = _sample_starts(window, last)
    samples, free, records, without_stock, storage = run_all(
        lambda: map_concurrently(
            lambda start: warehouses.sequenced_positions(store, code, start, _SAMPLE), starts
        ),
        lambda: stock.many_free_rows(store, product_id, warehouse.id)[0],
        lambda: pick_faces.get_pick_faces(store, faces),
        lambda: uses.without_stock(store, [one.id for one in window]),
        lambda: warehouses.find_positions_eventually(store, code, [one.bin_code for one in window]),
    )
    empty = _usable(window, without_stock, storage)
    rest = [] if empty else [*chain(*samples)]
    by_bin = {record.entity.bin_code: record.entity for record in records}
    bins = [*by_bin, *_same_goods(free, parameters.batch, by_bin)]
    listed, known, without_stock, storage = run_all(
        lambda: map_concurrently(lambda one: stock.listed_at(store, warehouse.id, one), bins),
        lambda: warehouses.find_positions(store, code, bins),
        lambda: uses.without_stock(store, [one.id for one in rest]),
        lambda: warehouses.find_positions_eventually(store, code, [one.bin_code for one in rest]),
    )
    empty = empty or _usable(rest, without_stock, storage)
    listed_rows = [*chain(*(at for at, _ in listed))]
    rows, positions, packagings = run_all(
        lambda: stock.rows_by_id(store, [one.id for one in listed_rows]),
        lambda: warehouses.stored_positions(
            store, [at.id for at in chain(known.values(), empty.values())]
        ),
        lambda: catalog.packagings(
            store, sorted({product_id, *(one.product_id for one in listed_rows)})
        ),
    )
    same = {
        row.position_id
        for row in rows.values()
        if row.product_id == product_id and row.qty and parameters.batch in {None, row.batch_num}
    }
    contents = _contents(rows.values())
    found = _Found(product_id, by_bin, known, empty, same, contents, packagings)
    return rules.suggestions(found.candidates(positions), parameters.qty or Decimal(1))


@dataclass(frozen=True, slots=True)
class _Found:
    """What was read of a product, its pick faces by position, and positions: with goods, empty.

    `same_goods` has the ids of those where the product lies, and its batch if one is given.
    """

    product_id: int
    faces: Mapping[str, PickFace]
    with_goods: Mapping[str, KnownPosition]
    empty: Mapping[str, KnownPosition]
    same_goods: Container[int | None]
    contents: Mapping[int, Contents]
    packagings: Packagings

    def candidates(self, positions: Iterable[StoredPosition]) -> Iterator[Candidate]:
        """Yield the positions where goods can be put, each with its room."""
        for one in positions:
            contents, face = self.contents.get(one.id, {}), self.faces.get(one.bin_code)
            room = stock.room_for(self.product_id, one, contents, self.packagings)
            known = self.with_goods.get(one.bin_code)
            if known is None:
                # One that is not among these was renamed since it was found.
                if one.bin_code in self.empty:
                    yield Candidate(one, "empty", room)
            elif known.disabled or known.blocked:
                continue
            else:
                there = contents.get(self.product_id, ZERO)
                lacking = rules.lacking(face, there) if face else None
                if lacking is not None:
                    yield Candidate(one, "pick_face", rules.smaller(room, lacking))
                elif one.id in self.same_goods and (face or not known.products):
                    yield Candidate(one, "same_goods", room)


def _window(
    first: Sequence[SequencedPosition], unordered: Sequence[SequencedPosition]
) -> list[SequencedPosition]:
    """Return the positions that are looked at first, in the order of the pick sequence."""
    without = unordered[: max(_UNORDERED, _WINDOW - len(first))]
    return [*first[: _WINDOW - len(without)], *without]


def _sample_starts(
    window: Iterable[SequencedPosition], last: Sequence[SequencedPosition]
) -> list[int]:
    """Return the pick sequences at which the samples of the rest begin, if there is a rest."""
    sequences = [one.pick_sequence for one in window if one.pick_sequence is not None]
    end = last[0].pick_sequence if last else None
    if not sequences or end is None or sequences[-1] >= end:
        return []
    begin = sequences[-1] + 1
    return sorted({begin + (end - begin) * at // _SAMPLES for at in range(_SAMPLES)})


def _usable(
    positions: Iterable[SequencedPosition],
    without_stock: Container[int],
    known: Mapping[str, KnownPosition],
) -> dict[str, KnownPosition]:
    """Return the first of the positions that hold no stock and can store any product, by code."""
    found = (known.get(one.bin_code) for one in positions)
    usable = (one for one in found if one and one.id in without_stock and rules.may_store(one))
    return {one.bin_code: one for one in islice(usable, _EMPTY)}


def _same_goods(rows: Iterable[FreeRow], batch: str | None, faces: Container[str]) -> list[str]:
    """Return the first positions with the same product and batch that are no pick face of it."""
    bins = {
        row.bin_code: None
        for row in rows
        if row.bin_code and row.bin_code not in faces and batch in {None, row.batch_num}
    }
    return [*bins][:_BINS]


def _contents(rows: Iterable[StockRow]) -> dict[int, dict[int, Decimal]]:
    """Return what lies at positions: position → product → quantity."""
    found: dict[int, dict[int, Decimal]] = {}
    for row in rows:
        if row.position_id is not None and row.qty:
            there = found.setdefault(row.position_id, {})
            there[row.product_id] = there.get(row.product_id, ZERO) + row.qty
    return found


def _known(store: Store, parameters: PutawayParameters) -> tuple[KnownWarehouse, int]:
    """Return the warehouse and the id of the product."""
    code, item_code = parameters.warehouse, parameters.item_code
    store.get_many([warehouses.warehouse_key(code), catalog.product_key(item_code)])
    warehouse = warehouses.find_warehouse(store, code)
    product = catalog.find_product(store, item_code)
    problems = []
    if warehouse is None:
        problems.append(Problem("warehouse", f"no warehouse has the code {code}"))
    if product is None:
        problems.append(Problem("item_code", f"no product has the code {item_code}"))
    elif not product.in_stock:
        problems.append(Problem("item_code", f"product {item_code} is not kept in stock"))
    if warehouse is None or product is None or problems:
        raise ValidationFailed(problems)
    return warehouse, product.id

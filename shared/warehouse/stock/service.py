"""Use cases of stock."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from shared.kernel.db.items import Key
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO, plain
from shared.warehouse.stock import (
    batches,
    level_marks,
    level_settling,
    on_hand,
    repository,
    room,
    rules,
)
from shared.warehouse.stock.models import (
    FreeRow,
    LevelParameters,
    ListedRow,
    RowKey,
    StockParameters,
    StockRow,
    StoredLevel,
)
from shared.warehouse.stock.repository import MOVEMENTS, STOCK, TOTALS
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse

_NO_WAREHOUSE = 0
_MOST_PLACES = 10
_LISTED = 300
"""Rows of a position with a long history that are looked at."""
_MANY_FREE = 20_000
"""Free rows of a product after which no more are read."""


def list_stock(
    store: Store, parameters: StockParameters
) -> tuple[Page[StockRow], Mapping[int, KnownWarehouse]]:
    """Return a page of stock rows, and their warehouses by id."""
    if parameters.warehouse is None:
        return run_all(
            lambda: repository.list_stock(store, parameters, parameters.warehouse_id),
            lambda: warehouses.all_warehouses(store),
        )
    one, wanted = warehouses.find_warehouse(store, parameters.warehouse), parameters.warehouse_id
    found = one.id if one and wanted in {None, one.id} else _NO_WAREHOUSE
    return repository.list_stock(store, parameters, found), {one.id: one} if one else {}


def rows_by_id(
    store: Store, numbers: Iterable[int], *, also: Iterable[Key] = ()
) -> dict[int, StockRow]:
    """Return stock rows by their ids; the items `also` are read with them into the cache."""
    return {record.id: record.entity for record in STOCK.get_many(store, numbers, also=also)}


def many_free_rows(store: Store, product_id: int, warehouse_id: int) -> tuple[list[FreeRow], bool]:
    """Return the rows of a product with available stock, in the order of `free_rows`.

    The other value is whether these are all: it ends with the page that has the 20,000th row.
    """
    rows, last = repository.free_rows(store, product_id, warehouse_id, None, whole=True)
    while last and len(rows) < _MANY_FREE:
        more, last = repository.free_rows(store, product_id, warehouse_id, last, whole=True)
        rows += more
    return rows, last is None


def listed_at(store: Store, warehouse_id: int, bin_code: str) -> tuple[list[ListedRow], bool]:
    """Return the newest 300 rows of a position, also empty ones; the index can lag behind.

    They are fewer if many other warehouses have a position of this code with many rows. The other
    value is whether these are all that the index has.
    """
    return repository.listed_at(store, warehouse_id, bin_code, _LISTED)


def quantities_of(store: Store, keys: Iterable[RowKey]) -> dict[RowKey, Decimal]:
    """Return what is in stock under keys of rows: 0 without a row, and if a serial is elsewhere."""
    wanted = list(keys)
    rows = rows_of_keys(store, wanted)
    return {key: row.qty if (row := rows.get(key)) and row.key == key else ZERO for key in wanted}


def rows_of_keys(store: Store, keys: Iterable[RowKey]) -> dict[RowKey, StockRow]:
    """Return the rows under keys, also empty ones; that of a serial wherever it is."""
    return {key: record.entity for key, record in _rows_of_keys(store, list(keys)).items()}


def keep_rows(tx: Transaction, keys: Iterable[RowKey]) -> None:
    """Make the commit fail if what is stored under these keys changes until then."""
    wanted = list(keys)
    found = _rows_of_keys(tx.store, wanted)
    for record in {one.id: one for one in found.values()}.values():
        tx.check(STOCK.key(record.id), version=record.version)
    for alias in {repository.row_key(key) for key in wanted if key not in found}:
        tx.check(alias, condition=f"attribute_not_exists({PARTITION_KEY})", as_read=True)


def _rows_of_keys(store: Store, keys: Sequence[RowKey]) -> dict[RowKey, Record[StockRow]]:
    """Return the rows of keys; that of a serial wherever it is."""
    aliases = store.get_many(map(repository.row_key, keys))
    ids = {key: int(alias["id"]) for key in keys if (alias := aliases.get(repository.row_key(key)))}
    rows = {record.id: record for record in STOCK.get_many(store, set(ids.values()))}
    return {key: rows[number] for key, number in ids.items()}


level_keys = level_settling.level_keys


def list_levels(store: Store, parameters: LevelParameters, now_ms: int) -> Page[StoredLevel]:
    """Return a page of levels per warehouse, or of totals over all warehouses, as they are now."""
    page = repository.list_levels(store, parameters, now_ms)
    states = level_marks.states_of(store, (record.entity for record in page.records))
    if not states:
        return page
    records = [
        replace(record, entity=level_marks.with_committed(record.entity, states))
        for record in page.records
    ]
    return replace(page, records=records)


def products_with_levels(store: Store, products: Iterable[int]) -> list[int]:
    """Return those of some products that have a level in any warehouse; consistent.

    The first change of a level also writes the total of its product, which is never deleted.
    """
    return [record.id for record in TOTALS.get_many(store, products)]


def places_text(store: Store, row: StockRow) -> str:
    """Return where the stock of the product of a row is, of its batch and serial if it has some.

    It reads a list, which may lag behind by moments, and shows the first 10 rows.
    """
    parameters = StockParameters(
        product_id=row.product_id, batch=row.batch_num, serial=row.serial_number, status=("in",),
        per_page=_MOST_PLACES,
    )  # fmt: skip
    page = repository.list_stock(store, parameters, None)
    shown = [_place_text(record.entity) for record in page.records]
    more = page.total - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])]) or "nowhere"


def _place_text(row: StockRow) -> str:
    place = f"{plain(row.qty)} {row.inventory_status} at {row.whs_code} {row.bin_code}"
    if row.bin_code is None:
        place = f"{plain(row.qty)} in transit to {row.whs_code}"
    is_shown = row.allocated and row.inventory_status != "staged"
    return f"{place} ({plain(row.allocated)} allocated)" if is_shown else place


list_movements = repository.list_movements
get_movement = MOVEMENTS.get
get_movements = MOVEMENTS.get_many
free_rows = repository.free_rows
ids_at_position = repository.ids_at_position
ids_of_product = repository.ids_of_product
rows_of_serials = repository.rows_of_serials
serial_rows = repository.serial_rows
choose_rows = rules.choose_rows
room_for = room.room_for
type Contents = room.Contents
type Packagings = room.Packagings
other_dates = batches.other_dates
batch_dates = batches.batch_dates
date_refusal = batches.date_refusal
OnHand = on_hand.OnHand
read_on_hand = on_hand.read_on_hand
on_hand_effects = on_hand.on_hand_effects
movement_ids_since = on_hand.movement_ids_since

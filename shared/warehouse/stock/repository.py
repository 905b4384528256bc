"""Storage of stock rows, levels and movements. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, get_args

from shared.kernel.clock import instant
from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import (
    PAIR_DIGITS,
    SEPARATOR,
    Facets,
    facets_of,
    flag_text,
    id_of,
    id_text,
    joined,
    pair_id,
    quantity_text,
    signed_quantity_text,
)
from shared.kernel.db.indexes import Lookup, Partition, Range
from shared.kernel.db.items import AttributeMap, Key, alias_key
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import HEAD
from shared.kernel.db.store import Store
from shared.kernel.db.table import STABLE_FACETS, index_keys, index_name
from shared.kernel.fields import LEAST_QUANTITY
from shared.warehouse.master_data import uses
from shared.warehouse.stock.models import (
    SHARES_SINCE,
    CauseType,
    ExpiredRow,
    FreeRow,
    LevelParameters,
    ListedRow,
    Lot,
    Movement,
    MovementParameters,
    RowKey,
    StockParameters,
    StockRow,
    StoredLevel,
)
from shared.warehouse.stock.rules import NO_EXPIRY

EXPIRY_SINCE = 4
"""Version of the schema from which on rows are sorted by their expiry date."""
FIRST_DATE = "0001-01-01"
"""The lowest expiry date; rows without one come before it."""
FREE_PAGE = 300
"""Rows that an allocation considers at once."""
_LISTED_PAGES = 5
"""Pages of rows with the code of a position that are looked at, if others have its code."""
_NO_STOCK = quantity_text(Decimal(0))


_shown_of_row = facets_of(
    "id", "status", "inventory_status", "product_id", "item_code", "warehouse_id", "bin_code",
    "created_at", "updated_at", batch="batch_num", serial="serial_number",
)  # fmt: skip


def _row_facets(row: StockRow) -> Facets:
    available = row.inventory_status == "available"
    free = available and row.qty > row.allocated
    return {
        **_shown_of_row(row),
        "qty": quantity_text(row.qty),
        "expiry_date": row.expiry_in_stock,
        "unavailable_status": None if available else row.inventory_status,
        "free": _free_queue(row.product_id, row.warehouse_id) if free else None,
        "turn": f"{row.expiry_date or NO_EXPIRY}{row.received_at}",
    }


STOCK = Collection(
    kind="stock",
    noun="Stock row",
    listed_as="stock",
    model=StockRow,
    facets=_row_facets,
    sorts={"id": 1, "updated_at": 2, "qty": 3, "created_at": 4, "expiry_date": 13},
    partitions={
        "status": Partition(
            {"id": 5},
            implied_ranges={
                ("in", "qty"): (quantity_text(LEAST_QUANTITY), None),
                ("out", "qty"): (_NO_STOCK, _NO_STOCK),
            },
        ),
        "warehouse_id": Partition({"id": 6}, own_totals=SHARDS),
        "inventory_status": Partition(),
    },
    lookups={
        "serial": Lookup(11),
        "batch": Lookup(10),
        "bin_code": Lookup(9),
        "product_id": Lookup(7),
        "item_code": Lookup(8),
        "unavailable_status": Lookup(12),
        "free": Lookup(12, order="turn", hides=("free", "turn")),
    },
    volatile=frozenset({"qty", "status", "expiry_date"}),
    since={"expiry_date": EXPIRY_SINCE, 13: EXPIRY_SINCE},
)
"""`free` is the work queue of allocation, ordered by expiry date, then by `received_at`.
`unavailable_status` is the inventory status of a row that is not available. Both share an index,
because no row has both."""


_shown_of_level = facets_of("product_id", "item_code", "whs_code", "updated_at")
_SHORTAGE = Lookup(5, order="item_code", hides=("shortage",))
_SHARES_SINCE: Mapping[str | int, int] = dict.fromkeys(
    ("sellable", "held_until", "shortage"), SHARES_SINCE
)


def _level_facets(level: StoredLevel, now_ms: int = 0) -> Facets:
    """Return the facets at a moment, by default as long as no hold has expired, as stored."""
    until_ms = level.held_until_ms
    return {
        **_shown_of_level(level),
        "sellable": signed_quantity_text(level.sellable_at(now_ms)),
        "held_until": None if until_ms is None else instant(until_ms),
        "shortage": flag_text(level.committed > level.available or None),
    }


LEVELS = Collection(
    kind="level",
    noun="Stock level",
    listed_as="stock_level",
    listed_id=lambda level: level.event_id,
    model=StoredLevel,
    facets=_level_facets,
    sorts={"item_code": 1, "updated_at": 2},
    partitions={"whs_code": Partition({"item_code": 3}, own_totals=SHARDS)},
    lookups={"product_id": Lookup(4), "shortage": _SHORTAGE},
    totals_within=STOCK.kind,
    volatile=frozenset({"sellable", "held_until"}),
    id_digits=PAIR_DIGITS,
    since=_SHARES_SINCE,
)


def _total_facets(total: StoredLevel, now_ms: int = 0) -> Facets:
    stocked = bool(total.on_hand or total.in_transit)
    return {**_level_facets(total, now_ms), uses.STOCKED: flag_text(stocked)}


def _total_key(product: str) -> Key:
    """Return the key of the level of all warehouses of a product, whose id is the product's."""
    return TOTALS.key(id_of(product))


TOTALS = Collection(
    kind=uses.TOTAL_KIND,
    noun="Stock level",
    model=StoredLevel,
    facets=_total_facets,
    totals_within=STOCK.kind,
    volatile=frozenset({uses.STOCKED, "sellable", "held_until"}),
    sorts={"item_code": 1, "updated_at": 2},
    lookups={
        "product_id": lambda product: [_total_key(product)],
        "shortage": _SHORTAGE,
    },
    since=_SHARES_SINCE,
)


# A movement never changes, so both times are the same.
_shown_of_movement = facets_of(
    "type", "product_id", "item_code", "created_at",
    updated_at="created_at", batch="batch_num", serial="serial_number",
)  # fmt: skip


def _movement_facets(movement: Movement) -> Facets:
    origin, target, cause = movement.origin, movement.target, movement.document
    return {
        **_shown_of_movement(movement),
        "warehouses": joined(place.whs_code for place in (origin, target) if place),
        "from_bin": origin.bin_code if origin else None,
        "to_bin": target.bin_code if target else None,
        "document": cause_text(cause.type, cause.id) if cause else None,
        "document_id": id_text(cause.id) if cause else None,
        "document_type": cause.type if cause else None,
    }


MOVEMENTS = Collection(
    kind="movement",
    noun="Stock movement",
    listed_as="stock_movement",
    model=Movement,
    facets=_movement_facets,
    totals_within=STOCK.kind,
    sorts={"created_at": 1},
    partitions={"type": Partition()},
    lookups={
        "serial": Lookup(6),
        "batch": Lookup(5),
        "document": Lookup(7),
        "from_bin": Lookup(8),
        "to_bin": Lookup(9),
        "product_id": Lookup(3),
        "item_code": Lookup(4),
    },
)


def cause_text(kind: str, number: int) -> str:
    """Return the value of the index on the work that caused a movement."""
    return f"{kind}{SEPARATOR}{number}"


def _free_queue(product_id: int, warehouse_id: int) -> str:
    return f"{id_text(product_id)}{SEPARATOR}{id_text(warehouse_id)}"


def level_id(product_id: int, warehouse_id: int) -> int:
    """Return the id under which the level of a product in a warehouse is stored.

    It is known without a read. It exceeds what JSON numbers can hold, so it is never shown.
    """
    return pair_id(product_id, warehouse_id)


def row_key(row: RowKey) -> Key:
    """Return the key of the alias of the row that has this key.

    The alias of a serial has no place, so that a serial cannot be in two places.
    """
    if row.serial_number is not None:
        return _serial_key(row.product_id, row.serial_number)
    place = row.bin_code or ""
    lot = f"{row.inventory_status}{SEPARATOR}{row.batch_num or ''}"
    holder = f"{id_text(row.product_id)}{SEPARATOR}{id_text(row.warehouse_id)}{SEPARATOR}{place}"
    return (f"stock_row#{holder}", lot)


def _serial_key(product_id: int, serial: str) -> Key:
    return alias_key("stock_serial", f"{id_text(product_id)}{SEPARATOR}{serial}")


def batch_key(lot: Lot) -> Key:
    """Return the key of the item with the expiry date of a batch."""
    product_id, batch_num = lot
    return (f"batch#{id_text(product_id)}{SEPARATOR}{batch_num}", HEAD)


def rows_of_serials(store: Store, serials: Iterable[tuple[int, str]]) -> list[FreeRow]:
    """Return the rows that hold or held these serials, each with the id of its product."""
    found = store.get_many(_serial_key(*one) for one in serials)
    return [FreeRow(int(alias["id"]), None, None) for alias in found.values()]


def serial_rows(
    store: Store, serials: Iterable[tuple[int, str]]
) -> dict[tuple[int, str], StockRow]:
    """Return the rows that hold or held these serials, by the id of their product and serial."""
    numbers = [row.id for row in rows_of_serials(store, serials)]
    rows = (record.entity for record in STOCK.get_many(store, numbers))
    return {(row.product_id, row.serial_number or ""): row for row in rows}


def free_rows(
    store: Store,
    product_id: int,
    warehouse_id: int,
    start: AttributeMap | None,
    *,
    whole: bool = False,
) -> tuple[list[FreeRow], AttributeMap | None]:
    """Return a page of the rows with available stock, by expiry date and then by receipt.

    It begins at the key `start`; the other value is that of the next page, None at the end. A page
    has FREE_PAGE rows, a `whole` one as many as one Query returns, which are thousands. The rows
    come from an index that can lag behind: load them before allocating from them.
    """
    index = STOCK.index_of("free")
    partition, sort = index_keys(index)
    more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
    if not whole:
        more["Limit"] = FREE_PAGE
    page = store.query(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :free",
        values={":free": STOCK.partition("free", _free_queue(product_id, warehouse_id))},
        ProjectionExpression=f"{sort}, #facets.#bin, #facets.#batch",
        ExpressionAttributeNames={
            "#facets": STABLE_FACETS, "#bin": "bin_code", "#batch": "batch",
        },
        **more,
    )  # fmt: skip
    rows = [
        FreeRow(
            id_of(item[sort]), facets.get("bin_code"), facets.get("batch"), _date_of(item[sort])
        )
        for item in page.items
        for facets in [item.get(STABLE_FACETS, {})]
    ]
    return rows, page.last_key


def listed_at(
    store: Store, warehouse_id: int, bin_code: str, most: int
) -> tuple[list[ListedRow], bool]:
    """Return the newest rows of a position, up to `most`, and whether the index has no others.

    Other warehouses may have its code, too: at most `_LISTED_PAGES` times as many are looked at.
    """
    found: list[ListedRow] = []
    start: AttributeMap | None = None
    for _ in range(_LISTED_PAGES):
        page, start = _listed_page(store, warehouse_id, bin_code, most, start)
        found += page
        if start is None or len(found) >= most:
            break
    return found[:most], start is None and len(found) <= most


def _listed_page(
    store: Store, warehouse_id: int, bin_code: str, most: int, start: AttributeMap | None
) -> tuple[list[ListedRow], AttributeMap | None]:
    index = STOCK.index_of("bin_code")
    partition, sort = index_keys(index)
    more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
    page = store.query(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :bin",
        FilterExpression="#facets.#warehouse = :warehouse",
        values={
            ":bin": STOCK.partition("bin_code", bin_code), ":warehouse": id_text(warehouse_id),
        },
        ProjectionExpression=f"{sort}, #facets.#product",
        ExpressionAttributeNames={
            "#facets": STABLE_FACETS, "#product": "product_id", "#warehouse": "warehouse_id",
        },
        ScanIndexForward=False,
        Limit=most,
        **more,
    )  # fmt: skip
    rows = [
        ListedRow(id_of(item[sort]), int(item[STABLE_FACETS]["product_id"])) for item in page.items
    ]
    return rows, page.last_key


def ids_at_position(
    store: Store, warehouse_id: int, bin_code: str, most: int | None = None
) -> list[int]:
    """Return the ids of the rows of a position, also of empty ones; the index can lag behind.

    If there are more than `most`, more than that, but not all.
    """
    place = {"warehouse_id": id_text(warehouse_id)}
    return _bounded(id_pages(store, STOCK, "bin_code", bin_code, **place), most)


def ids_of_product(
    store: Store, warehouse_id: int, product_id: int, most: int | None = None
) -> list[int]:
    """Return the ids of the rows of a product in a warehouse, as `ids_at_position` does."""
    place = {"warehouse_id": id_text(warehouse_id)}
    return _bounded(id_pages(store, STOCK, "product_id", id_text(product_id), **place), most)


def _bounded(pages: Iterable[Iterable[int]], most: int | None) -> list[int]:
    ids: list[int] = []
    for page in pages:
        ids += page
        if most is not None and len(ids) > most:
            break
    return ids


def _date_of(turn: str) -> str | None:
    """Return the expiry date at the beginning of a sort key of the allocation index."""
    expiry_date = turn[: len(NO_EXPIRY)]
    return None if expiry_date == NO_EXPIRY else expiry_date


def expired_rows(
    store: Store, today: str, start: AttributeMap | None
) -> tuple[list[ExpiredRow], AttributeMap | None]:
    """Return a page of the available rows in stock whose expiry date is before `today`.

    The page starts at the key `start`. The second value is the key at which the next page starts;
    None at the end. Rows of a product are side by side in a page. The index can lag behind: load
    the rows.
    """
    index = STOCK.sorts["expiry_date"]
    partition, sort = index_keys(index)
    more: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
    page = store.query(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :stock AND {sort} BETWEEN :first AND :today",
        FilterExpression="#facets.#status = :available",
        values={
            ":stock": STOCK.kind, ":first": FIRST_DATE, ":today": today, ":available": "available",
        },
        ProjectionExpression=f"{sort}, #facets.#product",
        ExpressionAttributeNames={
            "#facets": STABLE_FACETS, "#status": "inventory_status", "#product": "product_id",
        },
        **more,
    )  # fmt: skip
    rows = [
        ExpiredRow(int(item[STABLE_FACETS]["product_id"]), id_of(item[sort])) for item in page.items
    ]
    return sorted(rows), page.last_key


def list_stock(
    store: Store, parameters: StockParameters, warehouse_id: int | None
) -> Page[StockRow]:
    """Return a page of stock rows, of one warehouse if `warehouse_id` is given."""
    status = parameters.inventory_status
    equal = parameters.filters(warehouse=None, expires_to=None) | {
        "warehouse_id": None if warehouse_id is None else id_text(warehouse_id),
        "unavailable_status": None if status == "available" else status,
    }
    between: dict[str, Range] = {}
    if len(parameters.status or ()) > 1:
        del equal["status"]  # every row has one of both
    if parameters.expires_to is not None:
        between["expiry_date"] = (FIRST_DATE, parameters.expires_to)
        if parameters.status == ("in",):
            del equal["status"]  # empty rows have no expiry date
    return read_page(store, STOCK, parameters.list_query(equal=equal, between=between))


def list_levels(store: Store, parameters: LevelParameters, now_ms: int) -> Page[StoredLevel]:
    """Return a page of levels per warehouse, or of totals over all warehouses, as they are now."""
    filters = parameters.filters(totals=None, warehouse="whs_code", sellable_below=None)
    between: dict[str, Range] = {}
    if parameters.sellable_below is not None:
        most = parameters.sellable_below - LEAST_QUANTITY
        between["sellable"] = (None, signed_quantity_text(most))
    query = parameters.list_query(equal=filters, between=between)
    collection, facets = (TOTALS, _total_facets) if parameters.totals else (LEVELS, _level_facets)
    if between:
        # Stored is the least that can be sold: of a level with holds, more may be by now, also when
        # all have expired.
        query = replace(query, doubt=("held_until", instant(now_ms)))
        collection = replace(collection, facets=partial(facets, now_ms=now_ms))
    return read_page(store, collection, query)


def list_movements(store: Store, parameters: MovementParameters) -> Page[Movement]:
    """Return a page of the stock ledger; `from` and `to` are days of the company."""
    equal = parameters.filters(warehouse=None, document_id=None)
    kind, document = parameters.document_type, parameters.document_id
    if document is not None:
        # Without its type, it may be the id of work of any type.
        kinds = get_args(CauseType) if kind is None else [kind]
        equal["document_type"] = None
        equal["document"] = tuple(cause_text(one, document) for one in kinds)
    query = parameters.list_query(
        equal=equal,
        contains={
            "warehouses": parameters.warehouse and f"{SEPARATOR}{parameters.warehouse}{SEPARATOR}"
        },
        between=parameters.created_once(store.company.timezone),
    )
    return read_page(store, MOVEMENTS, query)

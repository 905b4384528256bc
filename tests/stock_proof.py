"""What must be true of stock at every instant, checked on everything that is stored."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from shared.db.collection import Collection
from shared.db.store import Store
from shared.stock.models import Level, Movement, Quantities, StockRow
from shared.stock.repository import LEVELS, MOVEMENTS, STOCK, TOTALS, level_id
from shared.stock.rules import share

type Sums = dict[str, Decimal]


def entities(store: Store, collection: Collection[Any]) -> Iterator[Any]:
    """Every entity of a kind, read past all indexes."""
    last = store.client.get_item(
        TableName=store.table, Key={"PK": {"S": "sequence"}, "SK": {"S": collection.kind}}
    ).get("Item")
    if collection.kind in {LEVELS.kind, TOTALS.kind} or last is None:
        pages = store.client.get_paginator("scan").paginate(TableName=store.table)
        names = [item["PK"]["S"] for page in pages for item in page["Items"]]
        numbers = [
            int(name.partition("#")[2]) for name in names if name.startswith(f"{collection.kind}#")
        ]
    else:
        numbers = list(range(1, int(last["last"]["N"]) + 1))
    for record in collection.get_many(store, numbers):
        yield record.entity


def prove(store: Store) -> None:
    """Check that movements = rows = levels = totals, nothing below zero, serials in one place."""
    rows: list[StockRow] = list(entities(store, STOCK))
    levels: list[Level] = list(entities(store, LEVELS))
    totals: list[Level] = list(entities(store, TOTALS))
    movements: list[Movement] = list(entities(store, MOVEMENTS))
    _rows_are_sound(rows)
    _movements_make_rows(movements, rows)
    _rows_make_levels(rows, levels, totals)
    _holds_count_rows(store, rows)


def _rows_are_sound(rows: list[StockRow]) -> None:
    for row in rows:
        assert 0 <= row.allocated <= row.qty, row
        assert (row.status == "in") == (row.qty > 0), row
        assert row.inventory_status in {"available", "staged"} or not row.allocated, row
        assert row.inventory_status != "staged" or row.allocated == row.qty, row
        assert (row.position_id is None) == (row.inventory_status == "in_transit"), row
        assert row.serial_number is None or row.qty in {0, 1}, row
    serials = Counter((row.product_id, row.serial_number) for row in rows if row.serial_number)
    assert not serials or max(serials.values()) == 1
    places = Counter(
        (row.product_id, row.warehouse_id, row.bin_code, row.batch_num, row.inventory_status)
        for row in rows
        if row.serial_number is None
    )
    assert not places or max(places.values()) == 1


def _movements_make_rows(movements: list[Movement], rows: list[StockRow]) -> None:
    made: Sums = {}
    for movement in movements:
        assert movement.qty > 0, movement
        for place, sign in ((movement.origin, -1), (movement.target, 1)):
            if place:
                name = repr(
                    (movement.product_id, place.whs_code, place.bin_code, place.inventory_status,
                     movement.batch_num, movement.serial_number)
                )  # fmt: skip
                made[name] = made.get(name, Decimal(0)) + sign * movement.qty
    there: Sums = {}
    for row in rows:
        name = repr(
            (row.product_id, row.whs_code, row.bin_code, row.inventory_status,
             row.batch_num, row.serial_number)
        )  # fmt: skip
        there[name] = there.get(name, Decimal(0)) + row.qty
    assert {name: qty for name, qty in made.items() if qty} == {
        name: qty for name, qty in there.items() if qty
    }


def _rows_make_levels(rows: list[StockRow], levels: list[Level], totals: list[Level]) -> None:
    by_place: dict[int, Sums] = {}
    by_product: dict[int, Sums] = {}
    for row in rows:
        for sums in (
            by_place.setdefault(level_id(row.product_id, row.warehouse_id), {}),
            by_product.setdefault(row.product_id, {}),
        ):
            for name, qty in share(row).items():
                sums[name] = sums.get(name, Decimal(0)) + qty
    warehouses = {row.whs_code: row.warehouse_id for row in rows}
    shown = {
        level_id(level.product_id, warehouses[level.whs_code or ""]): _sums(level)
        for level in levels
    }
    assert _without_zeros(by_place) == _without_zeros(shown)
    assert _without_zeros(by_product) == _without_zeros(
        {total.product_id: _sums(total) for total in totals}
    )
    assert all(level.available >= 0 for level in [*levels, *totals])


def _holds_count_rows(store: Store, rows: list[StockRow]) -> None:
    counted = Counter(("product", row.product_id) for row in rows if row.qty)
    counted += Counter(
        ("position", row.position_id or 0) for row in rows if row.qty and row.bin_code
    )
    pages = store.client.get_paginator("scan").paginate(TableName=store.table)
    stored: Counter[tuple[str, int]] = Counter()
    for item in (item for page in pages for item in page["Items"]):
        kind, _, rest = item["PK"]["S"].partition("#")
        if kind == "held":
            facet, _, number = rest.partition("#")
            stored[facet, int(number)] = int(item["holds"]["N"])
    assert +stored == counted


def _sums(level: Level) -> Sums:
    return {name: getattr(level, name) for name in Quantities.model_fields}


def _without_zeros(sums: dict[int, Sums]) -> dict[int, Sums]:
    real = {key: {name: qty for name, qty in one.items() if qty} for key, one in sums.items()}
    return {key: one for key, one in real.items() if one}

"""Changes of a tenant's table that cause a drift."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from operator import methodcaller
from typing import Any

from shared.identity.users.logins import login_key
from shared.kernel.db.counters import shard_key
from shared.kernel.db.items import Key
from shared.kernel.db.search import SEARCH_ATTRIBUTES
from shared.kernel.db.table import SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.approvals.repository import open_approval_key
from shared.warehouse.catalog.repository import code_key
from shared.warehouse.packing.repository import sscc_key
from shared.warehouse.stock.repository import LEVELS, STOCK, level_id, row_key
from tests.integration.verify.planting import Table, head

type Change = Callable[[Table], object]

BRICK, CEMENT, DRILL = 1, 2, 3
YARD, SHOP = 1, 2
LEVEL = level_id(BRICK, YARD)
UNKNOWN = 999
"""An id that nothing has."""
ROW = head("stock", 1)
"""Key of the row of the bricks at A-01."""
LOOKUP = (head("picking", 2)[0], "LOOKUP#001")
"""Key of the lookup of picking 2 by its second document."""
SEARCH_ENTRIES = (head("warehouse", YARD)[0], "SEARCH#001")
"""Key of the first search entries of a warehouse."""

# Each returns the call of a method of a table that is given later.
put = partial(methodcaller, "put")
change = partial(methodcaller, "change")
delete = partial(methodcaller, "delete")
edit = partial(methodcaller, "edit")
edit_line = partial(methodcaller, "edit_line")
add_to_total = partial(methodcaller, "add_to_total")


def change_facet(key: Key, **facets: str) -> Change:
    """Replace facets in an item."""
    return lambda table: table.change(key, facets={**table.item(key)["facets"], **facets})


def add_to(kind: str, number: int, name: str, more: int) -> Change:
    """Change a quantity of an entity by `more`."""

    def add(table: Table) -> None:
        table.edit(kind, number, **{name: getattr(table.record(kind, number).entity, name) + more})

    return add


def edit_part(kind: str, number: int, part: str, **values: Any) -> Change:
    """Replace fields of the object that a field of an entity holds."""

    def replace(table: Table) -> None:
        before = getattr(table.record(kind, number).entity, part)
        table.edit(kind, number, **{part: before.model_copy(update=values)})

    return replace


def edit_return(*more: str, **values: Any) -> Change:
    """Replace fields of the line of return 1, and add 1 to some quantities of its goods."""

    def replace(table: Table) -> None:
        [goods] = table.record("return", 1).entity.lines[0].goods
        added = {name: getattr(goods, name) + 1 for name in more}
        table.edit_line("return", 1, goods=[goods.model_copy(update=added)], **values)

    return replace


# Aliases and registers


def add_alias_of_an_unknown_code(table: Table) -> None:
    ghost = code_key("GHOST")
    table.put(ghost, {**table.item(code_key("BRICK")), "PK": ghost[0]})


def add_row_of_a_serial(table: Table) -> None:
    row = table.find("stock", lambda row: row.serial_number == "S2")
    number = table.item(("sequence", "stock"))["last"] + 1
    table.change(("sequence", "stock"), last=number)
    key = head("stock", number)
    table.put(key, {**table.item(head("stock", row.id)), "PK": key[0], "id": number})
    table.edit("stock", number, qty=Decimal(0), status="out", id=number)


def add_login_of_an_unknown_user(table: Table) -> None:
    key = login_key(UNKNOWN)
    table.put(key, {**table.item(login_key(2)), "PK": key[0]})


# Stock


def move_row_in_transit(table: Table) -> None:
    row = table.find("stock", lambda row: row.inventory_status == "in_transit")
    alias = row_key(row.entity.key)
    table.edit("stock", row.id, position_id=1)
    table.put(row_key(table.record("stock", row.id).entity.key), {"id": row.id})
    table.delete(alias)


def delete_row(table: Table) -> None:
    row = table.find("stock", lambda row: row.batch_num == "L2")
    table.delete(head("stock", row.id))


def add_to_row_and_level(table: Table) -> None:
    add_to("stock", 1, "qty", 5)(table)
    add_to("level", LEVEL, "on_hand", 2)(table)


# Work


def allocate_from_no_row(table: Table) -> None:
    [first, *others] = table.record("picking", 2).entity.lines[0].allocations
    part = first.model_copy(update={"qty": Decimal(0)})
    ghost = first.model_copy(update={"stock_id": UNKNOWN, "qty": Decimal(1)})
    table.edit_line("picking", 2, allocations=[first, *others, ghost, part])


def allocate_for_a_picking_that_has_ended(table: Table) -> None:
    line = table.record("picking", 2).entity.lines[0]
    table.edit_line("picking", 3, allocations=line.allocations)


def pick_another_quantity(table: Table) -> None:
    [pick] = table.record("picking", 3).entity.lines[0].picks
    table.edit_line("picking", 3, picks=[pick.model_copy(update={"qty": Decimal("0.5")})])


def change_goods_of_an_order_in_transit(table: Table) -> None:
    line = table.record("transfer_order", 1).entity.lines[0]
    goods = [line.transit[0].model_copy(update={"qty": Decimal(1)})]
    table.edit_line("transfer_order", 1, transit=goods)


def reopen_pickings_of_a_wave(table: Table) -> None:
    table.edit("wave", 1, open_ids=table.record("wave", 1).entity.picking_ids)


def withdraw_beginning_of_a_wave(table: Table) -> None:
    table.edit("wave", 1, begun=False, status="planned")
    table.edit("wave", 1, status="released")


def remove_picking_from_its_wave(table: Table) -> None:
    number = table.record("wave", 1).entity.open_ids[0]
    table.edit("picking", number, wave_id=None)


# Totals and codes


def delete_shards_of_a_total(table: Table) -> None:
    for shard in range(16):
        key = shard_key("product", shard)
        if table.store.get(key):
            table.delete(key)


def change_product_code_of_a_level(table: Table) -> None:
    table.edit("level", LEVEL, item_code="OLD")
    table.edit("level_total", BRICK, item_code="OLD")


def change_warehouse_code_of_a_level(table: Table) -> None:
    level = table.record("level", level_id(DRILL, YARD))
    run_transaction(table.store, lambda tx: LEVELS.update(tx, level, {"whs_code": "OLD"}))


def change_product_of_a_row(table: Table) -> None:
    row = table.find("stock", lambda row: row.serial_number is not None)
    table.edit("stock", row.id, item_code="OLD", product_name="Old")


def change_expiry_date_of_a_row(table: Table) -> None:
    row = table.find("stock", lambda row: row.batch_num == "L1" and row.qty)
    table.edit("stock", row.id, expiry_date="2030-01-01")


def change_position_code_of_a_row(table: Table) -> None:
    row = table.record("stock", 1).entity

    def insert(tx: Transaction) -> None:
        number = tx.next_id("stock")
        empty = {
            "id": number,
            "qty": Decimal(0),
            "allocated": Decimal(0),
            "status": "out",
            "bin_code": "OLD",
        }
        moved = row.model_copy(update={**empty, "inventory_status": "damaged"})
        STOCK.insert(tx, number, moved)
        partition, sort = row_key(moved.key)
        tx.insert({"PK": partition, "SK": sort, "id": number})

    run_transaction(table.store, insert)


# Approvals


def _open_approval_key(table: Table) -> Key:
    return open_approval_key(table.record("approval", 1).entity.digest)


def delete_request_of_an_approval(table: Table) -> None:
    table.delete(_open_approval_key(table))


def grant_request_of_an_approval(table: Table) -> None:
    table.change(_open_approval_key(table), stage="granted")


def add_request_of_an_approval(table: Table) -> None:
    item = table.item(_open_approval_key(table))
    table.put(open_approval_key("0" * 64), {name: item[name] for name in ("id", "stage", "until")})


# Packing


def exceed_contents_of_a_unit(table: Table) -> None:
    [goods] = table.record("handling_unit", 2).entity.contents
    contents = [goods.model_copy(update={"qty": Decimal(4)})]
    table.edit("handling_unit", 2, contents=contents)


def change_unit_in_its_packing_order(table: Table) -> None:
    first, *others = table.record("packing_order", 1).entity.units
    units = [first.model_copy(update={"status": "closed", "weight_kg": Decimal(9)}), *others]
    table.edit("packing_order", 1, units=units)


def remove_unit_from_its_packing_order(table: Table) -> None:
    order = table.record("packing_order", 1).entity
    table.edit("packing_order", 1, units=order.units[:1])
    table.edit_line("packing_order", 1, packed_qty=Decimal(0))


def remove_picking_from_its_packing_order(table: Table) -> None:
    [number] = table.record("packing_order", 1).entity.picking_ids
    table.edit("picking", number, packing_order_id=None, packing_orders={})


def delete_alias_of_an_sscc(table: Table) -> None:
    table.delete(sscc_key(table.record("handling_unit", 1).entity.sscc))


# The search index


def add_search_entries(table: Table) -> None:
    left_over = (SEARCH_ENTRIES[0], "SEARCH#009")
    table.put(left_over, {**table.item(SEARCH_ENTRIES), SORT_KEY: left_over[1]})


def remove_search_entry_of_an_alias(table: Table) -> None:
    key = code_key("BRICK")
    index = next(name for name in table.item(key) if name in SEARCH_ATTRIBUTES[1::2])
    table.change(key, **{index: None, index.replace("P", "S"): None})


def add_search_entry_of_an_alias(table: Table) -> None:
    key = code_key("BRICK")
    free = next(name for name in SEARCH_ATTRIBUTES[1::2] if name not in table.item(key))
    table.change(key, **{free: "product#search#old", free.replace("P", "S"): "\x1f000000000001"})

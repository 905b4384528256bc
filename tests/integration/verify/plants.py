"""Kinds of drift, each with a change that causes it and the kinds that are found."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from shared.kernel.db.facets import SEPARATOR, id_text
from shared.kernel.db.items import Key
from shared.kernel.db.search import SEARCH_ATTRIBUTES
from shared.kernel.db.table import SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.fields import ZERO
from shared.warehouse.approvals.repository import open_approval_key
from shared.warehouse.catalog.repository import code_key, gtin_key
from shared.warehouse.references import stock_count_key
from shared.warehouse.stock.repository import LEVELS, STOCK, level_id, row_key
from shared.warehouse.warehouses.repository import position_key
from tests.integration.verify.company import RETURNED_EXIT
from tests.integration.verify.planting import Table

BRICK, CEMENT, DRILL = 1, 2, 3
YARD, SHOP = 1, 2
_LEVEL = level_id(BRICK, YARD)
_GONE = 999
_OLD = "2020-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class Plant:
    """A drift: how it is planted, and the kinds that a verification finds.

    `lasting` are those that cannot be repaired, because they are not derived.
    """

    name: str
    apply: Callable[[Table], object]
    finds: frozenset[str]
    lasting: frozenset[str]


PLANTS: list[Plant] = []


def _plant(*finds: str, lasting: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    def add(function: Callable[[Table], object]) -> Callable[[Table], object]:
        name = function.__name__.removeprefix("_")
        PLANTS.append(Plant(name, function, frozenset((*finds, *lasting)), frozenset(lasting)))
        return function

    return add


# Attributes of heads


@_plant("facets.wrong")
def _facet_of_product(table: Table) -> None:
    key = table.head("product", BRICK)
    table.change(key, facets={**table.item(key)["facets"], "type": "other"})


@_plant("volatile.wrong")
def _volatile_facet_of_row(table: Table) -> None:
    key = _row(table)
    table.change(key, volatile={"qty": "0" * 18, "status": "in"})


@_plant("volatile.wrong")
def _stocked_flag_of_total(table: Table) -> None:
    table.change(table.head("level_total", BRICK), volatile={"stocked": "false"})


@_plant("index.missing")
def _index_key_missing(table: Table) -> None:
    table.change(table.head("product", BRICK), P3=None, S3=None)


@_plant("index.missing")
def _row_missing_in_index_of_its_product(table: Table) -> None:
    table.change(_row(table), P7=None, S7=None)


@_plant("index.missing")
def _movement_missing_in_index_of_its_product(table: Table) -> None:
    table.change(table.head("movement", 1), P3=None, S3=None)


@_plant("index.extra")
def _index_key_extra(table: Table) -> None:
    table.change(table.head("product", BRICK), P9="product#x#y", S9="1")


@_plant("index.wrong")
def _index_key_wrong(table: Table) -> None:
    table.change(table.head("product", BRICK), S3=f"OTHER{SEPARATOR}{id_text(BRICK)}")


@_plant("index.missing")
def _free_stock_missing_in_the_queue_of_allocation(table: Table) -> None:
    table.change(_row(table), P12=None, S12=None)


@_plant(lasting=("entity.unreadable",))
def _unreadable_data(table: Table) -> None:
    table.change(table.head("category", 1), data=b"{")


@_plant(lasting=("entity.id",))
def _other_id_in_head(table: Table) -> None:
    table.change(table.head("category", 1), id=2)


@_plant("entity.orphan_part")
def _part_of_a_small_entity(table: Table) -> None:
    key = table.head("product", BRICK)
    table.put((key[0], "PART#001"), {"version": 1, "data": b"x"})


@_plant("entity.orphan_part")
def _part_of_no_entity(table: Table) -> None:
    table.put((f"product#{id_text(_GONE)}", "PART#001"), {"version": 1, "data": b"x"})


@_plant(lasting=("entity.part_missing",))
def _part_missing(table: Table) -> None:
    table.change(table.head("category", 1), parts=2)


@_plant("lookup.missing")
def _lookup_missing(table: Table) -> None:
    table.delete(_lookup(table))


@_plant("lookup.wrong")
def _lookup_of_another_document(table: Table) -> None:
    table.change(_lookup(table), S6=id_text(1))


@_plant("lookup.orphan")
def _lookup_of_no_document(table: Table) -> None:
    table.put((_lookup(table)[0], "LOOKUP#009"), {"P6": "picking#document_id#1", "S6": "1"})


@_plant("sequence.low")
def _sequence_below_the_greatest_id(table: Table) -> None:
    table.change(("sequence", "product"), last=1)


@_plant("sequence.low")
def _sequence_missing(table: Table) -> None:
    table.delete(("sequence", "picking"))


def _lookup(table: Table) -> Key:
    """Return the key of the lookup of picking 2 by its second document."""
    return (table.head("picking", 2)[0], "LOOKUP#001")


# Aliases, registers and marks


@_plant("alias.missing")
def _alias_of_product_missing(table: Table) -> None:
    table.delete(("item_code#CEMENT", "ALIAS"))


@_plant("alias.missing")
def _alias_of_stock_row_missing(table: Table) -> None:
    table.delete(row_key(table.record("stock", 1).entity.key))


@_plant("alias.missing")
def _alias_of_user_missing(table: Table) -> None:
    table.delete(("username#person-3", "ALIAS"))


@_plant("alias.wrong")
def _name_in_alias_of_product(table: Table) -> None:
    table.change(("item_code#BRICK", "ALIAS"), name="Stone")


@_plant("alias.wrong")
def _flag_in_alias_of_position(table: Table) -> None:
    table.change(position_key("YARD", "X-01"), blocked=False)


@_plant("alias.orphan")
def _alias_of_a_code_that_no_product_has(table: Table) -> None:
    item = table.item(("item_code#BRICK", "ALIAS"))
    table.put(("item_code#GHOST", "ALIAS"), {**item, "PK": "item_code#GHOST"})


@_plant("alias.orphan")
def _reference_to_a_document_that_does_not_exist(table: Table) -> None:
    table.put((f"entry_ref#purchase_order{SEPARATOR}PO-9", "ALIAS"), {"id": _GONE})


@_plant("alias.other_entity", "alias.orphan")
def _alias_to_another_warehouse(table: Table) -> None:
    table.change(("warehouses", "YARD"), id=SHOP)


@_plant("alias.orphan", lasting=("duplicate",))
def _two_products_with_one_code(table: Table) -> None:
    table.edit("product", 4, item_code="BRICK", sku="BRICK")


@_plant("counter.n", "counter.own", "counter.partition", lasting=("duplicate",))
def _serial_in_two_rows(table: Table) -> None:
    row = table.find("stock", lambda row: row.serial_number == "S2")
    number = table.item(("sequence", "stock"))["last"] + 1
    table.change(("sequence", "stock"), last=number)
    key = table.head("stock", number)
    table.put(key, {**table.item(table.head("stock", row.id)), "PK": key[0], "id": number})
    table.edit("stock", number, qty=Decimal(0), status="out", id=number)


@_plant("assigned.missing")
def _pick_face_missing_at_its_position(table: Table) -> None:
    table.change(position_key("YARD", "F-01"), assigned=None)


@_plant("assigned.extra")
def _product_of_no_pick_face(table: Table) -> None:
    table.change(position_key("YARD", "F-01"), assigned={BRICK, CEMENT})


@_plant("alias.missing")
def _assignment_of_pick_face_missing(table: Table) -> None:
    table.delete(("item_code#BRICK", f"FACE#{position_key('YARD', 'F-01')[0]}"))


@_plant("register.missing")
def _open_document_missing_in_register(table: Table) -> None:
    table.delete(("open", "entry#2"))


@_plant("register.wrong")
def _other_product_in_register(table: Table) -> None:
    table.change(("open", "transfer_order#1"), product={DRILL})


@_plant("register.orphan")
def _closed_document_in_register(table: Table) -> None:
    table.put(("open", "exit#1"), {"product": {BRICK}})


@_plant(lasting=("register.missing",))
def _waiting_transfer_missing_in_register(table: Table) -> None:
    table.delete(("open", "transfer#2"))


@_plant("role_users.wrong")
def _number_of_users_with_a_role(table: Table) -> None:
    table.change((f"role_users#{id_text(1)}", "COUNT"), holders=3)


@_plant(lasting=("login.missing",))
def _login_missing(table: Table) -> None:
    table.delete((f"login#{id_text(2)}", "LOGIN"))


@_plant("item.orphan")
def _login_of_no_user(table: Table) -> None:
    login = table.item((f"login#{id_text(2)}", "LOGIN"))
    table.put((f"login#{id_text(_GONE)}", "LOGIN"), {**login, "PK": f"login#{id_text(_GONE)}"})


@_plant("webhooks.wrong")
def _events_of_a_subscription(table: Table) -> None:
    table.change(("webhooks", "REGISTER"), wanted={"1": "wave.released"})


@_plant("webhooks.orphan")
def _subscription_that_does_not_exist(table: Table) -> None:
    table.change(("webhooks", "REGISTER"), ids={1, 5})


@_plant("webhooks.health_missing")
def _health_of_an_endpoint_missing(table: Table) -> None:
    table.delete(("webhooks", f"HEALTH#{id_text(1)}"))


@_plant("mark.left")
def _mark_of_a_retirement_left(table: Table) -> None:
    table.change(("item_code#BRICK", "ALIAS"), retired_by="somebody", retired_until=1)


@_plant("mark.endless")
def _item_that_never_expires(table: Table) -> None:
    table.put(("idempotency#erp#old", "HEAD"), {"owner": "x"})


@_plant("mark.event_due")
def _event_left_to_a_step_that_never_came(table: Table) -> None:
    table.edit("level", _LEVEL, event_due=True, updated_at=_OLD)


@_plant(lasting=("item.unknown",))
def _item_of_no_known_kind(table: Table) -> None:
    table.put(("something", "else"), {"n": 1})


@_plant(lasting=("reference.dangling",))
def _pick_face_in_no_warehouse(table: Table) -> None:
    table.edit("pick_face", 1, warehouse_id=_GONE)


# Stock


def _row(table: Table) -> Key:
    """Return the key of the row of the bricks at A-01."""
    return table.head("stock", 1)


@_plant("stock.qty")
def _quantity_of_a_row(table: Table) -> None:
    table.edit("stock", 1, qty=table.record("stock", 1).entity.qty + 5)


@_plant("stock.allocated")
def _allocated_quantity_of_a_row(table: Table) -> None:
    table.edit("stock", 1, allocated=table.record("stock", 1).entity.allocated + 1)


@_plant("stock.status", "counter.partition")
def _status_of_a_row(table: Table) -> None:
    table.edit("stock", 1, status="out")


@_plant("alias.missing", lasting=("stock.contradiction",))
def _row_in_transit_at_a_position(table: Table) -> None:
    row = table.find("stock", lambda row: row.inventory_status == "in_transit")
    alias = row_key(row.entity.key)
    table.edit("stock", row.id, position_id=1)
    table.put(row_key(table.record("stock", row.id).entity.key), {"id": row.id})
    table.delete(alias)


@_plant("alias.orphan", "counter.n", "counter.own", "counter.partition", "held.wrong",
        lasting=("stock.row_missing",))  # fmt: skip
def _row_missing(table: Table) -> None:
    row = table.find("stock", lambda row: row.batch_num == "L2")
    table.delete(table.head("stock", row.id))


@_plant("counter.n", "counter.partition", lasting=("ledger.wrong",))
def _movement_missing(table: Table) -> None:
    table.delete(table.head("movement", 1))


@_plant(lasting=("ledger.wrong",))
def _movement_of_another_quantity(table: Table) -> None:
    table.edit("movement", 1, qty=Decimal(90))


@_plant(lasting=("stock.disagrees", "level.on_hand", "total.on_hand"))
def _row_and_level_of_other_quantities(table: Table) -> None:
    table.edit("stock", 1, qty=table.record("stock", 1).entity.qty + 5)
    table.edit("level", _LEVEL, on_hand=table.record("level", _LEVEL).entity.on_hand + 2)


def _plant_levels() -> None:
    """Plant a drift in each quantity of a level and of a total."""
    for kind, number in (("level", _LEVEL), ("level_total", BRICK)):
        short = kind.removesuffix("_total") if kind == "level" else "total"
        for name in ("on_hand", "allocated", "in_transit", "quarantine", "damaged", "blocked"):

            def change(
                table: Table, kind: str = kind, number: int = number, name: str = name
            ) -> None:
                before = getattr(table.record(kind, number).entity, name)
                table.edit(kind, number, **{name: before + 3})

            change.__name__ = f"{name}_of_{kind}"
            _plant(f"{short}.{name}")(change)


_plant_levels()


@_plant("level.missing", "counter.n", "counter.own")
def _level_missing(table: Table) -> None:
    table.delete(table.head("level", _LEVEL))


@_plant("total.missing", "counter.n")
def _total_missing(table: Table) -> None:
    table.delete(table.head("level_total", BRICK))


@_plant("held.wrong")
def _count_of_a_position_too_high(table: Table) -> None:
    table.change(stock_count_key(1), holds=9)


@_plant("held.wrong")
def _count_of_a_position_missing(table: Table) -> None:
    table.delete(stock_count_key(1))


@_plant("held.wrong")
def _count_of_an_empty_position(table: Table) -> None:
    table.put(stock_count_key(4), {"holds": 1})


# Work


@_plant(lasting=("picking.allocation",))
def _allocation_of_no_row(table: Table) -> None:
    picking = table.record("picking", 2)
    line = picking.entity.lines[0]
    [first, *others] = line.allocations
    part = first.model_copy(update={"qty": Decimal(0)})
    ghost = first.model_copy(update={"stock_id": _GONE, "qty": Decimal(1)})
    table.edit_line("picking", 2, allocations=[first, *others, ghost, part])


@_plant(lasting=("picking.allocated_after_end", "picking.allocation"))
def _allocation_of_a_picking_that_has_ended(table: Table) -> None:
    line = table.record("picking", 2).entity.lines[0]
    table.edit_line("picking", 3, allocations=line.allocations)


@_plant("document.done")
def _received_quantity_of_a_document(table: Table) -> None:
    table.edit_line("entry", 1, done_qty=Decimal(4))


@_plant("document.open")
def _open_quantity_of_a_document(table: Table) -> None:
    table.edit_line("entry", 1, open_qty=Decimal(7))


@_plant("document.line_status")
def _status_of_a_line(table: Table) -> None:
    table.edit_line("entry", 1, status="complete")


@_plant("document.status", "counter.partition")
def _status_of_a_document(table: Table) -> None:
    table.edit("entry", 1, status="open")


@_plant("document.status", "counter.partition")
def _open_document_as_completed(table: Table) -> None:
    table.edit("entry", 1, status="completed")


@_plant("document.works")
def _work_of_a_document(table: Table) -> None:
    table.edit("entry", 1, works=[])


@_plant("document.finished")
def _finished_work_of_a_document(table: Table) -> None:
    table.edit("exit", 4, finished=[])


@_plant("document.done")
def _picked_quantity_of_a_document(table: Table) -> None:
    table.edit_line("exit", 2, done_qty=Decimal(1))


@_plant("picking.picked")
def _picked_quantity_of_a_picking(table: Table) -> None:
    table.edit_line("picking", 3, picked_qty=Decimal("0.5"))


@_plant("picking.line_status")
def _status_of_a_line_of_a_picking(table: Table) -> None:
    table.edit_line("picking", 3, status="picked")


@_plant("picking.shortage")
def _shortage_of_a_picking(table: Table) -> None:
    table.edit("picking", 3, has_shortage=False)


@_plant(
    lasting=(
        "document.done", "document.open", "picking.allocation", "picking.ledger", "picking.picked",
    )
)  # fmt: skip
def _pick_of_another_quantity(table: Table) -> None:
    line = table.record("picking", 3).entity.lines[0]
    [pick] = line.picks
    table.edit_line("picking", 3, picks=[pick.model_copy(update={"qty": Decimal("0.5")})])


@_plant(lasting=("receipt.ledger", "receipt.lines"))
def _receipt_of_another_quantity(table: Table) -> None:
    table.edit_line("receipt", 1, qty=Decimal(5))


@_plant(lasting=("receipt.lines", "document.done", "document.open"))
def _receipt_for_another_quantity_of_its_document(table: Table) -> None:
    table.edit_line("receipt", 1, document_lines={1: Decimal(5)})


@_plant("order.picked")
def _picked_quantity_of_an_order(table: Table) -> None:
    table.edit_line("transfer_order", 1, picked_qty=Decimal(3))


@_plant("order.dispatched")
def _dispatched_quantity_of_an_order(table: Table) -> None:
    table.edit_line("transfer_order", 1, dispatched_qty=Decimal(3))


@_plant("order.received")
def _received_quantity_of_an_order(table: Table) -> None:
    table.edit_line("transfer_order", 1, received_qty=Decimal(2))


@_plant("order.transit")
def _goods_of_an_order_in_transit(table: Table) -> None:
    line = table.record("transfer_order", 1).entity.lines[0]
    goods = [line.transit[0].model_copy(update={"qty": Decimal(1)})]
    table.edit_line("transfer_order", 1, transit=goods)


@_plant("order.status", "counter.partition")
def _status_of_an_order(table: Table) -> None:
    table.edit("transfer_order", 1, status="picking")


@_plant("wave.ended_orders")
def _ended_orders_of_a_wave(table: Table) -> None:
    metrics = table.record("wave", 1).entity.metrics
    table.edit("wave", 1, metrics=metrics.model_copy(update={"ended_orders": Decimal(0)}))


@_plant("wave.units")
def _units_of_a_wave(table: Table) -> None:
    metrics = table.record("wave", 1).entity.metrics
    table.edit("wave", 1, metrics=metrics.model_copy(update={"units": Decimal(9)}))


@_plant("wave.open_ids")
def _open_pickings_of_a_wave(table: Table) -> None:
    wave = table.record("wave", 1).entity
    table.edit("wave", 1, open_ids=wave.picking_ids)


@_plant("wave.begun", "wave.status", "counter.partition")
def _wave_that_has_not_begun(table: Table) -> None:
    table.edit("wave", 1, begun=False, status="planned")
    table.edit("wave", 1, status="released")


@_plant(lasting=("wave.picking",))
def _picking_of_another_wave(table: Table) -> None:
    number = table.record("wave", 1).entity.open_ids[0]
    table.edit("picking", number, wave_id=None)


# Totals


@_plant("counter.n")
def _total_too_high(table: Table) -> None:
    table.add_to_total("product", "n", 1)


@_plant("counter.n")
def _total_too_low(table: Table) -> None:
    table.add_to_total("movement", "n", -2)


@_plant("counter.n")
def _shards_of_a_total_missing(table: Table) -> None:
    for shard in range(16):
        key = ("count#product", f"{shard:02d}")
        if table.store.get(key):
            table.delete(key)


@_plant("counter.partition")
def _total_of_a_status(table: Table) -> None:
    table.add_to_total("exit", "status=partial-complete", 2)


@_plant("counter.own")
def _total_of_a_warehouse(table: Table) -> None:
    table.add_to_total(f"stock#warehouse_id={id_text(YARD)}", "n", 1)


@_plant("counter.orphan")
def _total_of_a_warehouse_that_does_not_exist(table: Table) -> None:
    table.put((f"count#stock#warehouse_id={id_text(_GONE)}", "03"), {"n": 2, "version": 1})


# Codes


@_plant("alias.wrong")
def _code_of_a_product_that_is_given_up(table: Table) -> None:
    table.change(("item_code#DRILL", "ALIAS"), former=True)


@_plant("copy.wrong")
def _code_of_the_product_of_a_level(table: Table) -> None:
    table.edit("level", _LEVEL, item_code="OLD")
    table.edit("level_total", BRICK, item_code="OLD")


@_plant("copy.wrong")
def _code_of_the_warehouse_of_a_level(table: Table) -> None:
    level = table.record("level", level_id(DRILL, YARD))
    run_transaction(table.store, lambda tx: LEVELS.update(tx, level, {"whs_code": "OLD"}))


@_plant("copy.wrong")
def _code_and_name_of_the_product_of_a_row(table: Table) -> None:
    row = table.find("stock", lambda row: row.serial_number is not None)
    table.edit("stock", row.id, item_code="OLD", product_name="Old")


@_plant("copy.wrong")
def _expiry_date_of_a_row(table: Table) -> None:
    row = table.find("stock", lambda row: row.batch_num == "L1" and row.qty)
    table.edit("stock", row.id, expiry_date="2030-01-01")


@_plant("copy.wrong")
def _code_of_the_position_of_a_row(table: Table) -> None:
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


@_plant("alias.missing")
def _request_of_an_open_approval_missing(table: Table) -> None:
    table.delete(_open_approval_key(table))


@_plant("alias.wrong")
def _request_of_a_pending_approval_granted(table: Table) -> None:
    table.change(_open_approval_key(table), stage="granted")


@_plant("alias.orphan")
def _request_of_a_decided_approval(table: Table) -> None:
    item = table.item(_open_approval_key(table))
    table.put(open_approval_key("0" * 64), {name: item[name] for name in ("id", "stage", "until")})


def _open_approval_key(table: Table) -> Key:
    return open_approval_key(table.record("approval", 1).entity.digest)


# GTINs


@_plant("alias.missing")
def _alias_of_a_gtin_missing(table: Table) -> None:
    table.delete(gtin_key("14006381333938"))


@_plant("alias.wrong")
def _units_of_a_gtin(table: Table) -> None:
    table.change(gtin_key("4006381333931"), units=6)


@_plant("alias.orphan")
def _gtin_that_no_product_has(table: Table) -> None:
    table.put(gtin_key("96385074"), {"id": CEMENT, "item_code": "CEMENT", "units": 1})


# Returns


@_plant("returned.qty")
def _quantity_taken_of_an_exit_document(table: Table) -> None:
    table.edit("returned", RETURNED_EXIT, qty={BRICK: Decimal(1)})


@_plant("returned.serials")
def _serials_taken_of_an_exit_document(table: Table) -> None:
    table.edit("returned", RETURNED_EXIT, serials={DRILL: ["S1"]})


def _goods_of_return(table: Table, **more: int) -> list[Any]:
    """Return the goods of return 1 with more of some quantities."""
    [goods] = table.record("return", 1).entity.lines[0].goods
    return [goods.model_copy(update={name: getattr(goods, name) + by for name, by in more.items()})]


@_plant("returned.qty", lasting=("return.received",))
def _received_quantity_of_a_return(table: Table) -> None:
    table.edit_line("return", 1, goods=_goods_of_return(table, qty=1, open_qty=1))


@_plant(lasting=("return.restocked",))
def _restocked_quantity_of_a_return(table: Table) -> None:
    table.edit_line("return", 1, restocked_qty=ZERO, goods=_goods_of_return(table, open_qty=1))


@_plant(lasting=("return.scrapped",))
def _scrapped_quantity_of_a_return(table: Table) -> None:
    table.edit_line("return", 1, scrapped_qty=ZERO, goods=_goods_of_return(table, open_qty=1))


@_plant(lasting=("return.undecided",))
def _goods_of_a_return_without_a_disposition(table: Table) -> None:
    table.edit_line("return", 1, goods=_goods_of_return(table, open_qty=1))


@_plant("counter.partition", lasting=("return.status",))
def _status_of_a_return(table: Table) -> None:
    table.edit("return", 1, status="receiving")


# Packing


@_plant("packing.packed")
def _packed_quantity_of_a_packing_order(table: Table) -> None:
    table.edit_line("packing_order", 1, packed_qty=Decimal(3))


@_plant("packing.packed", lasting=("packing.exceeded",))
def _contents_of_a_unit_above_what_is_staged(table: Table) -> None:
    [goods] = table.record("handling_unit", 2).entity.contents
    contents = [goods.model_copy(update={"qty": Decimal(4)})]
    table.edit("handling_unit", 2, contents=contents)


@_plant("packing.units")
def _entry_of_a_unit_in_its_packing_order(table: Table) -> None:
    first, *others = table.record("packing_order", 1).entity.units
    units = [first.model_copy(update={"status": "closed", "weight_kg": Decimal(9)}), *others]
    table.edit("packing_order", 1, units=units)


@_plant("packing.units", "packing.packed")
def _unit_that_its_packing_order_lacks(table: Table) -> None:
    order = table.record("packing_order", 1).entity
    table.edit("packing_order", 1, units=order.units[:1])
    table.edit_line("packing_order", 1, packed_qty=Decimal(0))


@_plant(lasting=("packing.staged",))
def _quantity_to_pack_of_a_packing_order(table: Table) -> None:
    table.edit_line("packing_order", 1, qty=Decimal(4))


@_plant(lasting=("packing.picking",))
def _picking_without_its_packing_order(table: Table) -> None:
    [number] = table.record("packing_order", 1).entity.picking_ids
    table.edit("picking", number, packing_order_id=None)


@_plant("alias.missing")
def _alias_of_an_sscc_missing(table: Table) -> None:
    table.delete(("sscc#" + str(table.record("handling_unit", 1).entity.sscc), "ALIAS"))


# RFID


@_plant("item.orphan")
def _passed_validation_of_a_packing_order_that_does_not_exist(table: Table) -> None:
    table.put(("rfid_passed#99", "VERSION"), {"id": 99, "passed": 1})


@_plant("counter.n", lasting=("reference.dangling",))
def _differences_of_a_failed_validation_missing(table: Table) -> None:
    table.delete(table.head("rfid_differences", 2))


@_plant(lasting=("reference.dangling",))
def _subject_of_a_validation_that_does_not_exist(table: Table) -> None:
    table.edit("rfid_validation", 1, subject_kind="receipt", subject_id=99)


# The search index


@_plant("lookup.missing")
def _search_entries_missing(table: Table) -> None:
    table.delete(_search_entries(table))


@_plant("lookup.wrong")
def _search_entries_of_an_earlier_name(table: Table) -> None:
    key = _search_entries(table)
    table.change(key, facets={**table.item(key)["facets"], "name": "earlier"})


@_plant("lookup.orphan")
def _search_entries_left_over(table: Table) -> None:
    key = _search_entries(table)
    left_over = (key[0], "SEARCH#009")
    table.put(left_over, {**table.item(key), SORT_KEY: left_over[1]})


def _search_entries(table: Table) -> Key:
    """Return the key of the first search entries of a warehouse."""
    return (table.head("warehouse", YARD)[0], "SEARCH#001")


@_plant("alias.wrong")
def _search_entry_of_an_alias_missing(table: Table) -> None:
    key = code_key("BRICK")
    index = next(name for name in table.item(key) if name in SEARCH_ATTRIBUTES[1::2])
    table.change(key, **{index: None, index.replace("P", "S"): None})


@_plant("alias.wrong")
def _search_entry_of_an_alias_left_over(table: Table) -> None:
    key = code_key("BRICK")
    free = next(name for name in SEARCH_ATTRIBUTES[1::2] if name not in table.item(key))
    table.change(key, **{free: "product#search#old", free.replace("P", "S"): "\x1f000000000001"})


# What handling units have of their packing order


@_plant("packing.shipping")
def _address_of_a_unit(table: Table) -> None:
    shipping = table.record("handling_unit", 1).entity.shipping
    table.edit("handling_unit", 1, shipping=shipping.model_copy(update={"ship_to": "Nowhere"}))


@_plant("packing.inside")
def _units_in_a_closed_unit(table: Table) -> None:
    table.edit("handling_unit", 2, inside=[1])


@_plant("packing.inside")
def _units_in_an_open_unit(table: Table) -> None:
    table.edit("handling_unit", 1, inside=[])

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


def _plants(*rows: tuple[str, str, Callable[[Table], object]]) -> None:
    """Add drifts by name, with the kinds that are found; a `!` marks those that are lasting."""
    for name, kinds, apply in rows:
        finds, lasting = kinds.replace("!", "").split(), kinds.split("!")[1:]
        PLANTS.append(Plant(name, apply, frozenset(finds), frozenset(map(str.strip, lasting))))


def _plant(kinds: str) -> Callable[[Any], Any]:
    """Add the decorated drift with the kinds that are found, as `_plants` has them."""

    def add(function: Callable[[Table], object]) -> Callable[[Table], object]:
        _plants((function.__name__.removeprefix("_"), kinds, function))
        return function

    return add


def _lookup(table: Table) -> Key:
    """Return the key of the lookup of picking 2 by its second document."""
    return (table.head("picking", 2)[0], "LOOKUP#001")


def _row(table: Table) -> Key:
    """Return the key of the row of the bricks at A-01."""
    return table.head("stock", 1)


def _open_approval_key(table: Table) -> Key:
    return open_approval_key(table.record("approval", 1).entity.digest)


def _goods_of_return(table: Table, **more: int) -> list[Any]:
    """Return the goods of return 1 with more of some quantities."""
    [goods] = table.record("return", 1).entity.lines[0].goods
    return [goods.model_copy(update={name: getattr(goods, name) + by for name, by in more.items()})]


def _search_entries(table: Table) -> Key:
    """Return the key of the first search entries of a warehouse."""
    return (table.head("warehouse", YARD)[0], "SEARCH#001")


# Attributes of heads


@_plant("facets.wrong")
def _facet_of_product(table: Table) -> None:
    key = table.head("product", BRICK)
    table.change(key, facets={**table.item(key)["facets"], "type": "other"})


@_plant("volatile.wrong")
def _volatile_facet_of_row(table: Table) -> None:
    key = _row(table)
    table.change(key, volatile={"qty": "0" * 18, "status": "in"})


_plants(
    ("stocked_flag_of_total", "volatile.wrong",
     lambda table: table.change(table.head("level_total", BRICK), volatile={"stocked": "false"})),
    ("index_key_missing", "index.missing",
     lambda table: table.change(table.head("product", BRICK), P3=None, S3=None)),
    ("row_missing_in_index_of_its_product", "index.missing",
     lambda table: table.change(_row(table), P7=None, S7=None)),
    ("movement_missing_in_index_of_its_product", "index.missing",
     lambda table: table.change(table.head("movement", 1), P3=None, S3=None)),
    ("index_key_extra", "index.extra",
     lambda table: table.change(table.head("product", BRICK), P9="product#x#y", S9="1")),
    ("index_key_wrong", "index.wrong",
     lambda table: table.change(table.head("product", BRICK),
                                S3=f"OTHER{SEPARATOR}{id_text(BRICK)}")),
    ("free_stock_missing_in_the_queue_of_allocation", "index.missing",
     lambda table: table.change(_row(table), P12=None, S12=None)),
    ("unreadable_data", "!entity.unreadable",
     lambda table: table.change(table.head("category", 1), data=b"{")),
    ("other_id_in_head", "!entity.id", lambda table: table.change(table.head("category", 1), id=2)),
)  # fmt: skip


@_plant("entity.orphan_part")
def _part_of_a_small_entity(table: Table) -> None:
    key = table.head("product", BRICK)
    table.put((key[0], "PART#001"), {"version": 1, "data": b"x"})


_plants(
    ("part_of_no_entity", "entity.orphan_part",
     lambda table: table.put((f"product#{id_text(_GONE)}", "PART#001"),
                             {"version": 1, "data": b"x"})),
    ("part_missing", "!entity.part_missing",
     lambda table: table.change(table.head("category", 1), parts=2)),
    ("lookup_missing", "lookup.missing", lambda table: table.delete(_lookup(table))),
    ("lookup_of_another_document", "lookup.wrong",
     lambda table: table.change(_lookup(table), S6=id_text(1))),
    ("lookup_of_no_document", "lookup.orphan",
     lambda table: table.put((_lookup(table)[0], "LOOKUP#009"),
                             {"P6": "picking#document_id#1", "S6": "1"})),
    ("sequence_below_the_greatest_id", "sequence.low",
     lambda table: table.change(("sequence", "product"), last=1)),
    ("sequence_missing", "sequence.low", lambda table: table.delete(("sequence", "picking"))),
)  # fmt: skip


# Aliases, registers and marks

_plants(
    ("alias_of_product_missing", "alias.missing",
     lambda table: table.delete(("item_code#CEMENT", "ALIAS"))),
    ("alias_of_stock_row_missing", "alias.missing",
     lambda table: table.delete(row_key(table.record("stock", 1).entity.key))),
    ("alias_of_user_missing", "alias.missing",
     lambda table: table.delete(("username#person-3", "ALIAS"))),
    ("name_in_alias_of_product", "alias.wrong",
     lambda table: table.change(("item_code#BRICK", "ALIAS"), name="Stone")),
    ("flag_in_alias_of_position", "alias.wrong",
     lambda table: table.change(position_key("YARD", "X-01"), blocked=False)),
)  # fmt: skip


@_plant("alias.orphan")
def _alias_of_a_code_that_no_product_has(table: Table) -> None:
    item = table.item(("item_code#BRICK", "ALIAS"))
    table.put(("item_code#GHOST", "ALIAS"), {**item, "PK": "item_code#GHOST"})


_plants(
    ("reference_to_a_document_that_does_not_exist", "alias.orphan",
     lambda table: table.put((f"entry_ref#purchase_order{SEPARATOR}PO-9", "ALIAS"), {"id": _GONE})),
    ("alias_to_another_warehouse", "alias.other_entity alias.orphan",
     lambda table: table.change(("warehouses", "YARD"), id=SHOP)),
    ("two_products_with_one_code", "alias.orphan !duplicate",
     lambda table: table.edit("product", 4, item_code="BRICK", sku="BRICK")),
)  # fmt: skip


@_plant("counter.n counter.own counter.partition !duplicate")
def _serial_in_two_rows(table: Table) -> None:
    row = table.find("stock", lambda row: row.serial_number == "S2")
    number = table.item(("sequence", "stock"))["last"] + 1
    table.change(("sequence", "stock"), last=number)
    key = table.head("stock", number)
    table.put(key, {**table.item(table.head("stock", row.id)), "PK": key[0], "id": number})
    table.edit("stock", number, qty=Decimal(0), status="out", id=number)


_plants(
    ("pick_face_missing_at_its_position", "assigned.missing",
     lambda table: table.change(position_key("YARD", "F-01"), assigned=None)),
    ("product_of_no_pick_face", "assigned.extra",
     lambda table: table.change(position_key("YARD", "F-01"), assigned={BRICK, CEMENT})),
    ("assignment_of_pick_face_missing", "alias.missing",
     lambda table: table.delete(("item_code#BRICK", f"FACE#{position_key('YARD', 'F-01')[0]}"))),
    ("open_document_missing_in_register", "register.missing",
     lambda table: table.delete(("open", "entry#2"))),
    ("other_product_in_register", "register.wrong",
     lambda table: table.change(("open", "transfer_order#1"), product={DRILL})),
    ("closed_document_in_register", "register.orphan",
     lambda table: table.put(("open", "exit#1"), {"product": {BRICK}})),
    ("waiting_transfer_missing_in_register", "!register.missing",
     lambda table: table.delete(("open", "transfer#2"))),
    ("number_of_users_with_a_role", "role_users.wrong",
     lambda table: table.change((f"role_users#{id_text(1)}", "COUNT"), holders=3)),
    ("login_missing", "!login.missing",
     lambda table: table.delete((f"login#{id_text(2)}", "LOGIN"))),
)  # fmt: skip


@_plant("item.orphan")
def _login_of_no_user(table: Table) -> None:
    login = table.item((f"login#{id_text(2)}", "LOGIN"))
    table.put((f"login#{id_text(_GONE)}", "LOGIN"), {**login, "PK": f"login#{id_text(_GONE)}"})


_plants(
    ("events_of_a_subscription", "webhooks.wrong",
     lambda table: table.change(("webhooks", "REGISTER"), wanted={"1": "wave.released"})),
    ("subscription_that_does_not_exist", "webhooks.orphan",
     lambda table: table.change(("webhooks", "REGISTER"), ids={1, 5})),
    ("health_of_an_endpoint_missing", "webhooks.health_missing",
     lambda table: table.delete(("webhooks", f"HEALTH#{id_text(1)}"))),
    ("mark_of_a_retirement_left", "mark.left",
     lambda table: table.change(("item_code#BRICK", "ALIAS"),
                                retired_by="somebody", retired_until=1)),
    ("item_that_never_expires", "mark.endless",
     lambda table: table.put(("idempotency#erp#old", "HEAD"), {"owner": "x"})),
    ("event_left_to_a_step_that_never_came", "mark.event_due",
     lambda table: table.edit("level", _LEVEL, event_due=True, updated_at=_OLD)),
    ("item_of_no_known_kind", "!item.unknown",
     lambda table: table.put(("something", "else"), {"n": 1})),
    ("pick_face_in_no_warehouse", "!reference.dangling",
     lambda table: table.edit("pick_face", 1, warehouse_id=_GONE)),
)  # fmt: skip


# Stock

_plants(
    ("quantity_of_a_row", "stock.qty",
     lambda table: table.edit("stock", 1, qty=table.record("stock", 1).entity.qty + 5)),
    ("allocated_quantity_of_a_row", "stock.allocated",
     lambda table: table.edit("stock", 1, allocated=table.record("stock", 1).entity.allocated + 1)),
    ("status_of_a_row", "stock.status counter.partition",
     lambda table: table.edit("stock", 1, status="out")),
)  # fmt: skip


@_plant("alias.missing !stock.contradiction")
def _row_in_transit_at_a_position(table: Table) -> None:
    row = table.find("stock", lambda row: row.inventory_status == "in_transit")
    alias = row_key(row.entity.key)
    table.edit("stock", row.id, position_id=1)
    table.put(row_key(table.record("stock", row.id).entity.key), {"id": row.id})
    table.delete(alias)


@_plant("alias.orphan counter.n counter.own counter.partition held.wrong !stock.row_missing")
def _row_missing(table: Table) -> None:
    row = table.find("stock", lambda row: row.batch_num == "L2")
    table.delete(table.head("stock", row.id))


_plants(
    ("movement_missing", "counter.n counter.partition !ledger.wrong",
     lambda table: table.delete(table.head("movement", 1))),
    ("movement_of_another_quantity", "!ledger.wrong",
     lambda table: table.edit("movement", 1, qty=Decimal(90))),
)  # fmt: skip


@_plant("!stock.disagrees !level.on_hand !total.on_hand")
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

            _plants((f"{name}_of_{kind}", f"{short}.{name}", change))


_plant_levels()

_plants(
    ("level_missing", "level.missing counter.n counter.own",
     lambda table: table.delete(table.head("level", _LEVEL))),
    ("total_missing", "total.missing counter.n",
     lambda table: table.delete(table.head("level_total", BRICK))),
    ("count_of_a_position_too_high", "held.wrong",
     lambda table: table.change(stock_count_key(1), holds=9)),
    ("count_of_a_position_missing", "held.wrong", lambda table: table.delete(stock_count_key(1))),
    ("count_of_an_empty_position", "held.wrong",
     lambda table: table.put(stock_count_key(4), {"holds": 1})),
)  # fmt: skip


# Work


@_plant("!picking.allocation")
def _allocation_of_no_row(table: Table) -> None:
    picking = table.record("picking", 2)
    line = picking.entity.lines[0]
    [first, *others] = line.allocations
    part = first.model_copy(update={"qty": Decimal(0)})
    ghost = first.model_copy(update={"stock_id": _GONE, "qty": Decimal(1)})
    table.edit_line("picking", 2, allocations=[first, *others, ghost, part])


@_plant("!picking.allocated_after_end !picking.allocation")
def _allocation_of_a_picking_that_has_ended(table: Table) -> None:
    line = table.record("picking", 2).entity.lines[0]
    table.edit_line("picking", 3, allocations=line.allocations)


_plants(
    ("received_quantity_of_a_document", "document.done",
     lambda table: table.edit_line("entry", 1, done_qty=Decimal(4))),
    ("open_quantity_of_a_document", "document.open",
     lambda table: table.edit_line("entry", 1, open_qty=Decimal(7))),
    ("status_of_a_line", "document.line_status",
     lambda table: table.edit_line("entry", 1, status="complete")),
    ("status_of_a_document", "document.status counter.partition",
     lambda table: table.edit("entry", 1, status="open")),
    ("open_document_as_completed", "document.status counter.partition",
     lambda table: table.edit("entry", 1, status="completed")),
    ("work_of_a_document", "document.works", lambda table: table.edit("entry", 1, works=[])),
    ("finished_work_of_a_document", "document.finished",
     lambda table: table.edit("exit", 4, finished=[])),
    ("picked_quantity_of_a_document", "document.done",
     lambda table: table.edit_line("exit", 2, done_qty=Decimal(1))),
    ("picked_quantity_of_a_picking", "picking.picked",
     lambda table: table.edit_line("picking", 3, picked_qty=Decimal("0.5"))),
    ("status_of_a_line_of_a_picking", "picking.line_status",
     lambda table: table.edit_line("picking", 3, status="picked")),
    ("shortage_of_a_picking", "picking.shortage",
     lambda table: table.edit("picking", 3, has_shortage=False)),
)  # fmt: skip


@_plant("!document.done !document.open !picking.allocation !picking.ledger !picking.picked")
def _pick_of_another_quantity(table: Table) -> None:
    line = table.record("picking", 3).entity.lines[0]
    [pick] = line.picks
    table.edit_line("picking", 3, picks=[pick.model_copy(update={"qty": Decimal("0.5")})])


_plants(
    ("receipt_of_another_quantity", "!receipt.ledger !receipt.lines",
     lambda table: table.edit_line("receipt", 1, qty=Decimal(5))),
    ("receipt_for_another_quantity_of_its_document", "!receipt.lines !document.done !document.open",
     lambda table: table.edit_line("receipt", 1, document_lines={1: Decimal(5)})),
    ("picked_quantity_of_an_order", "order.picked",
     lambda table: table.edit_line("transfer_order", 1, picked_qty=Decimal(3))),
    ("dispatched_quantity_of_an_order", "order.dispatched",
     lambda table: table.edit_line("transfer_order", 1, dispatched_qty=Decimal(3))),
    ("received_quantity_of_an_order", "order.received",
     lambda table: table.edit_line("transfer_order", 1, received_qty=Decimal(2))),
)  # fmt: skip


@_plant("order.transit")
def _goods_of_an_order_in_transit(table: Table) -> None:
    line = table.record("transfer_order", 1).entity.lines[0]
    goods = [line.transit[0].model_copy(update={"qty": Decimal(1)})]
    table.edit_line("transfer_order", 1, transit=goods)


_plants(
    ("status_of_an_order", "order.status counter.partition",
     lambda table: table.edit("transfer_order", 1, status="picking")),
)  # fmt: skip


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


@_plant("wave.begun wave.status counter.partition")
def _wave_that_has_not_begun(table: Table) -> None:
    table.edit("wave", 1, begun=False, status="planned")
    table.edit("wave", 1, status="released")


@_plant("!wave.picking")
def _picking_of_another_wave(table: Table) -> None:
    number = table.record("wave", 1).entity.open_ids[0]
    table.edit("picking", number, wave_id=None)


# Totals

_plants(
    ("total_too_high", "counter.n", lambda table: table.add_to_total("product", "n", 1)),
    ("total_too_low", "counter.n", lambda table: table.add_to_total("movement", "n", -2)),
)  # fmt: skip


@_plant("counter.n")
def _shards_of_a_total_missing(table: Table) -> None:
    for shard in range(16):
        key = ("count#product", f"{shard:02d}")
        if table.store.get(key):
            table.delete(key)


_plants(
    ("total_of_a_status", "counter.partition",
     lambda table: table.add_to_total("exit", "status=partial-complete", 2)),
    ("total_of_a_warehouse", "counter.own",
     lambda table: table.add_to_total(f"stock#warehouse_id={id_text(YARD)}", "n", 1)),
    ("total_of_a_warehouse_that_does_not_exist", "counter.orphan",
     lambda table: table.put((f"count#stock#warehouse_id={id_text(_GONE)}", "03"),
                             {"n": 2, "version": 1})),
)  # fmt: skip


# Codes

_plants(
    ("code_of_a_product_that_is_given_up", "alias.wrong",
     lambda table: table.change(("item_code#DRILL", "ALIAS"), former=True)),
)  # fmt: skip


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

_plants(
    ("request_of_an_open_approval_missing", "alias.missing",
     lambda table: table.delete(_open_approval_key(table))),
    ("request_of_a_pending_approval_granted", "alias.wrong",
     lambda table: table.change(_open_approval_key(table), stage="granted")),
)  # fmt: skip


@_plant("alias.orphan")
def _request_of_a_decided_approval(table: Table) -> None:
    item = table.item(_open_approval_key(table))
    table.put(open_approval_key("0" * 64), {name: item[name] for name in ("id", "stage", "until")})


# GTINs

_plants(
    ("alias_of_a_gtin_missing", "alias.missing",
     lambda table: table.delete(gtin_key("14006381333938"))),
    ("units_of_a_gtin", "alias.wrong",
     lambda table: table.change(gtin_key("4006381333931"), units=6)),
    ("gtin_that_no_product_has", "alias.orphan",
     lambda table: table.put(gtin_key("96385074"), {"id": CEMENT, "item_code": "CEMENT",
                             "units": 1})),
)  # fmt: skip


# Returns

_plants(
    ("quantity_taken_of_an_exit_document", "returned.qty",
     lambda table: table.edit("returned", RETURNED_EXIT, qty={BRICK: Decimal(1)})),
    ("serials_taken_of_an_exit_document", "returned.serials",
     lambda table: table.edit("returned", RETURNED_EXIT, serials={DRILL: ["S1"]})),
    ("received_quantity_of_a_return", "returned.qty !return.received",
     lambda table: table.edit_line("return", 1, goods=_goods_of_return(table, qty=1, open_qty=1))),
    ("restocked_quantity_of_a_return", "!return.restocked",
     lambda table: table.edit_line("return", 1, restocked_qty=ZERO,
                                   goods=_goods_of_return(table, open_qty=1))),
    ("scrapped_quantity_of_a_return", "!return.scrapped",
     lambda table: table.edit_line("return", 1, scrapped_qty=ZERO,
                                   goods=_goods_of_return(table, open_qty=1))),
    ("goods_of_a_return_without_a_disposition", "!return.undecided",
     lambda table: table.edit_line("return", 1, goods=_goods_of_return(table, open_qty=1))),
    ("status_of_a_return", "counter.partition !return.status",
     lambda table: table.edit("return", 1, status="receiving")),
)  # fmt: skip


# Packing

_plants(
    ("packed_quantity_of_a_packing_order", "packing.packed",
     lambda table: table.edit_line("packing_order", 1, packed_qty=Decimal(3))),
)  # fmt: skip


@_plant("packing.packed !packing.exceeded")
def _contents_of_a_unit_above_what_is_staged(table: Table) -> None:
    [goods] = table.record("handling_unit", 2).entity.contents
    contents = [goods.model_copy(update={"qty": Decimal(4)})]
    table.edit("handling_unit", 2, contents=contents)


@_plant("packing.units")
def _entry_of_a_unit_in_its_packing_order(table: Table) -> None:
    first, *others = table.record("packing_order", 1).entity.units
    units = [first.model_copy(update={"status": "closed", "weight_kg": Decimal(9)}), *others]
    table.edit("packing_order", 1, units=units)


@_plant("packing.units packing.packed")
def _unit_that_its_packing_order_lacks(table: Table) -> None:
    order = table.record("packing_order", 1).entity
    table.edit("packing_order", 1, units=order.units[:1])
    table.edit_line("packing_order", 1, packed_qty=Decimal(0))


_plants(
    ("quantity_to_pack_of_a_packing_order", "!packing.staged",
     lambda table: table.edit_line("packing_order", 1, qty=Decimal(4))),
)  # fmt: skip


@_plant("!packing.picking")
def _picking_without_its_packing_order(table: Table) -> None:
    [number] = table.record("packing_order", 1).entity.picking_ids
    table.edit("picking", number, packing_order_id=None)


_plants(
    ("alias_of_an_sscc_missing", "alias.missing",
     lambda table: table.delete((f"sscc#{table.record('handling_unit', 1).entity.sscc}", "ALIAS"))),
)  # fmt: skip


# RFID

_plants(
    ("passed_validation_of_a_packing_order_that_does_not_exist", "item.orphan",
     lambda table: table.put(("rfid_passed#99", "VERSION"), {"id": 99, "passed": 1})),
    ("differences_of_a_failed_validation_missing", "counter.n !reference.dangling",
     lambda table: table.delete(table.head("rfid_differences", 2))),
    ("subject_of_a_validation_that_does_not_exist", "!reference.dangling",
     lambda table: table.edit("rfid_validation", 1, subject_kind="receipt", subject_id=99)),
)  # fmt: skip


# The search index

_plants(
    ("search_entries_missing", "lookup.missing",
     lambda table: table.delete(_search_entries(table))),
)  # fmt: skip


@_plant("lookup.wrong")
def _search_entries_of_an_earlier_name(table: Table) -> None:
    key = _search_entries(table)
    table.change(key, facets={**table.item(key)["facets"], "name": "earlier"})


@_plant("lookup.orphan")
def _search_entries_left_over(table: Table) -> None:
    key = _search_entries(table)
    left_over = (key[0], "SEARCH#009")
    table.put(left_over, {**table.item(key), SORT_KEY: left_over[1]})


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


_plants(
    ("units_in_a_closed_unit", "packing.inside",
     lambda table: table.edit("handling_unit", 2, inside=[1])),
    ("units_in_an_open_unit", "packing.inside",
     lambda table: table.edit("handling_unit", 1, inside=[])),
)  # fmt: skip

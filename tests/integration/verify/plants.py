"""Kinds of drift, each with a change that causes it and the kinds that are found."""

from dataclasses import dataclass
from decimal import Decimal

from shared.identity.users.logins import login_key
from shared.identity.users.repository import role_count_key, username_key
from shared.kernel.db.counters import shard_key
from shared.kernel.db.facets import SEPARATOR, id_text
from shared.kernel.db.sequences import sequence_key
from shared.kernel.fields import ZERO
from shared.warehouse.catalog.repository import code_key, gtin_key
from shared.warehouse.master_data.uses import assignment_key, stock_count_key
from shared.warehouse.partners.codes import code_key as partner_key
from shared.warehouse.stock.level_marks import mark_key
from shared.warehouse.stock.models import PendingShares
from shared.warehouse.stock.repository import row_key
from shared.warehouse.warehouses.repository import position_key
from tests.integration.verify import changes
from tests.integration.verify.changes import (
    BRICK,
    CEMENT,
    DRILL,
    LEVEL,
    LOOKUP,
    ROW,
    SEARCH_ENTRIES,
    SHOP,
    UNKNOWN,
    YARD,
    Change,
    add_to,
    add_to_total,
    change,
    change_facet,
    delete,
    edit,
    edit_line,
    edit_part,
    edit_return,
    put,
)
from tests.integration.verify.company import RETURNED_EXIT
from tests.integration.verify.planting import head

_FACE = position_key("YARD", "F-01")
_OLD = "2020-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class Plant:
    """A drift: how it is planted, and the kinds that a verification finds.

    `lasting` are those that cannot be repaired, because they are not derived.
    """

    name: str
    apply: Change
    finds: frozenset[str]
    lasting: frozenset[str]


def _plant(name: str, kinds: str, apply: Change) -> Plant:
    """Return a drift; a `!` marks the kinds that are lasting."""
    finds, lasting = kinds.replace("!", "").split(), kinds.split("!")[1:]
    return Plant(name, apply, frozenset(finds), frozenset(map(str.strip, lasting)))


_QUANTITIES = ("on_hand", "allocated", "in_transit", "quarantine", "damaged", "blocked")

_ROWS: tuple[tuple[str, str, Change], ...] = (
    # Attributes of heads
    ("facet_of_product", "facets.wrong", change_facet(head("product", BRICK), type="other")),
    ("volatile_facet_of_row", "volatile.wrong",
     change(ROW, volatile={"qty": "0" * 18, "status": "in"})),
    ("stocked_flag_of_total", "volatile.wrong",
     change(head("level_total", BRICK), volatile={"stocked": "false"})),
    ("index_key_missing", "index.missing", change(head("product", BRICK), P3=None, S3=None)),
    ("row_missing_in_index_of_its_product", "index.missing", change(ROW, P7=None, S7=None)),
    ("movement_missing_in_index_of_its_product", "index.missing",
     change(head("movement", 1), P3=None, S3=None)),
    ("index_key_extra", "index.extra", change(head("product", BRICK), P9="product#x#y", S9="1")),
    ("index_key_wrong", "index.wrong",
     change(head("product", BRICK), S3=f"OTHER{SEPARATOR}{id_text(BRICK)}")),
    ("free_stock_missing_in_the_queue_of_allocation", "index.missing",
     change(ROW, P12=None, S12=None)),
    ("unreadable_data", "!entity.unreadable", change(head("category", 1), data=b"{")),
    ("other_id_in_head", "!entity.id", change(head("category", 1), id=2)),
    ("part_of_a_small_entity", "entity.orphan_part",
     put((head("product", BRICK)[0], "PART#001"), {"version": 1, "data": b"x"})),
    ("part_of_no_entity", "entity.orphan_part",
     put((head("product", UNKNOWN)[0], "PART#001"), {"version": 1, "data": b"x"})),
    ("part_missing", "!entity.part_missing", change(head("category", 1), parts=2)),
    ("lookup_missing", "lookup.missing", delete(LOOKUP)),
    ("lookup_of_another_document", "lookup.wrong", change(LOOKUP, S6=id_text(1))),
    ("lookup_of_no_document", "lookup.orphan",
     put((LOOKUP[0], "LOOKUP#009"), {"P6": "picking#document_id#1", "S6": "1"})),
    ("sequence_below_the_greatest_id", "sequence.low", change(sequence_key("product"), last=1)),
    ("sequence_missing", "sequence.low", delete(sequence_key("picking"))),

    # Aliases, registers and marks
    ("alias_of_product_missing", "alias.missing", delete(code_key("CEMENT"))),
    ("alias_of_stock_row_missing", "alias.missing",
     lambda table: table.delete(row_key(table.record("stock", 1).entity.key))),
    ("alias_of_user_missing", "alias.missing", delete(username_key("person-3"))),
    ("name_in_alias_of_product", "alias.wrong", change(code_key("BRICK"), name="Stone")),
    ("flag_in_alias_of_position", "alias.wrong",
     change(position_key("YARD", "X-01"), blocked=False)),
    ("alias_of_a_code_that_no_product_has", "alias.orphan", changes.add_alias_of_an_unknown_code),
    ("reference_to_a_document_that_does_not_exist", "alias.orphan",
     put((f"entry_ref#purchase_order{SEPARATOR}PO-9", "ALIAS"), {"id": UNKNOWN})),
    ("alias_to_another_warehouse", "alias.other_entity alias.orphan",
     change(("warehouses", "YARD"), id=SHOP)),
    ("two_products_with_one_code", "alias.orphan !duplicate",
     edit("product", 4, item_code="BRICK", sku="BRICK")),
    ("serial_in_two_rows", "counter.n counter.own counter.partition !duplicate",
     changes.add_row_of_a_serial),
    ("pick_face_missing_at_its_position", "assigned.missing", change(_FACE, assigned=None)),
    ("product_of_no_pick_face", "assigned.extra", change(_FACE, assigned={BRICK, CEMENT})),
    ("assignment_of_pick_face_missing", "alias.missing",
     delete(assignment_key(code_key("BRICK"), _FACE))),
    ("open_document_missing_in_register", "register.missing", delete(("open", "entry#2"))),
    ("other_product_in_register", "register.wrong",
     change(("open", "transfer_order#1"), product={DRILL})),
    ("closed_document_in_register", "register.orphan",
     put(("open", "exit#1"), {"product": {BRICK}})),
    ("waiting_transfer_missing_in_register", "!register.missing", delete(("open", "transfer#2"))),
    ("number_of_users_with_a_role", "role_users.wrong", change(role_count_key(1), holders=3)),
    ("login_missing", "!login.missing", delete(login_key(2))),
    ("login_of_no_user", "item.orphan", changes.add_login_of_an_unknown_user),
    ("events_of_a_subscription", "webhooks.wrong",
     change(("webhooks", "REGISTER"), wanted={"1": "wave.released"})),
    ("subscription_that_does_not_exist", "webhooks.orphan",
     change(("webhooks", "REGISTER"), ids={1, 5})),
    ("health_of_an_endpoint_missing", "webhooks.health_missing",
     delete(("webhooks", f"HEALTH#{id_text(1)}"))),
    ("mark_of_a_retirement_left", "mark.left",
     change(code_key("BRICK"), retired_by="somebody", retired_until=1)),
    ("item_that_never_expires", "mark.endless",
     put(("idempotency#erp#old", "HEAD"), {"owner": "x"})),
    ("event_left_to_a_step_that_never_came", "mark.event_due",
     edit("level", LEVEL, event_due=True, updated_at=_OLD)),
    ("item_of_no_known_kind", "!item.unknown", put(("something", "else"), {"n": 1})),
    ("pick_face_in_no_warehouse", "!reference.dangling",
     edit("pick_face", 1, warehouse_id=UNKNOWN)),

    # Stock
    ("quantity_of_a_row", "stock.qty", add_to("stock", 1, "qty", 5)),
    ("allocated_quantity_of_a_row", "stock.allocated", add_to("stock", 1, "allocated", 1)),
    ("status_of_a_row", "stock.status counter.partition", edit("stock", 1, status="out")),
    ("row_in_transit_at_a_position", "alias.missing !stock.contradiction",
     changes.move_row_in_transit),
    ("row_missing",
     "alias.orphan counter.n counter.own counter.partition held.wrong !stock.row_missing",
     changes.delete_row),
    ("movement_missing", "counter.n counter.partition !ledger.wrong", delete(head("movement", 1))),
    ("movement_of_another_quantity", "!ledger.wrong", edit("movement", 1, qty=Decimal(90))),
    ("row_and_level_of_other_quantities", "!stock.disagrees !level.on_hand !total.on_hand",
     changes.add_to_row_and_level),
    *((f"{name}_of_level", f"level.{name}", add_to("level", LEVEL, name, 3))
      for name in _QUANTITIES),
    *((f"{name}_of_level_total", f"total.{name}", add_to("level_total", BRICK, name, 3))
      for name in _QUANTITIES),
    ("level_missing", "level.missing counter.n counter.own", delete(head("level", LEVEL))),
    ("total_missing", "total.missing counter.n", delete(head("level_total", BRICK))),
    ("count_of_a_position_too_high", "held.wrong", change(stock_count_key(1), holds=9)),
    ("count_of_a_position_missing", "held.wrong", delete(stock_count_key(1))),
    ("count_of_an_empty_position", "held.wrong", put(stock_count_key(4), {"holds": 1})),

    # Work
    ("allocation_of_no_row", "!picking.allocation", changes.allocate_from_no_row),
    ("allocation_of_a_picking_that_has_ended", "!picking.allocated_after_end !picking.allocation",
     changes.allocate_for_a_picking_that_has_ended),
    ("received_quantity_of_a_document", "document.done",
     edit_line("entry", 1, done_qty=Decimal(4))),
    ("open_quantity_of_a_document", "document.open", edit_line("entry", 1, open_qty=Decimal(7))),
    ("status_of_a_line", "document.line_status", edit_line("entry", 1, status="complete")),
    ("status_of_a_document", "document.status counter.partition", edit("entry", 1, status="open")),
    ("open_document_as_completed", "document.status counter.partition",
     edit("entry", 1, status="completed")),
    ("work_of_a_document", "document.works", edit("entry", 1, works=[])),
    ("finished_work_of_a_document", "document.finished", edit("exit", 4, finished=[])),
    ("picking_that_left_of_a_document",
     "document.finished document.dispatched_works",
     edit("exit", 4, finished=[], dispatched_works=[3])),
    ("dispatched_quantity_of_a_document", "document.dispatched",
     edit_line("exit", RETURNED_EXIT, dispatched_qty=Decimal(2))),
    ("picked_quantity_of_a_document", "document.done", edit_line("exit", 2, done_qty=Decimal(1))),
    ("picked_quantity_of_a_picking", "picking.picked",
     edit_line("picking", 3, picked_qty=Decimal("0.5"))),
    ("status_of_a_line_of_a_picking", "picking.line_status",
     edit_line("picking", 3, status="picked")),
    ("shortage_of_a_picking", "picking.shortage", edit("picking", 3, has_shortage=False)),
    ("pick_of_another_quantity",
     "!document.done !document.open !picking.allocation !picking.ledger !picking.picked",
     changes.pick_another_quantity),
    ("receipt_of_another_quantity", "!receipt.ledger !receipt.lines",
     edit_line("receipt", 1, qty=Decimal(5))),
    ("receipt_for_another_quantity_of_its_document", "!receipt.lines !document.done !document.open",
     edit_line("receipt", 1, document_lines={1: Decimal(5)})),
    ("picked_quantity_of_an_order", "order.picked",
     edit_line("transfer_order", 1, picked_qty=Decimal(3))),
    ("dispatched_quantity_of_an_order", "order.dispatched",
     edit_line("transfer_order", 1, dispatched_qty=Decimal(3))),
    ("received_quantity_of_an_order", "order.received",
     edit_line("transfer_order", 1, received_qty=Decimal(2))),
    ("goods_of_an_order_in_transit", "order.transit", changes.change_goods_of_an_order_in_transit),
    ("status_of_an_order", "order.status counter.partition",
     edit("transfer_order", 1, status="picking")),
    ("ended_orders_of_a_wave", "wave.ended_orders",
     edit_part("wave", 1, "metrics", ended_orders=Decimal(0))),
    ("units_of_a_wave", "wave.units", edit_part("wave", 1, "metrics", units=Decimal(9))),
    ("trips_of_a_wave", "wave.trips", edit_part("wave", 1, "metrics", trips=Decimal(9))),
    ("open_pickings_of_a_wave", "wave.open_ids", changes.reopen_pickings_of_a_wave),
    ("wave_that_has_not_begun", "wave.begun wave.status counter.partition",
     changes.withdraw_beginning_of_a_wave),
    ("picking_of_another_wave", "!wave.picking", changes.remove_picking_from_its_wave),

    # Totals
    ("total_too_high", "counter.n", add_to_total("product", "n", 1)),
    ("total_too_low", "counter.n", add_to_total("movement", "n", -2)),
    ("shards_of_a_total_missing", "counter.n", changes.delete_shards_of_a_total),
    ("total_of_a_status", "counter.partition", add_to_total("exit", "status=partial-complete", 2)),
    ("total_of_a_warehouse", "counter.own",
     add_to_total(f"stock#warehouse_id={id_text(YARD)}", "n", 1)),
    ("total_of_a_warehouse_that_does_not_exist", "counter.orphan",
     put(shard_key(f"stock#warehouse_id={id_text(UNKNOWN)}", 3), {"n": 2, "version": 1})),

    # Codes
    ("code_of_a_product_that_is_given_up", "alias.wrong", change(code_key("DRILL"), former=True)),
    ("code_of_the_product_of_a_level", "copy.wrong", changes.change_product_code_of_a_level),
    ("code_of_the_warehouse_of_a_level", "copy.wrong", changes.change_warehouse_code_of_a_level),
    ("code_and_name_of_the_product_of_a_row", "copy.wrong", changes.change_product_of_a_row),
    ("expiry_date_of_a_row", "copy.wrong", changes.change_expiry_date_of_a_row),
    ("code_of_the_position_of_a_row", "copy.wrong", changes.change_position_code_of_a_row),

    # Approvals
    ("request_of_an_open_approval_missing", "alias.missing",
     changes.delete_request_of_an_approval),
    ("request_of_a_pending_approval_granted", "alias.wrong", changes.grant_request_of_an_approval),
    ("request_of_a_decided_approval", "alias.orphan", changes.add_request_of_an_approval),

    # GTINs and units of measure
    ("units_of_a_product", "alias.wrong", change(code_key("CEMENT"), units={"BOX": 6})),
    ("alias_of_a_gtin_missing", "alias.missing", delete(gtin_key("14006381333938"))),
    ("units_of_a_gtin", "alias.wrong", change(gtin_key("4006381333931"), units=6)),
    ("gtin_that_no_product_has", "alias.orphan",
     put(gtin_key("96385074"), {"id": CEMENT, "item_code": "CEMENT", "units": 1})),

    # Returns
    ("quantity_taken_of_an_exit_document", "returned.qty",
     edit("returned", RETURNED_EXIT, qty={BRICK: Decimal(1)})),
    ("serials_taken_of_an_exit_document", "returned.serials",
     edit("returned", RETURNED_EXIT, serials={DRILL: ["S1"]})),
    ("received_quantity_of_a_return", "returned.qty !return.received",
     edit_return("qty", "open_qty")),
    ("restocked_quantity_of_a_return", "!return.restocked",
     edit_return("open_qty", restocked_qty=ZERO)),
    ("scrapped_quantity_of_a_return", "!return.scrapped",
     edit_return("open_qty", scrapped_qty=ZERO)),
    ("goods_of_a_return_without_a_disposition", "!return.undecided", edit_return("open_qty")),
    ("status_of_a_return", "counter.partition !return.status",
     edit("return", 1, status="receiving")),

    # Packing
    ("packed_quantity_of_a_packing_order", "packing.packed",
     edit_line("packing_order", 1, packed_qty=Decimal(3))),
    ("contents_of_a_unit_above_what_is_staged", "packing.packed !packing.exceeded",
     changes.exceed_contents_of_a_unit),
    ("entry_of_a_unit_in_its_packing_order", "packing.units",
     changes.change_unit_in_its_packing_order),
    ("unit_that_its_packing_order_lacks", "packing.units packing.packed",
     changes.remove_unit_from_its_packing_order),
    ("quantity_to_pack_of_a_packing_order", "!packing.staged",
     edit_line("packing_order", 1, qty=Decimal(4))),
    ("picking_without_its_packing_order", "!packing.picking",
     changes.remove_picking_from_its_packing_order),
    ("alias_of_an_sscc_missing", "alias.missing", changes.delete_alias_of_an_sscc),

    # RFID
    ("passed_validation_of_a_packing_order_that_does_not_exist", "item.orphan",
     put(("rfid_passed#99", "VERSION"), {"id": 99, "passed": 1})),
    ("differences_of_a_failed_validation_missing", "counter.n !reference.dangling",
     delete(head("rfid_differences", 2))),
    ("subject_of_a_validation_that_does_not_exist", "!reference.dangling",
     edit("rfid_validation", 1, subject_kind="receipt", subject_id=99)),

    # The search index
    ("search_entries_missing", "lookup.missing", delete(SEARCH_ENTRIES)),
    ("search_entries_of_an_earlier_name", "lookup.wrong",
     change_facet(SEARCH_ENTRIES, name="earlier")),
    ("search_entries_left_over", "lookup.orphan", changes.add_search_entries),
    ("search_entry_of_an_alias_missing", "alias.wrong", changes.remove_search_entry_of_an_alias),
    ("search_entry_of_an_alias_left_over", "alias.wrong", changes.add_search_entry_of_an_alias),

    # What handling units have of their packing order
    ("address_of_a_unit", "packing.shipping",
     edit_part("handling_unit", 1, "shipping", ship_to="Nowhere")),
    ("units_in_a_closed_unit", "packing.inside", edit("handling_unit", 2, inside=[1])),
    ("units_in_an_open_unit", "packing.inside", edit("handling_unit", 1, inside=[])),

    # The codes of partners
    ("alias_of_client_code_missing", "alias.missing", delete(partner_key("client", "C-1"))),
    ("name_in_alias_of_provider", "alias.wrong",
     change(partner_key("provider", "V-1"), name="Cables")),
    ("code_that_no_provider_has", "alias.orphan",
     put(partner_key("provider", "V-9"), {"id": 1, "name": "Cable Works"})),

    # Shares in levels
    *((f"{name}_of_level", f"level.{name}", add_to("level", LEVEL, name, 3))
      for name in ("committed", "incoming")),
    *((f"{name}_of_level_total", f"total.{name}", add_to("level_total", BRICK, name, 3))
      for name in ("committed", "incoming")),
    ("changes_of_a_level_that_were_abandoned", "mark.left",
     edit("level", LEVEL, pending=[PendingShares(name="0" * 32, at_ms=1, committed=Decimal(3))])),
    ("mark_of_levels_left", "mark.endless", put(mark_key("0" * 32), {"state": "committed"})),
    *((f"holds_of_{kind}", f"{name}.held",
       edit(kind, number, holds=[(4_000_000_000_000, Decimal(3))]))
      for kind, name, number in (("level", "level", LEVEL), ("level_total", "total", BRICK))),

    # Rows that positions name
    ("row_of_another_position_at_a_position", "held.rows",
     change(stock_count_key(2), arrivals=3, stocked={2, UNKNOWN})),
)  # fmt: skip
PLANTS = [_plant(*row) for row in _ROWS]

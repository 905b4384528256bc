"""Dispatch of exit documents: staged goods leave the warehouse, packed or not."""

from collections.abc import Sequence

from shared.kernel.db.actions import Cost
from shared.kernel.db.records import Record
from shared.kernel.db.steps import has_room, run_steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import (
    DispatchDraft,
    Document,
    DocumentProgress,
)
from shared.warehouse.packing import rules, views
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from shared.warehouse.packing.service import change_order
from shared.warehouse.picking import dispatch
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.settings.values import settings_of

type _Orders = list[Record[StoredPackingOrder]]


def dispatch_exit_document(
    tx: Transaction, number: int, checked: Checked[DispatchDraft]
) -> Record[Document]:
    """Dispatch the staged goods of an exit document and raise shipment.dispatched.

    Its packing orders become `shipped`, their units `dispatched`. Quantities that were not picked
    stay open, or are given up and the document is closed: see `DispatchDraft`.

    Raises:
        Conflict: The document is closed, being picked or being packed, or nothing is picked for
            it; with the setting `packing_required`, also when staged goods have no packed packing
            order.
    """
    return run_steps(tx, lambda: _dispatch_step(tx, number, checked))


def _dispatch_step(
    tx: Transaction, number: int, checked: Checked[DispatchDraft]
) -> Record[Document] | None:
    """Dispatch as many picks as fit, then as many units; with the last, record the dispatch."""
    staged = dispatch.read_staged(tx, number)
    rest = ensure_valid(checked).rest or settings_of(tx.company).dispatch_rest
    orders = _packed_orders(tx.store, number, [one.entity for one in staged.pickings])
    if dispatch.dispatch_picks(tx, staged, closes=rest == "close"):
        units = _ship(tx, orders)
        if units is not None:
            shown = {"units": [views.shipped_unit(unit.entity) for unit in units]}
            return documents.record_dispatch(tx, staged.document, rest, shown)
    # Changes nothing, but fails when another request has changed the document meanwhile.
    documents.advance_document(tx, "exit", staged.document, DocumentProgress())
    return None


def is_ready_for_dispatch(store: Store, document: Document) -> bool:
    """Return whether the packing of an exit document admits the dispatch of its staged goods."""
    pickings = picking_service.get_pickings(store, document.finished)
    try:
        _packed_orders(store, document.id, [one.entity for one in pickings])
    except Conflict:
        return False
    return True


def _packed_orders(store: Store, document: int, pickings: Sequence[StoredPicking]) -> _Orders:
    """Read the packing orders of the goods; Conflict when these cannot leave yet."""
    named = sorted({order for one in pickings if (order := one.packing_order_for(document))})
    found = PACKING_ORDERS.get_many(store, named) if named else []
    # That of a picking of release 2.0 may be for another of its documents.
    orders = [one for one in found if one.entity.exit_document_id == document]
    rules.ensure_packed([one.entity for one in orders])
    if settings_of(store.company).packing_required:
        rules.ensure_all_packed(document, pickings, {one.id for one in orders})
    return orders


def _ship(tx: Transaction, orders: _Orders) -> list[Record[StoredUnit]] | None:
    """Make the units of packing orders dispatched, and orders without others shipped.

    Returns all units, or None when some are left for another step.
    """
    all_units: list[Record[StoredUnit]] = []
    for record in orders:
        units = UNITS.get_many(tx.store, [entry.id for entry in record.entity.units])
        all_units += units
        if record.entity.is_active and not _ship_order(tx, record, units):
            return None
    return all_units


def _ship_order(
    tx: Transaction, record: Record[StoredPackingOrder], units: list[Record[StoredUnit]]
) -> bool:
    """Make as many units of a packing order dispatched as fit; return whether all are.

    After short packing, units may be open, and only dispatch ends their changes. A unit is not
    dispatched before those in it, which were created later.
    """
    order = record.entity
    own = record.cost + Cost(1)  # the order and its event
    if not (tx.is_empty or has_room(tx, own)):
        return False
    for unit in reversed(units):
        if unit.entity.status == "dispatched":
            continue
        if not (tx.is_empty or has_room(tx, own + unit.cost)):
            if order is not record.entity:
                change_order(tx, record, order)
            return False
        inside = rules.units_inside(order, unit.id)
        after = UNITS.save(tx, unit, unit.entity, status="dispatched", inside=inside).entity
        order = rules.with_entry(order, rules.entry_for(after))
    change_order(tx, record, order, status="shipped", shipped_at=tx.now)
    return True

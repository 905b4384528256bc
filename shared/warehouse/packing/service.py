"""Use cases of packing orders: create, complete, cancel, read and list them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS, Cost, StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import STEP_ACTIONS, STEP_BYTES, fitting_items, has_room, run_steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import (
    Checked,
    InvalidBody,
    ensure_valid,
    of_valid_fields,
    valid_entries,
)
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.packing import contents_rules, reading, repository, rules, views
from shared.warehouse.packing.actions import ACTIONS
from shared.warehouse.packing.models import (
    PackingEnd,
    PackingOrderDraft,
    ShippingDetails,
    StoredPackingOrder,
    StoredUnit,
)
from shared.warehouse.packing.reading import OrderWithUnits, with_units
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.models import StoredPicking, packing_order_code
from shared.warehouse.settings.values import settings_of
from shared.warehouse.work.address import lines_of, recipient_of
from shared.warehouse.work.operators import read_operator

_MAX_PARTS = MAX_PLANNED_ACTIONS - 20
"""Items of the pickings of a packing order. The other 20 actions are for the order and the stored
response, of up to 8 items each, the event and the counters."""

type _Pickings = list[Record[StoredPicking]]


def create_packing_order(tx: Transaction, checked: Checked[PackingOrderDraft]) -> OrderWithUnits:
    """Create a packing order for the staged goods of an exit document.

    The pickings of the goods name the order from now on, so they cannot be reverted. They are
    finalized, and have goods for one document that are still staged.

    Raises:
        Conflict: A picking has an active packing order for the document.
    """
    is_valid = not isinstance(checked, InvalidBody)
    staged, operator, _ = run_all(
        lambda: _staged_goods(tx, checked),
        lambda: read_operator(tx),
        lambda: tx.reserve_ids(PACKING_ORDERS.kind, 1) if is_valid else None,
    )
    problems = [*rules.draft_problems(checked), *staged.problems]
    draft = ensure_valid(checked, of_valid_fields(checked, problems))
    packing = _packing_orders_of(tx, staged.pickings)
    ensure_valid(draft, _size_problems(draft, staged.pickings))
    pickings = [record.entity for record in staged.pickings]
    document, known = staged.document, staged.known
    assert document is not None  # noqa: S101 - a valid draft has goods of a document
    rules.ensure_free(document.id, packing)
    warehouse, address = known.warehouses.get(document.whs_code), document.ship_to_address
    names = {code: product.name for code, product in known.products.items()}
    number = tx.next_id(PACKING_ORDERS.kind)
    order = StoredPackingOrder(
        id=number,
        status="open",
        exit_document_id=document.id,
        document_type=document.type,
        shipping=ShippingDetails(
            sender=warehouse.name if warehouse else document.whs_code,
            recipient=recipient_of(address) or document.card_name or document.card_code,
            ship_to="\n".join(lines_of(address)) if address else document.ship_to,
            external_ref=document.external_ref,
        ),
        whs_code=document.whs_code,
        picking_ids=[picking.id for picking in pickings],
        station=draft.station,
        operator=operator,
        created_at=tx.now,
        updated_at=tx.now,
        lines=rules.lines_for(pickings, document.id, names),
    )
    for record in staged.pickings:
        orders = {one.exit_document_id: one.id for one in packing[record.id]}
        picking_service.set_packing_orders(tx, record, {**orders, document.id: number})
    return OrderWithUnits(PACKING_ORDERS.insert(tx, number, order))


@dataclass(frozen=True, slots=True)
class _StagedGoods:
    """The goods that a draft names; without a document there are problems."""

    pickings: _Pickings
    problems: Sequence[Problem]
    document: Document | None = None
    known: MasterData = field(default_factory=lambda: MasterData({}, {}, {}))


def _staged_goods(tx: Transaction, draft: Checked[PackingOrderDraft]) -> _StagedGoods:
    number = draft.exit_document_id
    if draft.picking_ids is None and number is not None:
        found = documents.get_documents(tx.store, "exit", [number])
        if not found:
            problem = Problem("exit_document_id", f"no exit document has the id {number}")
            return _StagedGoods([], [problem])
        document = found[0].entity
        pickings, known = run_all(
            lambda: picking_service.get_pickings(tx.store, document.finished),
            lambda: _known(tx, {line.item_code for line in document.lines}, document.whs_code),
        )
        found_problems = rules.document_problems(number, [one.entity for one in pickings])
        return _StagedGoods(pickings, list(found_problems), document, known)
    named = [*valid_entries(draft.picking_ids)]
    pickings = picking_service.get_pickings(tx.store, [one for _, one in named])
    problems = list(rules.picking_problems(named, pickings))
    if problems or not pickings:
        return _StagedGoods(pickings, problems)
    first = pickings[0].entity
    codes = {line.item_code for record in pickings for line in record.entity.lines}
    [record], known = run_all(
        lambda: documents.get_documents(tx.store, "exit", [first.documents[0].id]),
        lambda: _known(tx, codes, first.whs_code),
    )
    return _StagedGoods(pickings, problems, record.entity, known)


def _known(tx: Transaction, codes: Collection[str], whs_code: str) -> MasterData:
    return NamedCodes(products=codes, warehouses=[whs_code]).read(tx)


def _packing_orders_of(tx: Transaction, pickings: _Pickings) -> dict[int, list[StoredPackingOrder]]:
    """Return the packing orders that each picking names, by its id."""
    named = {one.id: one.entity.packing_order_ids for one in pickings}
    numbers = set().union(*named.values())
    found = PACKING_ORDERS.get_many(tx.store, numbers) if numbers else []
    orders = {order.id: order.entity for order in found}
    return {one: [orders[order] for order in of_one] for one, of_one in named.items()}


def _size_problems(draft: PackingOrderDraft, pickings: _Pickings) -> Iterator[Problem]:
    """Yield a problem when the pickings do not fit into one transaction."""
    cost = sum((record.cost for record in pickings), Cost())
    if cost.actions > _MAX_PARTS or cost.size > STEP_BYTES:
        field = "exit_document_id" if draft.picking_ids is None else "picking_ids"
        yield Problem(field, "the pickings are too large for one packing order; name fewer")


# The end


def complete_packing_order(
    tx: Transaction, number: int, checked: Checked[PackingEnd]
) -> OrderWithUnits:
    """Complete a packing order: everything is in closed units, or the rest is left unpacked.

    Open units in which nothing is are deleted; more than fit into one transaction in steps.

    Raises:
        Conflict: Goods are not packed, or a unit with goods is open; with the setting
            `rfid_required`, also when the order has not passed an RFID validation since its last
            change.
    """
    completed = run_steps(tx, lambda: _complete_step(tx, number, checked))
    return with_units(tx.store, completed)


def _complete_step(
    tx: Transaction, number: int, checked: Checked[PackingEnd]
) -> Record[StoredPackingOrder] | None:
    record = PACKING_ORDERS.get(tx.store, number)
    end = ensure_valid(checked, of_valid_fields(checked, rules.end_problems(checked)))
    order = record.entity
    ACTIONS.ensure(order, "complete")
    reason = rules.short_reason(order, end)
    needs_validation = settings_of(tx.company).rfid_required
    if needs_validation and not repository.has_passed(tx.store, record):
        code = packing_order_code(number)
        raise Conflict(f"{code} needs a passed RFID validation of the order after its last change.")
    order = _without_fitting(tx, order, _units_to_delete(tx, rules.empty_units(order)))
    if rules.empty_units(order):
        changed = change_order(tx, record, order)
        if needs_validation:
            repository.put_passed(tx, changed)  # its goods are the same
        return None
    return change_order(tx, record, order, status="packed", packed_at=tx.now, short_reason=reason)


def _units_to_delete(tx: Transaction, numbers: Sequence[int]) -> list[Record[StoredUnit]]:
    """Read as many of these units of a packing order as a step can delete."""
    first = numbers[:STEP_ACTIONS]
    units = UNITS.get_many(tx.store, first) if first else []
    if len(units) < len(first):
        raise StaleRead  # a unit was deleted since its order was read
    return units


def _without_fitting(
    tx: Transaction, order: StoredPackingOrder, units: Sequence[Record[StoredUnit]]
) -> StoredPackingOrder:
    """Delete as many of these units as fit into the step; return the packing order without them."""
    fitting = fitting_items(tx, units, lambda unit: unit.cost)
    for unit in fitting:
        UNITS.remove(tx, unit)
    return contents_rules.without_units(order, [unit.entity for unit in fitting])


def cancel_packing_order(tx: Transaction, number: int) -> OrderWithUnits:
    """Cancel a packing order: its goods are staged and unpacked, its units are deleted.

    More units than fit into one transaction are deleted in steps; a packed order is being packed
    meanwhile.

    Raises:
        StaleState: The goods are being dispatched.
    """
    return OrderWithUnits(run_steps(tx, lambda: _cancel_step(tx, number)))


def _cancel_step(tx: Transaction, number: int) -> Record[StoredPackingOrder] | None:
    record = PACKING_ORDERS.get(tx.store, number)
    order = record.entity
    ACTIONS.ensure(order, "cancel")
    # Units that stand in others were created after them: they go first.
    numbers = [entry.id for entry in reversed(order.units)]
    units, pickings = run_all(
        lambda: _units_to_delete(tx, numbers),
        lambda: picking_service.get_pickings(tx.store, order.picking_ids),
    )
    found = [picking.entity for picking in pickings]
    if rules.is_leaving(order, found):
        tx.read_twice("dispatch")  # the order may be older than the pickings
    rules.ensure_not_dispatched(order, found)
    order = _without_fitting(tx, order, units)
    not_packed = {"packed_at": None, "short_reason": None}
    rest = sum((picking.cost for picking in pickings), record.cost)
    if order.units or not (tx.is_empty or has_room(tx, rest)):
        status = "in_progress" if order.status == "packed" else order.status
        change_order(tx, record, order, status=status, **not_packed)
        return None
    for picking in pickings:
        orders = picking.entity.packing_orders
        others = {document: one for document, one in orders.items() if one != number}
        picking_service.set_packing_orders(tx, picking, others)
    return change_order(tx, record, order, status="cancelled", **not_packed)


def record_passed_validation(tx: Transaction, record: Record[StoredPackingOrder]) -> None:
    """Record that the tags of a packing order are those of its goods; StaleRead if it changes."""
    tx.check(PACKING_ORDERS.key(record.id), version=record.version)
    repository.put_passed(tx, record)


def change_order(
    tx: Transaction,
    record: Record[StoredPackingOrder],
    order: StoredPackingOrder,
    **values: object,
) -> Record[StoredPackingOrder]:
    """Save a packing order, and raise packing_order.transitioned if its status is new."""
    changed = PACKING_ORDERS.save(tx, record, order, **values)
    views.raise_transition(tx, changed, record.entity.status)
    return changed


# Reading

list_packing_orders = list_of(PACKING_ORDERS)


def get_packing_order(store: Store, number: int) -> OrderWithUnits:
    """Read a packing order with its units, and whether its goods are leaving."""
    store = store.repeatable()
    order = PACKING_ORDERS.get(store, number).entity
    found, is_leaving = run_all(
        lambda: reading.get_packing_order(store, number), lambda: _is_leaving(store, order)
    )
    return replace(found, is_leaving=is_leaving)


def _is_leaving(store: Store, order: StoredPackingOrder) -> bool:
    """Return whether a dispatch of a packed order was interrupted, or is in progress."""
    if order.status != "packed":
        return False
    pickings = picking_service.get_pickings(store, order.picking_ids)
    return rules.is_leaving(order, [one.entity for one in pickings])

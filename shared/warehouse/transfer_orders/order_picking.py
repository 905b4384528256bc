"""A transfer order at its origin: released, picked, or given up."""

from collections.abc import Mapping

from shared.identity.tenancy.tenant import Substitution
from shared.kernel.db import references
from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import StaleRead, Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem, ValidationFailed
from shared.warehouse.documents.models import Progress
from shared.warehouse.picking import picks
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.allocation import allocate_rest
from shared.warehouse.picking.models import PickDraft, PickingEnd, StoredPicking
from shared.warehouse.transfer_orders import progress_rules as rules
from shared.warehouse.transfer_orders.models import OrderStatus, PickerChoice, StoredTransferOrder
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS, holder
from shared.warehouse.work_records import DocumentReference, Operator


def release_transfer_order(
    tx: Transaction, number: int, choice: PickerChoice, *, by_client: bool
) -> Record[StoredTransferOrder]:
    """Release an order for picking: stock of the origin is allocated as far as there is any.

    `by_client`: an integration client asks. Raises ValidationFailed when it names no
    picker, StaleState unless the order is a draft.
    """
    if by_client and choice.picker_id is None:
        message = "is required when an integration client releases"
        raise ValidationFailed([Problem("picker_id", message)])
    # One transaction may not hold all promises: the first ones come with the release.
    record, lacks = run_transaction(
        tx.store,
        lambda own: _release(own, number, choice),
        caller=tx.caller,
        idempotency_record=tx.idempotency_record,
    )
    if lacks:
        allocate_rest(tx, record.entity.picking_id or 0)
    return record


def _release(
    own: Transaction, number: int, choice: PickerChoice
) -> tuple[Record[StoredTransferOrder], bool]:
    """Stage the release, unless an earlier attempt of this request has committed it."""
    record = TRANSFER_ORDERS.get(own.store, number)
    begun = record.entity.picking_id
    if begun is not None and picking_service.was_created_by_request(own, begun):
        return record, True
    rules.ensure_status(record.entity, "draft")
    after, lacks = create_picking_for(own, record.entity, choice.picker_id)
    return TRANSFER_ORDERS.replace(own, record, after), lacks


def create_picking_for(
    tx: Transaction, order: StoredTransferOrder, picker_id: int | None
) -> tuple[StoredTransferOrder, bool]:
    """Stage the picking of an order, with promises of stock to its first lines.

    Returns the order as released for it, and whether anything has no promise so far.
    """
    picker = picker_id or (tx.caller.user_id if tx.caller else None)
    reference = DocumentReference(
        id=order.id,
        type="transfer_order",
        doc_num=f"TO-{order.id}",
        card_code=None,
        external_ref=order.external_ref,
    )
    begun = picking_service.new_picking(
        tx,
        operator=Operator(id=picker, name=None) if picker else None,
        priority=order.priority,
        documents=[reference],
        whs_code=order.origin.code,
        warehouse_id=order.origin.id,
        lines=rules.picking_lines(order),
    )
    lines = picking_service.insert_picking(tx, begun, _record_nothing, allocate=True).entity.lines
    lacks = any(line.qty > sum(one.qty for one in line.allocations) for line in lines)
    return rules.released(order, picking_id=begun.id, picker_id=picker, now=tx.now), lacks


def _record_nothing(
    _tx: Transaction, _picking: StoredPicking, _progress: Mapping[int, Progress]
) -> None:
    """The order is staged by whoever acts on it, with what became of its picking."""


def pick(
    tx: Transaction, number: int, draft: PickDraft, substitution: Substitution
) -> Record[StoredTransferOrder]:
    """Note what was picked for an order; with the last of it the order is picked.

    Raises ValidationFailed when it is not what was allocated (or may be picked instead),
    StaleState or Conflict unless the order is being picked.
    """
    record = TRANSFER_ORDERS.get(tx.store, number)
    rules.ensure_status(record.entity, "released", "picking")
    after = picks.pick_for_transfer_order(
        tx, _open_picking(tx, record.entity), draft, substitution
    ).entity
    state: OrderStatus = "picked" if after.status == "finalized" else "picking"
    return TRANSFER_ORDERS.replace(tx, record, rules.picked(record.entity, after, state, tx.now))


def finish_picking(tx: Transaction, number: int) -> Record[StoredTransferOrder]:
    """End the picking of an order, also when not everything was picked; the rest is free again.

    Raises StaleState or Conflict unless something of the order has been picked.
    """
    record = TRANSFER_ORDERS.get(tx.store, number)
    rules.ensure_status(record.entity, "picking")
    end = PickingEnd(shortage_reason="other")
    ended = picking_service.end_picking(tx, _open_picking(tx, record.entity), end, _record_nothing)
    after = rules.picked(record.entity, ended.entity, "picked", tx.now)
    return TRANSFER_ORDERS.replace(tx, record, after)


def cancel_transfer_order(tx: Transaction, number: int) -> Record[StoredTransferOrder]:
    """Give an order up: what was allocated is free, what was picked lies on its shelf again.

    Raises StaleState once the order is picked, or was cancelled already.
    """
    record = TRANSFER_ORDERS.get(tx.store, number)
    rules.ensure_status(record.entity, "draft", "released", "picking")
    if record.entity.picking_id is None:
        references.release_references(tx, holder(number))
        return TRANSFER_ORDERS.replace(tx, record, rules.cancelled(record.entity, tx.now))
    _open_picking(tx, record.entity)
    told: list[Record[StoredTransferOrder]] = []

    def tell(own: Transaction, after: StoredPicking, progress: Mapping[int, Progress]) -> None:
        for what in progress.values():
            before = TRANSFER_ORDERS.get(own.store, number)
            rules.ensure_status(before.entity, "released", "picking")
            order = rules.picked(before.entity, after, before.entity.status, own.now)
            if what.ends is not None:
                order = rules.cancelled(order, own.now)
                references.release_references(own, holder(number))
            told.append(TRANSFER_ORDERS.replace(own, before, order))

    picking_service.undo_picking(
        tx, record.entity.picking_id, tell, "cancelled", "pending", "started"
    )
    return told[-1]


def _open_picking(tx: Transaction, order: StoredTransferOrder) -> Record[StoredPicking]:
    """Read the picking of an order that is being picked."""
    record = picking_service.get_picking(tx.store, order.picking_id or 0)
    if record.entity.status not in {"pending", "started"}:
        # It ended, and the order with it, since the order was read.
        raise StaleRead
    return record

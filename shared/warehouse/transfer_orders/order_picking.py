"""Release transfer orders, pick them at their origin, and cancel them."""

from collections.abc import Mapping, Sequence

from shared.kernel import references
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.validation import Checked, ensure_valid, of_valid_fields
from shared.warehouse.documents.models import DocumentProgress
from shared.warehouse.picking import picks, undo_picks
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.allocation import allocate_lines, allocate_rest
from shared.warehouse.picking.models import (
    PickDraft,
    PickingEnd,
    PicksDraft,
    StoredPicking,
)
from shared.warehouse.transfer_orders import progress_rules as rules
from shared.warehouse.transfer_orders.actions import ACTIONS
from shared.warehouse.transfer_orders.models import (
    OrderStatus,
    PickerChoice,
    StoredTransferOrder,
    order_code,
)
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from shared.warehouse.work.models import DocumentReference, Operator, WorkStatus
from shared.warehouse.work.operators import operator_problems, read_operator

_OPEN: Sequence[WorkStatus] = ("pending", "started")
_ENDED: Sequence[WorkStatus] = ("finalized", "synchronized")
"""Statuses of the picking of an order that is released or picking, and of one that is picked."""


def release_transfer_order(
    tx: Transaction, number: int, choice: Checked[PickerChoice], *, by_client: bool
) -> Record[StoredTransferOrder]:
    """Release a draft for picking, and allocate the stock that the origin has for it.

    `by_client` is true when an integration client sends the request, which must name a picker.
    """
    # The release allocates as many lines as fit into its transaction; the others follow in steps.
    # How many rows that takes is known only when they are chosen, so the release commits first.
    record, lacks = run_transaction(
        tx.store,
        lambda inner_tx: _release(inner_tx, number, choice, by_client=by_client),
        caller=tx.caller,
        request_name=tx.request_name,
    )
    if lacks:
        allocate_rest(tx, record.entity.picking_id or 0)
    return record


def _release(
    inner_tx: Transaction, number: int, choice: Checked[PickerChoice], *, by_client: bool
) -> tuple[Record[StoredTransferOrder], bool]:
    """Release the order, unless an earlier attempt of the request has committed it.

    Returns the order, and whether a line lacks stock so far.
    """
    record, picker = run_all(
        lambda: TRANSFER_ORDERS.get(inner_tx.store, number),
        lambda: read_operator(inner_tx, choice.picker_id),
    )
    problems = [
        *rules.missing_picker(choice, by_client=by_client),
        *operator_problems("picker_id", choice.picker_id, picker),
    ]
    ensure_valid(choice, of_valid_fields(choice, problems))
    existing = record.entity.picking_id
    if existing is not None and picking_service.was_created_by_request(inner_tx, existing):
        return record, True
    ACTIONS.ensure(record.entity, "release")
    after, lacks = create_picking_for(inner_tx, record.entity, picker)
    return TRANSFER_ORDERS.save(inner_tx, record, after), lacks


def create_picking_for(
    tx: Transaction, order: StoredTransferOrder, picker: Operator | None
) -> tuple[StoredTransferOrder, bool]:
    """Create the picking of an order, with stock allocated to its first lines.

    Returns the order as released, and whether a line lacks stock so far.
    """
    reference = DocumentReference(
        id=order.id,
        type="transfer_order",
        doc_num=order_code(order.id),
        card_code=None,
        external_ref=order.external_ref,
    )
    unallocated = picking_service.new_picking(
        tx,
        operator=picker,
        priority=order.priority,
        carrier_code=order.carrier_code,
        documents=[reference],
        whs_code=order.origin.code,
        warehouse_id=order.origin.id,
        lines=rules.picking_lines(order),
    )
    picking = allocate_lines(tx, unallocated, whole=False)
    picking_service.insert_picking(tx, picking)
    lacks = any(line.unallocated for line in picking.lines)
    facts = {"picking_id": picking.id, "picker_id": picker.id if picker else None}
    return order.model_copy(update={"status": "released", **facts}), lacks


def pick(
    tx: Transaction, number: int, body: Checked[PicksDraft]
) -> tuple[Record[StoredTransferOrder], Mapping[int, str]]:
    """Pick goods of an order; with the last ones, the order is picked. See `picks.pick_lines`.

    They are allocated to the order, or may be picked instead.
    """

    def order() -> Record[StoredTransferOrder]:
        return TRANSFER_ORDERS.get(tx.store, number)

    def read() -> Record[StoredPicking]:
        ACTIONS.ensure(order().entity, "picks")
        return _read_picking(tx, order().entity, *_OPEN)

    def save(record: Record[StoredPicking], picking: StoredPicking) -> Record[StoredTransferOrder]:
        after = picks.save_for_transfer_order(tx, record, picking).entity
        state: OrderStatus = "picked" if after.status == "finalized" else "picking"
        before = order()
        return TRANSFER_ORDERS.save(tx, before, rules.picked(before.entity, after), status=state)

    def read_ahead(_: object) -> None:
        read_operator(tx)  # `save_for_transfer_order` finds it in the cache

    target = picks.PickTarget(read, read_ahead, lambda _: order().cost, save, order)
    return picks.pick_lines(tx, body, target)


def undo_pick(
    tx: Transaction, number: int, draft: Checked[PickDraft]
) -> Record[StoredTransferOrder]:
    """Undo what was picked for an order that is not dispatched; the order is picking again."""
    record = TRANSFER_ORDERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "undo")
    picking = _read_picking(tx, record.entity, "started", *_ENDED)
    after = undo_picks.undo_pick_for_transfer_order(tx, picking, draft).entity
    return TRANSFER_ORDERS.save(tx, record, rules.picked(record.entity, after), status="picking")


def finish_picking(tx: Transaction, number: int) -> Record[StoredTransferOrder]:
    """Finish the picking of an order with picked goods, and release its remaining allocations."""
    record = TRANSFER_ORDERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "finish-picking")
    end = PickingEnd(shortage_reason="other")
    # The order is saved below, with all progress of its picking.
    ended = picking_service.release_and_finalize(
        tx, _read_picking(tx, record.entity, *_OPEN), end, lambda *_: None
    )
    after = rules.picked(record.entity, ended.entity)
    return TRANSFER_ORDERS.save(tx, record, after, status="picked")


def cancel_transfer_order(tx: Transaction, number: int) -> Record[StoredTransferOrder]:
    """Cancel an order that is not dispatched: its allocated and staged goods become available."""
    record = TRANSFER_ORDERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "cancel")
    if record.entity.picking_id is None:
        references.release_references(tx, TRANSFER_ORDERS.kind, number)
        return TRANSFER_ORDERS.save(tx, record, record.entity, status="cancelled")
    order = record.entity
    _read_picking(tx, order, *_OPEN, *_ENDED)
    cancelled: list[Record[StoredTransferOrder]] = []

    def record_progress(
        inner_tx: Transaction, after: StoredPicking, progress: Mapping[int, DocumentProgress]
    ) -> None:
        for one in progress.values():
            before = TRANSFER_ORDERS.get(inner_tx.store, number)
            ACTIONS.ensure(before.entity, "cancel")
            changed = rules.picked(before.entity, after)
            if one.ended_work is None:
                TRANSFER_ORDERS.save(inner_tx, before, changed)
                continue
            references.release_references(inner_tx, TRANSFER_ORDERS.kind, number)
            cancelled.append(TRANSFER_ORDERS.save(inner_tx, before, changed, status="cancelled"))

    picking_service.undo_picking(
        tx,
        record.entity.picking_id,
        record_progress,
        "cancelled",
        lambda _: _read_picking(tx, order, *_OPEN, *_ENDED),
    )
    if not cancelled:
        # The rest of its goods was dispatched after the first step.
        raise StaleRead
    return cancelled[-1]


def _read_picking(
    tx: Transaction, order: StoredTransferOrder, *expected: WorkStatus
) -> Record[StoredPicking]:
    """Read the picking of an order that is not dispatched.

    Raises:
        StaleRead: The order was read before it got another status: its picking has none of the
            `expected` ones, or its goods are dispatched.
    """
    record = picking_service.get_picking(tx.store, order.picking_id or 0)
    picks = [pick for line in record.entity.lines for pick in line.picks]
    is_dispatched = bool(picks) and all(pick.dispatched for pick in picks)
    if is_dispatched or record.entity.status not in expected:
        raise StaleRead
    return record

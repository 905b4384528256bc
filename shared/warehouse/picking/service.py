"""Use cases of pickings: create, allocate, start, finalize, cancel and revert them."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from shared.kernel.db.actions import Cost
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.validation import Checked, InvalidBody, ensure_valid, of_valid_fields
from shared.warehouse.approvals import service as approvals
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.changes import change_document
from shared.warehouse.documents.models import Document, DocumentProgress, ExitChange
from shared.warehouse.picking import actions, repository, rules, views
from shared.warehouse.picking.actions import ACTIONS
from shared.warehouse.picking.allocation import (
    DoesNotFitOneTransaction,
    allocate_lines,
    allocate_rest,
)
from shared.warehouse.picking.models import (
    PickingDraft,
    PickingEnd,
    StoredPicking,
    StoredPickingLine,
)
from shared.warehouse.picking.reallocation import release_refused
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.undo_picking import RecordProgress, undo_work
from shared.warehouse.picking.urgency import following
from shared.warehouse.settings.values import settings_of
from shared.warehouse.work.models import Operator, WorkStatus
from shared.warehouse.work.operators import operator_from_start, operator_problems, read_operator

type PickingHook = Callable[[Transaction, Record[StoredPicking]], None]
"""Called in the transaction in which a picking of exit documents is started, finalized or
cancelled, with the picking afterwards. Routes pass that of waves, which pickings cannot import."""

_NAMES = uuid.UUID("6a1f6f0e-7a68-4c39-9f5a-2f4f1f3b9c11")


def record_exit_progress(
    tx: Transaction, _picking: StoredPicking, progress: Mapping[int, DocumentProgress]
) -> None:
    """Record the progress of a picking on its exit documents: the `RecordProgress` of pickings."""
    for record in documents.get_documents(tx.store, "exit", progress):
        documents.advance_document(tx, "exit", record, progress[record.id])


# Creation


def create_picking(tx: Transaction, checked: Checked[PickingDraft]) -> Record[StoredPicking]:
    """Create a picking of every open quantity of its exit documents, and allocate stock to it.

    A quantity that is not in stock stays unallocated. The documents are of one warehouse.

    Raises:
        Conflict: A document has nothing open or is already being picked.
    """
    found, _, operator = run_all(
        lambda: documents.get_documents(tx.store, "exit", rules.document_ids(checked)),
        lambda: None if isinstance(checked, InvalidBody) else tx.reserve_ids(PICKINGS.kind, 1),
        lambda: read_operator(tx, checked.operator_id),
    )
    problems = [
        *rules.document_problems(checked, found),
        *operator_problems("operator_id", checked.operator_id, operator),
    ]
    draft = ensure_valid(checked, of_valid_fields(checked, problems))
    existing = _created_by_request(tx, found)
    if existing is None:
        with suppress(DoesNotFitOneTransaction):
            return _insert(tx, draft, operator, allocate=draft.allocate is not False)
        # The allocation does not fit: create the picking first, then allocate in steps.
        existing = run_transaction(
            tx.store,
            lambda inner_tx: _insert(inner_tx, draft, operator, allocate=False).id,
            caller=tx.caller,
            request_name=tx.request_name,
        )
    if draft.allocate is not False:
        allocate_rest(tx, existing)
    return PICKINGS.get(tx.store, existing)


def _uuid(tx: Transaction) -> str:
    """Return the UUID of a new picking: the same for every attempt of one request."""
    return str(
        uuid.uuid5(_NAMES, f"{tx.store.slug} {tx.request_name}")
        if tx.request_name
        else uuid.uuid4()
    )


def was_created_by_request(tx: Transaction, number: int) -> bool:
    """Return whether an earlier attempt of the present request has created the picking."""
    return tx.request_name is not None and PICKINGS.get(tx.store, number).entity.uuid == _uuid(tx)


def _created_by_request(tx: Transaction, found: Sequence[Record[Document]]) -> int | None:
    """Return the id of the picking that an earlier attempt of the request has created, if any."""
    works = {work for record in found for work in record.entity.works}
    number = works.pop() if len(works) == 1 else None
    return number if number is not None and was_created_by_request(tx, number) else None


def _insert(
    tx: Transaction, draft: PickingDraft, operator: Operator | None, *, allocate: bool
) -> Record[StoredPicking]:
    """Create the picking of a valid draft as work in progress on its documents.

    With `allocate`, it raises DoesNotFitOneTransaction when the stock of all lines does not fit.
    """
    found = documents.get_documents(tx.store, "exit", rules.document_ids(draft))
    for record in found:
        documents.ensure("exit", record.entity, "pick")
    first = found[0].entity
    named = {name: getattr(draft, name) for name in ("priority", "carrier_code")}
    own = {name: value for name, value in named.items() if value is not None}
    picking = new_picking(
        tx,
        concept=draft.concept,
        comments=draft.comments,
        operator=operator,
        **following([one.entity for one in found]) | own,
        documents=[documents.reference_to("exit", record) for record in found],
        whs_code=first.whs_code,
        warehouse_id=first.named["warehouse"][0],
        lines=rules.lines_for(found),
    )
    if allocate:
        picking = allocate_lines(tx, picking, whole=True)
    for record in found:
        started = DocumentProgress(started_work=picking.id)
        documents.advance_document(tx, "exit", record, started)
    return insert_picking(tx, picking)


def insert_allocated(
    tx: Transaction, number: int, document: Record[Document], lines: Sequence[StoredPickingLine]
) -> Record[StoredPicking]:
    """Create the picking `number` of an exit document that names it as work in progress.

    Its lines have their allocations. It raises picking.created.
    """
    picking = new_picking(
        tx,
        number,
        documents=[documents.reference_to("exit", document)],
        whs_code=document.entity.whs_code,
        warehouse_id=document.entity.named["warehouse"][0],
        lines=lines,
    )
    return insert_picking(tx, picking)


def new_picking(tx: Transaction, number: int | None = None, **facts: Any) -> StoredPicking:
    """Return a new pending picking for `insert_picking`; `facts` are its other fields."""
    return StoredPicking(
        id=tx.next_id(PICKINGS.kind) if number is None else number,
        uuid=_uuid(tx),
        status="pending",
        user_id=tx.caller.user_id if tx.caller else None,
        created_at=tx.now,
        updated_at=tx.now,
        **facts,
    )


def insert_picking(tx: Transaction, picking: StoredPicking) -> Record[StoredPicking]:
    """Create a picking and raise picking.created; the caller advances what it picks for."""
    record = PICKINGS.insert(tx, picking.id, picking)
    raise_record_event(tx, "picking.created", views.PICKING_EVENTS, record)
    return record


# Status changes


def start_picking(tx: Transaction, number: int, hook: PickingHook) -> Record[StoredPicking]:
    """Start a pending picking."""
    record, acting = run_all(lambda: PICKINGS.get(tx.store, number), lambda: read_operator(tx))
    picking = record.entity
    actions.ensure(picking, "start")
    operator = operator_from_start(picking.operator, picking.user_id, acting)
    started = PICKINGS.save(
        tx, record, picking, status="started", started_at=tx.now, operator=operator
    )
    hook(tx, started)
    return started


def allocate_pickings(tx: Transaction, *numbers: int) -> None:
    """Allocate stock to pickings in one warehouse as `allocate_rest` does, in their order.

    Allocated goods that may not be picked any more, because they have expired, are replaced.
    """
    release_refused(tx, *numbers)
    allocate_rest(tx, *numbers)


def allocate_picking(tx: Transaction, number: int) -> Record[StoredPicking]:
    """Allocate stock to the lines of a picking that lack some, also to that of a transfer order."""
    record = PICKINGS.get(tx.store, number)
    actions.ensure(record.entity, "allocate")
    allocate_pickings(tx, number)
    record = PICKINGS.get(tx.store, number)
    # It may have ended before the first step.
    actions.ensure(record.entity, "allocate")
    return record


def finalize_picking(
    tx: Transaction,
    number: int,
    end: Checked[PickingEnd],
    hook: PickingHook,
) -> Record[StoredPicking]:
    """Finalize a started picking, release its remaining allocations and raise picking.completed.

    A line that was not picked completely needs a reason.

    Raises:
        ApprovalRequired: More than `approval_shortage_percent` is short and nobody has approved it.
    """
    shortage_limit = settings_of(tx.company).approval_shortage_percent
    reads = [] if shortage_limit is None else approvals.reads_ahead(tx)
    record, *_ = run_all(lambda: PICKINGS.get(tx.store, number), *reads)
    actions.ensure(record.entity, "finalize")
    ended = release_and_finalize(tx, record, end, record_exit_progress, shortage_limit)
    hook(tx, ended)
    return ended


def release_and_finalize(
    tx: Transaction,
    record: Record[StoredPicking],
    checked: Checked[PickingEnd],
    record_progress: RecordProgress,
    shortage_limit: Decimal | None = None,
) -> Record[StoredPicking]:
    """Release the remaining allocations of a picking and finalize it; see `finalize_picking`."""
    ACTIONS.ensure(record.entity, "finalize")
    problems = rules.shortage_problems(record.entity, checked)
    end = ensure_valid(checked, of_valid_fields(checked, problems))
    need = rules.approval_need(record.entity, shortage_limit)
    if need:
        approvals.find_grant(tx, need)
    also = approvals.USE_COST if need else Cost()
    picking = undo_work(tx, record.id, record_progress, picks=False, also=also)
    record = PICKINGS.get(tx.store, record.id)
    ACTIONS.ensure(record.entity, "finalize")
    goods = {line.document_id for line in picking.lines if line.picks}
    progress = rules.document_progress(record.entity, picking, record.id, with_goods=goods)
    record_progress(tx, picking, progress)
    # In the last step: a request that ends before it leaves the grant, and goods that were picked
    # since the first step change the shortage.
    if need := rules.approval_need(record.entity, shortage_limit):
        approvals.require(tx, need)
    return mark_finalized(tx, record, picking, end)


def mark_finalized(
    tx: Transaction, record: Record[StoredPicking], picking: StoredPicking, end: PickingEnd
) -> Record[StoredPicking]:
    """Save `picking`, the changed entity of `record`, as finalized; raise picking.completed."""
    short = rules.is_incomplete(picking)
    lines = [
        line.model_copy(update={"status": rules.line_status(line, ended=True)})
        for line in picking.lines
    ]
    changed = PICKINGS.save(
        tx,
        record,
        picking,
        status="finalized",
        finalized_at=tx.now,
        has_shortage=short,
        shortage_reason=end.shortage_reason if short else None,
        comments=end.comments if end.comments is not None else record.entity.comments,
        lines=lines,
    )
    raise_record_event(tx, "picking.completed", views.PICKING_EVENTS, changed)
    return changed


def cancel_picking(tx: Transaction, number: int, hook: PickingHook) -> Record[StoredPicking]:
    """Cancel a picking that has not ended: its allocated and staged goods become available."""
    ended = _undo_exit_picking(tx, number, "cancel", "cancelled")
    hook(tx, ended)
    return ended


def revert_picking(tx: Transaction, number: int) -> Record[StoredPicking]:
    """Revert a finalized picking: its staged goods return to available stock.

    Goods of documents that were dispatched stay in its lines.

    Raises:
        Conflict: Its goods are packed, or dispatched, some or all of them.
    """
    return _undo_exit_picking(tx, number, "revert", "reverted")


def _undo_exit_picking(
    tx: Transaction, number: int, action: str, status: WorkStatus
) -> Record[StoredPicking]:
    def ensure(picking: StoredPicking) -> None:
        actions.ensure(picking, action)

    ensure(PICKINGS.get(tx.store, number).entity)
    return undo_picking(tx, number, record_exit_progress, status, ensure)


def undo_picking(
    tx: Transaction,
    number: int,
    record_progress: RecordProgress,
    status: WorkStatus,
    ensure: Callable[[StoredPicking], object],
) -> Record[StoredPicking]:
    """Release the allocations of a picking, undo its staged picks and set its status to `status`.

    `ensure` raises an error unless the status of the picking admits it.
    """
    picking = undo_work(tx, number, record_progress, picks=True)
    record = PICKINGS.get(tx.store, number)
    ensure(record.entity)
    left = {line.document_id for line in picking.lines if line.picks}
    progress = rules.document_progress(record.entity, picking, number, without=left)
    record_progress(tx, picking, progress)
    lines = rules.lines_afterwards(picking)
    return PICKINGS.save(
        tx, record, picking, status=status, lines=lines, has_shortage=False, shortage_reason=None
    )


def set_packing_orders(
    tx: Transaction, record: Record[StoredPicking], orders: Mapping[int, int]
) -> None:
    """Record the packing orders of a picking, by document; their goods cannot be reverted."""
    update = {
        "packing_orders": dict(orders),
        "packing_order_id": max(orders.values(), default=None),
    }
    PICKINGS.replace(tx, record, record.entity.model_copy(update=update))


def assign_to_wave(tx: Transaction, record: Record[StoredPicking], wave: int) -> None:
    """Record that a picking is in a wave; StaleRead when it has changed since it was read."""
    PICKINGS.replace(tx, record, record.entity.model_copy(update={"wave_id": wave}))


def synchronize_picking(tx: Transaction, number: int) -> Record[StoredPicking]:
    """Record that the ERP has booked a finalized picking."""
    record = PICKINGS.get(tx.store, number)
    actions.ensure(record.entity, "synchronize")
    return PICKINGS.save(tx, record, record.entity, status="synchronized")


def change_exit_document(
    tx: Transaction, number: int, change: Checked[ExitChange]
) -> Record[Document]:
    """Change an exit document; see `change_document`.

    Its pickings that have not ended get the priority and the due date that follow, those of this
    document alone its carrier, too; a priority or carrier that a picking was given itself stays.
    """
    before = documents.get_document(tx.store, "exit", number).entity
    changed = change_document(tx, "exit", number, change)
    names = [
        name
        for name in ("priority", "due_date", "carrier_code")
        if getattr(before, name) != getattr(changed.entity, name)
    ]
    for record in PICKINGS.get_many(tx.store, before.works) if names else ():
        others = [one.id for one in record.entity.documents if one.id != number]
        found = [one.entity for one in documents.get_documents(tx.store, "exit", others)]
        former, new = following([before, *found]), following([changed.entity, *found])
        follow = [name for name in names if getattr(record.entity, name) == former[name]]
        PICKINGS.update(tx, record, {name: new[name] for name in follow})
    return changed


get_picking = PICKINGS.get
get_pickings = PICKINGS.get_many
list_pickings = repository.list_pickings
pending_pickings = repository.pending_pickings

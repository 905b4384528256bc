"""Use cases of receipts: create them for entry documents, receive goods, finalize them."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from shared.identity.audit import service as audit
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.calendar_days import day_of
from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item, Key
from shared.kernel.db.listing import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.validation import Checked, InvalidBody, ensure_valid, of_valid_fields
from shared.warehouse import references
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.models import Approver
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.gtins import by_item_code
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Difference, Document, DocumentProgress
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.receiving import repository, rules, views
from shared.warehouse.receiving.models import (
    ReceiptApproval,
    ReceiptDraft,
    ReceiptLineDraft,
    ReceiptParameters,
    StoredReceipt,
    StoredReceiptLine,
)
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.models import MovementCause, StockRow
from shared.warehouse.stock.posting import StockPosting, empty_row, fence_master_data
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownPosition
from shared.warehouse.work_records import (
    DocumentReference,
    ensure_status,
    operator_from_start,
    operator_problems,
    read_operator,
)

_AUDITED_FIELDS = ("item_code", "qty", "ordered_qty", "allowed_qty", "received_qty")
"""Fields of an approval that are copied into its entry of the audit log."""
_ONE = Decimal(1)


def create_receipt(tx: Transaction, draft: Checked[ReceiptDraft]) -> Record[StoredReceipt]:
    """Create a receipt for an entry document and raise receipt.created.

    A document may have several receipts.

    Raises:
        ValidationFailed: The draft or what it names is invalid; with all problems.
        Conflict: Nothing is left to receive on the document.
    """
    wanted = [] if draft.document_id is None else [draft.document_id]
    found, _, operator = run_all(
        lambda: documents.get_documents(tx.store, "entry", wanted),
        lambda: None if isinstance(draft, InvalidBody) else tx.reserve_ids(RECEIPTS.kind, 1),
        lambda: read_operator(tx, draft.operator_id),
    )
    problems = [*operator_problems("operator_id", draft.operator_id, operator)]
    if wanted and not found:
        problems.append(Problem("document_id", f"no entry document has the id {wanted[0]}"))
    draft = ensure_valid(draft, problems)
    document, number = found[0], tx.next_id(RECEIPTS.kind)
    documents.ensure_workable(document)
    receipt = StoredReceipt(
        id=number,
        uuid=str(uuid.uuid4()),
        concept=draft.concept,
        status="pending",
        comments=draft.comments,
        user_id=tx.caller.user_id if tx.caller else None,
        operator=operator,
        document=_reference(document),
        whs_code=document.entity.whs_code,
        announced=rules.announces(document.entity),
        created_at=tx.now,
        updated_at=tx.now,
    )
    documents.advance_document(tx, "entry", document, DocumentProgress(started_work=number))
    record = RECEIPTS.insert(tx, number, receipt)
    raise_record_event(tx, "receipt.created", views.RECEIPT_EVENTS, record)
    return record


def _reference(record: Record[Document]) -> DocumentReference:
    document = record.entity
    return DocumentReference(
        id=record.id,
        type=document.type,
        doc_num=doc_num("entry", record.id),
        card_code=document.card_code,
        external_ref=document.external_ref,
    )


# Status changes


def start_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Start a receipt. Raises Conflict unless it is pending."""
    record, acting = run_all(lambda: get_entry_receipt(tx.store, number), lambda: read_operator(tx))
    receipt = record.entity
    ensure_status("Receipt", receipt, "pending")
    operator = operator_from_start(receipt.operator, receipt.user_id, acting)
    return update_receipt(
        tx, record, receipt, status="started", started_at=tx.now, operator=operator
    )


def finalize_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Finalize a receipt and raise receipt.completed. Raises Conflict unless it is started.

    It may have no goods, because a delivery may not arrive.
    """
    record = get_entry_receipt(tx.store, number)
    ensure_status("Receipt", record.entity, "started")
    goods = bool(rules.lines_in_stock(record.entity))
    ended = (
        DocumentProgress(ended_work_with_goods=number)
        if goods
        else DocumentProgress(ended_work=number)
    )
    documents.advance_document(tx, "entry", document_of(tx.store, record.entity), ended)
    after = update_receipt(tx, record, record.entity, status="finalized", finalized_at=tx.now)
    raise_record_event(tx, "receipt.completed", views.RECEIPT_EVENTS, after)
    return after


def synchronize_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Record that the ERP has booked a receipt. Raises Conflict unless it is finalized."""
    record = get_entry_receipt(tx.store, number)
    ensure_status("Receipt", record.entity, "finalized")
    return update_receipt(tx, record, record.entity, status="synchronized")


def get_entry_receipt(store: Store, number: int) -> Record[StoredReceipt]:
    """Read a receipt of an entry document; Conflict when it has none or a transfer order."""
    record = RECEIPTS.get(store, number)
    document = record.entity.document
    if document is None or document.type == "transfer_order":
        code = document.doc_num if document else "no document"
        message = f"Receipt {number} belongs to {code}; use the actions of the transfer order."
        raise Conflict(message)
    return record


def document_of(store: Store, receipt: StoredReceipt) -> Record[Document]:
    """Read the entry document of a receipt."""
    number = receipt.document.id if receipt.document else 0
    return documents.get_document(store, "entry", number)


def update_receipt(
    tx: Transaction, record: Record[StoredReceipt], receipt: StoredReceipt, **update: object
) -> Record[StoredReceipt]:
    """Save `receipt`, the changed entity of `record`, with more fields replaced by `update`."""
    after = receipt.model_copy(update={**update, "updated_at": tx.now})
    return RECEIPTS.replace(tx, record, after)


# Lines


def receive_line(
    tx: Transaction,
    number: int,
    draft: Checked[ReceiptLineDraft],
    *,
    tenant: Tenant,
) -> tuple[Record[StoredReceipt], Record[Document]]:
    """Receive goods into stock for the open lines of the document.

    Returns:
        The receipt and the document after it.

    Raises:
        NotFound: There is no such receipt.
        Conflict: The receipt is not started, is full, or its document is closed.
        ValidationFailed: The draft or what it names is invalid; with all problems.
        ApprovalRequired: More arrives than the tenant's tolerance allows, without an approval.
    """
    return by_item_code(
        tx.store, draft, lambda named: _receive_goods(tx, number, named, tenant=tenant)
    )


def _receive_goods(
    tx: Transaction, number: int, draft: Checked[ReceiptLineDraft], *, tenant: Tenant
) -> tuple[Record[StoredReceipt], Record[Document]]:
    record, _ = run_all(lambda: get_entry_receipt(tx.store, number), lambda: fence_master_data(tx))
    posting = StockPosting(tx, cause=MovementCause(type="receipt", id=number))
    receipt = record.entity
    ensure_status("Receipt", receipt, "started")
    rules.ensure_line_limit(receipt)
    document, _, found = run_all(
        lambda: document_of(tx.store, receipt),
        lambda: audit.actor_of(tx) if draft.approve else None,
        lambda: tx.store.get_many(_keys(receipt, draft)),
    )
    if document.entity.status == "closed":
        message = f"{doc_num('entry', document.id)} is closed; nothing more can be received for it."
        raise Conflict(message)
    tolerance = settings_of(tenant).receipt_tolerance
    parts = rules.quantities_by_line(document.entity, draft, tolerance)
    line = _LineContext(tx, draft, document.entity, parts, found)
    today = day_of(tx.now_ms, tenant.timezone)
    problems = list(of_valid_fields(draft, rules.examine(line.goods(today))))
    targets = line.targets()
    refused = problems or isinstance(draft, InvalidBody)
    over = None
    if not isinstance(draft, InvalidBody):
        over = rules.over_receipt(document.entity, draft, tolerance)
    is_approved = over is not None and bool(draft.approve) and _may_approve(tx)
    reads: list[Callable[[], object]] = []
    if over and not refused:
        own = [lambda: audit.reserve_entry_ids(tx)]
        reads += own if is_approved else approvals.reads_ahead(tx)
    keys = [target.key for target in targets]
    run_all(lambda: posting.load(targets=keys, movements=0 if refused else len(targets)), *reads)
    there = {at: row for at, key in enumerate(keys) if (row := posting.changes.find(key))}
    problems += of_valid_fields(draft, rules.serial_problems(targets, there))
    if targets:
        refusal = posting.batches.refusal(targets[0])
        given = targets[0].expiry_date
        targets = [posting.batches.with_date(target) for target in targets]
        found_dates = rules.batch_problems(targets[0], given, refusal, today)
        problems += of_valid_fields(draft, found_dates)
    draft = ensure_valid(draft, problems)
    approved = []
    if over:
        approve = _approve if is_approved else _use_grant
        approved.append(approve(tx, record, draft, over))
    for target in targets:
        posting.changes.move("receipt", draft.qty if not draft.serials else _ONE, target=target)
    posting.post()
    advanced = documents.advance_document(tx, "entry", document, DocumentProgress(done=parts))
    stored = _line(draft, targets, [posting.row_id(target) for target in targets], parts)
    operator = receipt.operator or read_operator(tx)
    received = update_receipt(
        tx,
        record,
        receipt,
        lines=[*receipt.lines, stored],
        operator=operator,
        approvals=[*receipt.approvals, *approved],
    )
    references.record_use(tx, found.values())
    return received, advanced


def _use_grant(
    tx: Transaction,
    record: Record[StoredReceipt],
    draft: ReceiptLineDraft,
    over: rules.OverReceipt,
) -> ReceiptApproval:
    """Return the approval that a supervisor has granted; raise ApprovalRequired without one."""
    grant = approvals.require(tx, rules.approval_need(record.id, draft.item_code, over))
    return _approval(draft, over, grant.decided_by, grant.decided_at)


def _approve(
    tx: Transaction,
    record: Record[StoredReceipt],
    draft: ReceiptLineDraft,
    over: rules.OverReceipt,
) -> ReceiptApproval:
    """Return the approval of the calling user, and add its entry of the audit log."""
    user = Approver(user_id=tx.caller.user_id if tx.caller else None, name=audit.actor_of(tx).name)
    approval = _approval(draft, over, user, tx.now)
    document = record.entity.document
    details = {each: getattr(approval, each) for each in _AUDITED_FIELDS}
    audit.record(
        tx,
        "receipt.over_receipt_approved",
        "receipt",
        record.id,
        details={**details, "document_id": document.id if document else None},
    )
    return approval


def _approval(
    draft: ReceiptLineDraft, over: rules.OverReceipt, decided_by: Approver, decided_at: str
) -> ReceiptApproval:
    return ReceiptApproval(
        code="over_receipt",
        item_code=draft.item_code,
        qty=draft.qty,
        ordered_qty=over.ordered,
        allowed_qty=over.allowed,
        received_qty=over.received,
        decided_by=decided_by,
        decided_at=decided_at,
    )


def _may_approve(tx: Transaction) -> bool:
    caller = tx.caller
    return (
        caller is not None and caller.kind == "user" and approvals.PERMISSION in caller.permissions
    )


def _keys(receipt: StoredReceipt, draft: Checked[ReceiptLineDraft]) -> list[Key]:
    """Return the keys of the master data that a draft names."""
    whs_code = receipt.whs_code or ""
    item_code = draft.item_code
    keys = [warehouses.warehouse_key(whs_code)]
    keys += [catalog.product_key(item_code)] if item_code is not None else []
    keys += [warehouses.position_key(whs_code, draft.bin_code)] if draft.bin_code else []
    return keys


class _LineContext:
    """A line to receive, with the master data that it names."""

    def __init__(
        self,
        tx: Transaction,
        draft: Checked[ReceiptLineDraft],
        document: Document,
        parts: Mapping[int, Decimal],
        found: Mapping[Key, Item],
    ) -> None:
        self._tx = tx
        self._draft = draft
        self._document = document
        self._parts = parts
        item_code = draft.item_code
        whs_code = document.whs_code
        self.product = catalog.known_products(
            tx, [item_code] if item_code is not None else [], found
        ).get(item_code or "")
        self.warehouse = warehouses.known_warehouses(tx, [whs_code], found).get(whs_code)
        self.bin_code = draft.bin_code or rules.default_bin(document, parts)
        self.position = self._position(found)

    def _position(self, found: Mapping[Key, Item]) -> KnownPosition | None:
        if self.bin_code is None:
            return None
        pair = (self._document.whs_code, self.bin_code)
        if self._draft.bin_code is None:
            # The position comes from the document, so it is not among the items read so far.
            found = self._tx.store.get_many([warehouses.position_key(*pair)])
        return warehouses.known_positions(self._tx, [pair], found).get(pair)

    def goods(self, today: str) -> rules.ReceivedGoods:
        """Return the goods as the rules check them."""
        return rules.ReceivedGoods(
            self._draft,
            self._document,
            self._parts,
            self.bin_code,
            self.product,
            self.position,
            today,
        )

    def targets(self) -> list[StockRow]:
        """Return the target rows of the goods, one per serial; none while master data is missing.

        A serial has one row at any position, so it is looked up without a position too.
        """
        draft = self._draft
        if not self.product or not self.warehouse or not (self.position or draft.serials):
            return []
        serials: Sequence[str | None] = draft.serials or [None]
        return [
            empty_row(
                self.product,
                self.warehouse,
                self.position,
                status=draft.inventory_status or "available",
                batch=draft.batch,
                serial=serial,
                expiry_date=rules.expiry_date(draft, self._document),
                now=self._tx.now,
            )
            for serial in serials
        ]


def _line(
    draft: ReceiptLineDraft,
    targets: Sequence[StockRow],
    stock_ids: list[int],
    parts: dict[int, Decimal],
) -> StoredReceiptLine:
    first = targets[0]
    return StoredReceiptLine(
        product_id=first.product_id,
        item_code=first.item_code,
        qty=draft.qty,
        batch_num=draft.batch,
        serials=draft.serials or [],
        document_lines=parts,
        position_id=first.position_id,
        bin_code=first.bin_code,
        inventory_status=first.inventory_status,
        expiry_date=first.expiry_date,
        stock_ids=stock_ids,
    )


def get_receipt(store: Store, number: int) -> Record[StoredReceipt]:
    """Read a receipt; NotFound when there is none."""
    return RECEIPTS.get(store, number)


def list_receipts(
    store: Store, parameters: ReceiptParameters, timezone: str
) -> Page[StoredReceipt]:
    """Read a page of receipts; the days of `parameters` are days in `timezone`."""
    return repository.list_receipts(store, parameters, timezone)


def document_differences(store: Store, document: Document) -> list[Difference]:
    """Return how the received goods differ from what an entry document announced."""
    if not rules.announces(document):
        return []
    received = _received_lines(store, [*document.works, *document.finished])
    return rules.differences(document, received, received, document.lines)


def receipt_differences(
    store: Store, receipt: StoredReceipt, document: Document | None = None
) -> list[Difference]:
    """Return how the goods of a receipt differ from what its document announced for their lines.

    `document` is its document, if it is known.
    """
    own = rules.received_lines(receipt)
    if not (own and receipt.announced):
        return []
    document = document or document_of(store, receipt).entity
    if not rules.announces(document):
        return []
    others = {*document.works, *document.finished} - {receipt.id}
    received = [*own, *_received_lines(store, sorted(others))]
    filled = {number for one in own for number in one.document_lines}
    lines = [line for line in document.lines if line.line_num in filled]
    return rules.differences(document, received, own, lines)


def _received_lines(store: Store, receipts: Sequence[int]) -> list[StoredReceiptLine]:
    """Return the goods that these receipts have received."""
    return [
        line
        for record in RECEIPTS.get_many(store, receipts)
        for line in rules.received_lines(record.entity)
    ]

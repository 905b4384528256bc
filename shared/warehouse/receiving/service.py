"""Use cases of receipts: create them for entry documents, receive goods, finalize them."""

import uuid
from collections.abc import Sequence

from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, InvalidBody, ensure_valid
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Difference, Document, DocumentProgress
from shared.warehouse.receiving import rules, views
from shared.warehouse.receiving.actions import ACTIONS
from shared.warehouse.receiving.models import ReceiptDraft, StoredReceipt, StoredReceiptLine
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.work.operators import operator_from_start, operator_problems, read_operator


def create_receipt(tx: Transaction, draft: Checked[ReceiptDraft]) -> Record[StoredReceipt]:
    """Create a receipt for an entry document and raise receipt.created.

    A document may have several.

    Raises:
        Conflict: Nothing is left to receive on it.
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
    documents.ensure("entry", document.entity, "receive")
    receipt = StoredReceipt(
        id=number,
        uuid=str(uuid.uuid4()),
        concept=draft.concept,
        status="pending",
        comments=draft.comments,
        user_id=tx.caller.user_id if tx.caller else None,
        operator=operator,
        document=documents.reference_to("entry", document),
        whs_code=document.entity.whs_code,
        announced=rules.announces(document.entity),
        created_at=tx.now,
        updated_at=tx.now,
    )
    documents.advance_document(tx, "entry", document, DocumentProgress(started_work=number))
    record = RECEIPTS.insert(tx, number, receipt)
    raise_record_event(tx, "receipt.created", views.RECEIPT_EVENTS, record)
    return record


# Status changes


def start_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Start a pending receipt."""
    record, acting = run_all(lambda: RECEIPTS.get(tx.store, number), lambda: read_operator(tx))
    receipt = record.entity
    ACTIONS.ensure(receipt, "start")
    operator = operator_from_start(receipt.operator, receipt.user_id, acting)
    return RECEIPTS.save(
        tx, record, receipt, status="started", started_at=tx.now, operator=operator
    )


def finalize_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Finalize a started receipt and raise receipt.completed.

    It may have no goods, because a delivery may not arrive.
    """
    record = RECEIPTS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "finalize")
    goods = bool(rules.received_lines(record.entity))
    ended = DocumentProgress(ended_work=number, with_goods=goods)
    documents.advance_document(tx, "entry", entry_document_of(tx.store, record.entity), ended)
    after = RECEIPTS.save(tx, record, record.entity, status="finalized", finalized_at=tx.now)
    raise_record_event(tx, "receipt.completed", views.RECEIPT_EVENTS, after)
    return after


def synchronize_receipt(tx: Transaction, number: int) -> Record[StoredReceipt]:
    """Record that the ERP has booked a finalized receipt."""
    record = RECEIPTS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "synchronize")
    return RECEIPTS.save(tx, record, record.entity, status="synchronized")


def entry_document_of(store: Store, receipt: StoredReceipt) -> Record[Document]:
    """Read the entry document of a receipt."""
    return documents.get_document(store, "entry", receipt.document.id)


# Reading

get_receipt = RECEIPTS.get
list_receipts = list_of(RECEIPTS)


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
    document = document or entry_document_of(store, receipt).entity
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

"""Goods receipt: put goods that arrive into stock, for the open lines of the entry document."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.identity.audit import service as audit
from shared.kernel import references
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, InvalidBody, ensure_valid, of_valid_fields
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.models import Approver
from shared.warehouse.catalog.gtins import gtins_resolved
from shared.warehouse.catalog.lines import parts_of
from shared.warehouse.catalog.unit_quantities import in_base_units
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.receiving import rules
from shared.warehouse.receiving.actions import ACTIONS
from shared.warehouse.receiving.models import (
    ReceiptApproval,
    ReceiptLineDraft,
    StoredReceipt,
    StoredReceiptLine,
)
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.receiving.service import entry_document_of
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.expiry import expiry_refusal
from shared.warehouse.stock.models import MovementCause, StockRow
from shared.warehouse.stock.posting import StockPosting, empty_row, fence_master_data
from shared.warehouse.warehouses.models import KnownWarehouse
from shared.warehouse.work.operators import read_operator

_AUDITED_FIELDS = ("item_code", "qty", "ordered_qty", "allowed_qty", "received_qty")
"""Fields of an approval that are copied into its entry of the audit log."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """Goods that arrive, the stock rows that they increase, and the excess that needs an approval.

    There is one row per serial, and none while master data is missing.
    """

    goods: rules.ReceivedGoods
    targets: Sequence[StockRow]
    over: rules.OverReceipt | None


def receive_line(
    tx: Transaction,
    number: int,
    draft: Checked[ReceiptLineDraft],
) -> tuple[Record[StoredReceipt], Record[Document]]:
    """Receive goods into stock for the open lines of the document; return receipt and document.

    Raises:
        Conflict: The receipt is full.
        ApprovalRequired: More arrives than the company's tolerance allows, without an approval.
    """
    with gtins_resolved(tx.store, [draft]) as [named]:
        record, _ = run_all(lambda: RECEIPTS.get(tx.store, number), lambda: fence_master_data(tx))
        posting = StockPosting(tx, cause=MovementCause(type="receipt", id=number))
        ACTIONS.ensure(record.entity, "lines")
        document, found = _read_named(tx, record.entity, named)
        counted = in_base_units(named, found)
        arrival = _arrival(tx, counted, document.entity)
        problems = list(of_valid_fields(counted, rules.examine(arrival.goods)))
        _load_stock(
            posting, tx, arrival, is_refused=bool(problems) or isinstance(counted, InvalidBody)
        )
        problems += of_valid_fields(counted, _stock_problems(posting, arrival))
        valid = ensure_valid(counted, problems)
    approved = [_approval(tx, record, valid, arrival.over)] if arrival.over else []
    line = _post(posting, valid, arrival)
    done = DocumentProgress(done=line.document_lines)
    advanced = documents.advance_document(tx, "entry", document, done)
    received = RECEIPTS.save(
        tx,
        record,
        record.entity,
        lines=[*record.entity.lines, line],
        operator=record.entity.operator or read_operator(tx),
        approvals=[*record.entity.approvals, *approved],
        external_refs=rules.external_refs(record.entity, document.entity, line),
    )
    references.record_use(tx, found.values())
    return received, advanced


# What the goods name


def _read_named(
    tx: Transaction, receipt: StoredReceipt, draft: Checked[ReceiptLineDraft]
) -> tuple[Record[Document], Mapping[Key, Item]]:
    """Read the document of a receipt, and the items of the master data that a draft names."""
    codes = _codes(receipt.whs_code, draft, draft.bin_code)
    document, found, _ = run_all(
        lambda: entry_document_of(tx.store, receipt),
        lambda: tx.store.get_many(codes.keys),
        # Read ahead: the approval finds them in the cache.
        lambda: audit.actor_of(tx) if draft.approve else None,
    )
    return document, found


def _codes(whs_code: str, draft: Checked[ReceiptLineDraft], bin_code: str | None) -> NamedCodes:
    place = (whs_code, bin_code)
    return NamedCodes(products=[draft.item_code], warehouses=[whs_code], positions=[place])


def _arrival(tx: Transaction, draft: Checked[ReceiptLineDraft], document: Document) -> _Arrival:
    tolerance = settings_of(tx.company).receipt_tolerance
    by_line = rules.quantities_by_line(document, draft, tolerance)
    bin_code = draft.bin_code or rules.default_bin(document, by_line)
    # All but a position that only the document names are in the cache.
    known = _codes(document.whs_code, draft, bin_code).read(tx)
    goods = rules.ReceivedGoods(
        draft=draft,
        document=document,
        by_line=by_line,
        bin_code=bin_code,
        product=known.products.get(draft.item_code or ""),
        position=known.positions.get((document.whs_code, bin_code or "")),
        today=tx.company.today,
    )
    targets = _targets(tx, goods, known.warehouses.get(document.whs_code))
    return _Arrival(goods, targets, rules.over_receipt(document, draft, tolerance))


def _targets(
    tx: Transaction, goods: rules.ReceivedGoods, warehouse: KnownWarehouse | None
) -> list[StockRow]:
    """Return the rows that goods become; none while master data is missing.

    A serial has one row at any position, so it is looked up without a position too.
    """
    draft = goods.draft
    if not goods.product or not warehouse or not (goods.position or draft.serials):
        return []
    return [
        empty_row(
            goods.product,
            warehouse,
            goods.position,
            status=draft.inventory_status or "available",
            batch=draft.batch,
            serial=serial,
            expiry_date=rules.expiry_date(draft, goods.document, goods.by_line),
            now=tx.now,
        )
        for serial in draft.serials or (None,)
    ]


# Stock


def _load_stock(
    posting: StockPosting, tx: Transaction, arrival: _Arrival, *, is_refused: bool
) -> None:
    """Load the stock of goods, beside what an approval reads; ids only if they may be received."""
    reads: list[Callable[[], object]] = []
    if arrival.over and not is_refused:
        if _is_approved(tx, arrival.goods.draft):
            reads.append(lambda: audit.reserve_entry_ids(tx))
        else:
            reads += approvals.reads_ahead(tx)
    keys = [target.key for target in arrival.targets]
    movements = 0 if is_refused else len(keys)
    run_all(lambda: posting.load(targets=keys, movements=movements), *reads)


def _stock_problems(posting: StockPosting, arrival: _Arrival) -> Iterator[Problem]:
    """Let goods join the stock that there is, and yield why they cannot."""
    for number, target in enumerate(arrival.targets):
        if refusal := posting.serial_refusal(target):
            yield Problem(f"serials.{number}", refusal)
    if arrival.targets:
        first = arrival.targets[0]
        refusal = posting.batches.join(first)
        if not refusal and first.expiry_date is None:
            # `rules.examine` has checked a date of the goods themselves.
            dated = posting.batches.with_date(first)
            refusal = expiry_refusal(dated.expiry_date, dated.inventory_status, arrival.goods.today)
        if refusal:
            yield Problem("expiry_date", refusal)


def _post(posting: StockPosting, draft: ReceiptLineDraft, arrival: _Arrival) -> StoredReceiptLine:
    """Put goods into stock, and return the line of the receipt."""
    targets = [posting.batches.with_date(target) for target in arrival.targets]
    parts = parts_of(draft.qty, draft.serials)
    for target, (_, qty) in zip(targets, parts, strict=True):
        posting.changes.move("receipt", qty, target=target)
    posting.post()
    first = targets[0]
    return StoredReceiptLine(
        product_id=first.product_id,
        item_code=first.item_code,
        qty=draft.qty,
        batch_num=draft.batch,
        serials=draft.serials or [],
        document_lines=dict(arrival.goods.by_line),
        position_id=first.position_id,
        bin_code=first.bin_code,
        inventory_status=first.inventory_status,
        expiry_date=first.expiry_date,
        stock_ids=[posting.row_id(target) for target in targets],
    )


# Approval


def _is_approved(tx: Transaction, draft: Checked[ReceiptLineDraft]) -> bool:
    """Return whether the caller sent `approve` and may approve an over-receipt."""
    caller = tx.caller
    may_approve = caller and caller.kind == "user" and approvals.PERMISSION in caller.permissions
    return bool(draft.approve and may_approve)


def _approval(
    tx: Transaction,
    record: Record[StoredReceipt],
    draft: ReceiptLineDraft,
    over: rules.OverReceipt,
) -> ReceiptApproval:
    """Return the approval of an over-receipt: that of the caller, or of the one who granted it.

    Raises:
        ApprovalRequired: There is none.
    """
    is_own = _is_approved(tx, draft)
    if is_own:
        user_id = tx.caller.user_id if tx.caller else None
        decided_by, decided_at = Approver(user_id=user_id, name=audit.actor_of(tx).name), tx.now
    else:
        grant = approvals.require(tx, rules.approval_need(record.id, draft.item_code, over)).entity
        assert grant.decided_by is not None  # noqa: S101 - it is granted
        decided_by, decided_at = grant.decided_by, grant.decided_at or ""
    approval = ReceiptApproval(
        code="over_receipt",
        item_code=draft.item_code,
        qty=draft.qty,
        ordered_qty=over.ordered,
        allowed_qty=over.allowed,
        received_qty=over.received,
        decided_by=decided_by,
        decided_at=decided_at,
    )
    if is_own:
        document = record.entity.document
        details = {each: getattr(approval, each) for each in _AUDITED_FIELDS}
        details["document_id"] = document.id if document else None
        audit.record(tx, "receipt.over_receipt_approved", "receipt", record.id, details=details)
    return approval

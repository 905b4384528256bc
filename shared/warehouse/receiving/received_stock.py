"""The stock changes of goods that arrive in one transaction, and the approvals that they need."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from shared.identity.audit import service as audit
from shared.kernel import references
from shared.kernel.db.actions import Cost
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import has_room
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, RuleBlocked, ServiceError, ValidationFailed
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, InvalidBody, ensure_valid, of_valid_fields
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.models import Approver
from shared.warehouse.approvals.need import ApprovalNeed
from shared.warehouse.catalog.lines import parts_of
from shared.warehouse.catalog.several_lines import SentLines
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.receiving import rules
from shared.warehouse.receiving.models import (
    CheckedReceiptLine,
    ReceiptApproval,
    ReceiptLineDraft,
    StoredReceipt,
    StoredReceiptLine,
)
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.stock.expiry import expiry_refusal
from shared.warehouse.stock.models import MovementCause, StockRow
from shared.warehouse.stock.posting import StockPosting
from shared.warehouse.work.operators import read_operator

_AUDITED_FIELDS = ("item_code", "qty", "ordered_qty", "allowed_qty", "received_qty")
"""Fields of an approval that are copied into its entry of the audit log."""
_ACTIONS_PER_ENTRY = 2
"""Actions that an entry of the audit log takes."""

type ReceiptResult = tuple[Record[StoredReceipt], Record[Document]]


@dataclass(frozen=True, slots=True)
class ArrivingGoods:
    """Goods that arrive, the stock rows that they increase, and the excess that needs an approval.

    There is one row per serial, and none while master data is missing. `problems` are those that
    are found without reading the stock.
    """

    goods: rules.ReceivedGoods
    targets: Sequence[StockRow]
    over: rules.OverReceipt | None
    problems: Sequence[Problem]

    @property
    def is_refused(self) -> bool:
        """Whether the goods cannot be received, whatever is in stock."""
        return bool(self.problems) or isinstance(self.goods.draft, InvalidBody)


def line_codes(whs_code: str, draft: Checked[ReceiptLineDraft], bin_code: str | None) -> NamedCodes:
    """Return the codes that a line names, with the position of its goods."""
    place = (whs_code, bin_code)
    return NamedCodes(products=[draft.item_code], warehouses=[whs_code], positions=[place])


class ReceivedStock:
    """The goods of lines that arrive in one transaction.

    `received` are the lines that do, `refused` says why others cannot, `granted` has the approvals
    that a supervisor has granted; all by the indexes of the lines.
    """

    def __init__(
        self,
        tx: Transaction,
        record: Record[StoredReceipt],
        document: Record[Document],
        arrivals: Mapping[int, ArrivingGoods],
        found: Mapping[Key, Item],
    ) -> None:
        self._tx = tx
        self._record = record
        self._document = document
        self._arrivals = arrivals
        self._found = found
        self._posting = StockPosting(tx, cause=MovementCause(type="receipt", id=record.id))
        over = {at: one.over for at, one in arrivals.items() if one.over}
        self._over = over
        self._own = {at for at in over if _is_approved(tx, arrivals[at].goods.draft)}
        self.received: dict[int, ReceiptLineDraft] = {}
        self.refused: dict[int, ServiceError] = {}
        self.granted: dict[int, ReceiptApproval] = {}

    def load(self, *, adds: bool) -> None:
        """Load the stock, beside what approvals read; ids only if it `adds` something."""
        tx, reads = self._tx, list[Callable[[], object]]()
        if adds and len(self._over) > len(self._own):
            reads += approvals.reads_ahead(tx, own_entries=len(self._own))
        elif adds and self._own:
            reads.append(lambda: audit.reserve_entry_ids(tx, len(self._own)))
        keys = [target.key for one in self._arrivals.values() for target in one.targets]
        movements = len(keys) if adds else None
        run_all(lambda: self._posting.load(targets=keys, movements=movements), *reads)
        self._posting.load_room(one.targets[0] for one in self._arrivals.values() if one.targets)

    def receive(self, *, checks: bool) -> None:
        """Put the leading goods that fit into the transaction into stock.

        With `checks`, all are tried, and over-receipts wait for `require_approval`.
        """
        full: Callable[[], None] | None = None
        possible = 0
        for at, arrival in self._arrivals.items():
            roll_back = self._posting.changes.savepoint()
            try:
                draft = self._moved(at, arrival, possible, checks=checks)
            except (ValidationFailed, RuleBlocked, Conflict) as error:  # before anything is moved
                self.refused[at] = error
                continue
            possible += 1
            if full is None and self.received and not self._has_room_for(at, checks=checks):
                full = roll_back
                if not checks:
                    break
            if full is None:
                self.received[at] = draft
        if full:
            full()

    def _moved(
        self, at: int, arrival: ArrivingGoods, before: int, *, checks: bool
    ) -> ReceiptLineDraft:
        """Make the stock changes of a line after `before` others; return it as the model."""
        posting, goods = self._posting, arrival.goods.draft
        stock = of_valid_fields(goods, _stock_problems(posting, arrival))
        draft = ensure_valid(goods, [*arrival.problems, *stock])
        if refusal := posting.room_refusal(arrival.targets[0], draft.qty):
            raise RuleBlocked([Problem("qty", refusal)])
        if refusal := rules.refusal_of_lines(self._record.entity, before):
            raise Conflict(refusal)
        if at in self._over and at not in self._own and not checks:
            self._keep_approval(at, draft)
        parts = parts_of(draft.qty, draft.serials)
        for target, (_, qty) in zip(arrival.targets, parts, strict=True):
            posting.changes.move("receipt", qty, target=posting.batches.with_date(target))
        return draft

    def _has_room_for(self, at: int, *, checks: bool) -> bool:
        """Return whether the transaction also has room for the line `at`, which is moved."""
        lines = [*self.received, at]
        entries = sum(one in self._own for one in lines) * _ACTIONS_PER_ENTRY
        planned = self._posting.planned_actions + len(self._unused_codes(lines)) + entries
        cost = Cost(planned) + self._record.cost + self._document.cost
        if checks and len(self._over) > len(self._own):
            cost += approvals.USE_COST
        return has_room(self._tx, cost)

    def _codes(self, lines: Iterable[int]) -> list[Item]:
        """Return the aliases of the codes that lines name."""
        drafts = [self._arrivals[at].goods.draft for at in lines]
        whs_code = self._record.entity.whs_code
        keys = {key for one in drafts for key in line_codes(whs_code, one, one.bin_code).keys}
        return [item for key, item in self._found.items() if key in keys]

    def _unused_codes(self, lines: Iterable[int]) -> list[Item]:
        return [item for item in self._codes(lines) if references.UNUSED in item]

    def post(self) -> ReceiptResult:
        """Add the changes to the transaction; return receipt and document afterwards."""
        tx, record, document = self._tx, self._record, self._document
        if not self.received:
            return record, document
        receipt = record.entity
        approved = [self._approval(at) for at in self.received if at in self._over]
        self._posting.post()
        lines = [self._stored_line(at, draft) for at, draft in self.received.items()]
        done = rules.quantities_between([], lines)
        advanced = documents.advance_document(tx, "entry", document, DocumentProgress(done=done))
        received = RECEIPTS.save(
            tx,
            record,
            receipt,
            lines=[*receipt.lines, *lines],
            operator=receipt.operator or read_operator(tx),
            approvals=[*receipt.approvals, *approved],
            external_refs=rules.external_refs(receipt, document.entity, lines),
        )
        references.record_use(tx, self._codes(self.received))
        return received, advanced

    def _stored_line(self, at: int, draft: ReceiptLineDraft) -> StoredReceiptLine:
        posting, arrival = self._posting, self._arrivals[at]
        targets = [posting.batches.with_date(target) for target in arrival.targets]
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

    def require_approval(self, sent: SentLines[ReceiptLineDraft]) -> None:
        """Use the approval of this request, if more arrives than lines allow.

        Raises:
            ApprovalRequired: There is none.
        """
        needs = {at: self._need(at) for at in self._over if at not in self._own}
        if needs:
            grant = approvals.require(self._tx, _need_of_all(needs, sent)).entity
            assert grant.decided_by is not None  # noqa: S101 - it is granted
            for at in needs:
                self.granted[at] = self._made(at, grant.decided_by, grant.decided_at or "")

    def _need(self, at: int) -> ApprovalNeed:
        item_code = self._arrivals[at].goods.draft.item_code or ""
        return rules.approval_need(self._record.id, item_code, self._over[at])

    def _keep_approval(self, at: int, draft: ReceiptLineDraft) -> None:
        """Use the approval of an earlier step; raise Conflict if other figures are there now."""
        approval = draft.approval if isinstance(draft, CheckedReceiptLine) else None
        figures = (approval.ordered_qty, approval.received_qty) if approval else None
        if approval is None or figures != (self._over[at].ordered, self._over[at].received):
            raise Conflict(self._need(at).message)
        self.granted[at] = approval

    def _approval(self, at: int) -> ReceiptApproval:
        """Return the approval of an over-receipt: that of the caller, or of who granted it."""
        tx = self._tx
        if at not in self._own:
            return self.granted[at]
        user_id = tx.caller.user_id if tx.caller else None
        decided_by = Approver(user_id=user_id, name=audit.actor_of(tx).name)
        approval = self._made(at, decided_by, tx.now)
        document = self._record.entity.document
        details = {each: getattr(approval, each) for each in _AUDITED_FIELDS}
        details["document_id"] = document.id if document else None
        number = self._record.id
        audit.record(tx, "receipt.over_receipt_approved", "receipt", number, details=details)
        return approval

    def _made(self, at: int, decided_by: Approver, decided_at: str) -> ReceiptApproval:
        draft, over = self._arrivals[at].goods.draft, self._over[at]
        return ReceiptApproval(
            code="over_receipt",
            item_code=draft.item_code or "",
            qty=draft.qty or ZERO,
            ordered_qty=over.ordered,
            allowed_qty=over.allowed,
            received_qty=over.received,
            decided_by=decided_by,
            decided_at=decided_at,
        )


def _stock_problems(posting: StockPosting, arrival: ArrivingGoods) -> Iterator[Problem]:
    """Let goods join the stock that there is, and yield why they cannot."""
    for number, target in enumerate(arrival.targets):
        if refusal := posting.serial_refusal(target):
            yield Problem(f"serials.{number}", refusal)
    if arrival.targets:
        first = arrival.targets[0]
        changed = [row for _, row in posting.changes.changed()]
        refusal = posting.batches.join(first, changed)
        if not refusal and first.expiry_date is None:
            # `rules.examine` has checked a date of the goods themselves.
            dated = posting.batches.with_date(first)
            refusal = expiry_refusal(dated.expiry_date, dated.inventory_status, arrival.goods.today)
        if refusal:
            yield Problem("expiry_date", refusal)


def _is_approved(tx: Transaction, draft: Checked[ReceiptLineDraft]) -> bool:
    """Return whether the caller sent `approve` and may approve an over-receipt."""
    caller = tx.caller
    may_approve = caller and caller.kind == "user" and approvals.PERMISSION in caller.permissions
    return bool(draft.approve and may_approve)


def _need_of_all(
    needs: Mapping[int, ApprovalNeed], sent: SentLines[ReceiptLineDraft]
) -> ApprovalNeed:
    """Return why a request needs an approval: the needs of its lines."""
    at, need = next(iter(needs.items()))
    if sent.form == "single":
        return need
    total = f" {len(needs)} lines need it." if len(needs) > 1 else ""
    figures = [figure for at, one in needs.items() for figure in (Decimal(at), *one.figures)]
    return replace(need, message=f"lines.{at}: {need.message}{total}", figures=figures)

"""Goods receipt: put goods that arrive into stock, for the open lines of the entry document.

A request has one line, several, or all that is open as ordered; see `catalog.several_lines`.
"""

from collections.abc import Collection, Mapping, Sequence

from shared.identity.audit import service as audit
from shared.kernel.db import steps
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, StaleState, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid, of_valid_fields
from shared.warehouse.catalog.gtins import gtins_resolved
from shared.warehouse.catalog.several_lines import (
    AppliedLines,
    SentLines,
    apply_lines,
    form_of,
    refusal_of,
    sent_lines,
    unapplied_lines,
)
from shared.warehouse.catalog.unit_quantities import in_base_units
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, DocumentProgress
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.receiving import as_ordered, rules
from shared.warehouse.receiving.actions import ACTIONS
from shared.warehouse.receiving.models import (
    CheckedReceiptLine,
    ReceiptApproval,
    ReceiptLineDraft,
    ReceiptLinesDraft,
    ReceivedLines,
    StoredReceipt,
)
from shared.warehouse.receiving.received_stock import (
    ArrivingGoods,
    ReceiptResult,
    ReceivedStock,
    line_codes,
)
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.receiving.service import entry_document_of
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.models import StockRow
from shared.warehouse.stock.posting import empty_row, fence_master_data
from shared.warehouse.warehouses.models import KnownWarehouse

_ACTIONS_PER_ROW = 2
"""Actions that a stock row takes at least: itself and its movement."""

type _Applied = AppliedLines[CheckedReceiptLine, ReceiptResult]
type _Lines = Mapping[int, Checked[ReceiptLineDraft]]
"""Lines of a request by their indexes."""


def receive_lines(
    tx: Transaction, number: int, body: Checked[ReceiptLinesDraft]
) -> tuple[Record[StoredReceipt], Record[Document], ReceivedLines | None]:
    """Receive goods into stock for the open lines of the document.

    Returns receipt and document, and what several lines did not receive.

    Raises:
        Conflict: The receipt is full.
        ApprovalRequired: More arrives than the company's tolerance allows, without an approval.
    """

    def step(left: Mapping[int, CheckedReceiptLine] | None) -> _Applied:
        if left is not None:
            return _receive(tx, number, left)
        sent = _sent(tx, number, body)
        with gtins_resolved(tx.store, sent.lines, sent.paths) as named:
            return _receive(tx, number, dict(enumerate(named)), sent)

    (record, document), refused = apply_lines(
        tx, CheckedReceiptLine, step, lambda: RECEIPTS.get(tx.store, number)
    )
    form = form_of(body, "as_ordered")
    if form == "single":
        return record, document, None
    left = as_ordered.lines_with_needs(tx, document.entity) if form == "all" else []
    unapplied = unapplied_lines(body, refused)
    return record, document, ReceivedLines(unapplied=unapplied, left=left)


def _sent(
    tx: Transaction, number: int, body: Checked[ReceiptLinesDraft]
) -> SentLines[ReceiptLineDraft]:
    def open_goods() -> Sequence[ReceiptLineDraft]:
        record = _read(tx, number)
        ACTIONS.ensure(record.entity, "lines")
        document = entry_document_of(tx.store, record.entity).entity
        if not any(line.open_qty for line in document.lines):
            message = f"nothing is open on the document {document.external_ref}"
            raise ValidationFailed([Problem("as_ordered", message)])
        return as_ordered.goods_as_ordered(tx, document, body.bin_code)

    return sent_lines(body, ReceiptLineDraft, "as_ordered", open_goods, beside=["bin_code"])


# One step


def _read(tx: Transaction, number: int) -> Record[StoredReceipt]:
    record, _ = run_all(lambda: RECEIPTS.get(tx.store, number), lambda: fence_master_data(tx))
    return record


def _receive(
    tx: Transaction, number: int, lines: _Lines, sent: SentLines[ReceiptLineDraft] | None = None
) -> _Applied:
    """Receive the leading lines that fit into the transaction; with `sent`, check all of them."""
    record = _read(tx, number)
    try:
        ACTIONS.ensure(record.entity, "lines")
    except (Conflict, StaleState) as ended:
        if sent:
            raise
        refused = {at: refusal_of(ended, line) for at, line in lines.items()}
        return AppliedLines((record, entry_document_of(tx.store, record.entity)), refused=refused)
    some = lines if sent else _leading(lines)
    document, found = _read_named(tx, record.entity, some.values())
    arrivals = _arrivals(tx, document.entity, some, found)
    stock = ReceivedStock(tx, record, document, arrivals, found)
    is_refused = any(arrival.is_refused for arrival in arrivals.values())
    stock.load(adds=not sent or not (sent.problems or is_refused))
    stock.receive(checks=sent is not None)
    goods = {at: arrival.goods.draft for at, arrival in arrivals.items()}
    if sent:
        sent.refuse(stock.refused, goods)
        stock.require_approval(sent)
    left = {
        at: _checked(line, goods.get(at), stock.granted.get(at))
        for at, line in lines.items()
        if at not in stock.received and at not in stock.refused
    }
    result = stock.post()
    reasons = {at: refusal_of(error, goods[at]) for at, error in stock.refused.items()}
    return AppliedLines(result, left, reasons)


def _leading(lines: _Lines) -> _Lines:
    """Return the leading lines, as many as can fit into one step."""
    some, planned = dict[int, Checked[ReceiptLineDraft]](), 0
    for at, line in lines.items():
        if some and planned > steps.STEP_ACTIONS:
            break
        some[at] = line
        planned += _ACTIONS_PER_ROW * len(line.serials or [None])
    return some


def _checked(
    line: Checked[ReceiptLineDraft],
    goods: Checked[ReceiptLineDraft] | None,
    approval: ReceiptApproval | None,
) -> CheckedReceiptLine:
    """Return a valid line as the next steps take it; `goods` are its goods in base units."""
    if isinstance(line, CheckedReceiptLine):
        return line
    values = ensure_valid(goods or line).model_dump(exclude={"unit", "gtin"}, exclude_none=True)
    return CheckedReceiptLine(**values, approval=approval)


# What the goods name


def _read_named(
    tx: Transaction, receipt: StoredReceipt, lines: Collection[Checked[ReceiptLineDraft]]
) -> tuple[Record[Document], Mapping[Key, Item]]:
    """Read the document of a receipt, and the items of the master data that lines name."""
    codes = NamedCodes(
        products=(line.item_code for line in lines),
        warehouses=[receipt.whs_code],
        positions=((receipt.whs_code, line.bin_code) for line in lines),
    )
    document, found, _ = run_all(
        lambda: entry_document_of(tx.store, receipt),
        lambda: tx.store.get_many(codes.keys),
        # Read ahead: the approval finds them in the cache.
        lambda: audit.actor_of(tx) if any(line.approve for line in lines) else None,
    )
    if len(lines) > 1 and any(line.bin_code is None for line in lines):
        bins = {line.bin_code for line in document.entity.lines}
        places = ((receipt.whs_code, bin_code) for bin_code in bins)
        tx.store.get_many(NamedCodes(positions=places).keys)
    return document, found


def _arrivals(
    tx: Transaction, document: Document, lines: _Lines, found: Mapping[Key, Item]
) -> dict[int, ArrivingGoods]:
    """Return what arrives with each line, after those before it."""
    arrivals: dict[int, ArrivingGoods] = {}
    for at, line in lines.items():
        arrival = arrivals[at] = _arrival(tx, in_base_units(line, found), document)
        if not arrival.is_refused:
            done = DocumentProgress(done=arrival.goods.by_line)
            document = documents.document_after(document, done)
    return arrivals


def _arrival(
    tx: Transaction, draft: Checked[ReceiptLineDraft], document: Document
) -> ArrivingGoods:
    tolerance = settings_of(tx.company).receipt_tolerance
    by_line = rules.quantities_by_line(document, draft, tolerance)
    bin_code = draft.bin_code or rules.default_bin(document, by_line)
    # All but a position that only the document names are in the cache.
    known = line_codes(document.whs_code, draft, bin_code).read(tx)
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
    problems = list(of_valid_fields(draft, rules.examine(goods)))
    return ArrivingGoods(goods, targets, rules.over_receipt(document, draft, tolerance), problems)


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

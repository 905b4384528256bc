"""Rules of receipts, as pure functions: which goods may arrive, and for which lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from shared.kernel.errors import Problem
from shared.kernel.fields import LEAST_QUANTITY, ZERO, plain
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.approvals.need import ApprovalNeed, ApprovedResource
from shared.warehouse.catalog.lines import GoodsLine, examine_goods, tracking_problems
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.documents.models import Difference, DifferenceKind, Document, DocumentLine
from shared.warehouse.master_data.named_codes import placing_refusal
from shared.warehouse.receiving.models import ReceiptLineDraft, StoredReceipt, StoredReceiptLine
from shared.warehouse.stock.expiry import expiry_refusal
from shared.warehouse.warehouses.models import KnownPosition
from shared.warehouse.work.rules import place_problems

MAX_LINES = 1000
MAX_DIFFERENCES = 10_000
"""Most differences of a receipt or document that are shown: a response has 6 MB."""
_ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class ReceivedGoods:
    """Goods that arrive, with the master data that they name.

    `by_line` has the quantity by line of the document. `bin_code` is the position of the draft, or
    else the destination on the document; `today` is the day in the company's time zone.
    """

    draft: Checked[ReceiptLineDraft]
    document: Document
    by_line: Mapping[int, Decimal]
    bin_code: str | None
    product: KnownProduct | None
    position: KnownPosition | None
    today: str


def examine(goods: ReceivedGoods) -> Iterator[Problem]:
    """Yield every problem of received goods that can be found without reading the stock."""
    draft, product = goods.draft, goods.product
    yield from _item_problems(goods)
    if product:
        yield from examine_goods(GoodsLine.of("", draft), product)
    yield from _bin_problems(goods)
    expiry = expiry_date(draft, goods.document, goods.by_line)
    if expired := expiry_refusal(expiry, draft.inventory_status or "available", goods.today):
        yield Problem("expiry_date", expired)


def _item_problems(goods: ReceivedGoods) -> Iterator[Problem]:
    code = goods.draft.item_code
    product = goods.product
    if code is None:
        return
    if not _lines_of(goods.document, code):
        yield Problem("item_code", f"{code} is not on the document {goods.document.external_ref}")
    elif product is None:
        yield Problem("item_code", f"no product has the code {code}")
    elif not product.in_stock:
        yield Problem("item_code", f"product {code} is not kept in stock")


def _bin_problems(goods: ReceivedGoods) -> Iterator[Problem]:
    name, position = goods.bin_code, goods.position
    if name is None and not goods.by_line:
        return
    if name is None:
        message = "is required: the document does not name exactly one destination for the goods"
        yield Problem("bin_code", message)
    elif refusal := placing_refusal(goods.document.whs_code, name, position):
        yield Problem("bin_code", refusal)


# The lines of the document


def _lines_of(document: Document, item_code: str) -> list[DocumentLine]:
    """Return the lines of an item, without those that were given up with a change."""
    return [line for line in document.lines if line.item_code == item_code and line.qty]


def quantities_by_line(
    document: Document, draft: Checked[ReceiptLineDraft], tolerance: Decimal
) -> dict[int, Decimal]:
    """Spread a received quantity over the lines of the document: quantity by line_num.

    Serials fill the lines that name them first. Goods fill the lines that name their batch, then
    those that name none, then the others, each in their order: up to the ordered quantity first,
    then up to the tolerance of each, a percentage. What exceeds that is added to the first line.
    Returns nothing when the item or the quantity is invalid, or the item is not on the document.
    """
    code, qty = draft.item_code, draft.qty
    lines = _lines_of(document, code) if code is not None and qty is not None else []
    left, parts = qty or ZERO, dict[int, Decimal]()
    named = {line.line_num: len({*line.serials} & {*(draft.serials or ())}) for line in lines}
    limits = [(line, min(line.qty, line.done_qty + named[line.line_num])) for line in lines]
    lines = sorted(lines, key=lambda line: _rank(line, draft))
    limits += [(line, line.qty) for line in lines]
    limits += [(line, _allowed(line, draft, tolerance)) for line in lines]
    for line, limit in limits:
        part = min(left, limit - line.done_qty - parts.get(line.line_num, ZERO))
        if part > 0:
            parts[line.line_num] = parts.get(line.line_num, ZERO) + part
            left -= part
    if left and lines:
        first = lines[0].line_num
        parts[first] = parts.get(first, ZERO) + left
    return parts


def _rank(line: DocumentLine, draft: Checked[ReceiptLineDraft]) -> int:
    """Return 0 for a line that names the batch of goods, 1 for one that names nothing, else 2.

    Serials that the line names are not among these goods any more.
    """
    if draft.serials and line.serials:
        return 2
    return 0 if line.batch == draft.batch else 1 if line.batch is None else 2


def external_refs(
    receipt: StoredReceipt, document: Document, received: Iterable[StoredReceiptLine]
) -> dict[int, str]:
    """Return the references of the lines that a receipt has filled, with new lines of it."""
    references = {line.line_num: line.external_ref for line in document.lines}
    filled = {number: references[number] for line in received for number in line.document_lines}
    return receipt.external_refs | {number: one for number, one in filled.items() if one}


def _allowed(line: DocumentLine, draft: Checked[ReceiptLineDraft], tolerance: Decimal) -> Decimal:
    """Return the ordered quantity of a line plus its tolerance, of serials a whole number."""
    unit = _ONE if draft.serials else LEAST_QUANTITY
    return (line.qty * (1 + tolerance / 100)).quantize(unit, ROUND_FLOOR)


def default_bin(document: Document, by_line: Mapping[int, Decimal]) -> str | None:
    """Return the position that the document names for these lines; None when not exactly one."""
    named = {line.bin_code for line in document.lines if line.line_num in by_line}
    return named.pop() if len(named) == 1 else None


def expiry_date(
    draft: Checked[ReceiptLineDraft], document: Document, by_line: Mapping[int, Decimal]
) -> str | None:
    """Return the expiry date of the draft, or else that of the document's lines.

    A batch has one date on a document. Goods without a batch take the earliest date of the lines
    that they count for.
    """
    if draft.expiry_date is not None:
        return draft.expiry_date
    dates = [
        line.expiry_date
        for line in document.lines
        if line.item_code == draft.item_code
        and line.batch == draft.batch
        and (draft.batch is not None or line.line_num in by_line)
    ]
    return min(filter(None, dates), default=None)


@dataclass(frozen=True, slots=True)
class OverReceipt:
    """The sums of the lines of an item, of which all receipts of a document receive too much."""

    ordered: Decimal
    allowed: Decimal
    received: Decimal


def over_receipt(
    document: Document, draft: Checked[ReceiptLineDraft], tolerance: Decimal
) -> OverReceipt | None:
    """Return the sums that need an approval; None within the tolerance and for an invalid draft.

    `tolerance` is a percentage of the ordered quantity of each line. What was approved for one
    line takes nothing from the tolerance of the others.
    """
    if draft.item_code is None or draft.qty is None:
        return None
    lines = _lines_of(document, draft.item_code)
    allowed = [_allowed(line, draft, tolerance) for line in lines]
    room = sum(
        (max(ZERO, most - line.done_qty) for most, line in zip(allowed, lines, strict=True)), ZERO
    )
    if draft.qty <= room:
        return None
    ordered = sum((line.qty for line in lines), ZERO)
    received = sum((line.done_qty for line in lines), ZERO) + draft.qty
    return OverReceipt(ordered, sum(allowed, ZERO), received)


def approval_need(receipt_id: int, item_code: str, over: OverReceipt) -> ApprovalNeed:
    """Return why an over-receipt needs an approval."""
    message = (
        f"{plain(over.received)} of {item_code} would be received, {plain(over.ordered)} ordered;"
        f" more than {plain(over.allowed)} needs the approval of a user with approvals.grant."
    )
    resource = ApprovedResource(object="receipt", id=receipt_id)
    figures = [over.ordered, over.received]
    return ApprovalNeed("over_receipt", message, resource, figures)


def refusal_of_lines(receipt: StoredReceipt, more: int = 0) -> str | None:
    """Return why a receipt takes no more lines than `more`: the maximum; None if it does."""
    if len(receipt.lines) + more < MAX_LINES:
        return None
    return (
        f"Receipt {receipt.id} has {MAX_LINES} lines, the maximum;"
        " finalize it and create another receipt."
    )


# Differences from what the document announced


def announces(document: Document) -> bool:
    """Return whether a line of an entry document announces serials or a batch."""
    return any(line.serials or line.batch for line in document.lines)


def received_lines(receipt: StoredReceipt) -> list[StoredReceiptLine]:
    """Return the lines of a receipt that are not undone."""
    return [line for line in receipt.lines if not line.undone]


def differences(
    document: Document,
    received: Sequence[StoredReceiptLine],
    own: Sequence[StoredReceiptLine],
    lines: Sequence[DocumentLine],
) -> list[Difference]:
    """Return the serials and batches that differ from what a document announced, line by line.

    `received` are the goods of all its receipts, `own` those of them whose unexpected serials and
    batches are wanted. `lines` are the lines of which the missing ones are wanted; these are known
    once a line is complete or the document is closed.
    """
    by_number = {line.line_num: line for line in document.lines}
    found: list[Difference] = []
    for trait in _TRAITS:
        announced = {
            (line.product_id, value) for line in document.lines for value in trait.announced(line)
        }
        there = {(goods.product_id, value) for goods in received for value in trait.received(goods)}
        for goods in own:
            filled = [by_number[number] for number in goods.document_lines]
            line = next((one for one in filled if trait.announced(one)), None)
            if line:
                found += [
                    _difference(line, trait.unexpected, value)
                    for value in trait.received(goods)
                    if (line.product_id, value) not in announced
                ]
        found += [
            _difference(line, trait.missing, value)
            for line in lines
            if line.status in {"complete", "closed"}
            for value in trait.announced(line)
            if (line.product_id, value) not in there
        ]
    different = {tuple(one.values()): one for one in found}
    return sorted(different.values(), key=lambda one: one["line_num"])[:MAX_DIFFERENCES]


@dataclass(frozen=True, slots=True)
class _Trait:
    """Serials, or batches: the kinds of their differences, and where lines and goods name them."""

    unexpected: DifferenceKind
    missing: DifferenceKind
    announced: Callable[[DocumentLine], Sequence[str]]
    received: Callable[[StoredReceiptLine], Sequence[str]]


_TRAITS = (
    _Trait(
        "unexpected_serial",
        "missing_serial",
        lambda line: line.serials,
        lambda goods: goods.serials,
    ),
    _Trait(
        "unexpected_batch",
        "missing_batch",
        lambda line: [line.batch] if line.batch else [],
        lambda goods: [goods.batch_num] if goods.batch_num else [],
    ),
)


def _difference(line: DocumentLine, kind: DifferenceKind, value: str) -> Difference:
    return Difference(line_num=line.line_num, item_code=line.item_code, kind=kind, value=value)


# Undoing


def lines_to_undo(receipt: StoredReceipt) -> list[int]:
    """Return the indexes of the lines that are not undone, product by product."""
    lines = receipt.lines
    found = [at for at, line in enumerate(lines) if not line.undone]
    return sorted(found, key=lambda at: (lines[at].product_id, at))


def undone_quantities(receipt: StoredReceipt, lines: Sequence[int]) -> dict[int, Decimal]:
    """Return the changes of the received quantities, all negative, by line of the document."""
    less: dict[int, Decimal] = {}
    for at in lines:
        for line_num, qty in receipt.lines[at].document_lines.items():
            less[line_num] = less.get(line_num, ZERO) - qty
    return less


def with_undone(receipt: StoredReceipt, undone: Sequence[int]) -> list[StoredReceiptLine]:
    """Return the lines of a receipt, those with the indexes `undone` as undone."""
    return [
        line.model_copy(update={"undone": True}) if at in undone else line
        for at, line in enumerate(receipt.lines)
    ]


@dataclass(frozen=True, slots=True)
class UndoneReceiptPart:
    """The part `qty` of the line of a receipt with the index `line`, which leaves the stock.

    `serials` are those that leave; empty of a product that is not managed by serial.
    """

    line: int
    qty: Decimal
    serials: Sequence[str]


def undo_problems(
    receipt: StoredReceipt, document: Document, draft: Checked[ReceiptLineDraft]
) -> Iterator[Problem]:
    """Yield every problem of an undo: the receipt must have received the goods that it names."""
    code = draft.item_code
    if code is None:
        return
    if not _lines_of(document, code):
        yield Problem("item_code", f"{code} is not on the document {document.external_ref}")
        return
    received = [line for line in received_lines(receipt) if line.item_code == code]
    # Products that are managed by serial or batch are always received by serial or batch.
    wrong = [
        problem
        for one in received[:1]
        for problem in tracking_problems(
            draft, by_serial=bool(one.serials), by_batch=one.batch_num is not None
        )
    ]
    yield from wrong
    if any(problem.field != "serials" for problem in wrong):
        return
    places = [line.bin_code for line in received]
    yield from place_problems("received", code, draft.bin_code, places)
    if draft.qty is None or _PLACE_FIELDS & invalid_fields(draft):
        return
    here = [line for _, line in _received_there(receipt, draft)]
    bins = sorted({line.bin_code or "" for line in here})
    there = sum((line.qty for line in here), ZERO)
    if len(bins) > 1:
        yield Problem("bin_code", f"is required: received at {', '.join(bins)}")
    elif there < draft.qty:
        yield Problem("qty", _not_received(draft, draft.qty, there))
    elif draft.serials and not wrong:
        others = sorted(set(draft.serials) - {one for line in here for one in line.serials})
        if others:
            yield Problem("serials", f"not received there: {', '.join(others)}")


_PLACE_FIELDS = {"bin_code", "batch", "inventory_status", "serials"}
"""Fields of a body that say, with the item, which goods of a receipt are undone."""


def _not_received(draft: Checked[ReceiptLineDraft], qty: Decimal, there: Decimal) -> str:
    batch = "" if draft.batch is None else f" of batch {draft.batch}"
    place = "" if draft.bin_code is None else f" at {draft.bin_code}"
    return (
        f"{plain(qty)} to undo, {plain(there)} of {draft.item_code}{batch} received{place}"
        f" as {draft.inventory_status or 'available'}"
    )


def _received_there(
    receipt: StoredReceipt, draft: Checked[ReceiptLineDraft]
) -> Iterator[tuple[int, StoredReceiptLine]]:
    """Yield the lines of a receipt that received the goods of a body, with indexes, last first."""
    named = (draft.item_code, draft.batch, draft.inventory_status or "available")
    for at, line in reversed([*enumerate(receipt.lines)]):
        is_there = draft.bin_code in {None, line.bin_code}
        if is_there and (line.item_code, line.batch_num, line.inventory_status) == named:
            yield at, line


def split_undo(receipt: StoredReceipt, draft: ReceiptLineDraft) -> list[UndoneReceiptPart]:
    """Split an undo without problems over the lines of the receipt, the last one first."""
    left, parts = draft.qty, list[UndoneReceiptPart]()
    for at, line in _received_there(receipt, draft):
        serials = [one for one in line.serials if one in (draft.serials or ())]
        part = Decimal(len(serials)) if line.serials else min(left, line.qty)
        if part > 0:
            parts.append(UndoneReceiptPart(at, part, serials))
            left -= part
    return parts


def undone_rows(receipt: StoredReceipt, parts: Sequence[UndoneReceiptPart]) -> dict[int, Decimal]:
    """Return the quantities that leave the stock, by id of the stock row."""
    rows: dict[int, Decimal] = {}
    for part in parts:
        line = receipt.lines[part.line]
        if not part.serials:
            rows[line.stock_ids[0]] = rows.get(line.stock_ids[0], ZERO) + part.qty
        for serial in part.serials:
            rows[line.stock_ids[line.serials.index(serial)]] = _ONE
    return rows


def without_parts(
    receipt: StoredReceipt, parts: Sequence[UndoneReceiptPart]
) -> list[StoredReceiptLine]:
    """Return the lines of a receipt without these parts; a line without a rest is left out."""
    lines = dict(enumerate(receipt.lines))
    for part in parts:
        line = lines.pop(part.line)
        if part.qty < line.qty:
            lines[part.line] = _without_part(line, part)
    return [lines[at] for at in sorted(lines)]


def _without_part(line: StoredReceiptLine, part: UndoneReceiptPart) -> StoredReceiptLine:
    """Return a line without a part of it, which counts for the last lines of the document."""
    left, by_line = part.qty, dict(line.document_lines)
    for line_num in reversed(line.document_lines):
        less = min(left, by_line[line_num])
        by_line[line_num] -= less
        left -= less
    kept = [
        (serial, row)
        for serial, row in zip(line.serials, line.stock_ids, strict=False)
        if serial not in part.serials
    ]
    return line.model_copy(
        update={
            "qty": line.qty - part.qty,
            "document_lines": {number: qty for number, qty in by_line.items() if qty},
            "serials": [serial for serial, _ in kept],
            "stock_ids": [row for _, row in kept] or line.stock_ids,
        }
    )


def quantities_between(
    before: Sequence[StoredReceiptLine], after: Sequence[StoredReceiptLine]
) -> dict[int, Decimal]:
    """Return the change of the received quantities between two states, by line of the document."""
    change: dict[int, Decimal] = {}
    for lines, sign in ((before, -1), (after, 1)):
        for line in lines:
            for line_num, qty in line.document_lines.items():
                change[line_num] = change.get(line_num, ZERO) + sign * qty
    return {line_num: qty for line_num, qty in change.items() if qty}

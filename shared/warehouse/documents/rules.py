"""Rules of documents on plain data: checks of new documents, progress and closing."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.kernel.differences import differing_fields, differing_lines
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import (
    GoodsLine,
    LineProblems,
    NamedDates,
    differing_dates,
    examine_lines,
    numbered,
    repeated_references,
)
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.documents.models import (
    Document,
    DocumentLine,
    DocumentProgress,
    DocumentStatus,
    EntryDraft,
    ExitDraft,
    LineDraft,
    ShippedLine,
    Source,
)
from shared.warehouse.documents.vocabulary import DocumentKind
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.partners.codes import PartnerKind
from shared.warehouse.settings.values import DispatchRest
from shared.warehouse.work.address import stored_address


def examine(draft: Checked[EntryDraft | ExitDraft], known: MasterData) -> LineProblems:
    """Return the problems of a document that field validation does not find."""
    lines: Sequence[Checked[LineDraft]] = draft.lines or ()
    whs_code = draft.warehouse_code
    found = examine_new_lines(
        list(numbered(lines)), whs_code if whs_code in known.warehouses else None, known
    )
    invalid = known.warehouse_problems("warehouse_code", whs_code)
    return LineProblems([*invalid, *found.invalid], found.blocked)


def examine_new_lines(
    lines: Sequence[tuple[str, Checked[LineDraft]]],
    whs_code: str | None,
    known: MasterData,
    present: Iterable[DocumentLine] = (),
) -> LineProblems:
    """Return the problems of new lines, with their paths, of a document of an existing warehouse.

    `present` are the lines that the document has already.
    """
    serials = dict[str, str]()
    dates: NamedDates = {}
    named = dict[str, str]()
    for stored in present:
        place = f"line {stored.line_num}"
        serials |= dict.fromkeys(stored.serials, place)
        if stored.external_ref is not None:
            named[stored.external_ref] = place
        if stored.batch and stored.expiry_date:
            dates.setdefault((stored.item_code, stored.batch), (stored.expiry_date, place))
    found = examine_lines((GoodsLine.of(*line) for line in lines), known.products, serials)
    invalid = list(found.invalid)
    for path, line in lines if whs_code is not None else ():
        field = f"{path}.destination_bin"
        invalid += known.placing_problems(field, whs_code or "", destination_bin(line))
    invalid += [*differing_dates(lines, dates), *repeated_references(lines, named)]
    return LineProblems(invalid, found.blocked)


def destination_bin(line: Checked[LineDraft]) -> str | None:
    """Return the code of the position that a line of an entry document names."""
    code: str | None = getattr(line, "destination_bin", None)
    return code


def partner_kind(kind: DocumentKind, document_type: str) -> PartnerKind:
    """Return the kind of the partner of a document."""
    is_of_provider = kind == "entry" or document_type == "return_to_provider"
    return "provider" if is_of_provider else "client"


def new_document(  # noqa: PLR0913 - the facts of a document
    number: int,
    draft: EntryDraft | ExitDraft,
    known: MasterData,
    now: str,
    *,
    source: Source,
    import_id: int | None = None,
) -> Document:
    """Return the document that `draft` describes."""
    return Document(
        id=number,
        type=draft.type,
        external_ref=draft.external_ref,
        source=source,
        status="open",
        card_code=draft.partner_code,
        card_name=draft.partner_name,
        doc_date=draft.doc_date,
        due_date=draft.due_date,
        comments=draft.comments,
        metadata=draft.metadata,
        import_id=import_id,
        whs_code=draft.warehouse_code,
        created_at=now,
        updated_at=now,
        lines=[
            new_line(position, line, known.products[line.item_code])
            for position, line in enumerate(draft.lines, start=1)
        ],
        **(_of_exit(draft) if isinstance(draft, ExitDraft) else {}),
        named={
            "product": sorted({known.products[line.item_code].id for line in draft.lines}),
            "warehouse": [known.warehouses[draft.warehouse_code].id],
            "position": sorted(position.id for position in known.positions.values()),
        },
    )


def _of_exit(draft: ExitDraft) -> dict[str, Any]:
    """Return the fields that only exit documents have."""
    return {
        "priority": draft.priority,
        "ship_to": draft.ship_to,
        "ship_to_address": stored_address(draft.ship_to_address),
        "carrier_code": draft.carrier_code,
        "service_code": draft.service_code,
    }


def new_line(number: int, line: LineDraft, product: KnownProduct) -> DocumentLine:
    """Return the line with a number that `line` describes."""
    return DocumentLine(
        line_num=number,
        external_ref=line.external_ref,
        product_id=product.id,
        item_code=product.item_code,
        qty=line.qty,
        unit=line.unit,
        unit_qty=line.unit_qty,
        open_qty=line.qty,
        batch=line.batch,
        expiry_date=line.expiry_date,
        serials=line.serials or [],
        bin_code=destination_bin(line),
        metadata=line.metadata,
    )


def differences(draft: EntryDraft | ExitDraft, document: Document) -> list[str]:
    """Return the fields of a draft that differ from the document with its reference.

    Quantities are compared as they were sent: what a unit counts may have changed since. A name
    that is not sent is no difference: the document may have that of its partner.
    """
    unnamed = {"partner_name"} if draft.partner_name is None else set[str]()
    without = {"external_ref", "type", "lines", "hold_id", *unnamed}
    names = {
        "partner_code": "card_code",
        "partner_name": "card_name",
        "warehouse_code": "whs_code",
    }
    ordered = [line for line in document.lines if line.qty]  # not those that were given up
    return [
        *differing_fields(draft, document, names, without=without),
        *differing_lines(draft.lines, ordered, {"destination_bin": "bin_code", "qty": "sent_qty"}),
    ]


def with_status(document: Document) -> Document:
    """Return the document after a change of lines, with the status that follows from them.

    It is closed when nothing is left to ship.
    """
    status = _status(document, document.lines, document.works)
    after = document.model_copy(update={"status": status})
    lines = document.lines
    some_left = any(line.dispatched_qty for line in lines)
    some_open = any(line.open_qty or line.staged_qty for line in lines)
    return closed(after) if some_left and not some_open else after


def closed(document: Document) -> Document:
    """Return the closed document; open quantities of its lines become 0."""
    lines = [_closed_line(line) for line in document.lines]
    return document.model_copy(update={"status": "closed", "lines": lines})


def _closed_line(line: DocumentLine) -> DocumentLine:
    if line.status == "complete":
        return line
    return line.model_copy(update={"open_qty": ZERO, "status": "closed"})


def advanced(document: Document, progress: DocumentProgress) -> Document:
    """Return the document after `progress`, with the states that follow from its quantities."""
    started, ended = progress.started_work, progress.ended_work
    works = [work for work in document.works if work != ended]
    works += [] if started is None else [started]
    finished = [work for work in document.finished if work != ended]
    finished += [ended] if ended is not None and progress.with_goods else []
    done = progress.done
    lines = [
        with_progress(line, more) if (more := done.get(line.line_num)) else line
        for line in document.lines
    ]
    if document.status == "closed":
        # Undoing work on a closed document does not reopen its lines.
        lines = [_closed_line(line) for line in lines]
    elif progress.item_codes:
        lines = [_with_present_code(line, progress.item_codes) for line in lines]
    return document.model_copy(
        update={
            "lines": lines,
            "works": works,
            "finished": finished,
            "status": _status(document, lines, works),
        }
    )


def shipped(document: Document) -> list[ShippedLine]:
    """Return what leaves with a dispatch of an exit document: what is staged for it."""
    return [
        ShippedLine(line_num=line.line_num, qty=line.staged_qty)
        for line in document.lines
        if line.staged_qty
    ]


def dispatched(document: Document, rest: DispatchRest) -> Document:
    """Return an exit document whose staged goods left; closed unless it keeps open quantities."""
    if rest == "close" or not any(line.open_qty for line in document.lines):
        return closed(document)
    return document.model_copy(
        update={
            "lines": [
                line.model_copy(update={"dispatched_qty": line.done_qty}) for line in document.lines
            ],
            "finished": [],
            "dispatched_works": [*document.dispatched_works, *document.finished],
        }
    )


def with_progress(line: DocumentLine, more: Decimal) -> DocumentLine:
    """Return a line of which `more` was received or picked, with the status that follows.

    A line whose ordered quantity was changed to 0 is closed.
    """
    done = line.done_qty + more
    left = max(ZERO, line.qty - done)
    status = "complete" if not left else "partial" if done else "open"
    status = status if line.qty else "closed"
    return line.model_copy(update={"done_qty": done, "open_qty": left, "status": status})


def _with_present_code(line: DocumentLine, item_codes: Mapping[int, str]) -> DocumentLine:
    code = item_codes.get(line.product_id, line.item_code)
    return line.model_copy(update={"item_code": code})


def _status(
    document: Document, lines: Sequence[DocumentLine], works: Sequence[int]
) -> DocumentStatus:
    if document.status == "closed":
        return "closed"
    if all(line.status in {"complete", "closed"} for line in lines):
        return "completed"
    if any(line.done_qty for line in lines):
        return "partial-complete"
    return "assigned" if works else "open"

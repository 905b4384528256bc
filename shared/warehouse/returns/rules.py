"""Rules of returns, as pure functions: which may be announced, and what they become."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shared.kernel.differences import differing_fields, differing_lines
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.catalog.lines import (
    GoodsLine,
    LineProblems,
    examine_lines,
    numbered,
    repeated_references,
)
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.documents.models import Document, Source
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.returns.limits import NamedGoods, Origin, limit_problems
from shared.warehouse.returns.models import (
    ReturnDraft,
    ReturnLineDraft,
    ReturnLineStatus,
    StoredReturn,
    StoredReturnLine,
)
from shared.warehouse.settings.values import Settings

# New returns


def warehouse_code(draft: Checked[ReturnDraft], document: Document | None) -> str | None:
    """Return the code of the warehouse where the goods arrive."""
    return draft.warehouse_code or (document.whs_code if document else None)


def partner_code(draft: Checked[ReturnDraft], document: Document | None) -> str | None:
    """Return the code of the partner who sends the goods back."""
    return draft.partner_code or (document.card_code if document else None)


def examine(
    draft: Checked[ReturnDraft], known: MasterData, origin: Origin | None, settings: Settings
) -> LineProblems:
    """Return every problem of a return other than those of its fields.

    `origin` is the exit document that it names, if that exists.
    """
    invalid: list[Problem] = []
    blocked: list[Problem] = []
    number = draft.exit_document_id
    if number is not None and origin is None:
        invalid.append(Problem("exit_document_id", f"no exit document has the id {number}"))
    elif number is None and "exit_document_id" not in invalid_fields(draft):
        invalid += _missing_for_blind(draft)
        if not settings.blind_returns:
            message = "is required: the setting blind_returns does not allow returns without it"
            blocked.append(Problem("exit_document_id", message))
    code = warehouse_code(draft, origin.document if origin else None)
    invalid += known.warehouse_problems("warehouse_code", code)
    found = examine_lines((GoodsLine.of(*line) for line in numbered(draft.lines)), known.products)
    invalid += [*found.invalid, *repeated_references(numbered(draft.lines))]
    if origin:
        blocked += limit_problems(origin, limited_goods(draft, known, origin))
    return LineProblems(invalid, [*blocked, *found.blocked])


def _missing_for_blind(draft: Checked[ReturnDraft]) -> Iterator[Problem]:
    for field in ("warehouse_code", "partner_code"):
        if getattr(draft, field) is None and field not in invalid_fields(draft):
            yield Problem(field, "is required without exit_document_id")


def limited_goods(
    draft: Checked[ReturnDraft], known: MasterData, origin: Origin
) -> list[NamedGoods]:
    """Return the goods of a draft, of known products, that the exit document limits."""
    reasons = {path: line.reason for path, line in numbered(draft.lines)}
    return [
        goods
        for goods in named_goods(numbered(draft.lines), known.products)
        if not origin.is_wrong_item(goods.product_id, reasons[goods.path])
    ]


def named_goods(
    lines: Iterable[tuple[str, Any]], products: Mapping[str, KnownProduct]
) -> Iterator[NamedGoods]:
    """Yield the goods of lines of a body, with their paths, that are of known products."""
    for path, line in lines:
        product = products.get(line.item_code) if line.item_code is not None else None
        if product and line.qty is not None:
            yield NamedGoods(
                path, product.item_code, product.id, line.qty, line.batch, line.serials or ()
            )


def new_return(  # noqa: PLR0913, PLR0917 - the facts of a return
    number: int,
    line_ids: Sequence[int],
    draft: ReturnDraft,
    known: MasterData,
    origin: Origin | None,
    now: str,
    *,
    partner_name: str | None,
    source: Source,
    import_id: int | None,
) -> StoredReturn:
    """Return the return that a draft becomes.

    `partner_name` is the name of the client with the partner's code, if there is one.
    """
    document = origin.document if origin else None
    warehouse = known.warehouses[warehouse_code(draft, document) or ""]
    partner = partner_code(draft, document) or ""
    is_of_document = document is not None and partner == document.card_code
    return StoredReturn(
        id=number,
        status="expected",
        external_ref=draft.external_ref,
        exit_document_id=draft.exit_document_id,
        card_code=partner,
        card_name=document.card_name if document and is_of_document else partner_name,
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        source=source,
        reason=draft.reason,
        metadata=draft.metadata,
        import_id=import_id,
        created_at=now,
        updated_at=now,
        lines=[
            _new_line(line_id, position, line, known.products[line.item_code], origin)
            for position, (line_id, line) in enumerate(
                zip(line_ids, draft.lines, strict=True), start=1
            )
        ],
    )


def _new_line(
    number: int,
    position: int,
    line: ReturnLineDraft,
    product: KnownProduct,
    origin: Origin | None,
) -> StoredReturnLine:
    return StoredReturnLine(
        id=number,
        line_num=position,
        external_ref=line.external_ref,
        product_id=product.id,
        item_code=product.item_code,
        product_name=product.name,
        reason=line.reason,
        wrong_item=origin is not None and origin.is_wrong_item(product.id, line.reason),
        qty=line.qty,
        unit=line.unit,
        unit_qty=line.unit_qty,
        batch_num=line.batch,
        serials=line.serials or [],
        metadata=line.metadata,
    )


def differences(draft: ReturnDraft, one: StoredReturn) -> list[str]:
    """Return the fields of a draft that differ from the return with its reference.

    A warehouse or partner that the draft does not name is no difference.
    """
    names = {"warehouse_code": "whs_code", "partner_code": "card_code"}
    unnamed = {name for name in names if getattr(draft, name) is None}
    without = {"external_ref", "lines", *unnamed}
    return [
        *differing_fields(draft, one, names, without=without),
        *differing_lines(
            draft.lines,
            one.lines,
            {"batch": "batch_num", "qty": "sent_qty"},
            without={"gtin"},
        ),
    ]


# Status of lines


def line_status(one: StoredReturn, line: StoredReturnLine) -> ReturnLineStatus:
    """Return the status of a line of a return."""
    match one.status:
        case "expected":
            return "open"
        case "cancelled":
            return "cancelled"
        case "receiving":
            if line.received_qty >= line.qty:
                return "received"
            return "partial" if line.received_qty else "open"
        case _:
            if line.received_qty and not line.open_qty:
                return "dispositioned"
            return "received" if line.received_qty >= line.qty else "short"

"""Rules of returns, as pure functions: what may be announced and received, and what it takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.catalog.lines import GoodsLine, LineProblems, examine_lines, numbered
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.differences import differing_fields, differing_lines
from shared.warehouse.documents.models import Document
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.master_data import MasterData
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.returns.models import (
    ReturnArrival,
    ReturnDraft,
    ReturnedGoods,
    ReturnLineDraft,
    ReturnLineStatus,
    ReturnStatus,
    StoredReturn,
    StoredReturnLine,
    return_code,
)
from shared.warehouse.settings.values import Settings
from shared.warehouse.work_records import ensure_status_in


def ensure_status(one: StoredReturn, *allowed: ReturnStatus) -> None:
    """Raise an error unless the status of a return is one of `allowed`; see `ensure_status_in`."""
    ensure_status_in(return_code(one.id), one.status, allowed, ReturnStatus)


# What left with an exit document, and what returns have taken of it


@dataclass(frozen=True, slots=True)
class Origin:
    """The exit document of a return: what left with it, and what returns have taken of that.

    `sent` is the dispatched quantity by product, `serials` are the dispatched serials, each with
    the id of its product. `stored` is what returns have taken, None before the first of them.
    """

    number: int
    document: Document
    sent: Mapping[int, Decimal]
    serials: frozenset[tuple[int, str]]
    stored: Record[ReturnedGoods] | None

    @property
    def returned(self) -> ReturnedGoods:
        """What returns have taken."""
        return self.stored.entity if self.stored else ReturnedGoods()


def origin_of(
    number: int,
    document: Document,
    pickings: Iterable[StoredPicking],
    stored: Record[ReturnedGoods] | None,
) -> Origin:
    """Return what left with an exit document.

    The document is closed by the last step of its dispatch; before it, nothing has left.
    """
    sent: dict[int, Decimal] = {}
    for line in document.lines if document.status == "closed" else ():
        sent[line.product_id] = sent.get(line.product_id, ZERO) + line.done_qty
    serials = frozenset(
        (line.product_id, pick.serial)
        for picking in pickings
        for line in picking.lines
        if line.document_id == number
        for pick in line.picks
        if pick.serial is not None and pick.dispatched
    )
    return Origin(number, document, sent, serials, stored)


def taken_by(one: StoredReturn) -> ReturnedGoods:
    """Return what a return takes of the goods of its exit document.

    Until its receiving ends, it takes what was announced, and what was received above that.
    """
    qty: dict[int, Decimal] = {}
    serials: dict[int, list[str]] = {}
    if one.status == "cancelled":
        return ReturnedGoods()
    is_open = one.status in {"expected", "receiving"}
    for product in dict.fromkeys(line.product_id for line in one.lines):
        lines = [line for line in one.lines if line.product_id == product]
        received = sum((line.received_qty for line in lines), ZERO)
        announced = sum((line.qty for line in lines), ZERO) if is_open else ZERO
        if taken := max(received, announced):
            qty[product] = taken
        named = [serial for line in lines for goods in line.goods for serial in goods.serials]
        named += [serial for line in lines for serial in line.serials] if is_open else []
        if named:
            serials[product] = sorted(set(named))
    return ReturnedGoods(qty=qty, serials=serials)


def with_change(
    returned: ReturnedGoods, before: ReturnedGoods, after: ReturnedGoods
) -> ReturnedGoods:
    """Return what all returns of an exit document take when one takes `after`, not `before`."""
    qty = dict(returned.qty)
    for product in before.qty.keys() | after.qty.keys():
        more = after.qty.get(product, ZERO) - before.qty.get(product, ZERO)
        qty[product] = qty.get(product, ZERO) + more
    serials = {product: set(named) for product, named in returned.serials.items()}
    for product in before.serials.keys() | after.serials.keys():
        others = serials.get(product, set()) - set(before.serials.get(product, ()))
        serials[product] = others | set(after.serials.get(product, ()))
    return ReturnedGoods(
        qty={product: qty[product] for product in sorted(qty) if qty[product]},
        serials={product: sorted(serials[product]) for product in sorted(serials)
                 if serials[product]},
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedGoods:
    """Goods that are announced or received in a line of a body."""

    path: str
    item_code: str
    product_id: int
    qty: Decimal
    serials: Sequence[str]


def limit_problems(
    origin: Origin, named: Sequence[NamedGoods], own: StoredReturn | None = None
) -> Iterator[Problem]:
    """Yield a problem for what did not leave with the exit document, or was returned already.

    `own` is the return that receives the goods; None when it is being created.
    """
    taken = taken_by(own) if own else ReturnedGoods()
    received: dict[int, Decimal] = {}
    for line in own.lines if own else ():
        received[line.product_id] = received.get(line.product_id, ZERO) + line.received_qty
    exceeded = set[int]()
    for goods in named:
        product = goods.product_id
        received[product] = received.get(product, ZERO) + goods.qty
        wanted = max(received[product], taken.qty.get(product, ZERO))
        others = origin.returned.qty.get(product, ZERO) - taken.qty.get(product, ZERO)
        sent = origin.sent.get(product, ZERO)
        if wanted > sent - others and product not in exceeded:
            exceeded.add(product)
            message = (
                f"{plain(wanted)} of {goods.item_code} to return; {plain(sent)} dispatched with"
                f" {doc_num('exit', origin.number)}, {plain(others)} returned,"
                f" {plain(sent - others)} left"
            )
            yield Problem(f"{goods.path}.qty", message)
        yield from _serial_problems(origin, goods, set(taken.serials.get(product, ())))


def _serial_problems(origin: Origin, goods: NamedGoods, own: set[str]) -> Iterator[Problem]:
    code = doc_num("exit", origin.number)
    returned = set(origin.returned.serials.get(goods.product_id, ())) - own
    for at, serial in enumerate(goods.serials):
        path = f"{goods.path}.serials.{at}"
        if (goods.product_id, serial) not in origin.serials:
            yield Problem(path, f"serial {serial} of {goods.item_code} did not leave with {code}")
        elif serial in returned:
            yield Problem(path, f"serial {serial} of {goods.item_code} was returned already")


# New returns


def warehouse_code(draft: Checked[ReturnDraft], document: Document | None) -> str | None:
    """Return the code of the warehouse where the goods arrive."""
    return draft.warehouse_code or (document.whs_code if document else None)


def examine(
    draft: Checked[ReturnDraft], known: MasterData, origin: Origin | None, settings: Settings
) -> LineProblems:
    """Return every problem of a return besides those of its fields.

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
    if origin:
        blocked += limit_problems(origin, list(named_goods(draft, known.products)))
    return LineProblems([*invalid, *found.invalid], [*blocked, *found.blocked])


def _missing_for_blind(draft: Checked[ReturnDraft]) -> Iterator[Problem]:
    for field in ("warehouse_code", "partner_code"):
        if getattr(draft, field) is None and field not in invalid_fields(draft):
            yield Problem(field, "is required without exit_document_id")


def named_goods(
    draft: Checked[ReturnDraft] | Checked[ReturnArrival], products: Mapping[str, KnownProduct]
) -> Iterator[NamedGoods]:
    """Yield the goods that the lines of a body announce, or that arrive, of known products."""
    for path, line in numbered(draft.lines):
        product = products.get(line.item_code) if line.item_code is not None else None
        if product and line.qty is not None:
            yield NamedGoods(path, product.item_code, product.id, line.qty, line.serials or ())


def new_return(  # noqa: PLR0913, PLR0917 - the facts of a return
    number: int,
    line_ids: Sequence[int],
    draft: ReturnDraft,
    known: MasterData,
    origin: Origin | None,
    now: str,
    *,
    import_id: int | None,
) -> StoredReturn:
    """Return the return that a draft becomes."""
    document = origin.document if origin else None
    warehouse = known.warehouses[warehouse_code(draft, document) or ""]
    partner = draft.partner_code or (document.card_code if document else "")
    is_of_document = document is not None and partner == document.card_code
    return StoredReturn(
        id=number,
        status="expected",
        external_ref=draft.external_ref,
        exit_document_id=draft.exit_document_id,
        card_code=partner,
        card_name=document.card_name if document and is_of_document else None,
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        source="api" if import_id is None else "import",
        reason=draft.reason,
        import_id=import_id,
        created_at=now,
        updated_at=now,
        lines=[
            _new_line(line_id, position, line, known.products[line.item_code])
            for position, (line_id, line) in enumerate(
                zip(line_ids, draft.lines, strict=True), start=1
            )
        ],
    )


def _new_line(
    number: int, position: int, line: ReturnLineDraft, product: KnownProduct
) -> StoredReturnLine:
    return StoredReturnLine(
        id=number,
        line_num=position,
        product_id=product.id,
        item_code=product.item_code,
        product_name=product.name,
        reason=line.reason,
        qty=line.qty,
        batch_num=line.batch,
        serials=line.serials or [],
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
        *differing_lines(draft.lines, one.lines, {"batch": "batch_num"}, without={"gtin"}),
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

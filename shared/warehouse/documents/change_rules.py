"""Rules of changes of documents on plain data: their fields, the quantities of lines, new lines."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.kernel.errors import Problem
from shared.kernel.fields import MAX_ID, ZERO, plain
from shared.kernel.metadata import line_merge_problems, merge, merged
from shared.kernel.validation import Checked, problems_of
from shared.warehouse.catalog.lines import numbered
from shared.warehouse.documents import rules
from shared.warehouse.documents.models import (
    MAX_LINES,
    Document,
    DocumentLine,
    EntryChange,
    ExitChange,
    LineChange,
)
from shared.warehouse.documents.vocabulary import DocumentKind, doc_num
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.work.address import stored_address

type NumberedChange = tuple[str, Checked[LineChange]]
"""An entry of `lines` with its path."""

_STORED_AS = {"partner_name": "card_name"}
_DONE: Mapping[DocumentKind, str] = {"entry": "received", "exit": "picked"}


def changed_fields(change: EntryChange | ExitChange, document: Document) -> dict[str, Any]:
    """Return the fields other than `lines` that a change sets, by the names of the stored ones."""
    sent = merge(change.model_dump(exclude_unset=True, exclude={"lines"}), document.metadata)
    if isinstance(change, ExitChange) and "ship_to_address" in sent:
        address, former = stored_address(change.ship_to_address), document.ship_to_address
        sent["ship_to_address"] = address.in_place_of(former) if address and former else address
    return {_STORED_AS.get(name, name): value for name, value in sent.items()}


def new_lines(change: Checked[EntryChange | ExitChange]) -> list[NumberedChange]:
    """Return the entries that add a line, valid or not: those without a valid `line_num`."""
    return [(path, line) for path, line in numbered(_lines_of(change)) if line.line_num is None]


def _lines_of(change: Checked[EntryChange | ExitChange]) -> Sequence[Checked[LineChange]]:
    return change.lines or ()


def changes_lines(change: EntryChange | ExitChange, document: Document) -> bool:
    """Return whether a change would change lines of a document, or add some."""
    present = {line.line_num: line.qty for line in document.lines}
    return any(
        line.line_num is None or present.get(line.line_num) != line.qty for line in change.lines
    )


def orders_more(change: Checked[EntryChange | ExitChange], document: Document) -> bool:
    """Return whether a change adds lines, or raises the quantity of one."""
    return bool(new_lines(change)) or any(True for _ in _raised(document, change))


def _raised(
    document: Document, change: Checked[EntryChange | ExitChange]
) -> Iterator[tuple[str, DocumentLine]]:
    """Yield the lines whose quantity a change raises, with the paths of their entries."""
    by_number = {line.line_num: line for line in document.lines}
    for path, sent in numbered(_lines_of(change)):
        line = by_number.get(sent.line_num or 0)
        if line and sent.qty is not None and sent.qty > line.qty:
            yield path, line


def codes_to_check(document: Document, change: Checked[EntryChange | ExitChange]) -> Iterator[str]:
    """Yield the codes of the products of which a line gets more, or a quantity with a fraction."""
    fractions = {
        line.line_num
        for line in _lines_of(change)
        if line.qty is not None and line.qty != line.qty.to_integral_value()
    }
    yield from (line.item_code for line in document.lines if line.line_num in fractions)
    if not document.is_open:
        yield from (line.item_code for _, line in _raised(document, change))


def former_problems(
    document: Document, change: Checked[EntryChange | ExitChange], known: MasterData
) -> Iterator[Problem]:
    """Yield a problem for each product, and for the warehouse, that has not its code any more."""
    warehouse = known.warehouses.get(document.whs_code)
    if warehouse is None or warehouse.id not in document.named.get("warehouse", [warehouse.id]):
        message = f"warehouse {document.whs_code} has another code now, or was deleted"
        yield Problem("lines", message)
    for path, line in _raised(document, change):
        product = known.products.get(line.item_code)
        if product is None or product.id != line.product_id:
            yield Problem(path, f"product {line.item_code} has another code now, or was deleted")


def line_problems(
    kind: DocumentKind,
    document: Document,
    change: Checked[EntryChange | ExitChange],
    known: MasterData,
) -> Iterator[Problem]:
    """Yield the problems of the changed lines, and those of the shape of new ones."""
    by_number = {line.line_num: line for line in document.lines}
    seen = dict[int, str]()
    for path, line in numbered(_lines_of(change)):
        number = line.line_num
        if number is None:
            continue
        first = seen.setdefault(number, path)
        if first != path:
            yield Problem(path, f"line {number} is changed in {first} already")
        elif number not in by_number:
            unknown = number if abs(number) <= MAX_ID else "with this number"
            yield Problem(path, f"{doc_num(kind, document.id)} has no line {unknown}")
        else:
            yield from _kept_problems(path, by_number[number], line)
            yield from _quantity_problems(kind, path, by_number[number], line, known)
            yield from line_merge_problems(by_number[number].metadata, line.metadata, path)
    added = new_lines(change)
    invalid = {problem.field for problem in problems_of(change)}
    for path, line in added:
        is_read = invalid.isdisjoint({path, f"{path}.line_num"})
        if is_read and "item_code" not in line.model_fields_set:
            yield Problem(f"{path}.item_code", "is required without line_num")
        yield from _new_line_problems(path, line)
    if (total := len(document.lines) + len(added)) > MAX_LINES:
        yield Problem("lines", f"{total} lines; a document has at most {MAX_LINES}")


def _new_line_problems(path: str, line: Checked[LineChange]) -> Iterator[Problem]:
    """Yield the problems of a new line in what only a change admits."""
    if line.qty == ZERO:
        yield Problem(f"{path}.qty", "must be more than 0")
    for name, text in (line.metadata or {}).items():
        if text is None:
            yield Problem(f"{path}.metadata.{name}", "must be a text")


def _kept_problems(path: str, line: DocumentLine, change: Checked[LineChange]) -> Iterator[Problem]:
    """Yield the problems of fields that a line keeps."""
    if change.item_code not in {None, "", line.item_code}:
        yield Problem(f"{path}.item_code", f"line {line.line_num} is of {line.item_code}")
    if change.unit is not None:
        yield Problem(f"{path}.unit", "must not be sent with line_num: qty counts base units")
    for name in ("batch", "expiry_date", "serials", "destination_bin"):
        if getattr(change, name, None):
            yield Problem(f"{path}.{name}", "must not be sent with line_num, as it does not change")
    if change.external_ref not in {None, line.external_ref}:
        yield Problem(f"{path}.external_ref", f"line {line.line_num} keeps its reference")


def _quantity_problems(
    kind: DocumentKind,
    path: str,
    line: DocumentLine,
    change: Checked[LineChange],
    known: MasterData,
) -> Iterator[Problem]:
    """Yield the problems of the new quantity of a line."""
    qty = change.qty
    if qty is None or qty == line.qty:
        return
    if not line.qty:
        yield Problem(path, f"line {line.line_num} was given up: add another line")
    elif qty < line.done_qty:
        done = f"{plain(line.done_qty)} {_DONE[kind]} already"
        yield Problem(path, f"qty {plain(qty)} of line {line.line_num}: {done}")
    elif qty and line.serials:
        named = f"the line names {len(line.serials)} serials"
        yield Problem(path, f"qty {plain(qty)} of line {line.line_num}: {named}")
    product = known.products.get(line.item_code)
    if product and product.by_serial and qty != qty.to_integral_value():
        message = f"must be a whole number: product {product.item_code} is managed by serial"
        yield Problem(f"{path}.qty", message)


def with_quantities(document: Document, change: Checked[EntryChange | ExitChange]) -> Document:
    """Return the document with the changed quantities of its lines, as far as they are valid."""
    sent = {line.line_num: line for line in _lines_of(change)}
    lines = [
        _with_change(line, sent[line.line_num]) if line.line_num in sent else line
        for line in document.lines
    ]
    return document.model_copy(update={"lines": lines})


def _with_change(line: DocumentLine, sent: Checked[LineChange]) -> DocumentLine:
    after = line if sent.qty is None else _with_quantity(line, sent.qty)
    if not sent.metadata:
        return after
    return after.model_copy(update={"metadata": merged(line.metadata, sent.metadata)})


def _with_quantity(line: DocumentLine, qty: Decimal) -> DocumentLine:
    if qty == line.qty:
        return line
    update = {"qty": qty, "unit": None, "unit_qty": None}
    after = rules.with_progress(line.model_copy(update=update), ZERO)
    # A line that is given up names no goods any more.
    nothing: dict[str, Any] = {"serials": [], "batch": None, "expiry_date": None}
    return after if qty else after.model_copy(update=nothing)


def changed(document: Document, change: EntryChange | ExitChange, known: MasterData) -> Document:
    """Return the document after a valid change, with the status that follows."""
    fields = changed_fields(change, document)
    after = with_quantities(document, change).model_copy(update=fields)
    if not changes_lines(change, document):
        return after
    sent = [line for line in change.lines if line.line_num is None]
    added = [
        rules.new_line(number, line, known.products[line.item_code])
        for number, line in enumerate(sent, start=len(document.lines) + 1)
    ]
    lines = [*after.lines, *added]
    named = {
        "product": sorted({*document.named.get("product", []), *(one.product_id for one in added)}),
        "position": sorted(
            {*document.named.get("position", []), *(one.id for one in known.positions.values())}
        ),
    }
    return rules.with_status(
        after.model_copy(update={"lines": lines, "named": {**document.named, **named}})
    )

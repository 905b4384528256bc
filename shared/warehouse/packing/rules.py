"""Rules of packing, as pure functions: what may be packed, and what follows from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.errors import Conflict, Problem, StaleState
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, given_fields
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.packing.actions import ACTIONS, UNIT_ACTIONS
from shared.warehouse.packing.models import (
    MAX_LEVELS,
    MAX_PICKINGS,
    PackingEnd,
    PackingOrderDraft,
    StoredPackingLine,
    StoredPackingOrder,
    StoredUnit,
    UnitEntry,
    unit_code,
)
from shared.warehouse.picking.models import Pick, StoredPicking, packing_order_code, picking_code

SHOWN = 10
"""Most things that one message names."""


# Creation


def draft_problems(draft: Checked[PackingOrderDraft]) -> Iterator[Problem]:
    """Yield a problem unless a draft names either a document or pickings."""
    if len(given_fields(draft, ("exit_document_id", "picking_ids"))) != 1:
        yield Problem("exit_document_id", "give either exit_document_id or picking_ids")


def _picks_for(picking: StoredPicking, document: int) -> Iterator[tuple[int, str, Pick]]:
    """Yield the picks of a picking for a document, each with its product: id and item code."""
    for line in picking.lines:
        if line.document_id == document:
            yield from ((line.product_id, line.item_code, pick) for pick in line.picks)


def picking_problems(
    named: Iterable[tuple[int, int]], found: Sequence[Record[StoredPicking]]
) -> Iterator[Problem]:
    """Yield a problem of each picking that a draft names and that cannot be packed.

    `named` are their ids, each with its index. The pickings of one packing order are of one exit
    document.
    """
    by_id = {record.id: record.entity for record in found}
    first: int | None = None
    for at, number in named:
        field, picking = f"picking_ids.{at}", by_id.get(number)
        if picking is None:
            yield Problem(field, f"no picking has the id {number}")
            continue
        code, documents = picking_code(number), picking.documents
        if any(one.type == "transfer_order" for one in documents):
            yield Problem(field, f"{code} belongs to {documents[0].doc_num}, not to exit documents")
        elif len(documents) > 1:
            several = ", ".join(str(one.doc_num) for one in documents[:SHOWN])
            yield Problem(field, f"{code} is for {several}; give exit_document_id instead")
        elif picking.status not in {"finalized", "synchronized"}:
            yield Problem(field, f"{code} is {picking.status}; it must be finalized")
        elif first is not None and documents[0].id != first:
            other = doc_num("exit", first)
            yield Problem(field, f"{code} is for {documents[0].doc_num}, the others for {other}")
        else:
            first = documents[0].id
            yield from _staged_problems(field, picking, first)


def document_problems(number: int, found: Sequence[StoredPicking]) -> Iterator[Problem]:
    """Yield a problem when the finalized pickings `found` of a document cannot be packed."""
    code, field = doc_num("exit", number), "exit_document_id"
    picks = [pick for picking in found for _, _, pick in _picks_for(picking, number)]
    if not picks:
        yield Problem(field, f"{code} has no finalized picking with staged goods")
    elif any(pick.dispatched for pick in picks):
        yield Problem(field, f"{code} is dispatched, or its dispatch is not finished")
    elif len(found) > MAX_PICKINGS:
        message = f"{code} has {len(found)} finalized pickings, at most {MAX_PICKINGS} per order"
        yield Problem(field, f"{message}; give picking_ids")


def _staged_problems(field: str, picking: StoredPicking, document: int) -> Iterator[Problem]:
    """Yield a problem when a picking has no goods for a document that are still staged."""
    picks = [pick for _, _, pick in _picks_for(picking, document)]
    code = picking_code(picking.id)
    if not picks:
        yield Problem(field, f"{code} has no staged goods")
    elif any(pick.dispatched for pick in picks):
        yield Problem(field, f"the goods of {code} are dispatched")


def lines_for(
    pickings: Iterable[StoredPicking], document: int, names: Mapping[str, str]
) -> list[StoredPackingLine]:
    """Return what is staged for a document: a line for each item, and for each batch of it.

    `names` are the names of the products by item code.
    """
    lines: dict[tuple[int, str | None], StoredPackingLine] = {}
    for picking in pickings:
        for product_id, item_code, pick in _picks_for(picking, document):
            key = (product_id, pick.batch_num)
            line = lines.get(key)
            if line is None:
                line = StoredPackingLine(
                    product_id=product_id,
                    item_code=item_code,
                    product_name=names.get(item_code, item_code),
                    batch_num=pick.batch_num,
                    qty=ZERO,
                )
            serials = [] if pick.serial is None else [pick.serial]
            dates = filter(None, [line.expiry_date, pick.expiry_date])
            lines[key] = line.model_copy(
                update={
                    "qty": line.qty + pick.qty,
                    "serials": [*line.serials, *serials],
                    "expiry_date": min(dates, default=None),
                }
            )
    return list(lines.values())


def ensure_free(document: int, packing: Mapping[int, Iterable[StoredPackingOrder]]) -> None:
    """Raise Conflict when a picking has an active packing order for a document.

    `packing` has the packing orders of each picking by its id.
    """
    taken = [
        f"{picking_code(picking)} is being packed in {packing_order_code(order.id)}"
        for picking, orders in packing.items()
        for order in orders
        if order.is_active and order.exit_document_id == document
    ]
    if taken:
        raise Conflict(
            f"{_listed(taken)}; a picking has one active packing order for"
            f" {doc_num('exit', document)} at most."
        )


def is_leaving(order: StoredPackingOrder, pickings: Iterable[StoredPicking]) -> bool:
    """Return whether goods of a packing order, which are in these pickings, are dispatched."""
    picks = (one for each in pickings for one in _picks_for(each, order.exit_document_id))
    return any(pick.dispatched for _, _, pick in picks)


def ensure_not_dispatched(order: StoredPackingOrder, pickings: Iterable[StoredPicking]) -> None:
    """Raise Conflict when some goods of a packing order are dispatched, and others not yet."""
    if is_leaving(order, pickings):
        code, document = packing_order_code(order.id), doc_num("exit", order.exit_document_id)
        raise Conflict(
            f"{code} cannot be cancelled: the dispatch of {document} is not finished;"
            " repeat it first."
        )


# Units in units


def ensure_packing(order: StoredPackingOrder) -> None:
    """Raise StaleState when a packing order is packed, so that its units stay as they are."""
    ACTIONS.ensure(order, "complete")


def parent_problems(order: StoredPackingOrder, parent: int | None) -> Iterator[Problem]:
    """Yield a problem when a new unit cannot stand in the unit with the id `parent`."""
    if parent is None:
        return
    levels = len(_ancestors(order, parent))
    if not levels:
        message = f"no handling unit of {packing_order_code(order.id)} has the id {parent}"
        yield Problem("parent_id", message)
    elif levels >= MAX_LEVELS:
        message = f"{unit_code(parent)} is on level {levels}; there are at most {MAX_LEVELS}"
        yield Problem("parent_id", message)


def _entry_of(order: StoredPackingOrder, unit: int) -> UnitEntry | None:
    """Return the entry of a unit in its packing order; None when it has none."""
    return next((entry for entry in order.units if entry.id == unit), None)


def has_unit(order: StoredPackingOrder, unit: int) -> bool:
    """Return whether a unit is one of a packing order, so that it has not been deleted."""
    return _entry_of(order, unit) is not None


def _ancestors(order: StoredPackingOrder, unit: int | None) -> list[UnitEntry]:
    """Return the entries of a unit and of those it stands in, from the inside out."""
    found: list[UnitEntry] = []
    while unit is not None and (entry := _entry_of(order, unit)) is not None:
        found.append(entry)
        unit = entry.parent_id
    return found


def _children_of(order: StoredPackingOrder, unit: int) -> list[UnitEntry]:
    """Return the entries of the units that stand in a unit."""
    return [entry for entry in order.units if entry.parent_id == unit]


def units_inside(order: StoredPackingOrder, unit: int) -> list[int]:
    """Return the ids of all units in a unit, on every level."""
    inside = {unit}
    for entry in order.units:  # units were created after those in which they stand
        if entry.parent_id in inside:
            inside.add(entry.id)
    return sorted(inside - {unit})


def empty_units(order: StoredPackingOrder) -> list[int]:
    """Return the ids of the open units in which no goods and no others are, the innermost first.

    A unit with nothing but such units in it is one of them.
    """
    empty: list[int] = []
    occupied: set[int | None] = set()
    for entry in reversed(order.units):  # units were created after those in which they stand
        if entry.status == "open" and not entry.contents and entry.id not in occupied:
            empty.append(entry.id)
        else:
            occupied.add(entry.parent_id)
    return empty


def ensure_children_closed(order: StoredPackingOrder, unit: int) -> None:
    """Raise Conflict when a unit that stands in a unit is open."""
    open_ones = [entry.id for entry in _children_of(order, unit) if entry.status == "open"]
    if open_ones:
        raise Conflict(f"{_units(open_ones)} in {unit_code(unit)} must be closed first.")


def ensure_parent_open(order: StoredPackingOrder, parent: int | None) -> None:
    """Raise StaleState when the unit in which a unit stands is closed."""
    entry = None if parent is None else _entry_of(order, parent)
    if entry is not None:
        UNIT_ACTIONS.ensure(entry, "contents")


def ensure_admitted(order: StoredPackingOrder, unit: StoredUnit, name: str) -> None:
    """Raise Conflict or StaleState unless a unit and its packing order admit an action."""
    ensure_packing(order)
    UNIT_ACTIONS.ensure(unit, name)
    if name == "close":
        ensure_children_closed(order, unit.id)
    elif name == "reopen":
        ensure_parent_open(order, unit.parent_id)


def admitted_actions(order: StoredPackingOrder, unit: StoredUnit) -> list[str]:
    """Return the names of the actions that a unit and its packing order admit."""

    def is_admitted(name: str) -> bool:
        try:
            ensure_admitted(order, unit, name)
        except (Conflict, StaleState):
            return False
        return True

    return list(filter(is_admitted, UNIT_ACTIONS.actions))


def ensure_empty(order: StoredPackingOrder, unit: StoredUnit) -> None:
    """Raise Conflict when goods or other units are in a unit."""
    inside = [unit_code(entry.id) for entry in _children_of(order, unit.id)]
    inside += [one.item_code for one in unit.contents]
    if inside:
        raise Conflict(f"{unit_code(unit.id)} is not empty: {', '.join(inside[:SHOWN])}.")


def with_entry(order: StoredPackingOrder, entry: UnitEntry) -> StoredPackingOrder:
    """Return the packing order with the entry of a unit added or replaced."""
    units = [entry.in_place_of(one) if one.id == entry.id else one for one in order.units]
    if _entry_of(order, entry.id) is None:
        units.append(entry)
    return order.model_copy(update={"units": units})


def entry_for(unit: StoredUnit) -> UnitEntry:
    """Return what a packing order knows of a unit."""
    return UnitEntry(
        id=unit.id,
        parent_id=unit.parent_id,
        status=unit.status,
        contents=len(unit.contents),
        weight_kg=unit.weight_kg,
    )


def weight_of(order: StoredPackingOrder) -> Decimal | None:
    """Return the weight of the top-level units that are weighed; None when none is."""
    weights = [
        one.weight_kg for one in order.units if one.parent_id is None and one.weight_kg is not None
    ]
    return sum(weights, ZERO) if weights else None


def _units(numbers: Iterable[int]) -> str:
    return _listed([unit_code(number) for number in numbers])


def _listed(texts: Sequence[str]) -> str:
    """Return the first texts, and how many more there are."""
    rest = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


# The end


def end_problems(end: Checked[PackingEnd]) -> Iterator[Problem]:
    """Yield a problem when goods are left unpacked without a reason."""
    if end.short and end.reason is None:
        yield Problem("reason", "is required with short")


def short_reason(order: StoredPackingOrder, end: PackingEnd) -> str | None:
    """Return why goods are left unpacked or units open; None when everything is packed.

    Raises:
        Conflict: Something is not packed, and `end` does not leave it so.
    """
    missing = [
        f"{plain(line.qty - line.packed_qty)} of {line.item_code}"
        + (f" batch {line.batch_num}" if line.batch_num else "")
        for line in order.lines
        if line.packed_qty < line.qty
    ]
    empty = empty_units(order)
    open_ones = [one.id for one in order.units if one.status == "open" and one.id not in empty]
    parts: list[str] = []
    if missing:
        parts.append(f"{_listed(missing)} not packed")
    if open_ones:
        parts.append(f"{_units(open_ones)} not closed")
    if parts and not end.short:
        code = packing_order_code(order.id)
        raise Conflict(
            f"{code} is not completely packed: {'; '.join(parts)}. Send short to leave it so."
        )
    return end.reason if parts else None


# Dispatch


def ensure_packed(orders: Iterable[StoredPackingOrder]) -> None:
    """Raise Conflict when a packing order of goods to be dispatched is still being packed."""
    waiting = [one for one in orders if one.status in {"open", "in_progress"}]
    if waiting:
        states = ", ".join(f"{packing_order_code(one.id)} is {one.status}" for one in waiting)
        raise Conflict(f"{states}; complete or cancel it before the dispatch.")


def ensure_all_packed(
    document: int, pickings: Iterable[StoredPicking], packed: AbstractSet[int]
) -> None:
    """Raise Conflict when a picking with goods for a document has none of the orders `packed`."""
    loose = [
        picking_code(one.id)
        for one in pickings
        if any(_picks_for(one, document)) and one.packing_order_for(document) not in packed
    ]
    if loose:
        raise Conflict(
            f"The goods of {', '.join(loose[:SHOWN])} are not packed; the company dispatches"
            " packed goods only. Create and complete a packing order."
        )

"""Rules of the contents of handling units, as pure functions: what goes in, and what comes out."""

from collections.abc import Iterator, Sequence

from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.fields import plain
from shared.kernel.validation import Checked, InvalidBody, invalid_fields
from shared.warehouse.catalog.lines import serial_problems
from shared.warehouse.packing.models import (
    MAX_CONTENTS,
    MAX_ORDER_CONTENTS,
    MAX_SERIALS,
    ContentsDraft,
    PackedGoods,
    StoredPackingLine,
    StoredPackingOrder,
    StoredUnit,
    unit_code,
)
from shared.warehouse.packing.rules import SHOWN, entry_for, with_entry
from shared.warehouse.picking.models import packing_order_code


def goods_problems(order: StoredPackingOrder, draft: Checked[ContentsDraft]) -> Iterator[Problem]:
    """Yield the problems of goods that a draft packs or takes out, except their quantity.

    An item that is not staged is reported here with the problems of an invalid draft; a rule
    refuses it in a valid one.
    """
    lines = _lines_of(order, draft.item_code)
    if isinstance(draft, InvalidBody) and draft.item_code is not None and not lines:
        yield _not_staged(order, draft.item_code)
    if {"serials", "qty"} & invalid_fields(draft) or not lines or draft.qty is None:
        return
    yield from serial_problems(draft, by_serial=any(line.serials for line in lines))


def _lines_of(order: StoredPackingOrder, item_code: str | None) -> list[StoredPackingLine]:
    return [line for line in order.lines if line.item_code == item_code]


def _not_staged(order: StoredPackingOrder, item_code: str) -> Problem:
    return Problem("item_code", f"{item_code} is not staged for {packing_order_code(order.id)}")


def goods_to_pack(order: StoredPackingOrder, unit: StoredUnit, draft: ContentsDraft) -> PackedGoods:
    """Return the goods that a draft puts into a unit; it needs a batch if several are staged.

    Raises:
        RuleBlocked: They are not staged, are in units already, or do not fit.
    """
    line = _line_to_pack(order, draft)
    code, serials = packing_order_code(order.id), draft.serials or []
    problems: list[Problem] = []
    left = line.qty - line.packed_qty
    if draft.qty > left:
        message = f"{plain(draft.qty)} to pack, {plain(left)} of {line.item_code} left in {code}"
        problems.append(Problem("qty", message))
    if strange := [one for one in serials if one not in line.serials]:
        problems.append(Problem("serials", f"{_are(strange)} not staged for {code}"))
    elif packed := [one for one in serials if one in line.packed_serials]:
        problems.append(Problem("serials", f"{_are(packed)} already packed"))
    goods = PackedGoods(**line.model_dump(include=_PRODUCT), serials=serials, qty=draft.qty)
    problems += _size_problems(order, unit, goods)
    if problems:
        raise RuleBlocked(problems)
    return goods


def _are(serials: Sequence[str]) -> str:
    """Return the subject and verb of a message about serials."""
    return f"{', '.join(serials[:SHOWN])} {'is' if len(serials) == 1 else 'are'}"


def line_of(order: StoredPackingOrder, goods: PackedGoods) -> StoredPackingLine:
    """Return the line of a packing order to which goods belong."""
    return next(line for line in order.lines if _same_goods(line, goods))


_PRODUCT = {"product_id", "item_code", "product_name", "batch_num"}


def _line_to_pack(order: StoredPackingOrder, draft: ContentsDraft) -> StoredPackingLine:
    """Return the line of the goods of a draft."""
    code, lines = packing_order_code(order.id), _lines_of(order, draft.item_code)
    if not lines:
        raise RuleBlocked([_not_staged(order, draft.item_code)])
    if draft.batch is None and len(lines) == 1:
        return lines[0]
    batches = ", ".join(line.batch_num or "none" for line in lines[:SHOWN])
    if draft.batch is None:
        message = f"is required: {draft.item_code} is staged in the batches {batches}"
        raise ValidationFailed([Problem("batch", message)])
    found = next((line for line in lines if line.batch_num == draft.batch), None)
    if found is None:
        message = f"batch {draft.batch} of {draft.item_code} is not staged for {code}: {batches}"
        raise RuleBlocked([Problem("batch", message)])
    return found


def _size_problems(
    order: StoredPackingOrder, unit: StoredUnit, goods: PackedGoods
) -> Iterator[Problem]:
    """Yield a problem when a unit or its packing order would have too many contents."""
    is_new = not any(_same_goods(one, goods) for one in unit.contents)
    if is_new and len(unit.contents) >= MAX_CONTENTS:
        message = f"{unit_code(unit.id)} has {MAX_CONTENTS} contents, the most allowed"
        yield Problem("item_code", message)
    elif is_new and sum(entry.contents for entry in order.units) >= MAX_ORDER_CONTENTS:
        message = f"{packing_order_code(order.id)} has {MAX_ORDER_CONTENTS} contents"
        yield Problem("item_code", f"{message}, the most allowed")
    serials = sum(len(one.serials) for one in unit.contents) + len(goods.serials)
    if serials > MAX_SERIALS:
        message = f"{unit_code(unit.id)} would have {serials} serials, the most are {MAX_SERIALS}"
        yield Problem("serials", message)


def goods_to_remove(unit: StoredUnit, draft: ContentsDraft) -> PackedGoods:
    """Return the goods that a draft takes out of a unit; it needs a batch if several are in it.

    Raises:
        RuleBlocked: They are not in the unit.
    """
    code, serials = unit_code(unit.id), draft.serials or []
    inside = [one for one in unit.contents if one.item_code == draft.item_code]
    if not inside:
        raise RuleBlocked([Problem("item_code", f"{draft.item_code} is not in {code}")])
    if draft.batch is None and len(inside) > 1:
        batches = ", ".join(one.batch_num or "none" for one in inside[:SHOWN])
        message = f"is required: {draft.item_code} is in {code} in the batches {batches}"
        raise ValidationFailed([Problem("batch", message)])
    found = next((one for one in inside if draft.batch in {None, one.batch_num}), None)
    if found is None:
        message = f"batch {draft.batch} of {draft.item_code} is not in {code}"
        raise RuleBlocked([Problem("batch", message)])
    problems: list[Problem] = []
    if draft.qty > found.qty:
        message = f"{plain(draft.qty)} to take out, {plain(found.qty)} of {found.item_code}"
        problems.append(Problem("qty", f"{message} in {code}"))
    if strange := [one for one in serials if one not in found.serials]:
        problems.append(Problem("serials", f"{_are(strange)} not in {code}"))
    if problems:
        raise RuleBlocked(problems)
    return found.model_copy(update={"qty": draft.qty, "serials": serials})


def changed_by(
    order: StoredPackingOrder, unit: StoredUnit, goods: PackedGoods, sign: int
) -> tuple[StoredPackingOrder, StoredUnit]:
    """Return packing order and unit after goods were put in (`sign` 1) or taken out (-1)."""
    unit = unit.model_copy(update={"contents": list(_contents_after(unit, goods, sign))})
    return with_entry(_with_packed(order, goods, sign), entry_for(unit)), unit


def _contents_after(unit: StoredUnit, goods: PackedGoods, sign: int) -> Iterator[PackedGoods]:
    found = False
    for one in unit.contents:
        if not _same_goods(one, goods):
            yield one
            continue
        found = True
        qty = one.qty + sign * goods.qty
        if qty:
            serials = _serials_after(one.serials, goods.serials, sign)
            yield one.model_copy(update={"qty": qty, "serials": serials})
    if not found:
        yield goods


def _with_packed(order: StoredPackingOrder, goods: PackedGoods, sign: int) -> StoredPackingOrder:
    lines = [
        line.model_copy(
            update={
                "packed_qty": line.packed_qty + sign * goods.qty,
                "packed_serials": _serials_after(line.packed_serials, goods.serials, sign),
            }
        )
        if _same_goods(line, goods)
        else line
        for line in order.lines
    ]
    return order.model_copy(update={"lines": lines})


def _serials_after(serials: list[str], changed: list[str], sign: int) -> list[str]:
    if sign > 0:
        return [*serials, *changed]
    return [one for one in serials if one not in changed]


def _same_goods(one: PackedGoods, other: PackedGoods) -> bool:
    return (one.product_id, one.batch_num) == (other.product_id, other.batch_num)


def without_units(order: StoredPackingOrder, units: Sequence[StoredUnit]) -> StoredPackingOrder:
    """Return the packing order without some units; their goods are to be packed again."""
    for unit in units:
        for goods in unit.contents:
            order = _with_packed(order, goods, -1)
    gone = {unit.id for unit in units}
    return order.model_copy(update={"units": [one for one in order.units if one.id not in gone]})

"""What the label of a handling unit and the packing slip of a packing order show.

Only reading: nothing here renders or imports what does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from shared.kernel.calendar_days import day_of
from shared.kernel.clock import milliseconds_of
from shared.kernel.db.store import Store
from shared.kernel.errors import Conflict, PayloadTooLarge, Problem, ValidationFailed
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.labels.models import LabelContent, ShippedGoods, SlipContent, SlipUnit
from shared.warehouse.packing.models import (
    PackedGoods,
    StoredUnit,
    unit_code,
)
from shared.warehouse.packing.reading import get_packing_order, get_unit_with_content
from shared.warehouse.picking.models import packing_order_code

MAX_SLIP_SIZE = 150_000
"""Characters of a packing slip: 3 seconds of a processor, 11 microseconds each at full speed."""


def label_content(store: Store, number: int) -> LabelContent:
    """Return the content of the label of a unit: its goods, and those of all units in it.

    Raises:
        Conflict: It has no SSCC, or no goods are in it.
    """
    units = get_unit_with_content(store, number)
    unit, code = units[0], unit_code(number)
    if unit.sscc is None:
        raise Conflict(
            f"{code} has no SSCC. Set gs1_company_prefix, and pack into a new handling unit."
        )
    goods = _summed(one for each in units for one in each.contents)
    if not goods:
        raise Conflict(f"{code} is empty. A label shows what is in the unit; pack goods first.")
    shipping = unit.shipping
    return LabelContent(
        sscc=unit.sscc,
        code=code,
        recipient=shipping.recipient,
        ship_to=shipping.ship_to or "",
        document=f"{doc_num('exit', unit.exit_document_id)} / {shipping.external_ref}",
        day=_day(unit.updated_at, store.company.timezone),
        goods=goods,
        sender=shipping.sender,
        weight_kg=unit.weight_kg,
        carrier=unit.carrier_code,
        tracking_number=unit.tracking_number,
    )


def slip_content(store: Store, number: int, part: int | None = None) -> SlipContent:
    """Return the content of the packing slip of a packing order, or of one part of it.

    Raises:
        Conflict: No goods are packed.
        PayloadTooLarge: It has several parts, and `part` names none.
        ValidationFailed: It has fewer parts than `part`.
    """
    found = get_packing_order(store, number)
    order, code = found.record.entity, packing_order_code(number)
    units = [_slip_unit(unit.entity) for unit in found.units]
    if not any(unit.goods for unit in units):
        raise Conflict(f"No goods are packed in {code}. A packing slip lists packed goods.")
    parts = _parts(units)
    if part is None and len(parts) > 1:
        raise PayloadTooLarge(
            f"The packing slip of {code} is too long for one response; get its {len(parts)} parts"
            f" with part=1 to part={len(parts)}."
        )
    if part is not None and part > len(parts):
        problem = f"{part} requested, the packing slip of {code} has {len(parts)}"
        raise ValidationFailed([Problem("part", problem)])
    return SlipContent(
        code=code,
        document=doc_num("exit", order.exit_document_id),
        external_ref=order.shipping.external_ref,
        recipient=order.shipping.recipient,
        ship_to=order.shipping.ship_to or "",
        day=_day(order.packed_at or order.updated_at, store.company.timezone),
        units=parts[(part or 1) - 1],
        sender=order.shipping.sender,
        part=part or 1,
        parts=len(parts),
    )


def _parts(units: Sequence[SlipUnit]) -> list[list[SlipUnit]]:
    """Return the units in parts of at most MAX_SLIP_SIZE characters, which a unit never exceeds."""
    parts: list[list[SlipUnit]] = [[]]
    size = 0
    for unit in units:
        if size + unit.size > MAX_SLIP_SIZE and parts[-1]:
            parts.append([])
            size = 0
        parts[-1].append(unit)
        size += unit.size
    return parts


def _summed(contents: Iterable[PackedGoods]) -> Sequence[ShippedGoods]:
    """Return goods with one quantity for each product and batch."""
    summed: dict[tuple[int, str | None], ShippedGoods] = {}
    for one in contents:
        key, goods = (one.product_id, one.batch_num), _shipped(one)
        before = summed.get(key)
        summed[key] = goods if before is None else replace(before, qty=before.qty + goods.qty)
    return list(summed.values())


def _slip_unit(unit: StoredUnit) -> SlipUnit:
    return SlipUnit(
        code=unit_code(unit.id),
        type=unit.type,
        goods=[_shipped(one) for one in unit.contents],
        sscc=unit.sscc,
        weight_kg=unit.weight_kg,
        tracking_number=unit.tracking_number,
    )


def _shipped(one: PackedGoods) -> ShippedGoods:
    return ShippedGoods(one.item_code, one.product_name, one.qty, one.batch_num, tuple(one.serials))


def _day(moment: str, timezone: str) -> date:
    return date.fromisoformat(day_of(milliseconds_of(moment), timezone))

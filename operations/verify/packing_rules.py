"""Rules of packing: what packing orders and their handling units should say of each other."""

from collections.abc import Iterable
from decimal import Decimal

from operations.verify.stock_rules import add
from shared.kernel.fields import ZERO
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.packing.rules import entry_for, lines_for, units_inside
from shared.warehouse.picking.models import StoredPicking

type Batch = tuple[int, str | None]
"""Product and batch."""


def expected_packing_order(
    order: StoredPackingOrder, units: Iterable[StoredUnit]
) -> StoredPackingOrder:
    """Return a packing order as it follows from its units."""
    packed: dict[Batch, Decimal] = {}
    serials: dict[Batch, list[str]] = {}
    entries = {}
    for unit in units:
        entries[unit.id] = entry_for(unit)
        for goods in unit.contents:
            batch = (goods.product_id, goods.batch_num)
            add(packed, batch, goods.qty)
            serials.setdefault(batch, []).extend(goods.serials)
    lines = []
    for line in order.lines:
        batch = (line.product_id, line.batch_num)
        found = serials.get(batch, [])
        same = sorted(found) == sorted(line.packed_serials)
        update = {
            "packed_qty": packed.get(batch, ZERO),
            "packed_serials": line.packed_serials if same else found,
        }
        lines.append(line.model_copy(update=update))
    stored = {entry.id: entry for entry in order.units}
    ids = stored if stored.keys() == entries.keys() else sorted(entries)
    expected = [entries[one].in_place_of(stored.get(one, entries[one])) for one in ids]
    return order.model_copy(update={"lines": lines, "units": expected})


def expected_unit(order: StoredPackingOrder, unit: StoredUnit) -> StoredUnit:
    """Return a unit with what it has of its packing order, whose entries are right."""
    inside = None if unit.status == "open" else units_inside(order, unit.id)
    shipping = order.shipping.in_place_of(unit.shipping)
    return unit.model_copy(update={"shipping": shipping, "inside": inside})


def staged_for(
    order: StoredPackingOrder, pickings: Iterable[StoredPicking]
) -> dict[Batch, Decimal]:
    """Return the quantities that are staged for a packing order, by product and batch."""
    lines = lines_for(pickings, order.exit_document_id, {})
    return {(line.product_id, line.batch_num): line.qty for line in lines}

"""The shares that pickings have in the levels of their products."""

from collections.abc import Iterator
from decimal import Decimal

from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.stock.models import LevelPlace


def picking_shares(picking: StoredPicking) -> Iterator[tuple[LevelPlace, str, Decimal]]:
    """Yield the allocated quantities of a picking, which are no longer committed.

    Picked quantities are subtracted by their document or transfer order, where they are not open.
    """
    for line in picking.lines:
        for allocation in line.allocations:
            place = LevelPlace(
                line.product_id, picking.warehouse_id, line.item_code, picking.whs_code
            )
            yield place, "committed", -allocation.qty

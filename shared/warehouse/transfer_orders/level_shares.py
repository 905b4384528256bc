"""The shares that transfer orders have in the levels of their products."""

from collections.abc import Iterator
from decimal import Decimal

from shared.kernel.fields import ZERO
from shared.warehouse.stock.models import LevelPlace
from shared.warehouse.transfer_orders.models import (
    StoredTransferLine,
    StoredTransferOrder,
    TransferPlace,
)


def order_shares(order: StoredTransferOrder) -> Iterator[tuple[LevelPlace, str, Decimal]]:
    """Yield the open quantities of an order: incoming at the destination.

    Until they are picked, they are committed at the origin; the shares of the picking subtract the
    allocated quantities.
    """
    is_unpicked = order.status in {"released", "picking"}
    for line in order.lines:
        qty = _open(order, line)
        if qty:
            yield _place(order.destination, line), "incoming", qty
            if is_unpicked:
                yield _place(order.origin, line), "committed", qty


def _open(order: StoredTransferOrder, line: StoredTransferLine) -> Decimal:
    match order.status:
        case "released" | "picking":
            return line.qty - line.picked_qty
        case "picked":
            return line.picked_qty
        case "in_transit" | "receiving":
            return line.dispatched_qty - line.received_qty
        case _:
            return ZERO


def _place(place: TransferPlace, line: StoredTransferLine) -> LevelPlace:
    return LevelPlace(line.product_id, place.id, line.item_code, place.code)

"""What holds hold in the levels of their products."""

from collections.abc import Iterator

from shared.kernel.clock import milliseconds_of
from shared.kernel.fields import ZERO
from shared.warehouse.holds.models import StoredHold
from shared.warehouse.stock.models import HeldQuantity, LevelPlace


def held_shares(hold: StoredHold) -> Iterator[tuple[LevelPlace, HeldQuantity]]:
    """Yield what a hold that is neither used nor released holds: one quantity for each product.

    It counts until the hold expires, which levels see for themselves.
    """
    if hold.stage != "active":
        return
    until_ms = milliseconds_of(hold.expires_at)
    by_product = {line.product_id: line for line in hold.lines}
    for product_id, first in by_product.items():
        qty = sum((line.qty for line in hold.lines if line.product_id == product_id), ZERO)
        place = LevelPlace(product_id, hold.warehouse_id, first.item_code, hold.whs_code)
        yield place, (until_ms, qty)

"""Master data as the rules of documents and transfers know it."""

from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse

YARD, SHOP = KnownWarehouse(1, "YARD", "Yard"), KnownWarehouse(2, "SHOP", "Shop")


def known_products(*codes: str) -> dict[str, KnownProduct]:
    """Return products with the ids 1, 2 …: CEMENT has batches, DRILL serials, HAULAGE no stock."""
    return {
        code: KnownProduct(
            number,
            code,
            code.title(),
            by_batch=code == "CEMENT",
            by_serial=code == "DRILL",
            in_stock=code != "HAULAGE",
        )
        for number, code in enumerate(codes, start=1)
    }


def known_position(
    number: int, bin_code: str, *, disabled: bool = False, blocked: bool = False
) -> KnownPosition:
    """Return a position from which stock may be picked."""
    return KnownPosition(
        number, bin_code, "storage", pickable=True, disabled=disabled, blocked=blocked
    )

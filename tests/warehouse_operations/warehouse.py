"""The warehouses, products and stock of the benchmarks of warehouse operations."""

from operations.scenarios import PATHS, OrderType, order_of
from tests.dynamodb.request_cost import Gauge
from tests.people import add_user

HOME, AWAY = "W1", "W2"
BINS = 10
BATCHED, TRACED = "CEMENT", "DRILL"
"""A product managed by batch and one managed by serial."""
PLENTY = 1000
DRILLS = 20


def code(line: int) -> str:
    """Return the item code of a line, counted from 1."""
    return f"ITEM-{line:04d}"


def bin_of(line: int) -> str:
    """Return the position of the product of a line."""
    return f"A-{line % BINS + 1}"


def serial(number: int) -> str:
    return f"SN-{number:04d}"


class BenchWarehouse:
    """A tenant with two warehouses of `BINS` positions and with `products` products.

    With `stocked`, the first warehouse has `PLENTY` of each product.
    """

    def __init__(self, meter: Gauge, products: int, *, stocked: bool = True) -> None:
        self.meter = meter
        self._references = 0
        meter.stack.reset_tenant()
        add_user()
        for whs_code in (HOME, AWAY):
            meter.post("/warehouses", {"whs_code": whs_code, "name": f"Hall {whs_code}"})
            bins = {"from": 1, "to": BINS}
            mask = {"naming_mask": "{aisle}-{slot}", "aisles": ["A"], "slots": bins}
            meter.post("/warehouse-positions/bulk", {"whs_code": whs_code, **mask})
        for line in range(1, products + 1):
            meter.post("/products", {"item_code": code(line), "name": f"Hexagon bolt M{line}"})
            if stocked:
                self.stock(line)
        for item_code, managed in ((BATCHED, "man_btch_num"), (TRACED, "man_ser_num")):
            meter.post("/products", {"item_code": item_code, "name": item_code, managed: True})

    def stock(self, line: int) -> None:
        """Add `PLENTY` of a product at its position."""
        self.meter.post("/stock-adjustments", self.found(line, PLENTY))

    def stock_drills(self) -> None:
        """Add `DRILLS` serials at the first position."""
        for number in range(DRILLS):
            body = {**self.found(0, 1), "item_code": TRACED, "serial": serial(number)}
            self.meter.post("/stock-adjustments", body)

    @staticmethod
    def found(line: int, qty: int) -> dict[str, object]:
        return {
            "item_code": code(line),
            "warehouse": HOME,
            "bin_code": bin_of(line),
            "increase": qty,
            "reason": "Found",
        }

    def sale(self, lines: int, qty: int = 4) -> int:
        """Create a sales order of the first `lines` products, `qty` pieces each."""
        wanted = [{"item_code": code(line), "qty": qty} for line in range(1, lines + 1)]
        return self.sale_of(wanted)

    def sale_of(self, lines: list[dict[str, object]]) -> int:
        return self._order("sale_order", "C-1", lines)

    def purchase(self, lines: list[dict[str, object]]) -> int:
        return self._order("purchase_order", "P-1", lines)

    def purchase_of(self, lines: int) -> int:
        """Create a purchase order of the first `lines` products, 100 pieces each."""
        return self.purchase(
            [{"item_code": code(line), "qty": 100} for line in range(1, lines + 1)]
        )

    def _order(self, order_type: OrderType, partner: str, lines: list[dict[str, object]]) -> int:
        self._references += 1
        reference = f"REF-{self._references}"
        body = order_of(order_type, reference, HOME, lines, partner_code=partner)
        return self.meter.create(PATHS[order_type], body)

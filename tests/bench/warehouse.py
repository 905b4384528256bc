"""The ground on which the work of the floor is measured: two halls, their products, stock."""

from tests.bench.request_cost import Gauge

HOME, AWAY = "W1", "W2"
BINS = 10
BATCHED, TRACED = "CEMENT", "DRILL"
"""A product managed by batch and one managed by serial."""
PLENTY = 1000
DRILLS = 25

_DATES = {"doc_date": "2026-03-01"}


def code(line: int) -> str:
    """Item code of the product that a line, counted from 1, is of."""
    return f"ITEM-{line:04d}"


def bin_of(line: int) -> str:
    """Position where that product lies."""
    return f"A-{line % BINS + 1}"


def serial(number: int) -> str:
    """Serial of a drill."""
    return f"SN-{number:04d}"


class BenchWarehouse:
    """A tenant with `products` products, one a line of what is ordered, `BINS` positions a hall.

    With `stocked`, plenty of each lies in the first hall.
    """

    def __init__(self, meter: Gauge, products: int, *, stocked: bool = True) -> None:
        self.meter = meter
        self._references = 0
        meter.stack.empty()
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
        """Put plenty of a product to its position."""
        self.meter.post("/stock-adjustments", self.found(line, PLENTY))

    def stock_drills(self) -> None:
        """Put drills to the first position."""
        for number in range(DRILLS):
            body = {**self.found(0, 1), "item_code": TRACED, "serial": serial(number)}
            self.meter.post("/stock-adjustments", body)

    @staticmethod
    def found(line: int, qty: int) -> dict[str, object]:
        """Body of an adjustment."""
        return {
            "item_code": code(line),
            "warehouse": HOME,
            "bin_code": bin_of(line),
            "increase": qty,
            "reason": "Found",
        }

    def sale(self, lines: int, qty: int = 4) -> int:
        """Order the first products, so many lines of so many pieces, to be sent to a client."""
        wanted = [{"item_code": code(line), "qty": qty} for line in range(1, lines + 1)]
        return self.sale_of(wanted)

    def sale_of(self, lines: list[dict[str, object]]) -> int:
        """Order goods to be sent to a client."""
        body = {"type": "sale_order", "partner_code": "C-1", **self._order(lines)}
        return self.meter.create("/exit-documents", body)

    def purchase(self, lines: list[dict[str, object]]) -> int:
        """Order goods from a provider."""
        body = {"type": "purchase_order", "partner_code": "P-1", **self._order(lines)}
        return self.meter.create("/entry-documents", body)

    def purchase_of(self, lines: int, qty: int = 100) -> int:
        """Order the first products from a provider."""
        wanted: list[dict[str, object]] = [
            {"item_code": code(line), "qty": qty} for line in range(1, lines + 1)
        ]
        return self.purchase(wanted)

    def _order(self, lines: list[dict[str, object]]) -> dict[str, object]:
        self._references += 1
        reference = f"REF-{self._references}"
        return {**_DATES, "external_ref": reference, "warehouse_code": HOME, "lines": lines}

"""A scenario of transfer orders from the warehouse YARD to SHOP, driven through the API."""

from typing import Any

from tests.gateway import Erp, Response
from tests.warehouse_scenario import WarehouseScenario

PATH = "/transfer-orders"


class TransferScenario:
    """Two warehouses with products and positions, and transfer orders between them."""

    def __init__(self, erp: Erp, yard: WarehouseScenario | None = None) -> None:
        self.yard = yard or WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
        self.erp = erp

    def draft(self, *lines: tuple[str, float], **more: object) -> Response:
        """POST a transfer order; `more` replaces fields of the body."""
        body = {
            "from_warehouse": "YARD",
            "to_warehouse": "SHOP",
            "lines": [{"item_code": item, "qty": qty} for item, qty in lines],
            **more,
        }
        return self.erp.post(PATH, body)

    def order(self, *lines: tuple[str, float], **more: object) -> int:
        """Create and release a transfer order."""
        return self.draft(*lines, release=True, picker_id=7, **more).id

    def act(self, number: int, action: str, **body: object) -> Response:
        """POST an action on a transfer order."""
        return self.erp.post(f"{PATH}/{number}/{action}", body or None)

    def done(self, number: int, action: str, **body: object) -> dict[str, Any]:
        """POST an action that must succeed; return the transfer order after it."""
        return self.act(number, action, **body).ok()

    def pick(
        self, number: int, item_code: str, qty: float, bin_code: str = "A-01", **more: object
    ) -> dict[str, Any]:
        """Pick a quantity; the pick must succeed."""
        wanted = {"item_code": item_code, "qty": qty, "bin_code": bin_code, **more}
        return self.done(number, "picks", **wanted)

    def receive(self, number: int, *lines: dict[str, Any], **more: object) -> Response:
        """Receive lines; the default position is B-01."""
        body = {"lines": [{"bin_code": "B-01", **line} for line in lines], **more}
        return self.act(number, "receive", **body)

    def underway(self, *lines: tuple[str, float]) -> int:
        """Create, pick and dispatch a transfer order of stock at A-01."""
        number = self.order(*lines)
        for item, qty in lines:
            self.pick(number, item, qty)
        self.done(number, "dispatch")
        return number

    def shown(self, number: int) -> dict[str, Any]:
        return self.erp.get(f"{PATH}/{number}").ok()

    def level(self, item_code: str, whs_code: str) -> tuple[float, float, float, float]:
        """Return the quantities on hand, allocated, available and in transit."""
        for shown in self.erp.walk("/stock-levels", item_code=item_code):
            if shown["whs_code"] == whs_code:
                return (
                    shown["on_hand"], shown["allocated"], shown["available"], shown["in_transit"],
                )  # fmt: skip
        return (0, 0, 0, 0)

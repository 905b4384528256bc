"""Hauls from the warehouse YARD to the warehouse SHOP, as people see them through the interface."""

from typing import Any

from tests.gateway import Erp, Response
from tests.warehouse_scenario import WarehouseScenario

PATH = "/transfer-orders"


class TransferScenario:
    """Two furnished warehouses, stock in the first, and orders from it to the second."""

    def __init__(self, erp: Erp) -> None:
        self.yard = WarehouseScenario.furnished(erp, "YARD", "SHOP")
        self.erp = erp

    def draft(self, *lines: tuple[str, float], **more: object) -> Response:
        """Order goods; `more` replaces fields of the body."""
        body = {
            "from_warehouse": "YARD",
            "to_warehouse": "SHOP",
            "lines": [{"item_code": item, "qty": qty} for item, qty in lines],
            **more,
        }
        return self.erp.post(PATH, body)

    def order(self, *lines: tuple[str, float], **more: object) -> int:
        """Order goods and release them for picking."""
        answer = self.draft(*lines, release=True, picker_id=7, **more)
        assert answer.status == 201, answer.text
        number: int = answer.data["id"]
        return number

    def act(self, number: int, action: str, **body: object) -> Response:
        """Do something with an order."""
        return self.erp.post(f"{PATH}/{number}/{action}", body or None)

    def done(self, number: int, action: str, **body: object) -> dict[str, Any]:
        """Do something with an order, which must succeed; the order after it."""
        answer = self.act(number, action, **body)
        assert answer.status == 200, answer.text
        shown: dict[str, Any] = answer.data
        return shown

    def pick(
        self, number: int, item_code: str, qty: float, bin_code: str = "A-01", **more: object
    ) -> dict[str, Any]:
        """Pick some goods, which must succeed."""
        wanted = {"item_code": item_code, "qty": qty, "bin_code": bin_code, **more}
        return self.done(number, "picks", **wanted)

    def receive(self, number: int, *lines: dict[str, Any], **more: object) -> Response:
        """Receive goods at B-01 unless a line says otherwise."""
        body = {"lines": [{"bin_code": "B-01", **line} for line in lines], **more}
        return self.act(number, "receive", **body)

    def underway(self, *lines: tuple[str, float]) -> int:
        """Send off an order of goods that lie at A-01, by quantity."""
        number = self.order(*lines)
        for item, qty in lines:
            self.pick(number, item, qty)
        self.done(number, "dispatch")
        return number

    def shown(self, number: int) -> dict[str, Any]:
        """Get an order."""
        found: dict[str, Any] = self.erp.get(f"{PATH}/{number}").data
        return found

    def level(self, item_code: str, whs_code: str) -> tuple[float, float, float, float]:
        """On hand, allocated, available, in transit."""
        for shown in self.erp.walk("/stock-levels", item_code=item_code):
            if shown["whs_code"] == whs_code:
                return (
                    shown["on_hand"], shown["allocated"], shown["available"], shown["in_transit"],
                )  # fmt: skip
        return (0, 0, 0, 0)

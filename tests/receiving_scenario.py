"""A scenario of purchase orders and receipts, driven through the API."""

from collections.abc import Mapping
from typing import Any

from tests.gateway import Erp, Response
from tests.warehouse_scenario import WarehouseScenario

type Line = Mapping[str, object]


class ReceivingScenario:
    """Entry documents of the warehouse YARD, their receipts, and the stock they create."""

    def __init__(self, erp: Erp, yard: WarehouseScenario | None = None) -> None:
        self.yard = yard or WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
        self.erp = erp
        self._orders = 0

    def order(self, *lines: Line) -> int:
        """Create an entry document; the default line is of BRICK with the destination A-01."""
        self._orders += 1
        body = {
            "external_ref": f"PO-{self._orders}",
            "type": "purchase_order",
            "doc_date": "2026-03-01",
            "partner_code": "P-1",
            "warehouse_code": "YARD",
            "lines": [{"item_code": "BRICK", "destination_bin": "A-01", **line} for line in lines],
        }
        return self.erp.post("/entry-documents", body, key=f"purchase-{self._orders}").id

    def receipt(self, order: int, **more: object) -> int:
        """Create a receipt of an entry document."""
        return self.erp.post("/receipts", {"document_id": order, **more}).id

    def started(self, order: int) -> int:
        """Create and start a receipt of an entry document."""
        number = self.receipt(order)
        assert self.act(number, "start").status == 200
        return number

    def act(self, number: int, action: str, **more: Any) -> Response:
        """POST an action on a receipt."""
        return self.erp.post(f"/receipts/{number}/{action}", **more)

    def receive(
        self, number: int, qty: float, *, by: Erp | None = None, **line: object
    ) -> Response:
        """Receive goods on a receipt; the default item is BRICK."""
        body = {"item_code": "BRICK", "qty": qty, **line}
        return (by or self.erp).post(f"/receipts/{number}/lines", body)

    def undo(self, number: int, qty: float, **line: object) -> Response:
        """Undo goods that a receipt received; the default item is BRICK."""
        return self.act(number, "lines/undo", body={"item_code": "BRICK", "qty": qty, **line})

    def shown(self, number: int) -> dict[str, Any]:
        return self.erp.get(f"/receipts/{number}").ok()

    def document(self, order: int) -> dict[str, Any]:
        return self.erp.get(f"/entry-documents/{order}").ok()

    def progress(self, order: int) -> list[tuple[float, float, str]]:
        """Return the received quantity, the open quantity and the status of each line."""
        lines = self.document(order)["lines"]
        return [(line["received_qty"], line["open_qty"], line["status"]) for line in lines]

    def stock(self, **query: object) -> list[tuple[str, str, float]]:
        """Return item, position and quantity of each stock row."""
        rows = self.erp.walk("/stocks", status="in", **query)
        return [(row["item_code"], row["position"]["bin_code"], row["qty"]) for row in rows]

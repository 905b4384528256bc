"""A scenario of returns of dispatched goods to the warehouse YARD, driven through the API."""

from typing import Any

from tests.gateway import Erp, Response
from tests.stack import prepare_once
from tests.warehouse_scenario import WarehouseScenario

PATH = "/returns"
SERIALS = ("S-1", "S-2", "S-3")


class ReturnScenario:
    """The warehouse YARD, an exit document with goods that were dispatched, and its returns.

    10 BRICK, 5 CEMENT of batch L1 and the serials S-1 to S-3 of DRILL left with `order`.
    """

    def __init__(self, erp: Erp) -> None:
        self.erp = erp
        self.order: int = prepare_once(erp, "dispatched goods", self._dispatched)
        self.yard = WarehouseScenario(erp, orders=1)

    def _dispatched(self) -> int:
        yard = WarehouseScenario.with_master_data(self.erp, "YARD", "SHOP")
        yard.stock("BRICK", 10)
        yard.stock("CEMENT", 5, batch="L1", expiry_date="2030-12-31")
        yard.stock_serials(*SERIALS)
        drills = {"qty": 3, "serials": list(SERIALS)}
        return yard.dispatched(BRICK={"qty": 10}, CEMENT={"qty": 5, "batch": "L1"}, DRILL=drills)

    def draft(self, *lines: tuple[str, float], **more: object) -> Response:
        """POST a return of the exit document; `more` replaces fields of the body."""
        body = {
            "exit_document_id": self.order,
            "lines": [{"item_code": item, "qty": qty, "reason": "other"} for item, qty in lines],
            **more,
        }
        return self.erp.post(PATH, body)

    def expected(self, *lines: tuple[str, float], **more: object) -> int:
        """Create a return."""
        return self.draft(*lines, **more).id

    def act(self, number: int, action: str, **body: object) -> Response:
        """POST an action on a return."""
        return self.erp.post(f"{PATH}/{number}/{action}", body or None)

    def done(self, number: int, action: str, **body: object) -> dict[str, Any]:
        """POST an action that must succeed; return the return after it."""
        return self.act(number, action, **body).ok()

    def receive(self, number: int, *lines: dict[str, Any]) -> Response:
        """Receive lines; the default item is BRICK, the default position B-01."""
        whole = [{"item_code": "BRICK", "bin_code": "B-01", **line} for line in lines]
        return self.act(number, "lines", lines=whole)

    def received(self, *lines: dict[str, Any]) -> int:
        """Create a return, receive all of its goods, and finish it."""
        goods = [(line.get("item_code", "BRICK"), line["qty"]) for line in lines]
        number = self.expected(*goods)
        self.receive(number, *lines).ok()
        self.done(number, "finish")
        return number

    def decide(self, number: int, *lines: dict[str, Any], **more: object) -> Response:
        """Decide on received goods; the default item is BRICK."""
        whole = [{"item_code": "BRICK", **line} for line in lines]
        return self.act(number, "dispositions", lines=whole, **more)

    def shown(self, number: int) -> dict[str, Any]:
        return self.erp.get(f"{PATH}/{number}").ok()

    def stock(self, item_code: str) -> list[tuple[str, str, float]]:
        """Return position, inventory status and quantity of each stock row of an item."""
        rows = self.erp.walk("/stocks", status="in", item_code=item_code)
        return sorted(
            (row["position"]["bin_code"], row["inventory_status"], row["qty"]) for row in rows
        )

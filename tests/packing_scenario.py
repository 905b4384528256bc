"""A scenario of packing in the warehouse YARD, driven through the API."""

from collections.abc import Mapping
from typing import Any

from tests.gateway import Erp, Response
from tests.warehouse_scenario import WarehouseScenario

ORDERS, UNITS = "/packing-orders", "/handling-units"


class PackingScenario:
    """Finalized pickings of sales orders, their packing orders and handling units."""

    def __init__(self, erp: Erp, yard: WarehouseScenario | None = None) -> None:
        self.yard = yard or WarehouseScenario.with_master_data(erp, "YARD")
        self.erp = erp

    def staged(self, *goods: tuple[str, float], **more: Any) -> tuple[int, int]:
        """Order and pick goods from A-01; return the ids of the document and of its picking."""
        for item, qty in goods:
            self.yard.stock(item, qty, **more)
        document = self.yard.order(*goods)
        return document, self.picked(document, *goods, **more)

    def staged_order(self, *goods: tuple[str, float]) -> int:
        """Order and pick goods from A-01; return the id of their packing order."""
        number: int = self.order(self.staged(*goods)[0])["id"]
        return number

    def staged_lots(self, *lots: tuple[str, float, Mapping[str, Any]]) -> int:
        """Order and pick quantities of batches and serials from A-01; return the document."""
        wanted = dict[str, float]()
        for item, qty, lot in lots:
            wanted[item] = wanted.get(item, 0) + qty
            if "serials" in lot:
                self.yard.stock_serials(*lot["serials"])
            else:
                self.yard.stock(item, qty, **lot)
        document = self.yard.order(*wanted.items())
        number = self.yard.started(document)
        for item, qty, lot in lots:
            self.yard.pick(number, item, qty, **lot).ok()
        self.yard.act(number, "finalize").ok()
        return document

    def picked(self, document: int, *goods: tuple[str, float], **more: Any) -> int:
        """Pick goods for a document, and finalize the picking."""
        number = self.yard.started(document)
        for item, qty in goods:
            self.yard.pick(number, item, qty, **more).ok()
        self.yard.act(number, "finalize", shortage_reason="other").ok()
        return number

    def staged_for(self, *quantities: float) -> tuple[list[int], int]:
        """Pick bricks for a document each in one picking; return the documents and the picking."""
        self.yard.stock("BRICK", sum(quantities))
        documents = [self.yard.order(("BRICK", qty)) for qty in quantities]
        return documents, self.yard.picked(*documents, qty=sum(quantities))

    def order(self, document: int, **more: object) -> dict[str, Any]:
        """Create a packing order of a document."""
        return self.done(self.erp.post(ORDERS, {"exit_document_id": document, **more}))

    def unit(self, order: int, kind: str = "carton", **more: object) -> int:
        """Create a handling unit; return its id."""
        return self.create_unit(order, kind, **more).id

    def create_unit(self, order: int, kind: str = "carton", **more: object) -> Response:
        return self.erp.post(f"{ORDERS}/{order}/handling-units", {"type": kind, **more})

    def put(self, unit: int, item_code: str, qty: float, **more: object) -> Response:
        return self.act(unit, "contents", item_code=item_code, qty=qty, **more)

    def remove(self, unit: int, item_code: str, qty: float, **more: object) -> Response:
        return self.act(unit, "contents/remove", item_code=item_code, qty=qty, **more)

    def act(self, unit: int, action: str, **body: object) -> Response:
        """POST an action on a handling unit."""
        return self.erp.post(f"{UNITS}/{unit}/{action}", body or None)

    def complete(self, order: int, **body: object) -> Response:
        return self.erp.post(f"{ORDERS}/{order}/complete", body or None)

    def cancel(self, order: int) -> Response:
        return self.erp.post(f"{ORDERS}/{order}/cancel")

    def dispatch(self, document: int) -> Response:
        return self.erp.post(f"/exit-documents/{document}/dispatch")

    def shown(self, order: int) -> dict[str, Any]:
        return self.erp.get(f"{ORDERS}/{order}").ok()

    def packed(self, *goods: tuple[str, float]) -> tuple[int, int, int]:
        """Pack goods completely into one carton; return document, packing order and unit."""
        document, _ = self.staged(*goods)
        order: int = self.order(document)["id"]
        unit = self.unit(order)
        for item, qty in goods:
            self.done(self.put(unit, item, qty))
        self.done(self.act(unit, "close", weight_kg=2.5))
        self.done(self.complete(order))
        return document, order, unit

    @staticmethod
    def done(answer: Response) -> dict[str, Any]:
        """Assert that a request has succeeded; return its data."""
        assert answer.status in {200, 201}, answer.text
        data: dict[str, Any] = answer.data
        return data

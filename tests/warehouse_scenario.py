"""A scenario of sales orders, pickings and stock, driven through the API."""

from collections.abc import Iterable, Mapping
from typing import Any

from operations import provisioning
from tests.gateway import Erp, Response
from tests.people import add_user, tenant_of
from tests.stack import prepare_once
from tests.tenant_cache import apply_now

PRODUCTS = (
    {"item_code": "BRICK", "name": "Brick"},
    {"item_code": "CEMENT", "name": "Cement", "man_btch_num": True},
    {"item_code": "DRILL", "name": "Drill", "man_ser_num": True},
    {"item_code": "HAULAGE", "name": "Haulage", "inventory_item": False},
)
"""Products managed by quantity, by batch and by serial, and one that is not kept in stock."""

POSITIONS: dict[str, dict[str, object]] = {
    "A-01": {"type": "storage"},
    "B-01": {"type": "storage"},
    "F-01": {"type": "pick_face"},
    "X-01": {"is_blocked": True},
    "D-01": {"disabled": True},
}


class WarehouseScenario:
    """The warehouse YARD, its stock, and the sales orders that are picked from it."""

    def __init__(self, erp: Erp, orders: int = 0) -> None:
        self.erp = erp
        self._orders = orders

    @classmethod
    def with_master_data(cls, erp: Erp, *warehouses: str) -> "WarehouseScenario":
        """Create the products, the warehouses with their positions, and the picker."""
        prepare_once(
            erp, ("warehouses", *warehouses), lambda: cls._create_master_data(erp, warehouses)
        )
        return cls(erp)

    @classmethod
    def _create_master_data(cls, erp: Erp, warehouses: Iterable[str]) -> None:
        cls.create_goods(erp, warehouses)
        add_user(tenant=tenant_of(erp))

    @staticmethod
    def create_goods(erp: Erp, warehouses: Iterable[str]) -> None:
        """Create the products, and the warehouses with their positions."""
        for code in warehouses:
            assert erp.post("/warehouses", {"whs_code": code, "name": code.title()}).status == 201
            for bin_code, more in POSITIONS.items():
                body = {"whs_code": code, "bin_code": bin_code, **more}
                assert erp.post("/warehouse-positions", body).status == 201
        for product in PRODUCTS:
            assert erp.post("/products", product).status == 201

    def change_settings(self, **settings: object) -> None:
        """Change settings of the tenant."""
        apply_now(provisioning.set_settings, "acme", settings)

    def stock(self, item_code: str, qty: float, bin_code: str = "A-01", **more: object) -> None:
        self.adjust(item_code, bin_code, increase=qty, **more).ok(201)

    def stock_serials(self, *serials: str) -> None:
        """Add drills at A-01."""
        for serial in serials:
            self.stock("DRILL", 1, serial=serial)

    def adjust(
        self, item_code: object = "BRICK", bin_code: object = "A-01", **change: object
    ) -> Response:
        """POST a stock adjustment in YARD; `change` adds or replaces fields of the body."""
        goods = {"item_code": item_code, "warehouse": "YARD", "bin_code": bin_code}
        return self.erp.post("/stock-adjustments", {**goods, "reason": "Found", **change})

    def order(
        self, *lines: tuple[str, float], head: Mapping[str, object] | None = None, **more: object
    ) -> int:
        """Create an exit document; `head` are further fields of it, `more` of its lines."""
        self._orders += 1
        body = {
            "external_ref": f"SO-{self._orders}",
            "type": "sale_order",
            "doc_date": "2026-03-01",
            "partner_code": "C-1",
            "warehouse_code": "YARD",
            "lines": [{"item_code": item, "qty": qty, **more} for item, qty in lines],
            **(head or {}),
        }
        return self.erp.post("/exit-documents", body, key=f"order-{self._orders}").id

    def picking(self, *orders: int, **more: object) -> dict[str, Any]:
        return self.erp.post("/pickings", {"document_ids": list(orders), **more}).ok(201)

    def started(self, *orders: int) -> int:
        number: int = self.picking(*orders)["id"]
        assert self.act(number, "start").status == 200
        return number

    def act(self, number: int, action: str, **body: object) -> Response:
        return self.erp.post(f"/pickings/{number}/{action}", body or None)

    def pick(
        self, number: int, item_code: str, qty: float, bin_code: str = "A-01", **more: object
    ) -> Response:
        return self.act(number, "picks", item_code=item_code, qty=qty, bin_code=bin_code, **more)

    def undo(
        self, number: int, item_code: str, qty: float, bin_code: str = "A-01", **more: object
    ) -> Response:
        """Undo a pick."""
        body = {"item_code": item_code, "qty": qty, "bin_code": bin_code, **more}
        return self.act(number, "picks/undo", **body)

    def picked(self, *orders: int, qty: float) -> int:
        """Create and start a picking, pick bricks, and finalize it; return its id."""
        number = self.started(*orders)
        self.pick(number, "BRICK", qty).ok()
        self.act(number, "finalize", shortage_reason="damaged").ok()
        return number

    def dispatched(self, **goods: Mapping[str, Any]) -> int:
        """Order goods by item code, pick them at A-01 and dispatch them; return the document."""
        number = self.order(*((item, one["qty"]) for item, one in goods.items()))
        picking = self.started(number)
        for item, one in goods.items():
            assert self.pick(picking, item, **one).status == 200
        assert self.act(picking, "finalize").status == 200
        assert self.erp.post(f"/exit-documents/{number}/dispatch").status == 200
        return number

    def level(self, item_code: str) -> tuple[float, float, float]:
        """Return the quantities on hand, allocated and available."""
        [shown] = self.erp.get("/stock-levels", query={"item_code": item_code}).data
        return shown["on_hand"], shown["allocated"], shown["available"]

    def document(self, number: int) -> dict[str, Any]:
        return self.erp.get(f"/exit-documents/{number}").ok()

"""Everything that happens on the floor, at random, beside a bookkeeper who foresees it."""

from decimal import Decimal

from tests.gateway import Erp
from tests.stack import Stack
from tests.stateful.adjustments import Shelves
from tests.stateful.machine import WAREHOUSES
from tests.stateful.receiving import Docks
from tests.stateful.transfers import Roads
from tests.stateful.waves import Waves
from tests.warehouse_model import Bookkeeper

__all__ = ["WAREHOUSES", "FloorMachine"]


class FloorMachine(Shelves, Docks, Roads, Waves):
    """All that people do with stock."""

    @classmethod
    def furnish(cls, stack: Stack, erp: Erp) -> None:
        """Let every run begin with some goods, a truck at the dock, and orders."""
        cls.stack, cls.erp, cls.label, cls.steps = stack, erp, "first", 0
        cls.start, cls.restore = Bookkeeper(), staticmethod(_nothing)
        first = cls()
        for item, spot, lot, qty in (
            ("BRICK", "A-01", 1, 5), ("BRICK", "F-01", 1, 2), ("CEMENT", "B-01", 1, 5),
            ("CEMENT", "A-01", 2, 3), ("DRILL", "A-01", 1, 1), ("DRILL", "B-01", 2, 1),
        ):  # fmt: skip
            first.correct(
                item=item, whs="YARD", spot=spot, lot=lot, qty=Decimal(qty), way="increase",
                status="available",
            )  # fmt: skip
        first.order_in("YARD", {"BRICK": Decimal(5), "CEMENT": Decimal(3), "DRILL": Decimal(2)})
        first.expect(0)
        first.act_on_receipt(0, "start")
        first.order_out("YARD", {"BRICK": Decimal(5)})
        first.order_out("YARD", {"BRICK": Decimal(3), "CEMENT": Decimal(4), "DRILL": Decimal(1)})
        first.have_picked(which=0, allocate=True)
        first.act_on_picking(0, "start")
        first.order_haul("YARD", "SHOP", {"BRICK": Decimal(2)})
        first.look()
        cls.start, cls.restore, cls.label = first.books, staticmethod(stack.keep()), "key"
        cls.steps = 0


def _nothing() -> None:
    """There is nothing to go back to yet."""

"""A Hypothesis state machine of warehouse operations that compares the service with a model."""

from decimal import Decimal

from tests.gateway import Erp
from tests.people import PICKER
from tests.stack import Stack
from tests.stateful.approvals import ApprovalRules
from tests.stateful.machine import WAREHOUSES
from tests.stateful.rfid import RfidRules
from tests.stateful.transfers import TransferRules
from tests.stateful.waves import WaveRules
from tests.warehouse_model import WarehouseModel

__all__ = ["WAREHOUSES", "WarehouseMachine"]


class WarehouseMachine(RfidRules, TransferRules, WaveRules, ApprovalRules):
    """All operations on stock."""

    @classmethod
    def prepare(cls, stack: Stack, erp: Erp) -> None:
        """Create the initial state of every run: stock, a started receipt, orders and a return.

        One of the orders was dispatched, and one is being packed.
        """
        cls.stack, cls.erp, cls.label, cls.steps = stack, erp, "first", 0
        supervisor = stack.user_token(permissions="approvals.grant", sub=str(PICKER))
        cls.supervisor = Erp(stack.gateway, supervisor)
        cls.start, cls.restore = WarehouseModel(), staticmethod(_nothing)
        first = cls()
        first.change_settings(gs1_company_prefix="4012345")
        first.require_validations(required=True)
        first.stage_order({"BRICK": Decimal(4), "DRILL": Decimal(1)}, lot=3)
        first.dispatch(0, None)
        first.create_return(0, {"BRICK": Decimal(2)})
        first.receive_return(0, "BRICK", "A-01", 3, Decimal(1))
        first.stage_order({"BRICK": Decimal(3), "DRILL": Decimal(1)}, lot=4)
        first.create_packing_order(0)
        first.create_unit(index=0, inside=False)
        first.pack(0, 1, Decimal(3), "contents")
        assert first.model.returns[0].received, "nothing was dispatched and returned"
        assert first.model.packing_orders[0].units[0].contents, "nothing is packed"
        for item, bin_code, lot, qty in (
            ("BRICK", "A-01", 1, 5), ("BRICK", "F-01", 1, 2), ("CEMENT", "B-01", 1, 5),
            ("CEMENT", "A-01", 2, 3), ("DRILL", "A-01", 1, 1), ("DRILL", "B-01", 2, 1),
        ):  # fmt: skip
            first.adjust_stock(
                item=item, whs="YARD", bin_code=bin_code, lot=lot, qty=Decimal(qty),
                change="increase", status="available",
            )  # fmt: skip
        first.create_entry_document(
            "YARD", {"BRICK": Decimal(5), "CEMENT": Decimal(3), "DRILL": Decimal(2)}
        )
        first.create_receipt(0)
        first.act_on_receipt(0, "start")
        first.create_exit_document("YARD", {"BRICK": Decimal(5)})
        first.create_exit_document(
            "YARD", {"BRICK": Decimal(3), "CEMENT": Decimal(4), "DRILL": Decimal(1)}
        )
        first.create_picking(index=0, allocate=True)
        first.act_on_picking(0, "start")
        first.create_transfer_order("YARD", "SHOP", {"BRICK": Decimal(2)})
        first.check_state()
        cls.start, cls.restore, cls.label = first.model, staticmethod(stack.take_snapshot()), "key"
        cls.steps = 0


def _nothing() -> None:
    """Do nothing; the first run has no snapshot to restore."""

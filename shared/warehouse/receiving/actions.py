"""The actions of receipts."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.receiving import rules
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.work.models import WorkStatus

ACTIONS = ActionTable[StoredReceipt, WorkStatus](
    WorkStatus,
    lambda receipt: f"Receipt {receipt.id}",
    StateAction("start", ["pending"], ["started"]),
    StateAction("lines", ["started"], unless=rules.refusal_of_lines),
    StateAction("undo", ["started"]),
    StateAction("finalize", ["started"], ["finalized"]),
    StateAction("synchronize", ["finalized"], ["synchronized"]),
    StateAction("cancel", ["pending", "started"], ["cancelled"]),
    StateAction("revert", ["finalized", "synchronized"], ["reverted"]),
)

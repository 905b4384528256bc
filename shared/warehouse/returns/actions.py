"""The actions of returns."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.returns.models import ReturnStatus, StoredReturn, return_code

ACTIONS = ActionTable[StoredReturn, ReturnStatus](
    ReturnStatus,
    lambda one: return_code(one.id),
    StateAction("lines", ["expected", "receiving"], ["receiving"]),
    StateAction("undo", ["receiving"], ["receiving", "expected"]),
    StateAction("finish", ["receiving"], ["received"]),
    StateAction("dispositions", ["received"], ["received", "dispositioned"]),
    StateAction("cancel", ["expected"], ["cancelled"]),
)

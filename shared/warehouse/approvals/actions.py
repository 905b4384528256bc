"""The actions of approvals."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.approvals.models import ApprovalStatus, StoredApproval
from shared.warehouse.approvals.rules import status_at

ACTIONS = ActionTable[tuple[StoredApproval, int], ApprovalStatus](
    ApprovalStatus,
    lambda at: f"Approval {at[0].id}",
    StateAction("grant", ["pending"], ["granted"]),
    StateAction("deny", ["pending"], ["denied"]),
    status=lambda at: status_at(*at),
)
"""Of an approval at a moment, in milliseconds: it expires by itself."""

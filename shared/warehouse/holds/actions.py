"""The actions of holds. An exit document uses a hold; that is no action of the hold."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.holds.models import HoldStatus, StoredHold, hold_code
from shared.warehouse.holds.rules import status_at

ACTIONS = ActionTable[tuple[StoredHold, int], HoldStatus](
    HoldStatus,
    lambda at: f"Hold {hold_code(at[0].id)}",
    StateAction("extend", ["active"]),
    StateAction("release", ["active"], ["released"]),
    status=lambda at: status_at(*at),
)
"""Of a hold at a moment, in milliseconds: it expires by itself."""

"""The actions of transfers."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.transfers.models import StoredTransfer, TransferStatus

ACTIONS = ActionTable[StoredTransfer, TransferStatus](
    TransferStatus,
    lambda transfer: f"Transfer {transfer.id}",
    StateAction("execute", ["pending", "error"], ["transferred", "error"]),
    StateAction("acknowledge", ["transferred"]),
)

"""The actions of exports."""

from shared.integration.exports.models import ExportStatus, StoredExport, export_code
from shared.kernel.action_table import ActionTable, StateAction

IN_PROGRESS = frozenset({"pending", "running"})
"""The statuses in which the worker has something to do."""

ACTIONS = ActionTable[StoredExport, ExportStatus](
    ExportStatus,
    lambda stored: f"Export {export_code(stored.id)}",
    StateAction("cancel", ["pending", "running"], ["cancelled"]),
)

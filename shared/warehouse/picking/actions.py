"""The actions of pickings. Those of a transfer order are picked through the actions of that."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.kernel.errors import Conflict
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import StoredPicking, picking_code
from shared.warehouse.work.models import WorkStatus

ACTIONS = ActionTable[StoredPicking, WorkStatus](
    WorkStatus,
    lambda picking: f"Picking {picking.id}",
    StateAction("start", ["pending"], ["started"]),
    StateAction("allocate", ["pending", "started"]),
    StateAction("picks", ["started"]),
    StateAction("undo", ["started"]),
    StateAction("finalize", ["started"], ["finalized"]),
    StateAction("synchronize", ["finalized"], ["synchronized"]),
    StateAction("cancel", ["pending", "started"], ["cancelled"]),
    StateAction("revert", ["finalized", "synchronized"], ["reverted"], rules.refusal_to_revert),
)
_OF_TRANSFER_ORDER = frozenset({"allocate", "synchronize"})


def ensure(picking: StoredPicking, name: str) -> None:
    """Raise an error unless the state of a picking admits an action; Conflict with another owner.

    See `ActionTable.ensure`.
    """
    if picking.is_of_transfer_order and name not in _OF_TRANSFER_ORDER:
        code = picking.documents[0].doc_num
        raise Conflict(
            f"{picking_code(picking.id)} belongs to {code}; use the actions of the transfer order."
        )
    ACTIONS.ensure(picking, name)


def admitted(picking: StoredPicking) -> list[str]:
    """Return the names of the actions that the state of a picking admits."""
    names = ACTIONS.admitted(picking)
    return [one for one in names if one in _OF_TRANSFER_ORDER or not picking.is_of_transfer_order]

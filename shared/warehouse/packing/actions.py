"""The actions of packing orders and of their handling units.

Units change only while the packing order admits `handling-units`, too.
"""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.packing.models import (
    PackingStatus,
    StoredPackingOrder,
    StoredUnit,
    UnitEntry,
    UnitStatus,
    unit_code,
)
from shared.warehouse.picking.models import packing_order_code

ACTIONS = ActionTable[StoredPackingOrder, PackingStatus](
    PackingStatus,
    lambda order: packing_order_code(order.id),
    StateAction("handling-units", ["open", "in_progress"]),
    StateAction("complete", ["open", "in_progress"], ["packed"]),
    StateAction("cancel", ["open", "in_progress", "packed"], ["cancelled"]),
)

UNIT_ACTIONS = ActionTable[StoredUnit | UnitEntry, UnitStatus](
    UnitStatus,
    lambda unit: unit_code(unit.id),
    StateAction("contents", ["open"]),
    StateAction("remove", ["open"]),
    StateAction("close", ["open"], ["closed"]),
    StateAction("reopen", ["closed"], ["open"]),
)

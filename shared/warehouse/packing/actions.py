"""The actions of packing orders and of their handling units.

`rules.ensure_admitted` adds what the packing order and the other units decide.
"""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.packing.models import (
    MAX_UNITS,
    PackingStatus,
    StoredPackingOrder,
    StoredUnit,
    UnitEntry,
    UnitStatus,
    unit_code,
)
from shared.warehouse.picking.models import packing_order_code


def _no_room_for_units(order: StoredPackingOrder) -> str | None:
    if len(order.units) < MAX_UNITS:
        return None
    code = packing_order_code(order.id)
    return f"{code} has {MAX_UNITS} handling units, the maximum; delete one, or use those."


ACTIONS = ActionTable[StoredPackingOrder, PackingStatus](
    PackingStatus,
    lambda order: packing_order_code(order.id),
    StateAction("handling-units", ["open", "in_progress"], unless=_no_room_for_units),
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

"""The actions of transfer orders."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.transfer_orders.models import OrderStatus, StoredTransferOrder, order_code


def _nothing_picked(order: StoredTransferOrder) -> str | None:
    if any(line.picked_qty for line in order.lines):
        return None
    return f"Nothing is picked for {order_code(order.id)}: pick goods, or cancel the order."


def _is_leaving(order: StoredTransferOrder) -> str | None:
    if not any(line.dispatched_qty for line in order.lines):
        return None
    code = order_code(order.id)
    return f"{code} cannot be changed: its dispatch is not finished; repeat it first."


ACTIONS = ActionTable[StoredTransferOrder, OrderStatus](
    OrderStatus,
    lambda order: order_code(order.id),
    StateAction("release", ["draft"], ["released"]),
    StateAction("picks", ["released", "picking"], ["picking", "picked"]),
    StateAction("undo", ["picking", "picked"], ["picking"], _is_leaving),
    StateAction("finish-picking", ["picking"], ["picked"], _nothing_picked),
    StateAction("dispatch", ["picked"], ["in_transit"]),
    StateAction("receive", ["in_transit", "receiving"], ["receiving", "received"]),
    StateAction("close", ["received"], ["closed"]),
    StateAction(
        "cancel",
        ["draft", "released", "picking", "picked"],
        ["cancelled"],
        _is_leaving,
    ),
)

"""Tables of actions: what a status admits, and how it refuses the rest."""

from dataclasses import dataclass
from typing import Literal

import pytest

from shared.kernel.action_table import ActionTable, StateAction
from shared.kernel.errors import Conflict, StaleState

type _Status = Literal["draft", "sent", "paid", "cancelled"]


@dataclass(frozen=True)
class _Order:
    status: _Status
    is_empty: bool = False


def _empty(order: _Order) -> str | None:
    return "Order 1 is empty." if order.is_empty else None


TABLE = ActionTable[_Order, _Status](
    _Status,
    lambda _: "Order 1",
    StateAction("send", ["draft"], ["sent"], _empty),
    StateAction("pay", ["sent"], ["paid"]),
    StateAction("cancel", ["draft", "sent"], ["cancelled"]),
)


def test_actions_of_a_state_are_listed_in_the_order_of_the_work() -> None:
    assert TABLE.admitted(_Order("draft")) == ["send", "cancel"]
    assert TABLE.admitted(_Order("draft", is_empty=True)) == ["cancel"]
    assert TABLE.admitted(_Order("cancelled")) == []


def test_late_action_is_stale_state_and_early_action_is_conflict() -> None:
    with pytest.raises(Conflict, match="Order 1 is draft; it must be sent for this action"):
        TABLE.ensure(_Order("draft"), "pay")
    with pytest.raises(StaleState, match="Order 1 is paid; it must be draft or sent for this"):
        TABLE.ensure(_Order("paid"), "cancel")
    with pytest.raises(StaleState):
        TABLE.ensure(_Order("cancelled"), "pay")
    with pytest.raises(Conflict, match="Order 1 is empty"):
        TABLE.ensure(_Order("draft", is_empty=True), "send")
    TABLE.ensure(_Order("sent"), "pay")

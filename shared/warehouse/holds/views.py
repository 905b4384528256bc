"""Conversion of holds to the responses of the interface."""

from collections.abc import Callable
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.fields import dict_of
from shared.warehouse.holds import rules
from shared.warehouse.holds.actions import ACTIONS
from shared.warehouse.holds.models import Hold, HoldDetail, HoldLine, StoredHold, hold_code


def hold_at(now_ms: int) -> Callable[[Record[StoredHold]], Hold]:
    """Return the view of holds with their status at a moment."""

    def view(record: Record[StoredHold]) -> Hold:
        return Hold.from_stored(record.entity, **_others(record.entity, now_ms))

    return view


def hold_in_detail(record: Record[StoredHold], now_ms: int) -> HoldDetail:
    """Return the view of one hold, with its status at a moment."""
    hold = record.entity
    admitted = ACTIONS.admitted((hold, now_ms))
    return HoldDetail.from_stored(hold, **_others(hold, now_ms), actions=admitted)


def _others(hold: StoredHold, now_ms: int) -> dict[str, Any]:
    """Return the fields of a response that are computed, or stored under another name."""
    return {
        "code": hold_code(hold.id),
        "status": rules.status_at(hold, now_ms),
        "warehouse_code": hold.whs_code,
        "lines": [dict_of(HoldLine, line) for line in hold.lines],
    }

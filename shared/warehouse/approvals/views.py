"""Conversion of approvals to the responses of the interface."""

from collections.abc import Callable
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.json_text import loads
from shared.warehouse.approvals import rules
from shared.warehouse.approvals.actions import ACTIONS
from shared.warehouse.approvals.models import (
    Approval,
    ApprovalDetail,
    ApprovalRequest,
    StoredApproval,
)


def approval_at(now_ms: int) -> Callable[[Record[StoredApproval]], Approval]:
    """Return the view of approvals with their status at a moment."""

    def view(record: Record[StoredApproval]) -> Approval:
        return Approval.from_stored(record.entity, **_others(record.entity, now_ms))

    return view


def approval_in_detail(record: Record[StoredApproval], now_ms: int) -> ApprovalDetail:
    """Return the view of one approval, with its status at a moment."""
    stored = record.entity
    admitted = ACTIONS.admitted((stored, now_ms))
    return ApprovalDetail.from_stored(stored, **_others(stored, now_ms), actions=admitted)


def _others(stored: StoredApproval, now_ms: int) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    body = None if stored.body_json is None else loads(stored.body_json)
    request = ApprovalRequest(method=stored.method, path=stored.path, body=body)
    return {"status": rules.status_at(stored, now_ms), "request": request}

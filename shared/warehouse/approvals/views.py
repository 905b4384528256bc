"""Conversion of approvals to the responses of the interface."""

from collections.abc import Callable

from shared.kernel.db.records import Record
from shared.kernel.json_text import loads
from shared.warehouse.approvals import rules
from shared.warehouse.approvals.models import Approval, ApprovalRequest, StoredApproval


def approval_at(now_ms: int) -> Callable[[Record[StoredApproval]], Approval]:
    """Return the view of approvals with their status at a moment."""

    def view(record: Record[StoredApproval]) -> Approval:
        stored = record.entity
        body = None if stored.body_json is None else loads(stored.body_json)
        request = ApprovalRequest(method=stored.method, path=stored.path, body=body)
        status = rules.status_at(stored, now_ms)
        return Approval.from_stored(stored, id=record.id, status=status, request=request)

    return view

"""Decisions about approvals on plain data."""

from decimal import Decimal

from shared.kernel.caller import Caller
from shared.kernel.clock import Instant, instant, milliseconds_of
from shared.kernel.fields import json_number
from shared.kernel.json_text import dumps
from shared.kernel.sent_request import SentRequest
from shared.warehouse.approvals.models import (
    ApprovalNeed,
    ApprovalRequester,
    ApprovalStatus,
    OpenApproval,
    StoredApproval,
)
from shared.warehouse.work_records import ensure_status_in

LIFETIME_MS = 24 * 3_600_000
MAX_BODY = 8_192
"""Bytes of a request's body in JSON that an approval shows."""


def new_approval(
    number: int, need: ApprovalNeed, request: SentRequest, now_ms: int
) -> StoredApproval:
    """Return the pending approval of a request."""
    now = instant(now_ms)
    return StoredApproval(
        id=number,
        stage="pending",
        code=need.code,
        message=need.message,
        resource=need.resource,
        method=request.method,
        path=request.path,
        body_json=_shown_body(request),
        digest=request.digest(),
        requested_by=_requester(request.caller),
        expires_at=instant(now_ms + LIFETIME_MS),
        created_at=now,
        updated_at=now,
    )


def _requester(caller: Caller) -> ApprovalRequester:
    is_client = caller.kind == "client"
    client_id = caller.subject if is_client else None
    return ApprovalRequester(user_id=caller.user_id, client_id=client_id)


def _shown_body(request: SentRequest) -> str | None:
    if request.known_body is None:
        return None
    text = dumps(_plain(request.known_body))
    return text if len(text.encode()) <= MAX_BODY else None


def _plain(value: object) -> object:
    """Return a value of a body with whole numbers written without a fraction."""
    match value:
        case Decimal():
            return json_number(value)
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case _:
            return value


def oldest_unexpired(now_ms: int) -> Instant:
    """Return the earliest creation of an approval that has not expired."""
    return instant(now_ms - LIFETIME_MS + 1)


def latest_expired(now_ms: int) -> Instant:
    """Return the latest creation of an approval that has expired."""
    return instant(now_ms - LIFETIME_MS)


def status_at(approval: StoredApproval, now_ms: int) -> ApprovalStatus:
    """Return the status of an approval at a moment."""
    if is_open(approval) and milliseconds_of(approval.expires_at) <= now_ms:
        return "expired"
    return approval.stage


def is_open(approval: StoredApproval) -> bool:
    """Return whether an approval is open as stored: pending or granted."""
    return approval.stage in {"pending", "granted"}


def unexpired(found: OpenApproval | None, now_ms: int) -> OpenApproval | None:
    """Return the open approval of a request unless it has expired."""
    return found if found and now_ms < found.until_ms else None


def ensure_pending(approval: StoredApproval, now_ms: int) -> None:
    """Raise StaleState unless an approval may still be decided."""
    status = status_at(approval, now_ms)
    ensure_status_in(f"Approval {approval.id}", status, ["pending"], ApprovalStatus)

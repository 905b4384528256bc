"""Decisions about approvals on plain data."""

import hashlib
from decimal import Decimal

from shared.kernel.caller import Caller
from shared.kernel.clock import Instant, instant, milliseconds_of
from shared.kernel.fields import json_number, plain
from shared.kernel.json_text import dumps
from shared.kernel.sent_request import SentRequest
from shared.warehouse.approvals.models import (
    ApprovalRequester,
    ApprovalStatus,
    OpenApproval,
    StoredApproval,
)
from shared.warehouse.approvals.need import ApprovalNeed

LIFETIME_MS = 24 * 3_600_000
USED_MS = 60_000
"""How long the item of a request says that its approval was used: longer than a request takes that
has read the figures of the rule before."""
MAX_BODY = 8_192
"""Bytes of a request's body in JSON that an approval shows."""


def new_approval(
    number: int, need: ApprovalNeed, request: SentRequest, name: str | None, now_ms: int
) -> StoredApproval:
    """Return the pending approval of a request; `name` is that of its sender."""
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
        figures=digest_of_figures(need),
        requested_by=_requester(request.caller, name),
        expires_at=instant(now_ms + LIFETIME_MS),
        created_at=now,
        updated_at=now,
    )


def digest_of_figures(need: ApprovalNeed) -> str:
    """Return a digest of the figures of a rule: equal figures have the same."""
    text = " ".join(map(plain, need.figures))
    return hashlib.sha256(text.encode()).hexdigest()


def _requester(caller: Caller, name: str | None) -> ApprovalRequester:
    is_client = caller.kind == "client"
    client_id = caller.subject if is_client else None
    return ApprovalRequester(user_id=caller.user_id, client_id=client_id, name=name)


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


def is_replaced(approval: StoredApproval) -> bool:
    """Return whether an approval expired early, because one of other figures replaced it."""
    ends_at = milliseconds_of(approval.created_at) + LIFETIME_MS
    return milliseconds_of(approval.expires_at) < ends_at


def is_open(approval: StoredApproval) -> bool:
    """Return whether an approval is open as stored: pending or granted."""
    return approval.stage in {"pending", "granted"}


def known_until_ms(approval: StoredApproval) -> int:
    """Return until when the item of a request leads to its approval."""
    if approval.stage == "used":
        return milliseconds_of(approval.updated_at) + USED_MS
    return milliseconds_of(approval.expires_at)


def unexpired(found: OpenApproval | None, now_ms: int) -> OpenApproval | None:
    """Return the open or used approval of a request unless it has expired."""
    return found if found and now_ms < found.until_ms else None


def still_open(found: OpenApproval | None, now_ms: int) -> OpenApproval | None:
    """Return the open approval of a request unless it has expired or was used."""
    return None if found and found.stage == "used" else unexpired(found, now_ms)

"""What the request path does for approvals: it says which request a rule has refused."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from shared.http.envelope import HttpResponse
from shared.http.request import Request
from shared.http.routes import Operation
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.errors import ApprovalRequired, ServiceError
from shared.kernel.sent_request import SentRequest
from shared.warehouse.approvals.models import ApprovalNotRequested
from shared.warehouse.approvals.service import request_approval


def sent_request(
    operation: Operation, path: str, request: Request[Any, Any], raw: object
) -> SentRequest:
    """Return the request as a grant of it must find it again; `raw` is its body as parsed."""
    body = request.body if isinstance(request.body, BaseModel) else None
    return SentRequest(request.caller, operation.method, path, raw, body)


def end_refused(
    store: Store,
    error: ServiceError,
    sent: SentRequest,
    end: Callable[[], HttpResponse | None],
) -> tuple[ServiceError, HttpResponse | None]:
    """Return the error of a refused write, and the result of `end`, which ends its claim.

    If a rule requires an approval that nobody has requested yet, it is requested meanwhile; the
    error then names it.
    """
    if not isinstance(error, ApprovalNotRequested):
        return error, end()
    number, replayed = run_all(lambda: request_approval(store, error, sent), end)
    return ApprovalRequired(error.message, number), replayed

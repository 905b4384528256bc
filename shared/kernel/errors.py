"""Every error that the service responds with.

Code raises one of these where it finds the error; `shared.http` turns it into the error envelope.
`CODES` is the source of the envelope, the OpenAPI document and `docs/errors.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """An error code.

    `status` is the HTTP status, `meaning` what the code says, `action` what the caller can do.
    `is_stored` says whether a response with this code is kept under an Idempotency-Key and
    repeated. Not kept are errors that the caller can correct under the same key (422,
    missing rights, approvals) and errors with a temporary cause (429, 5xx, a request in flight).
    """

    status: int
    meaning: str
    action: str
    is_stored: bool = True


CODES: Mapping[str, ErrorCode] = {
    "bad_request": ErrorCode(
        400,
        "The request cannot be interpreted.",
        "Check body and headers.",
        is_stored=False,
    ),
    "idempotency_key_required": ErrorCode(
        400,
        "The header Idempotency-Key is absent on a route that requires it.",
        "Send a UUID v4 per business operation and repeat it on retries.",
        is_stored=False,
    ),
    "unauthenticated": ErrorCode(
        401,
        "The token is missing, expired or revoked.",
        "Request a new token.",
        is_stored=False,
    ),
    "feature_not_in_plan": ErrorCode(
        402,
        "The plan lacks the function that `error.feature` names.",
        "Change the plan.",
        is_stored=False,
    ),
    "limit_reached": ErrorCode(
        402, "A limit of the plan is reached.", "Free capacity or extend the plan."
    ),
    "tenant_suspended": ErrorCode(
        402,
        "The account is suspended for billing, or is being moved to another server.",
        "Pay, or, with Retry-After, wait; the API answers again afterwards.",
        is_stored=False,
    ),
    "tenant_cancelled": ErrorCode(
        402,
        "The account is cancelled.",
        "Contact sales.",
        is_stored=False,
    ),
    "forbidden": ErrorCode(
        403,
        "The user lacks the permission of the route.",
        "Give the user a role with it.",
        is_stored=False,
    ),
    "missing_scope": ErrorCode(
        403,
        "The token lacks the scope that `error.scope` names.",
        "Request a token with that scope.",
        is_stored=False,
    ),
    "client_not_allowed": ErrorCode(
        403,
        "This kind of token can only read the list of products.",
        "Use an integration client.",
        is_stored=False,
    ),
    "not_found": ErrorCode(
        404, "The resource or the route does not exist.", "Check the id and the base address."
    ),
    "transfer_orders_disabled": ErrorCode(
        404, "Transfer orders are disabled.", "Enable them in the settings (two warehouses)."
    ),
    "bulk_import_disabled": ErrorCode(
        404, "Bulk import is disabled.", "Enable it in the settings."
    ),
    "method_not_allowed": ErrorCode(
        405, "The route does not allow the method.", "Use a method that `Allow` names."
    ),
    "conflict": ErrorCode(
        409, "The request conflicts with the current state.", "Read again and decide."
    ),
    "duplicate_in_flight": ErrorCode(
        409,
        "The first request with this Idempotency-Key is still being processed.",
        "Retry after the seconds in Retry-After with the same key.",
        is_stored=False,
    ),
    "approval_required": ErrorCode(
        409,
        "A rule requires a supervisor's approval; `error.approval_id` names it.",
        "Have it granted, then repeat the same request.",
        is_stored=False,
    ),
    "order_in_wave": ErrorCode(
        409,
        "A picking belongs to another active wave.",
        "Remove it there or cancel the other wave.",
    ),
    "stale_state": ErrorCode(409, "The resource changed before the operation.", "Read it again."),
    "tenant_moved": ErrorCode(
        410,
        "The company runs on its own server.",
        "Use that installation's address.",
        is_stored=False,
    ),
    "gone": ErrorCode(410, "The resource existed and is no longer available.", "Stop using it."),
    "payload_too_large": ErrorCode(
        413, "The request or its response is too large.", "Send or request less."
    ),
    "validation_failed": ErrorCode(
        422,
        "The data is invalid; `errors` lists every problem.",
        "Correct the fields named.",
        is_stored=False,
    ),
    "idempotency_key_reused": ErrorCode(
        422,
        "The Idempotency-Key was used with another request.",
        "Use a new key.",
        is_stored=False,
    ),
    "rule_blocked": ErrorCode(
        422,
        "A business rule blocks the operation.",
        "Read the message.",
        is_stored=False,
    ),
    "import_refused": ErrorCode(
        422,
        "The file cannot be processed, or the import can no longer be committed.",
        "Correct the file and upload it again.",
        is_stored=False,
    ),
    "rate_limited": ErrorCode(
        429,
        "The limit of requests per minute is exceeded.",
        "Wait the seconds in Retry-After.",
        is_stored=False,
    ),
    "internal_error": ErrorCode(
        500,
        "The service failed.",
        "Retry with the same Idempotency-Key; quote the request id.",
        is_stored=False,
    ),
    "service_unavailable": ErrorCode(
        503,
        "The service is busy.",
        "Retry after the seconds in Retry-After.",
        is_stored=False,
    ),
}
"""The error codes by name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a request: the path of the field, and what is wrong with its value."""

    field: str
    message: str


@dataclass(eq=False)
class ServiceError(Exception):
    """Base of every error: a code of `CODES`, a message, and the extras of the code.

    `extra` goes into `error` (scope, feature, offer …), `headers` into the response.
    `status_override` replaces the code's own status, `stored_override` whether the response is kept
    under an Idempotency-Key.
    """

    message: str
    code: str = "internal_error"
    extra: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    status_override: int | None = None
    stored_override: bool | None = None

    def __str__(self) -> str:
        """Return the message."""
        return self.message

    @property
    def status(self) -> int:
        """HTTP status of the response."""
        return self.status_override or CODES[self.code].status

    @property
    def is_stored(self) -> bool:
        """Whether the response is kept under an Idempotency-Key; see `ErrorCode`."""
        stored = CODES[self.code].is_stored
        return stored if self.stored_override is None else self.stored_override


class BadRequest(ServiceError):
    """400 bad_request."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "bad_request")


class IdempotencyKeyRequired(ServiceError):
    """400 idempotency_key_required."""

    def __init__(self) -> None:
        super().__init__(
            "This route requires the header Idempotency-Key.", "idempotency_key_required"
        )


class Unauthenticated(ServiceError):
    """401 unauthenticated: the token that was sent is not valid (RFC 6750, 3.1)."""

    def __init__(self, message: str = "The token is missing, expired or revoked.") -> None:
        super().__init__(
            message,
            "unauthenticated",
            headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )


class TenantSuspended(ServiceError):
    """402 tenant_suspended, for billing."""

    def __init__(self) -> None:
        super().__init__("This account is suspended for billing.", "tenant_suspended")


class TenantBeingMoved(ServiceError):
    """402 tenant_suspended with Retry-After in seconds: the suspension ends with the move."""

    def __init__(self) -> None:
        super().__init__(
            "This company is being moved to another server. Repeat the request after the seconds in"
            " Retry-After.",
            "tenant_suspended",
            headers={"Retry-After": "60"},
        )


class TenantCancelled(ServiceError):
    """402 tenant_cancelled."""

    def __init__(self) -> None:
        super().__init__("This account is cancelled.", "tenant_cancelled")


class TenantMoved(ServiceError):
    """410 tenant_moved."""

    def __init__(self, address: str | None) -> None:
        where = f" Its address is {address}." if address else ""
        super().__init__(f"This company now runs on its own server.{where}", "tenant_moved")


class FeatureNotInPlan(ServiceError):
    """402 feature_not_in_plan with the feature and the address where the plan is changed."""

    def __init__(self, feature: str, upgrade_url: str) -> None:
        super().__init__(
            f"The plan does not include {feature}.",
            "feature_not_in_plan",
            {"feature": feature, "upgrade_url": upgrade_url},
        )


class Forbidden(ServiceError):
    """403 forbidden: the user lacks a permission."""

    def __init__(self, permission: str) -> None:
        super().__init__(f"This needs the permission {permission}.", "forbidden")


class MissingScope(ServiceError):
    """403 missing_scope; `error.scope` names the scope."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"The token lacks the scope {scope}.", "missing_scope", {"scope": scope})


class ClientNotAllowed(ServiceError):
    """403 client_not_allowed: a mobile token, or a user without the second factor."""

    def __init__(self) -> None:
        super().__init__("This token allows only GET /products.", "client_not_allowed")


class NotFound(ServiceError):
    """404 not_found; the same message whether or not another tenant has the id."""

    def __init__(self, what: str = "The resource") -> None:
        super().__init__(f"{what} does not exist.", "not_found")


class Gone(ServiceError):
    """410 gone: the resource existed and was deleted, or `how` else it ended."""

    def __init__(self, what: str = "The resource", how: str = "deleted") -> None:
        super().__init__(f"{what} was {how}.", "gone")


class MethodNotAllowed(ServiceError):
    """405 method_not_allowed with the header Allow."""

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        names = ", ".join(allowed)
        super().__init__(
            f"This route does not allow {method}; allowed: {names}.",
            "method_not_allowed",
            headers={"Allow": names},
        )


class Conflict(ServiceError):
    """409 conflict: the current state does not allow the operation."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "conflict")


class ApprovalRequired(ServiceError):
    """409 approval_required; `error.approval_id` is the approval to decide, if there is one."""

    def __init__(self, message: str, approval_id: int | None = None) -> None:
        extra = {} if approval_id is None else {"approval_id": approval_id}
        super().__init__(message, "approval_required", extra)


class OrderInWave(ServiceError):
    """409 order_in_wave: a picking belongs to another active wave."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "order_in_wave")


class StaleState(ServiceError):
    """409 stale_state: the resource changed since the caller read it."""

    def __init__(self, message: str = "The resource changed since it was read.") -> None:
        super().__init__(message, "stale_state")


class DuplicateInFlight(ServiceError):
    """409 duplicate_in_flight with Retry-After in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            "The first request with this Idempotency-Key is still being processed.",
            "duplicate_in_flight",
            headers={"Retry-After": str(max(1, retry_after))},
        )


class IdempotencyKeyReused(ServiceError):
    """422 idempotency_key_reused."""

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key was used with another request.", "idempotency_key_reused"
        )


class ValidationFailed(ServiceError):
    """422 validation_failed with every problem; `error.field` names the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first = problems[0]
        rest = len(problems) - 1
        more = f" (and {rest} more)" if rest else ""
        super().__init__(
            f"{first.field}: {first.message}{more}" if first.field else first.message + more,
            "validation_failed",
            {"field": first.field},
            problems=problems,
        )


class RuleBlocked(ServiceError):
    """422 rule_blocked: valid data that a rule of the warehouse forbids, with every place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].message, "rule_blocked", problems=problems)


class ImportRefused(ServiceError):
    """422 import_refused, also with 409 or 413: the file or the import's state forbids it."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(
            message,
            "import_refused",
            status_override=status,
            # The state of the import (409) and the size of the file (413) do not change.
            stored_override=status != CODES["import_refused"].status,
        )


class PayloadTooLarge(ServiceError):
    """413 payload_too_large."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "payload_too_large")


class ServiceUnavailable(ServiceError):
    """503 service_unavailable with Retry-After: conflicts or throttling until the deadline."""

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__(
            "The service is busy; try again.",
            "service_unavailable",
            headers={"Retry-After": str(retry_after)},
        )


class TableReplaced(ServiceError):
    """503 service_unavailable with Retry-After: the tenant's table is about to be replaced."""

    def __init__(self, tenant: str) -> None:
        super().__init__(
            f"The data of {tenant} is being restored to an earlier moment; try again later.",
            "service_unavailable",
            headers={"Retry-After": "60"},
        )


class UnservedTable(ServiceError):
    """503 service_unavailable with Retry-After: this release cannot use the tenant's table so."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "service_unavailable", headers={"Retry-After": "60"})

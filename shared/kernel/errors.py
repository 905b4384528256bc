"""Every error that the service responds with.

Code raises one of these where it finds the error; `shared.http` turns it into the error envelope.
`CODES` is the source of the envelope, the OpenAPI document and `docs/reference/errors.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote


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
    is_stored: bool = False


CODES: Mapping[str, ErrorCode] = {
    "bad_request": ErrorCode(400, "The request cannot be interpreted.", "Check body and headers."),
    "idempotency_key_required": ErrorCode(
        400,
        "The header Idempotency-Key is absent on a route that requires it.",
        "Send a UUID v4 per business operation and repeat it on retries.",
    ),
    "unauthenticated": ErrorCode(
        401, "The token is missing, expired or revoked.", "Request a new token."
    ),
    "feature_not_in_plan": ErrorCode(
        402, "The plan lacks the function that `error.feature` names.", "Change the plan."
    ),
    "limit_reached": ErrorCode(
        402, "A limit of the plan is reached.", "Free capacity or extend the plan.", is_stored=True
    ),
    "tenant_suspended": ErrorCode(
        402,
        "The account is suspended for billing, or is being moved to another server.",
        "Pay, or, with Retry-After, wait; the API answers again afterwards.",
    ),
    "tenant_cancelled": ErrorCode(402, "The account is cancelled.", "Contact sales."),
    "forbidden": ErrorCode(
        403, "The user lacks the permission of the route.", "Give the user a role with it."
    ),
    "missing_scope": ErrorCode(
        403,
        "The token lacks the scope that `error.scope` names.",
        "Request a token with that scope.",
    ),
    "client_not_allowed": ErrorCode(
        403, "This kind of token can only read the list of products.", "Use an integration client."
    ),
    "not_found": ErrorCode(
        404,
        "The resource or the route does not exist.",
        "Check the id and the base address.",
        is_stored=True,
    ),
    "transfer_orders_disabled": ErrorCode(
        404,
        "Transfer orders are disabled.",
        "Enable them in the settings (two warehouses).",
        is_stored=True,
    ),
    "bulk_import_disabled": ErrorCode(
        404, "Bulk import is disabled.", "Enable it in the settings.", is_stored=True
    ),
    "method_not_allowed": ErrorCode(
        405,
        "The route does not allow the method.",
        "Use a method that `Allow` names.",
        is_stored=True,
    ),
    "conflict": ErrorCode(
        409,
        "The request conflicts with the current state.",
        "Read again and decide.",
        is_stored=True,
    ),
    "duplicate_in_flight": ErrorCode(
        409,
        "The first request with this Idempotency-Key is still being processed.",
        "Retry after the seconds in Retry-After with the same key.",
    ),
    "approval_required": ErrorCode(
        409,
        "A rule requires a supervisor's approval; `error.approval_id` names it.",
        "Have it granted, then repeat the same request.",
    ),
    "order_in_wave": ErrorCode(
        409,
        "A picking belongs to another active wave.",
        "Remove it there or cancel the other wave.",
        is_stored=True,
    ),
    "stale_state": ErrorCode(
        409, "The resource changed before the operation.", "Read it again.", is_stored=True
    ),
    "tenant_moved": ErrorCode(
        410, "The company runs on its own server.", "Use that installation's address."
    ),
    "gone": ErrorCode(
        410, "The resource existed and is no longer available.", "Stop using it.", is_stored=True
    ),
    "payload_too_large": ErrorCode(
        413, "The request or its response is too large.", "Send or request less.", is_stored=True
    ),
    "validation_failed": ErrorCode(
        422, "The data is invalid; `errors` lists every problem.", "Correct the fields named."
    ),
    "idempotency_key_reused": ErrorCode(
        422, "The Idempotency-Key was used with another request.", "Use a new key."
    ),
    "rule_blocked": ErrorCode(422, "A business rule blocks the operation.", "Read the message."),
    "import_refused": ErrorCode(
        422,
        "The file cannot be processed, or the import can no longer be committed.",
        "Correct the file and upload it again.",
    ),
    "rate_limited": ErrorCode(
        429, "The limit of requests per minute is exceeded.", "Wait the seconds in Retry-After."
    ),
    "internal_error": ErrorCode(
        500, "The service failed.", "Retry with the same Idempotency-Key; quote the request id."
    ),
    "service_unavailable": ErrorCode(
        503, "The service is busy.", "Retry after the seconds in Retry-After."
    ),
}
"""The error codes by name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a request: the path of the field, and what is wrong with its value."""

    field: str
    message: str


class ServiceError(Exception):
    """Base of every error: a code of `CODES`, a message, and the extras of the code.

    `extra` goes into `error` (scope, feature, offer …), `headers` into the response. The message is
    by default the meaning of the code, `status` and `is_stored` (under an Idempotency-Key) its own.
    """

    code: str = "internal_error"
    message: str = ""
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(  # noqa: PLR0913 - the parts of a response
        self,
        message: str | None = None,
        code: str | None = None,
        extra: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        problems: Sequence[Problem] = (),
        status: int | None = None,
        is_stored: bool | None = None,
    ) -> None:
        self.code = code or self.code
        self.message = message or self.message or CODES[self.code].meaning
        self.extra = extra or {}
        self.headers = headers or self.headers
        self.problems = problems
        self.status = status or CODES[self.code].status
        self.is_stored = CODES[self.code].is_stored if is_stored is None else is_stored
        super().__init__(self.message)


def _retry_after(seconds: int) -> Mapping[str, str]:
    return {"Retry-After": str(seconds)}


class BadRequest(ServiceError):
    """400 bad_request."""

    code = "bad_request"


class Unauthenticated(ServiceError):
    """401 unauthenticated: the token that was sent is not valid (RFC 6750, 3.1)."""

    code = "unauthenticated"
    message = "The access token is unknown; get a new one."
    expired = "The access token has expired; get a new one."
    headers = MappingProxyType({"WWW-Authenticate": 'Bearer error="invalid_token"'})


class FeatureNotInPlan(ServiceError):
    """402 feature_not_in_plan with the feature and the address where the plan is changed."""

    code = "feature_not_in_plan"

    def __init__(self, feature: str, upgrade_url: str) -> None:
        extra = {"feature": feature, "upgrade_url": upgrade_url}
        super().__init__(f"The plan does not include {feature}.", extra=extra)


class Forbidden(ServiceError):
    """403 forbidden: the user lacks one or several permissions."""

    code = "forbidden"

    def __init__(self, *permissions: str) -> None:
        super().__init__(f"This needs {_named('the permission', permissions)}.")


class MissingScope(ServiceError):
    """403 missing_scope; `error.scope` names the scope, several separated by spaces."""

    code = "missing_scope"

    def __init__(self, *scopes: str) -> None:
        message = f"The token lacks {_named('the scope', scopes)}."
        super().__init__(message, extra={"scope": " ".join(scopes)})


def _named(noun: str, names: Sequence[str]) -> str:
    """Return the noun with the names, in the plural if there are several."""
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names)}"


class ClientNotAllowed(ServiceError):
    """403 client_not_allowed: a mobile token, or a user without the second factor."""

    code = "client_not_allowed"
    message = "This token allows only GET /products."


class NotFound(ServiceError):
    """404 not_found; the same message whether or not another tenant has the id."""

    code = "not_found"

    def __init__(self, what: str = "The resource") -> None:
        super().__init__(f"{what} does not exist.")


_MOST_SHOWN = 200
"""Characters of a text in a path that a message repeats."""


class NoId(NotFound):
    """404 not_found: a text such as a code is where the id of a resource belongs."""

    def __init__(self, text: str, collection: str) -> None:
        shown = text[:_MOST_SHOWN]
        name = CODE_FILTERS.get(collection)
        by = f"?{name}={quote(unquote(shown), safe='')}" if name else ""
        find = "" if collection in _WITHOUT_LIST else f"; find it with GET /{collection}{by}"
        ServiceError.__init__(self, f"{shown} is no id. An id is a number{find}.")


_WITHOUT_LIST = frozenset({"reconciliations"})
"""First parts of paths that no list has."""


CODE_FILTERS: Mapping[str, str] = {
    "clients": "code", "entry-documents": "external_ref", "exit-documents": "external_ref",
    "handling-units": "sscc", "holds": "external_ref", "pickings": "external_ref",
    "products": "item_code", "providers": "code", "receipts": "external_ref",
    "returns": "external_ref", "transfer-orders": "external_ref",
    "warehouse-positions": "bin_code", "warehouses": "whs_code",
}  # fmt: skip
"""First part of a path → the filter of the list that finds a resource by its code."""


class Gone(ServiceError):
    """410 gone: the resource existed and was deleted, or `how` else it ended."""

    code = "gone"

    def __init__(
        self, what: str, how: str = "deleted", extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{what} was {how}.", extra=extra)


class MethodNotAllowed(ServiceError):
    """405 method_not_allowed with the header Allow."""

    code = "method_not_allowed"

    def __init__(self, method: str, allowed: Sequence[str]) -> None:
        names = ", ".join(allowed)
        message = f"This route does not allow {method}; allowed: {names}."
        super().__init__(message, headers={"Allow": names})


class Conflict(ServiceError):
    """409 conflict: the current state does not allow the operation."""

    code = "conflict"


class ApprovalRequired(ServiceError):
    """409 approval_required; `error.approval_id` is the approval to decide, if there is one."""

    code = "approval_required"

    def __init__(self, message: str, approval_id: int | None = None) -> None:
        super().__init__(message, extra={"approval_id": approval_id} if approval_id else {})


class OrderInWave(ServiceError):
    """409 order_in_wave: a picking belongs to another active wave."""

    code = "order_in_wave"


class StaleState(ServiceError):
    """409 stale_state: the resource changed since the caller read it."""

    code = "stale_state"
    message = "The resource changed since it was read."


class DuplicateInFlight(ServiceError):
    """409 duplicate_in_flight with Retry-After in seconds."""

    code = "duplicate_in_flight"

    def __init__(self, retry_after: int) -> None:
        super().__init__(headers=_retry_after(max(1, retry_after)))


class ValidationFailed(ServiceError):
    """422 validation_failed with every problem; `error.field` names the first."""

    code = "validation_failed"

    def __init__(self, problems: Sequence[Problem]) -> None:
        extra = {"field": problems[0].field}
        super().__init__(_summary(problems), extra=extra, problems=problems)


class RuleBlocked(ServiceError):
    """422 rule_blocked: valid data that a rule of the warehouse forbids, with every place."""

    code = "rule_blocked"

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(_summary(problems), problems=problems)


def _summary(problems: Sequence[Problem]) -> str:
    """Return the first problem with its field, and the number of the others."""
    first, rest = problems[0], len(problems) - 1
    more = f" (and {rest} more)" if rest else ""
    return f"{first.field}: {first.message}{more}" if first.field else first.message + more


class ImportRefused(ServiceError):
    """422 import_refused, also with 409 or 413: the file or the import's state forbids it."""

    code = "import_refused"

    def __init__(self, message: str, status: int = 422) -> None:
        # The state of the import (409) and the size of the file (413) do not change.
        is_stored = status != CODES[self.code].status
        super().__init__(message, status=status, is_stored=is_stored)


class RateLimited(ServiceError):
    """429 rate_limited with Retry-After in seconds."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message, headers=_retry_after(retry_after))


class PayloadTooLarge(ServiceError):
    """413 payload_too_large."""

    code = "payload_too_large"


class ServiceUnavailable(ServiceError):
    """503 service_unavailable with Retry-After: conflicts or throttling until the deadline."""

    code = "service_unavailable"
    message = "The service is busy; try again."

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__(headers=_retry_after(retry_after))


class TableReplaced(ServiceError):
    """503 service_unavailable with Retry-After: the tenant's table is about to be replaced."""

    code = "service_unavailable"
    headers = _retry_after(60)

    def __init__(self, tenant: str) -> None:
        super().__init__(
            f"The data of {tenant} is being restored to an earlier moment; try again later."
        )


class UnservedTable(ServiceError):
    """503 service_unavailable with Retry-After: this release cannot use the tenant's table so."""

    code = "service_unavailable"
    headers = _retry_after(60)

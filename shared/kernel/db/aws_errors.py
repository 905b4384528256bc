"""Errors of AWS that a caller may see again or not: temporary ones, and a table that is gone."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotocoreConnectionError

_TRANSIENT_REASONS = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
)
_TRANSIENT_ERRORS = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestTimeout",
        "ServiceUnavailable",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
"""SQS throttles with RequestThrottled, STS with Throttling."""


def is_transient(error: Exception) -> bool:
    """Return whether an error is temporary: throttling, conflict, failure of AWS, lost connection.

    A failure of AWS has the status 5xx. Its code differs by service, and botocore takes the status
    for the code if the response has none.
    """
    if isinstance(error, ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        is_failure = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return is_failure or error.response["Error"]["Code"] in _TRANSIENT_ERRORS
    return isinstance(error, BotocoreConnectionError | HTTPClientError)


def is_missing_table(error: Exception) -> bool:
    """Return whether the table does not exist: the tenant was deleted during the request."""
    return (
        isinstance(error, ClientError)
        and error.response["Error"]["Code"] == "ResourceNotFoundException"
    )


def cancellation_reasons(error: ClientError) -> Sequence[Mapping[str, Any]]:
    """Return the reasons of a cancelled transaction, in the order of its actions."""
    reasons: Sequence[Mapping[str, Any]] = error.response.get("CancellationReasons", [])
    return reasons


def has_transient_reason(error: ClientError) -> bool:
    """Return whether a transaction was cancelled for a temporary reason."""
    return any(reason.get("Code") in _TRANSIENT_REASONS for reason in cancellation_reasons(error))

"""What is recorded of each call of AWS: units that it consumed, throttling, and its trace.

The handlers run inside botocore, so that no call can be forgotten. They see names of operations,
tables and queues, never keys or contents.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from shared.kernel.observability import add_throttled, add_units
from shared.kernel.tracing import Segment, is_tracing

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks
    from botocore.model import OperationModel

_READS = ("BatchGetItem", "GetItem", "Query", "Scan")
_WRITES = ("DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem")
_THROTTLED = frozenset(
    {
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingError",
        "ThrottlingException",
    }
)
"""Codes of errors, and of the reasons of a cancelled transaction."""

_SEGMENT = "stowage_segment"
"""Key of the subsegment in the context that botocore passes to all handlers of a call."""


def record_calls(events: "BaseEventHooks") -> None:
    """Record the calls of all clients that are created with these events."""
    for operation in (*_READS, *_WRITES):
        events.register(f"before-parameter-build.dynamodb.{operation}", _request_units)
        events.register(f"after-call.dynamodb.{operation}", _add_units)
    events.register("needs-retry.dynamodb", _count_throttled)
    if is_tracing():  # without traces, they cost nothing
        events.register("before-parameter-build", _begin_segment)
        events.register("after-call", _end_segment)
        events.register("after-call-error", _fail_segment)


def _request_units(params: dict[str, Any], **_: Any) -> None:
    params["ReturnConsumedCapacity"] = "TOTAL"


def _add_units(parsed: Mapping[str, Any], model: "OperationModel", **_: Any) -> None:
    found = parsed.get("ConsumedCapacity") or ()
    is_read = model.name in _READS
    for one in (found,) if isinstance(found, dict) else found:
        add_units(one.get("TableName", ""), one.get("CapacityUnits", 0), is_read=is_read)


def _count_throttled(response: tuple[Any, Mapping[str, Any]] | None, **_: Any) -> None:
    """Count an attempt that was throttled, whether or not botocore repeats it."""
    if response is not None and "Error" in response[1] and _is_throttled(response[1]):
        add_throttled()


def _is_throttled(parsed: Mapping[str, Any]) -> bool:
    codes = {reason.get("Code") for reason in parsed.get("CancellationReasons", ())}
    return not _THROTTLED.isdisjoint(codes | {parsed.get("Error", {}).get("Code")})


def _begin_segment(
    params: Mapping[str, Any], model: "OperationModel", context: dict[str, Any], **_: Any
) -> None:
    segment = Segment.of_call(model.service_model.service_id, model.name, _resources(params))
    if segment:
        context[_SEGMENT] = segment


def _resources(params: Mapping[str, Any]) -> dict[str, str]:
    if queue := params.get("QueueUrl"):
        return {"queue_url": queue}
    tables = {params.get("TableName"), *params.get("RequestItems", ())}
    for action in params.get("TransactItems", ()):
        tables |= {one["TableName"] for one in action.values()}
    names = sorted(name for name in tables if name)
    return {"table_name": ", ".join(names)} if names else {}


def _end_segment(parsed: Mapping[str, Any], context: dict[str, Any], **_: Any) -> None:
    if segment := context.pop(_SEGMENT, None):
        status = parsed.get("ResponseMetadata", {}).get("HTTPStatusCode", HTTPStatus.OK)
        segment.end(
            fault=status >= HTTPStatus.INTERNAL_SERVER_ERROR,
            error=HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR,
            throttle=_is_throttled(parsed),
        )


def _fail_segment(context: dict[str, Any], **_: Any) -> None:
    if segment := context.pop(_SEGMENT, None):
        segment.end(fault=True)

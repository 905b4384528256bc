"""Dead letters: messages that a worker could not process, with the cause of the last failure.

SQS moves a message to the dead-letter queue without a cause. Therefore a worker that fails at the
last delivery sends the message there itself, together with the cause, and lets SQS delete it
(D-270). A worker that dies (timeout, memory) leaves the message to SQS: it has no cause then.
"""

import os
import re
import traceback
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.errors import ServiceError
from shared.kernel.json_text import dumps
from shared.kernel.observability import logger, mask_secrets, request_id

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

CAUSE = "cause"
"""Message attribute of a dead letter: a `Cause` as JSON."""
_MAX_MESSAGE = 500
"""Characters of an error message that are kept."""
_OWN_PACKAGES = ("functions", "shared")
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s<>@]+@[^\s<>@]+\.\w+")
"""Quoted values and mail addresses, which may be data of a company."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the last delivery of a message failed, without secrets and without data of a company.

    Attributes:
        error: Class of the exception.
        message: Its message; values are replaced.
        place: File and line of our code where it was raised.
        function: Name of the function.
        request_id: Value of `request_id` in the log lines of the failure.
        failed_at: Time of the failure.
        tenant: Slug; None if the message does not name one.
        source: ARN of the queue that the message came from.
    """

    error: str
    message: str
    place: str = ""
    function: str = ""
    request_id: str | None = None
    failed_at: str | None = None
    tenant: str | None = None
    source: str | None = None


def send_dead_letter(
    record: "SQSRecord", error: Exception, queue: str, *, deliveries: int, tenant: str | None
) -> bool:
    """Send a message to its dead-letter queue if its last delivery has failed.

    If the process dies before SQS deletes the message, SQS moves it as well. Both are the same
    message, and consumers process a message that they receive twice only once. `queue` is the URL
    of the dead-letter queue, `deliveries` the `maxReceiveCount` in the redrive policy of the queue,
    `tenant` the one that the message concerns.

    Returns:
        True if the dead-letter queue has the message, so that SQS may delete it. False if it is
        delivered again, or was not accepted: SQS moves it after the last delivery in any case.
    """
    if int(record.attributes.approximate_receive_count) < deliveries:
        return False
    cause = Cause(
        error=type(error).__name__,
        message=_message(error),
        place=_place(error),
        function=os.environ.get("AWS_LAMBDA_FUNCTION_NAME", ""),
        request_id=request_id(),
        failed_at=instant(now_ms()),
        tenant=tenant,
        source=record.get("eventSourceARN"),
    )
    group = record["attributes"].get("MessageGroupId")
    try:
        client("sqs").send_message(
            QueueUrl=queue,
            MessageBody=record.body,
            MessageAttributes={CAUSE: {"DataType": "String", "StringValue": dumps(asdict(cause))}},
            **({"MessageGroupId": group} if group else {}),
        )
    except Exception:  # noqa: BLE001 - SQS moves the message without the cause
        logger.exception("The cause of a dead letter was not recorded")
        return False
    return True


def _message(error: Exception) -> str:
    """Return what an exception says, without the values that it quotes."""
    if isinstance(error, ValidationError):
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        text = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in problems)
    elif isinstance(error, ServiceError) and error.status < 500:  # noqa: PLR2004
        text = error.code  # its message is for a caller, about what the caller sent
    else:
        text = str(error)
    return _VALUES.sub("'…'", mask_secrets(text))[:_MAX_MESSAGE]


def _place(error: Exception) -> str:
    """Return the file and line of our code that is next to the origin of an exception."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        module: str = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] in _OWN_PACKAGES:
            return f"{module.replace('.', '/')}.py:{line}"
    return ""

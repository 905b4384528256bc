"""Retries of calls of AWS that fail for a moment, in operations that take long."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shared.kernel.clock import Deadline
from shared.kernel.db.aws_errors import is_transient

_LONGEST_MS = 60_000
"""Milliseconds for which a call is repeated after the attempts that botocore makes at once."""
_PAUSE_SECONDS = 1.0


def retry_transient_errors[R](call: Callable[[], R]) -> R:
    """Repeat a call while AWS throttles it, or a transaction in progress has its item.

    DynamoDB refuses a batch as a whole if it can process none of it.
    """
    deadline = Deadline(_LONGEST_MS)
    while True:
        try:
            return call()
        except Exception as error:
            if not is_transient(error) or deadline.remaining <= 0:
                raise
        time.sleep(_PAUSE_SECONDS)


def run_batch(call: Callable[..., Any], requests: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Repeat a BatchWriteItem or BatchGetItem until all is processed; return the answers."""
    answers: list[dict[str, Any]] = []
    while requests:
        if answers:
            time.sleep(_PAUSE_SECONDS)
        answer = retry_transient_errors(partial(call, RequestItems=requests))
        answers.append(answer)
        requests = answer.get("UnprocessedItems") or answer.get("UnprocessedKeys") or {}
    return answers

"""Retries of calls of AWS that fail for a moment, in operations that take long."""

import time
from collections.abc import Callable

from shared.kernel.clock import Deadline
from shared.kernel.db.aws_errors import is_transient

_LONGEST_MS = 60_000
"""Milliseconds for which a call is repeated, besides the attempts that botocore makes at once."""
PAUSE_SECONDS = 1.0


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
        time.sleep(PAUSE_SECONDS)

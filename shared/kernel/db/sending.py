"""Send the actions of a transaction until they are committed or refused."""

import uuid
from collections.abc import Sequence

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotocoreConnectionError

from shared.kernel.clock import now_ms
from shared.kernel.db.actions import MAX_ACTIONS, Action, StaleRead
from shared.kernel.db.attempts import Attempts, raise_if_final
from shared.kernel.db.aws_errors import is_transient
from shared.kernel.db.store import Store

_STALE_MS = 3_000
"""Time of conflicts after which the use case is retried, so that the change does not become visible
with an old timestamp: a client that polls by `updated_since` would miss it."""


def send(store: Store, attempts: Attempts, actions: Sequence[Action], began_ms: int) -> None:
    """Send the actions of an attempt that began at `began_ms`, as one transaction.

    A call whose answer was lost is sent again with the same client request token, so it is applied
    once.

    Raises:
        StaleRead: A condition failed whose action names no other error, or conflicts last too long.
        ServiceUnavailable: Conflicts or throttling lasted until the deadline.
        Exception: The error of the first failed condition, from `on_condition_failed`.
    """
    requests = [action.request for action in actions]
    if len(requests) > MAX_ACTIONS:
        raise AssertionError(
            f"{len(requests)} actions in one transaction; split the use case into steps"
        )
    token = uuid.uuid4().hex
    attempt = 0
    while True:
        try:
            store.client.transact_write_items(
                TransactItems=requests,  # type: ignore[arg-type]
                ClientRequestToken=token,
            )
        except store.client.exceptions.TransactionCanceledException as error:
            is_changed = attempts.refused(actions, error)
            raise_if_final(actions, error)
            if is_changed or now_ms() - began_ms > _STALE_MS:
                raise StaleRead from error
        except (ClientError, BotocoreConnectionError, HTTPClientError) as error:
            if not is_transient(error):
                raise
        else:
            return
        attempt = store.back_off(attempt)

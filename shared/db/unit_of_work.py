"""Run a use case until it is committed: decide, stage, commit, and again when overtaken."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from shared.db.store import Store
from shared.db.transaction import Memory, Overtaken, Transaction

if TYPE_CHECKING:
    from shared.auth.caller import Caller


def perform[R](
    store: Store,
    use_case: Callable[[Transaction], R],
    *,
    caller: "Caller | None" = None,
    request: str | None = None,
) -> R:
    """Run `use_case`, which reads and stages writes, and commit what it staged.

    It runs again, from its reads on, whenever someone else changed what it had read;
    so it must have no effect but through the transaction. Raises what the use case
    raises, and ServiceUnavailable when the deadline passes before a commit succeeds.
    """
    memory = Memory()
    attempt = 0
    while True:
        transaction = Transaction(store, caller=caller, request=request, memory=memory)
        try:
            result = use_case(transaction)
            transaction.commit()
        except Overtaken:
            attempt = store.pause(attempt)
        else:
            return result

"""Run a use case until it is committed: decide, stage, commit, and again when overtaken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.db.items import Item, Key
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import RetryState, StaleRead, Transaction

if TYPE_CHECKING:
    from shared.kernel.caller import Caller


@dataclass(frozen=True, slots=True)
class Prefetched:
    """What several changes need, got in few calls before the first of them.

    `found` are items as just read (None: nothing is there), `ids` those drawn, by sequence.
    Only for changes that are conditioned on all they read: nothing else tells that it is old.
    """

    items: Mapping[Key, Item | None]
    ids: Mapping[str, list[int]]


def run_transaction[R](
    store: Store,
    use_case: Callable[[Transaction], R],
    *,
    caller: "Caller | None" = None,
    idempotency_record: str | None = None,
    prefetched: Prefetched | None = None,
) -> R:
    """Run `use_case`, which reads and stages writes, and commit what it staged.

    It runs again, from its reads on, whenever someone else changed what it had read;
    so it must have no effect but through the transaction. Raises what the use case
    raises, and ServiceUnavailable when the deadline passes before a commit succeeds.
    `prepared` is used the first time only: once overtaken, everything is read anew.
    """
    memory = RetryState(ids=dict(prefetched.ids)) if prefetched else RetryState()
    attempt = 0
    while True:
        transaction = Transaction(
            store, caller=caller, idempotency_record=idempotency_record, retry_state=memory
        )
        if prefetched and not attempt:
            transaction.store.add_to_cache(prefetched.items)
        try:
            result = use_case(transaction)
            transaction.commit()
        except StaleRead:
            attempt = store.back_off(attempt)
        else:
            return result

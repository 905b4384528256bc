"""Run a use case in a transaction, and retry it when another request changed what it read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import Item, Key
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

if TYPE_CHECKING:
    from shared.kernel.caller import Caller


@dataclass(frozen=True, slots=True)
class Prefetched:
    """Items and ids that were read and allocated for several changes in few calls.

    `items` are items as just read (None: the key does not exist), `ids` the allocated ids by
    sequence. Use it only for changes that are conditioned on everything they read; nothing else
    detects that an item is stale.
    """

    items: Mapping[Key, Item | None]
    ids: Mapping[str, list[int]]


def run_transaction[R](  # noqa: PLR0913  the facts of one change
    store: Store,
    use_case: Callable[[Transaction], R],
    *,
    caller: "Caller | None" = None,
    operator: Callable[[], str] | None = None,
    request_name: str | Callable[[], str] | None = None,
    prefetched: Prefetched | None = None,
    may_queue: bool = True,
) -> R:
    """Run `use_case` and commit the writes that it added to its transaction.

    The use case runs again when its commit or the use case itself raises StaleRead; see
    `Transaction.retry`. It must have no effect except through the transaction.

    Args:
        store: The tenant's table.
        use_case: Reads items and adds writes; its result is returned.
        caller: Who makes the change.
        operator: Returns the name of the operator who makes it, if no caller does.
        request_name: See `Transaction`.
        prefetched: Items and ids for the first attempt; a retry reads everything again.
        may_queue: Whether to wait in the queue of a contended item. The role needs the permissions
            Query, PutItem and DeleteItem.

    Raises:
        ServiceUnavailable: The deadline passed before a commit succeeded.
        Exception: What the use case raises.
    """
    transaction = Transaction(
        store,
        caller=caller,
        operator=operator,
        request_name=request_name,
        ids=prefetched.ids if prefetched else None,
        is_retried=True,
        may_queue=may_queue,
    )
    if prefetched:
        transaction.store.add_to_cache(prefetched.items)
    try:
        while True:
            try:
                result = use_case(transaction)
                transaction.commit()
            except StaleRead:
                transaction.retry()
            else:
                return result
    except Exception:
        transaction.leave_queue()
        raise

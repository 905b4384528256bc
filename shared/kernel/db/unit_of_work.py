"""Run a use case until it is committed: decide, stage, commit, and again when overtaken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.kernel.db.items import Item, Key
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Memory, Overtaken, Transaction

if TYPE_CHECKING:
    from shared.kernel.caller import Caller


@dataclass(frozen=True, slots=True)
class Prepared:
    """What several changes need, got in few calls before the first of them.

    `found` are items as just read (None: nothing is there), `ids` those drawn, by sequence.
    Only for changes that are conditioned on all they read: nothing else tells that it is old.
    """

    found: Mapping[Key, Item | None]
    ids: Mapping[str, list[int]]


def perform[R](
    store: Store,
    use_case: Callable[[Transaction], R],
    *,
    caller: "Caller | None" = None,
    request: str | None = None,
    prepared: Prepared | None = None,
) -> R:
    """Run `use_case`, which reads and stages writes, and commit what it staged.

    It runs again, from its reads on, whenever someone else changed what it had read;
    so it must have no effect but through the transaction. Raises what the use case
    raises, and ServiceUnavailable when the deadline passes before a commit succeeds.
    `prepared` is used the first time only: once overtaken, everything is read anew.
    """
    memory = Memory(ids=dict(prepared.ids)) if prepared else Memory()
    attempt = 0
    while True:
        transaction = Transaction(store, caller=caller, request=request, memory=memory)
        if prepared and not attempt:
            transaction.store.remember(prepared.found)
        try:
            result = use_case(transaction)
            transaction.commit()
        except Overtaken:
            attempt = store.pause(attempt)
        else:
            return result

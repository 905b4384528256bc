"""Operations larger than one transaction: they run in steps, each a transaction of its own.

A step takes as many items as its transaction has room for. If a request ends between two steps,
the committed steps remain, and a repeated request does the rest.
"""

from collections.abc import Callable, Iterable, Sequence

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS, Cost, StaleRead
from shared.kernel.db.transaction import Transaction

STEP_ACTIONS = MAX_PLANNED_ACTIONS - 8
"""Actions that the items of one step may take.

The other 8 are for what a step adds to its items: the record that the work belongs to, its
event, its wave, the counters of the collections whose totals change, and the response that is
stored under an Idempotency-Key, or else the renewal of its claim.
"""

STEP_BYTES = 2_000_000
"""Bytes that the entities of one step may have, of the 4 MB of a transaction.

The other half is for what they grow by in the step, and for what is added to them: the other
items of the actions above, of a few kilobytes each, and the response.
"""


def has_room(tx: Transaction, cost: Cost, most: int | None = None) -> bool:
    """Return whether a step has room for `cost` in addition to what its transaction has.

    `most` is the number of actions that its items may take, by default STEP_ACTIONS.
    """
    total = tx.cost + cost
    return total.actions <= (most or STEP_ACTIONS) and total.size <= STEP_BYTES


def fitting_items[I](tx: Transaction, items: Iterable[I], cost: Callable[[I], Cost]) -> list[I]:
    """Return the leading items that fit into one step, at least one.

    `cost(item)` is what the item will take of the transaction.
    """
    planned, fitting = Cost(), list[I]()
    for item in items:
        planned += cost(item)
        if fitting and not has_room(tx, planned):
            break
        fitting.append(item)
    return fitting


def run_steps[R](tx: Transaction, step: Callable[[], R | None]) -> R:
    """Run `step` until it returns a result; commit every step before that one.

    `step` reads what is left to do and adds as much of it as the transaction `tx` has room
    for. With the last of it, it returns a result; that step stays in `tx`, so that it is
    committed together with what the caller adds afterwards. Small work is thus one transaction.

    A step whose read is stale is run again. Before the first commit, StaleRead is raised to the
    caller instead, so that the caller's checks are repeated too.

    Raises:
        AssertionError: Something is added before the first step.
    """
    _ensure_empty(tx)
    committed = False
    while True:
        try:
            result = step()
            if result is not None:
                return result
            tx.commit_step()
        except StaleRead:
            if not committed:
                raise
            tx.retry()
        else:
            committed = True


def commit_in_steps[I](
    tx: Transaction, items: Sequence[I], step: Callable[[Sequence[I]], int]
) -> None:
    """Commit all of `items` in as many steps as they need.

    `step` gets the remaining items, adds the leading ones and returns how many it completed: 0
    when it added only a part of the first one. A step whose read is stale is run
    again. Afterwards nothing is added in `tx`.

    Raises:
        AssertionError: Something is added before the first step.
    """
    _ensure_empty(tx)
    left = items
    while left:
        try:
            done = step(left)
            if not done and tx.is_empty:
                raise AssertionError(f"a step added nothing with {len(left)} items left")
            tx.commit_step()
        except StaleRead:
            tx.retry()
        else:
            left = left[done:]


def _ensure_empty(tx: Transaction) -> None:
    if not tx.is_empty:
        raise AssertionError("steps begin in a transaction that has added nothing")

"""Rules that the kinds of work share: the status that an action needs, the place of an undo."""

from collections.abc import Collection, Iterator
from typing import Literal, TypeAliasType, get_args

from shared.kernel.errors import Conflict, Problem, StaleState
from shared.warehouse.work.models import StoredWork, WorkStatus


def ensure_status(
    noun: Literal["Picking", "Receipt"], work: StoredWork, *allowed: WorkStatus
) -> None:
    """Raise what `ensure_status_in` raises unless a receipt or picking is in one of `allowed`."""
    ensure_status_in(f"{noun} {work.id}", work.status, allowed, WorkStatus)


def ensure_status_in[S: str](
    name: str, status: S, allowed: Collection[S], type_: TypeAliasType
) -> None:
    """Raise an error unless `status`, the status of `name`, is one of those an action needs.

    `type_` lists the statuses of the subject in the order in which it gets them; those that end it
    early, such as cancelled, come last.

    Raises:
        StaleState: The action comes too late: the status comes after all of `allowed`.
        Conflict: The action comes too early.
    """
    if status in allowed:
        return
    order: tuple[S, ...] = get_args(type_.__value__)
    message = f"{name} is {status}; it must be {' or '.join(allowed)} for this action."
    if order.index(status) > max(map(order.index, allowed)):
        raise StaleState(message)
    raise Conflict(message)


def place_problems(
    done: str, item_code: str, named: str | None, places: Collection[str | None]
) -> Iterator[Problem]:
    """Yield a problem of an undo that names a position which is not among `places`.

    `done` says what is undone, such as "picked"; `places` are the positions where it was done.
    """
    if named is not None and named not in places:
        yield Problem("bin_code", f"nothing of {item_code} is {done} at {named}")

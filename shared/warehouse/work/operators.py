"""The operator of work: the user whom a request names, or who starts the work."""

from collections.abc import Iterator

from shared.identity.names import user_name
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.warehouse.work.models import Operator


def read_operator(tx: Transaction, named: int | None = None) -> Operator | None:
    """Return the user with the id `named`, or the calling user when none is named.

    Returns None when the company has no such user, and when an integration client names none.
    """
    number = named or (tx.caller.user_id if tx.caller else None)
    name = None if number is None else user_name(tx.store, number)
    return Operator(id=number, name=name) if number is not None and name is not None else None


def operator_problems(
    field: str, named: int | None, operator: Operator | None
) -> Iterator[Problem]:
    """Yield a problem of `field` when it names a user that does not exist."""
    if named is not None and operator is None:
        yield Problem(field, f"no user has the id {named}")


def operator_from_start(
    present: Operator | None, creator: int | None, acting: Operator | None
) -> Operator | None:
    """Return the operator of work that the user `acting` starts.

    A named operator is kept. The user `creator`, who has only created the work, is replaced.
    """
    is_named = present is not None and present.id != creator
    return present if is_named or acting is None else acting

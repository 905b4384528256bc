"""Keeping and reading the audit log."""

import getpass
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from shared.identity.audit import repository
from shared.identity.audit.models import (
    Actor,
    AuditAction,
    AuditParameters,
    StoredEntry,
    Target,
    TargetType,
)
from shared.kernel.caller import Caller
from shared.kernel.db.listing import Page
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import plain_number
from shared.kernel.json_text import dumps
from shared.kernel.observability import request_id


def record(  # noqa: PLR0913  what an entry tells
    tx: Transaction,
    action: AuditAction,
    target_type: TargetType,
    target_id: str | int | None,
    *,
    changes: Mapping[str, tuple[Any, Any]] | None = None,
    details: Mapping[str, Any] | None = None,
    reason: str | None = None,
    actor: Actor | None = None,
) -> None:
    """Stage an entry into the transaction of the change that it tells of. Never of a secret.

    Two actions of the transaction and one call of the database, for the entry's id.

    Args:
        tx: The transaction of the change.
        action: What was done.
        target_type: To what kind of thing.
        target_id: To which one.
        changes: Field → (before, after), JSON values or Decimals.
        details: What else tells which one it was, such as its name.
        reason: Why, in words, where somebody gave a reason.
        actor: Who did it; by default the caller of the transaction, or an operator when it
            has none.
    """
    told = {
        field: {"from": _plain(old), "to": _plain(new)}
        for field, (old, new) in (changes or {}).items()
    }
    entry = StoredEntry(
        action=action,
        actor=actor or _actor(tx.caller),
        target=Target(type=target_type, id=None if target_id is None else str(target_id)),
        changes_json=dumps(told),
        details_json=dumps({name: _plain(value) for name, value in (details or {}).items()}),
        reason=reason,
        request_id=request_id(),
        created_at=tx.now,
    )
    repository.insert(tx, entry)


def prepare(tx: Transaction) -> None:
    """Draw the id of one entry: for use cases that have other calls to make at the same time."""
    repository.reserve_entry_id(tx)


def _plain(value: Any) -> Any:
    return plain_number(value) if isinstance(value, Decimal) else value


def _actor(caller: Caller | None) -> Actor:
    if caller is not None:
        return Actor(type="client" if caller.kind == "client" else "user", id=caller.subject)
    name = None
    with suppress(OSError):  # whoever runs this has no entry among the users of the system
        name = getpass.getuser()
    return Actor(type="operator", id=None, name=name)


def list_entries(store: Store, parameters: AuditParameters, timezone: str) -> Page[StoredEntry]:
    """Read a page of the log; `from` and `to` are days in the time zone."""
    return repository.list_entries(store, parameters, timezone)

"""Writing and reading the audit log."""

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


def record(  # noqa: PLR0913  the properties of an entry
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
    """Add an audit entry to the transaction of a change. It must not contain secrets.

    It takes two actions of the transaction, and one database call for the id of the entry.

    Args:
        tx: The transaction of the change.
        action: What was done.
        target_type: Type of the changed object.
        target_id: Id of the changed object; None for the settings.
        changes: Field → (before, after), as JSON values or Decimals.
        details: Further properties that identify the object, such as its name.
        reason: The reason that the caller gave, if any.
        actor: Who made the change; by default the caller of the transaction, or an operator if
            it has none.
    """
    json_changes = {
        field: {"from": _plain(old), "to": _plain(new)}
        for field, (old, new) in (changes or {}).items()
    }
    entry = StoredEntry(
        action=action,
        actor=actor or actor_of(tx.caller),
        target=Target(type=target_type, id=None if target_id is None else str(target_id)),
        changes_json=dumps(json_changes),
        details_json=dumps({name: _plain(value) for name, value in (details or {}).items()}),
        reason=reason,
        request_id=request_id(),
        created_at=tx.now,
    )
    repository.insert(tx, entry)


def reserve_entry_ids(tx: Transaction, count: int = 1) -> None:
    """Reserve the ids of the next `count` entries with one database call.

    For use cases that add several entries, or make other database calls concurrently.
    """
    repository.reserve_entry_ids(tx, count)


def _plain(value: Any) -> Any:
    return plain_number(value) if isinstance(value, Decimal) else value


def actor_of(caller: Caller | None) -> Actor:
    """Return the caller of a request as an actor without a name; an operator if there is none."""
    if caller is not None:
        return Actor(type="client" if caller.kind == "client" else "user", id=caller.subject)
    name = None
    with suppress(OSError):  # the operating system has no name for this user
        name = getpass.getuser()
    return Actor(type="operator", id=None, name=name)


def list_entries(store: Store, parameters: AuditParameters, timezone: str) -> Page[StoredEntry]:
    """Read a page of the audit log; `from` and `to` are days in `timezone`."""
    return repository.list_entries(store, parameters, timezone)

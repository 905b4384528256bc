"""Writing and reading the audit log."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from shared.identity.audit.models import (
    Actor,
    AuditAction,
    StoredEntry,
    Target,
    TargetType,
)
from shared.identity.audit.repository import AUDIT
from shared.identity.names import caller_name
from shared.kernel.db.parallel import run_all
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched
from shared.kernel.fields import json_number
from shared.kernel.json_text import dumps
from shared.kernel.list_parameters import list_of
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

    It takes two actions of the transaction. The id of the entry and the name of the caller take one
    round trip to the database, unless `reserve_entry_ids` and `actor_of` were called before.

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
    _, caller = run_all(lambda: reserve_entry_ids(tx), lambda: actor or actor_of(tx))
    entry = StoredEntry(
        action=action,
        actor=caller,
        target=Target(type=target_type, id=None if target_id is None else str(target_id)),
        changes_json=dumps(json_changes),
        details_json=dumps({name: _plain(value) for name, value in (details or {}).items()}),
        reason=reason,
        request_id=request_id(),
        created_at=tx.now,
    )
    AUDIT.insert(tx, tx.next_id(AUDIT.kind), entry)


def reserve_entry_ids(tx: Transaction, count: int = 1) -> None:
    """Reserve the ids of the next `count` entries with one database call.

    For use cases that add several entries, or make other database calls concurrently.
    """
    tx.reserve_ids(AUDIT.kind, count)


def prefetch_entry_id(store: Store) -> Prefetched:
    """Allocate the id of one entry for `run_transaction`, concurrently with other calls."""
    return Prefetched({}, {AUDIT.kind: [allocate_ids(store, AUDIT.kind, 1)]})


def _plain(value: Any) -> Any:
    return json_number(value) if isinstance(value, Decimal) else value


def actor_of(tx: Transaction) -> Actor:
    """Return the caller or operator of the transaction with the name that it has now.

    A second call in the same attempt reads nothing, so that a use case can read the name
    concurrently with other items before it records an entry.
    """
    caller = tx.caller
    if caller is not None:
        name = caller_name(tx.store, caller)
        return Actor(type=caller.actor_type, id=caller.subject, name=name)
    return Actor(type="operator", id=None, name=tx.operator() if tx.operator else None)


list_entries = list_of(AUDIT)

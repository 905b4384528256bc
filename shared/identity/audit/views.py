"""Conversion of audit entries to the responses of the interface."""

from shared.identity.audit.models import AuditEntry, Change, StoredEntry
from shared.kernel.db.collection import Record
from shared.kernel.json_text import loads


def audit_entry(record: Record[StoredEntry]) -> AuditEntry:
    """Return the response model of an entry."""
    stored = record.entity
    return AuditEntry(
        id=record.id,
        action=stored.action,
        actor=stored.actor,
        target=stored.target,
        changes={name: Change(**change) for name, change in loads(stored.changes_json).items()},
        details=loads(stored.details_json),
        reason=stored.reason,
        request_id=stored.request_id,
        created_at=stored.created_at,
    )

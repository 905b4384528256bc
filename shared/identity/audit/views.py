"""Conversion of audit entries to the responses of the interface."""

from shared.identity.audit.models import AuditEntry, Change, StoredEntry
from shared.kernel.db.records import Record
from shared.kernel.json_text import loads


def audit_entry(record: Record[StoredEntry]) -> AuditEntry:
    """Return the response model of an entry."""
    stored = record.entity
    changes = {name: Change(**change) for name, change in loads(stored.changes_json).items()}
    details = loads(stored.details_json)
    return AuditEntry.from_stored(stored, id=record.id, changes=changes, details=details)

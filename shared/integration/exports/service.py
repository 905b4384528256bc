"""Use cases of exports."""

from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader, ensure_readable
from shared.integration.changes.service import feed_head
from shared.integration.exports.actions import ACTIONS, IN_PROGRESS
from shared.integration.exports.context import ExportContext, author_of
from shared.integration.exports.ids import last_ids
from shared.integration.exports.models import (
    FILE_DAYS,
    ExportDraft,
    StoredExport,
    export_code,
)
from shared.integration.exports.repository import EXPORTS, newest_export, put_newest
from shared.kernel.caller import Caller
from shared.kernel.clock import instant, milliseconds_of
from shared.kernel.db.records import Record
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, ensure_valid

_REQUEST_SECONDS = 30
"""Seconds after which a request has certainly ended: the timeout of the gateway."""
_ABANDONED_MS = 3_600_000
"""Age from which on an export without progress no longer excludes another one. The messages of an
export are lost when its table is restored."""


def start_export(
    tx: Transaction, context: ExportContext, caller: Caller, body: Checked[ExportDraft]
) -> Record[StoredExport]:
    """Create an export, which the worker makes. A repeated request returns what it has created.

    The position of the feed is read before the last ids.

    Raises:
        Conflict: Another export is in progress.
        ServiceError: The caller may not read all objects.
        UnservedTable: The table has no feed yet.
    """
    draft = ensure_valid(body)
    reader = Reader(tx.store, context.tenant, caller)
    ensure_readable(reader, [LISTED_OBJECTS[name] for name in draft.objects])
    head = feed_head(context.store)
    last = last_ids(context.store, draft.objects)
    number = allocate_ids(context.store, EXPORTS.kind, 1)
    # If this invocation dies, the worker takes over after its timeout.
    context.enqueue(number, delay=_REQUEST_SECONDS)

    def insert(own: Transaction) -> Record[StoredExport]:
        newest = newest_export(own.store)
        if newest is not None:
            former = EXPORTS.get(own.store, newest)
            if tx.request_name and former.entity.request == tx.request_name:
                return former
            _end_if_abandoned(own, former)
        put_newest(own, number, newest)
        stored = StoredExport(
            id=number,
            status="pending",
            objects=draft.objects,
            format=draft.format,
            language=draft.language,
            position=head.position,
            epoch=head.epoch,
            last_ids=last,
            author=author_of(caller),
            request=tx.request_name,
            expires_at=instant(own.now_ms + FILE_DAYS * 86_400_000),
            created_at=own.now,
            updated_at=own.now,
        )
        return EXPORTS.insert(own, number, stored)

    record = run_transaction(context.store, insert, caller=caller)
    context.enqueue(record.id)
    return record


def _end_if_abandoned(tx: Transaction, record: Record[StoredExport]) -> None:
    stored = record.entity
    if stored.status not in IN_PROGRESS:
        return
    last_sign = max(milliseconds_of(stored.updated_at), stored.busy_until)
    if last_sign > tx.now_ms - _ABANDONED_MS:
        raise Conflict(
            f"Export {export_code(stored.id)} is {stored.status}; only one is made at a time."
        )
    EXPORTS.save(tx, record, stored, status="failed", failure="It made no progress for an hour.")


def cancel_export(tx: Transaction, number: int) -> Record[StoredExport]:
    """Cancel an export before its end; its files are not shown."""
    record = EXPORTS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "cancel")
    return EXPORTS.save(tx, record, record.entity, status="cancelled", busy_until=0)


get_export = EXPORTS.get
list_exports = list_of(EXPORTS)

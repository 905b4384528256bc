"""Processes an import from its current state until it ends, waits for a user, or time is up."""

from collections.abc import Mapping
from contextlib import suppress

from shared.integration.imports.commit import commit, fail
from shared.integration.imports.context import (
    IN_PROGRESS,
    LEASE_MS,
    ImportContext,
    release_lease,
)
from shared.integration.imports.drop_results import write_drop_results
from shared.integration.imports.kind_access import tenant_refusal
from shared.integration.imports.models import StoredImport
from shared.integration.imports.repository import IMPORTS
from shared.integration.imports.service import begin_commit
from shared.integration.imports.validation import validate
from shared.kernel.clock import now_ms
from shared.kernel.db.records import Record
from shared.kernel.errors import ImportRefused, NotFound
from shared.kernel.observability import logger
from shared.warehouse.settings.values import settings_of

MAX_ATTEMPTS = 5
"""How often an import is taken up without progress before it is set to `failed`. The queue delivers
a message as often."""
MAX_INVOCATIONS = 1_000
"""How often an import is taken up before it is set to `failed`, with or without progress. Lambda
does not stop the chain of messages with which an import continues (`RecursiveLoop` in the
template). At up to a minute each, these are more than 16 hours; a repeated commit continues."""
_INVOCATION_SECONDS = 120
"""Timeout of the worker function."""
_LEASE_SECONDS = LEASE_MS // 1000 + 1


def process_import(context: ImportContext, import_id: int, *, last_delivery: bool) -> None:
    """Process an import, if it exists.

    Another message is sent to the worker if the time is up, if another worker holds the lease, and
    on the last delivery of a message. The results of a dropped file are written when the import has
    ended or waits for a commit. `last_delivery` is whether the queue delivers the message for the
    last time.
    """
    has_lease = False

    def take_lease(stored: StoredImport) -> Mapping[str, object] | None:
        nonlocal has_lease
        has_lease = stored.busy_until <= now_ms()
        if stored.status not in IN_PROGRESS or not has_lease:
            return None
        return {
            "busy_until": now_ms() + LEASE_MS,
            "stalled": stored.stalled + 1,
            "invocations": stored.invocations + 1,
        }

    try:
        record = context.update(import_id, take_lease)
    except NotFound:
        return  # the request that sent the message failed before it created the import
    if record.entity.status in IN_PROGRESS and not has_lease:
        delay = 1 + max(0, record.entity.busy_until - now_ms()) // 1000
        context.enqueue(import_id, delay=delay)
        return
    if record.entity.status in IN_PROGRESS:
        if reason := _reason_to_give_up(record.entity):
            action = (
                "Commit the import again." if record.entity.readable else "Upload the file again."
            )
            record = fail(context, record.id, f"{reason} {action}")
        elif last_delivery:
            # If this invocation dies too, another message must exist.
            context.enqueue(import_id, delay=_INVOCATION_SECONDS)
    try:
        record = _process(context, record)
    except Exception:
        # The queue would deliver the message again much later.
        context.enqueue(import_id, delay=_LEASE_SECONDS)
        raise
    if record.entity.status in IN_PROGRESS:
        context.update(import_id, release_lease)
        context.enqueue(import_id)
    _log_progress(record.entity)
    write_drop_results(context, record)


def _log_progress(stored: StoredImport) -> None:
    """Write how far an import has come; a log query shows the progress of all imports."""
    logger.info(
        "import progress",
        import_id=stored.id,
        import_kind=stored.kind,
        status=stored.status,
        rows=stored.rows.total,
        documents=stored.documents.total,
        committed=stored.documents.committed,
        invocations=stored.invocations,
    )


def _process(context: ImportContext, record: Record[StoredImport]) -> Record[StoredImport]:
    if record.entity.status == "validating":
        record = validate(context, record.id)
    if record.entity.status == "validated" and _is_committed_automatically(context, record.entity):
        with suppress(ImportRefused):  # it was committed or cancelled meanwhile
            begin_commit(context, record.id)
        record = IMPORTS.get(context.store, record.id)
    if record.entity.status == "committing":
        record = commit(context, record.id)
    return record


def _is_committed_automatically(context: ImportContext, stored: StoredImport) -> bool:
    return (
        stored.way == "drop"
        and settings_of(context.tenant.company).commit_drops
        and tenant_refusal(context.tenant, stored.kind) is None
    )


def _reason_to_give_up(stored: StoredImport) -> str | None:
    if stored.stalled >= MAX_ATTEMPTS:
        return f"Processing failed {MAX_ATTEMPTS} times at the same point."
    if stored.invocations > MAX_INVOCATIONS:
        return f"Processing was continued {MAX_INVOCATIONS} times and did not end."
    return None

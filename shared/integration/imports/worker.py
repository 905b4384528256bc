"""Processes an import from its current state until it ends, waits for a user, or time is up."""

from contextlib import suppress

from shared.integration.imports.commit import commit, fail
from shared.integration.imports.context import IN_PROGRESS, ImportContext
from shared.integration.imports.drop_results import write_drop_results
from shared.integration.imports.kind_access import tenant_refusal
from shared.integration.imports.models import StoredImport
from shared.integration.imports.repository import IMPORTS
from shared.integration.imports.service import begin_commit
from shared.integration.imports.validation import validate
from shared.kernel.db.records import Record
from shared.kernel.errors import ImportRefused
from shared.kernel.observability import logger
from shared.kernel.queued_work import QueuedWork
from shared.warehouse.settings.values import settings_of


def process_import(context: ImportContext, import_id: int, *, last_delivery: bool) -> None:
    """Process an import, if it exists; see `QueuedWork.take_up`.

    The results of a dropped file are written when the import has ended or waits for a commit.
    """
    work = QueuedWork(
        IN_PROGRESS,
        context.update,
        context.enqueue,
        lambda record: _process(context, record),
        lambda record, reason: _give_up(context, record, reason),
    )
    record = work.take_up(import_id, last_delivery=last_delivery)
    if record:
        _log_progress(record.entity)
        write_drop_results(context, record)


def _give_up(
    context: ImportContext, record: Record[StoredImport], reason: str
) -> Record[StoredImport]:
    action = "Commit the import again." if record.entity.readable else "Upload the file again."
    return fail(context, record.id, f"{reason} {action}")


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

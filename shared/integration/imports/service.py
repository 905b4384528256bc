"""Use cases of the import routes."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from shared.identity.tenancy.tenant import Tenant
from shared.integration.imports import repository
from shared.integration.imports.actions import ACTIONS
from shared.integration.imports.commit import commit
from shared.integration.imports.context import (
    REQUEST_SECONDS,
    ImportContext,
    release_lease,
    requester_of,
)
from shared.integration.imports.drop_results import write_drop_results
from shared.integration.imports.kind_access import (
    ensure_kind_allowed,
    ensure_kind_enabled,
)
from shared.integration.imports.models import (
    MAX_FILE_BYTES,
    FileLocation,
    ImportKind,
    ImportOptions,
    ImportUpload,
    StoredImport,
    UploadChannel,
    UploadRequest,
)
from shared.integration.imports.repository import (
    IMPORTS,
    contents_alias_key,
    origin_alias_key,
    put_alias,
)
from shared.integration.imports.upload_checks import ensure_acceptable, safe_file_name
from shared.integration.imports.validation import duplicate_file_warning, validate
from shared.kernel.caller import Caller
from shared.kernel.db.records import Record
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import ImportRefused, NotFound
from shared.kernel.list_parameters import list_of
from shared.kernel.queued_work import progress
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import Checked, ensure_valid

FORM_SECONDS = 900
"""Lifetime of a presigned form."""
REPORT_URL_SECONDS = 300
"""Lifetime of the presigned URL of an error report."""

_SYNC_FILE_BYTES = 100_000
"""Size up to which a file is validated within the request."""
_SYNC_GROUPS, _SYNC_ROWS, _SYNC_ALLOCATIONS = 200, 1000, 10
"""Row groups, rows and allocations up to which an import is committed within the request."""
_MAX_RESPONSE_REPORT_BYTES = 4_000_000
"""Size up to which a report is in the response, which may have 6 MB in base64."""
_FILE_MEDIA = "application/octet-stream"


def start_import(
    tx: Transaction, context: ImportContext, body: Checked[ImportUpload]
) -> Record[StoredImport]:
    """Create an import from a file in the request, and validate it within the request if small.

    A repeated request returns the import that it has created.

    Raises:
        ServiceError: The caller may not import the kind, or its module is not enabled.
        ImportRefused: The file is too large for a request (413), or is not a spreadsheet.
    """
    body = _ensure_allowed(tx, context, body)
    name, content = safe_file_name(body.file.name), body.file.content
    digest = hashlib.sha256(content).hexdigest()
    started = _import_of_request(tx)
    if started is not None:
        return IMPORTS.get(context.store, started)
    ensure_kind_enabled(context.tenant, body.kind)
    ensure_acceptable(content, name)
    stored_name = f"sources/{secrets.token_hex(16)}"
    context.work_files.put(stored_name, content, _FILE_MEDIA)
    location = FileLocation(bucket="work", name=stored_name)
    import_id = allocate_ids(context.store, IMPORTS.kind, 1)
    is_sync = len(content) <= _SYNC_FILE_BYTES
    # If this invocation dies, the worker takes over after its timeout.
    context.enqueue(import_id, delay=REQUEST_SECONDS)

    def insert(own_tx: Transaction) -> Record[StoredImport]:
        stored = new_import(own_tx, import_id, body.kind, body.options, name, "request", location)
        update = {
            "status": "validating",
            "digest": digest,
            "warning": duplicate_file_warning(own_tx, digest),
            "requested_by": requester_of(tx.caller),
            **(progress() if is_sync else {}),
        }
        put_alias(own_tx, contents_alias_key(digest), import_id)
        if tx.request_name is not None:
            put_alias(
                own_tx,
                origin_alias_key(tx.request_name),
                import_id,
                seconds=repository.REQUEST_ALIAS_SECONDS,
            )
        return IMPORTS.insert(own_tx, import_id, stored.model_copy(update=update))

    record = run_transaction(context.store, insert)
    if is_sync:
        return validate(context, import_id)
    context.enqueue(import_id)
    return record


def request_upload(
    tx: Transaction, context: ImportContext, body: Checked[UploadRequest]
) -> tuple[Record[StoredImport], Mapping[str, Any]]:
    """Create an import without a file, and a presigned form for uploading the file.

    Raises:
        ServiceError: The caller may not import the kind, or its module is not enabled.
        ImportRefused: The file name does not end in .xlsx or .csv.
    """
    body = _ensure_allowed(tx, context, body)
    ensure_kind_enabled(context.tenant, body.kind)
    name = safe_file_name(body.filename)
    ensure_acceptable(None, name)
    import_id = tx.next_id(IMPORTS.kind)
    location = FileLocation(bucket="arrivals", name=f"uploads/{import_id}/{name}")
    stored = new_import(tx, import_id, body.kind, body.options, name, "upload", location)
    record = IMPORTS.insert(
        tx, import_id, stored.model_copy(update={"requested_by": requester_of(tx.caller)})
    )
    form = context.import_files.presigned_form(
        location.name, seconds=FORM_SECONDS, max_bytes=MAX_FILE_BYTES
    )
    return record, form


def _ensure_allowed[B: (ImportUpload, UploadRequest)](
    tx: Transaction, context: ImportContext, body: Checked[B]
) -> B:
    """Return the valid body of a caller who may import its kind.

    A caller who may not does not learn whether the rest of the body is valid.
    """
    if body.kind is not None:
        ensure_kind_allowed(context.tenant, tx.caller, body.kind, write=True)
    return ensure_valid(body)


def new_import(  # noqa: PLR0913, PLR0917 - the attributes of an import
    tx: Transaction,
    import_id: int,
    kind: ImportKind,
    options: ImportOptions | None,
    name: str,
    channel: UploadChannel,
    location: FileLocation,
) -> StoredImport:
    """Return a new import whose file has not been received."""
    chosen = options or ImportOptions()
    return StoredImport(
        id=import_id,
        kind=kind,
        status="uploaded",
        file=name,
        way=channel,
        on_duplicate=chosen.on_duplicate,
        auto_allocate=kind == "exit_documents" and bool(chosen.auto_allocate),
        created_at=tx.now,
        updated_at=tx.now,
        source=location,
    )


def _import_of_request(tx: Transaction) -> int | None:
    """Return the id of the import that an earlier attempt of this request has created."""
    if tx.request_name is None:
        return None
    return repository.find_by_alias(tx.store, origin_alias_key(tx.request_name))


def get_import(
    store: Store, import_id: int, *, tenant: Tenant, caller: Caller
) -> Record[StoredImport]:
    """Return an import.

    Raises:
        ServiceError: The caller may not read imports of its kind.
    """
    record = IMPORTS.get(store, import_id)
    ensure_kind_allowed(tenant, caller, record.entity.kind, write=False)
    return record


list_imports = list_of(IMPORTS)


def commit_import(tx: Transaction, context: ImportContext, import_id: int) -> Record[StoredImport]:
    """Apply the valid rows, within the request if they are few, otherwise in the worker.

    Raises:
        ServiceError: The caller may not import the kind, or its module is not enabled.
        ImportRefused: The state of the import does not allow a commit (409).
    """
    stored = IMPORTS.get(context.store, import_id).entity
    ensure_kind_allowed(context.tenant, tx.caller, stored.kind, write=True)
    if tx.request_name is None or stored.commit_request != tx.request_name:
        ensure_kind_enabled(context.tenant, stored.kind)
        _ensure_committable(stored)
        # If this invocation dies, the worker takes over after its timeout.
        context.enqueue(import_id, delay=REQUEST_SECONDS)
        stored = begin_commit(context, import_id, caller=tx.caller, request=tx.request_name).entity
    if stored.status == "committing" and _is_small(stored):
        record = commit(context, import_id)
        write_drop_results(context, record)
        return record
    if stored.status == "committing":
        context.update(import_id, release_lease)
        context.enqueue(import_id)
    return IMPORTS.get(context.store, import_id)


def _is_small(stored: StoredImport) -> bool:
    """Return whether the import can be committed within the request."""
    groups, rows = stored.documents.valid or 0, stored.rows.valid or 0
    max_groups = _SYNC_ALLOCATIONS if stored.auto_allocate else _SYNC_GROUPS
    return groups <= max_groups and rows <= _SYNC_ROWS


def begin_commit(
    context: ImportContext,
    import_id: int,
    *,
    caller: Caller | None = None,
    request: str | None = None,
) -> Record[StoredImport]:
    """Set a validated import, or one whose commit failed, to `committing`.

    `caller` requests the commit; None if a dropped file is committed automatically. `request` is
    the idempotency record of the request.

    Raises:
        ImportRefused: The state of the import does not allow a commit (409). Of two concurrent
            calls, one fails.
    """

    def begin(stored: StoredImport) -> Mapping[str, object]:
        _ensure_committable(stored)
        # The commit finds again what it skips. One that failed goes on where it stopped.
        found_before: Mapping[str, object] = {
            "skipped": [],
            "documents": stored.documents.model_copy(update={"skipped": 0}),
        }
        return {
            **({} if stored.applied else found_before),
            "status": "committing",
            "structure_errors": [],
            "commit_request": request,
            "requested_by": requester_of(caller) or stored.requested_by,
            **progress(),
            "invocations": 0,
        }

    return context.update(import_id, begin, request=request)


def _ensure_committable(stored: StoredImport) -> None:
    if ACTIONS.admits(stored, "commit"):
        return
    reasons = {
        "uploaded": "its file has not been uploaded",
        "validating": "it is still being validated",
        "invalid": "it has no valid rows",
        "committing": "it is being committed",
        "committed": "it is already committed",
        "failed": "its validation failed; upload the file again",
        "cancelled": "it is cancelled",
    }
    raise ImportRefused(f"Import {stored.id} cannot be committed: {reasons[stored.status]}.", 409)


def cancel_import(tx: Transaction, context: ImportContext, import_id: int) -> Record[StoredImport]:
    """Cancel an import before its commit.

    Raises:
        ServiceError: The caller may not import the kind.
        StaleState: Its commit has started, or it has ended.
    """
    record = IMPORTS.get(tx.store, import_id)
    stored = record.entity
    ensure_kind_allowed(context.tenant, tx.caller, stored.kind, write=True)
    ACTIONS.ensure(stored, "cancel")
    if stored.way == "drop":
        # The worker writes the result next to the file, after this transaction.
        context.enqueue(import_id, delay=REQUEST_SECONDS)
    update = {"status": "cancelled", "busy_until": 0, "updated_at": tx.now}
    return IMPORTS.replace(tx, record, stored.model_copy(update=update))


def error_report(context: ImportContext, import_id: int, caller: Caller) -> bytes | str:
    """Return the error report of an import, or a presigned URL if it is too large for a response.

    Raises:
        NotFound: The import has no rejected rows, or its report has expired.
        ServiceError: The caller may not read imports of its kind.
    """
    stored = get_import(context.store, import_id, tenant=context.tenant, caller=caller).entity
    if stored.report is None:
        raise NotFound(f"An error report of import {import_id}")
    files = context.work_files
    try:
        if files.size(stored.report) <= _MAX_RESPONSE_REPORT_BYTES:
            return files.read(stored.report)
    except FileMissing:
        raise NotFound(f"The error report of import {import_id}") from None
    return files.presigned_url(
        stored.report, seconds=REPORT_URL_SECONDS, download_as=f"import-{import_id}-errors.xlsx"
    )

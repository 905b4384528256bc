"""Use cases of imports, as the routes offer them."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from shared.integration.imports import repository
from shared.integration.imports.commit import commit
from shared.integration.imports.context import AFTER_INVOCATION, Workspace, released, requester
from shared.integration.imports.drop_results import leave_results
from shared.integration.imports.files.columns import ImportKind
from shared.integration.imports.models import (
    MAX_FILE,
    ImportOptions,
    ImportParameters,
    ImportUpload,
    Source,
    StoredImport,
    UploadRequest,
    Way,
)
from shared.integration.imports.repository import IMPORTS, contents_key, lead_to, origin_key
from shared.integration.imports.upload_checks import ensure_readable, file_name
from shared.integration.imports.validation import LEASE_MS, validate, warning
from shared.kernel.caller import Caller
from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.collection import Record
from shared.kernel.db.listing import Page
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction, allocate_ids
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import IdempotencyKeyReused, ImportRefused, NotFound
from shared.kernel.tenant_files import FileMissing

FORM_SECONDS = 900
"""How long a presigned form can be used."""
ADDRESS_SECONDS = 300
"""How long a presigned address of a report can be used."""

_AT_ONCE_BYTES = 100_000
"""A file up to this size is validated before the request is answered."""
_AT_ONCE_UNITS, _AT_ONCE_ROWS, _AT_ONCE_ALLOCATED = 200, 1000, 10
"""As many are applied, or allocated, before the request is answered."""
_DIRECT_BYTES = 4_000_000
"""Of a report that an answer can carry: base64 makes it a third larger, and 6 MB is the limit."""
_MEDIA = "application/octet-stream"


def start_import(tx: Transaction, space: Workspace, body: ImportUpload) -> Record[StoredImport]:
    """Take a file that came with the request, and validate it: at once when it is small.

    A request that is repeated finds the import that it made. Raises ImportRefused for what
    is too large, or nothing that can be read.
    """
    name, content = file_name(body.file.name), body.file.content
    digest = hashlib.sha256(content).hexdigest()
    begun = _begun(tx)
    if begun is not None:
        record = IMPORTS.get(space.store, begun)
        if (record.entity.kind, record.entity.digest) != (body.kind, digest):
            raise IdempotencyKeyReused  # its claim ran out when the first invocation died
        return record
    ensure_readable(content, name)
    stored = f"sources/{secrets.token_hex(16)}"
    space.work.put(stored, content, _MEDIA)
    made = Source(bucket="work", name=stored)
    number = allocate_ids(space.store, IMPORTS.kind, 1)
    at_once = len(content) <= _AT_ONCE_BYTES
    # Should this invocation die, the worker goes on once it must be dead.
    space.wake(number, delay=AFTER_INVOCATION)

    def insert(own: Transaction) -> Record[StoredImport]:
        one = _new(own, number, body.kind, body.options, name, "request", made)
        lease = now_ms() + LEASE_MS if at_once else 0
        update = {
            "status": "validating",
            "digest": digest,
            "warning": warning(own, digest),
            "requested_by": requester(tx.caller),
            "busy_until": lease,
        }
        lead_to(own, contents_key(digest), number)
        if tx.idempotency_record is not None:
            lead_to(
                own, origin_key(tx.idempotency_record), number, seconds=repository.REPEATED_SECONDS
            )
        return IMPORTS.insert(own, number, one.model_copy(update=update))

    record = run_transaction(space.store, insert)
    if at_once:
        return validate(space, number)
    space.wake(number)
    return record


def request_upload(
    tx: Transaction, space: Workspace, body: UploadRequest
) -> tuple[Record[StoredImport], Mapping[str, Any]]:
    """Make an import that waits for its file, and the form with which the file can be sent."""
    name = file_name(body.filename)
    ensure_readable(None, name)
    number = tx.next_id(IMPORTS.kind)
    source = Source(bucket="arrivals", name=f"uploads/{number}/{name}")
    one = _new(tx, number, body.kind, body.options, name, "upload", source)
    record = IMPORTS.insert(
        tx, number, one.model_copy(update={"requested_by": requester(tx.caller)})
    )
    form = space.arrivals.form(record.entity.source.name, seconds=FORM_SECONDS, most_bytes=MAX_FILE)
    return record, form


def new_drop(
    tx: Transaction, number: int, kind: ImportKind, name: str, source: Source
) -> StoredImport:
    """Return the import of a file that was dropped into the bucket, about to be validated."""
    one = _new(tx, number, kind, None, name, "drop", source)
    return one.model_copy(update={"status": "validating"})


def _new(  # noqa: PLR0913, PLR0917 - what an import is made of
    tx: Transaction,
    number: int,
    kind: ImportKind,
    options: ImportOptions | None,
    name: str,
    way: Way,
    source: Source,
) -> StoredImport:
    chosen = options or ImportOptions()
    return StoredImport(
        id=number,
        kind=kind,
        status="uploaded",
        file=name,
        way=way,
        on_duplicate=chosen.on_duplicate,
        auto_allocate=kind == "exit_documents" and bool(chosen.auto_allocate),
        created_at=tx.now,
        updated_at=tx.now,
        source=source,
    )


def _begun(tx: Transaction) -> int | None:
    """Find the import that an earlier attempt of this request has made."""
    if tx.idempotency_record is None:
        return None
    return repository.found_import(tx.store, origin_key(tx.idempotency_record))


def get_import(store: Store, number: int) -> Record[StoredImport]:
    """Read an import; NotFound when there is none."""
    return IMPORTS.get(store, number)


def list_imports(store: Store, parameters: ImportParameters, timezone: str) -> Page[StoredImport]:
    """Read a page of imports; `from` and `to` are days in the time zone."""
    return repository.list_imports(store, parameters, timezone)


def commit_import(tx: Transaction, space: Workspace, number: int) -> Record[StoredImport]:
    """Apply the valid rows: at once when they are few, otherwise by the worker.

    Raises NotFound, and ImportRefused (409) when there is nothing to commit or a commit is
    running.
    """
    one = IMPORTS.get(space.store, number).entity
    if tx.idempotency_record is None or one.commit_request != tx.idempotency_record:
        _ensure_committable(one)
        # Should this invocation die, the worker goes on once it must be dead.
        space.wake(number, delay=AFTER_INVOCATION)
        one = begin_commit(space, number, caller=tx.caller, request=tx.idempotency_record).entity
    if one.status == "committing" and _is_small(one):
        record = commit(space, number)
        leave_results(space, record)
        return record
    if one.status == "committing":
        space.change(number, released)
        space.wake(number)
    return IMPORTS.get(space.store, number)


def _is_small(one: StoredImport) -> bool:
    """Tell whether a commit can be done before the request is answered."""
    units, rows = one.documents.valid or 0, one.rows.valid or 0
    most = _AT_ONCE_ALLOCATED if one.auto_allocate else _AT_ONCE_UNITS
    return units <= most and rows <= _AT_ONCE_ROWS


def begin_commit(
    space: Workspace, number: int, *, caller: Caller | None = None, request: str | None = None
) -> Record[StoredImport]:
    """Turn a validated import into one that is being committed.

    Of two at once one succeeds; the other gets ImportRefused (409).
    """

    def decide(one: StoredImport, _now: Instant) -> StoredImport:
        _ensure_committable(one)
        update: dict[str, Any] = {
            "status": "committing",
            "structure_errors": [],
            "commit_request": request,
            "requested_by": requester(caller) or one.requested_by,
            "busy_until": now_ms() + LEASE_MS,
            "stalled": 0,
        }
        return one.model_copy(update=update)

    return space.change(number, decide)


def _ensure_committable(one: StoredImport) -> None:
    if one.status == "validated" or (one.status == "failed" and one.readable):
        return
    reasons = {
        "uploaded": "its file has not arrived",
        "validating": "it is still being validated",
        "invalid": "none of its rows is valid",
        "committing": "a commit is running",
        "committed": "it is committed already",
        "failed": "it was not validated to the end; upload the file again",
        "cancelled": "it was cancelled",
    }
    message = f"Import {one.id} cannot be committed: {reasons[one.status]}."
    raise ImportRefused(message, 409)


def cancel_import(tx: Transaction, space: Workspace, number: int) -> Record[StoredImport]:
    """Give up an import that has not been committed; ImportRefused (409) once it is too late."""
    record = IMPORTS.get(tx.store, number)
    one = record.entity
    if one.status not in {"uploaded", "validating", "validated"}:
        message = f"Import {one.id} is {one.status} and cannot be cancelled."
        raise ImportRefused(message, 409)
    if one.way == "drop":
        # The worker writes beside the file that it is cancelled, once that is committed.
        space.wake(number, delay=AFTER_INVOCATION)
    update = {"status": "cancelled", "busy_until": 0, "updated_at": tx.now}
    return IMPORTS.replace(tx, record, one.model_copy(update=update))


def error_report(space: Workspace, number: int) -> bytes | str:
    """Read the report of the rejected rows; where it is large, the address where it lies.

    Raises NotFound when no row was rejected, or the report has expired.
    """
    one = IMPORTS.get(space.store, number).entity
    if one.report is None:
        raise NotFound("An error report of the import")
    try:
        if space.work.size(one.report) <= _DIRECT_BYTES:
            return space.work.read(one.report)
    except FileMissing:
        raise NotFound("The error report of the import") from None
    return space.work.address(
        one.report, seconds=ADDRESS_SECONDS, download_as=f"import-{number}-errors.xlsx"
    )

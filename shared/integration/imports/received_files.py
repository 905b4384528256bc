"""Creates and starts imports for files that S3 reports in the import bucket.

SLUG/uploads/ID/NAME     the file of import ID, uploaded with a presigned form
SLUG/drop/KIND/NAME      a dropped file, for which an import is created
SLUG/rejected/KIND/NAME  a dropped file that was refused, with the reason in NAME.reason.txt
"""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.integration.imports.commit import fail
from shared.integration.imports.context import ImportContext
from shared.integration.imports.drop_results import ERRORS_SUFFIX, REASON_SUFFIX, RESULT_SUFFIX
from shared.integration.imports.kind_access import tenant_refusal
from shared.integration.imports.models import (
    IMPORT_KINDS,
    MAX_FILE_BYTES,
    FileLocation,
    ImportKind,
    StoredImport,
)
from shared.integration.imports.repository import (
    IMPORTS,
    find_by_alias,
    origin_alias_key,
    put_alias,
)
from shared.integration.imports.service import new_import
from shared.integration.imports.upload_checks import ensure_acceptable, safe_file_name
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import NotFound, ServiceError
from shared.kernel.tenant_files import FileMissing

_UPLOADS, _DROPS, _REJECTED = "uploads", "drop", "rejected"
_PATH_PARTS = 3
"""Parts of the names of uploads and drops."""
_MAX_KEY_BYTES = 980
"""Bytes of a key, so that a suffix of a result can be added: S3 allows 1024."""
_SHORTENED_CHARACTERS = 100
"""Characters at the end of a rejected name that are kept if its key would be too long."""


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that S3 reports as created.

    Attributes:
        name: The name below the tenant's prefix.
        etag: The entity tag of the content, in quotes.
        size: The number of bytes.
        sequencer: Identifies this creation. A repeated notification has the same sequencer.
    """

    name: str
    etag: str
    size: int
    sequencer: str


def import_of_received_file(context: ImportContext, file: ReceivedFile) -> int | None:
    """Find or create the import of a received file.

    Returns:
        The id of the import, or None if the file is not to be imported.
    """
    parts = file.name.split("/")
    if parts[0] == _UPLOADS and len(parts) == _PATH_PARTS and parts[1].isdecimal():
        return _receive_upload(context, int(parts[1]), file)
    if parts[0] == _DROPS and not file.name.endswith(
        (RESULT_SUFFIX, ERRORS_SUFFIX, REASON_SUFFIX, "/")
    ):
        return _receive_drop(context, file)
    return None


def _receive_upload(context: ImportContext, import_id: int, file: ReceivedFile) -> int | None:

    def start_validation(stored: StoredImport) -> Mapping[str, object] | None:
        if stored.status != "uploaded" or stored.source.name != file.name:
            return None
        source = stored.source.model_copy(update={"etag": file.etag})
        return {"status": "validating", "source": source}

    try:
        record = context.update(import_id, start_validation)
    except NotFound:
        return None
    reason = tenant_refusal(context.tenant, record.entity.kind)
    if reason and record.entity.status == "validating":
        fail(context, import_id, reason)
    return import_id


def _receive_drop(context: ImportContext, file: ReceivedFile) -> int | None:
    _, kind_name, name = [*file.name.split("/"), "", ""][:_PATH_PARTS]
    kind = next((kind for kind in IMPORT_KINDS if kind == kind_name), None)
    reason = _drop_refusal(context, file, kind)
    if reason or kind is None:
        # A file that replaced it meanwhile stays: a notification of its own reports it.
        if not context.import_files.is_replaced(file.name, file.etag):
            _move_to_rejected(context, file.name, reason or "")
        return None
    location = FileLocation(bucket="arrivals", name=file.name, etag=file.etag)
    alias_key = origin_alias_key(f"{file.name}#{file.etag}#{file.sequencer}")

    def use_case(tx: Transaction) -> int:
        existing = find_by_alias(tx.store, alias_key)
        if existing is not None:
            return existing
        import_id = tx.next_id(IMPORTS.kind)
        stored = new_import(tx, import_id, kind, None, safe_file_name(name), "drop", location)
        IMPORTS.insert(tx, import_id, stored.model_copy(update={"status": "validating"}))
        put_alias(tx, alias_key, import_id, must_be_new=True)
        return import_id

    return run_transaction(context.store, use_case)


def _drop_refusal(
    context: ImportContext, file: ReceivedFile, kind: ImportKind | None
) -> str | None:
    """Return why a dropped file is refused, or None."""
    if kind is None or file.name.count("/") != _PATH_PARTS - 1:
        kinds = ", ".join(sorted(IMPORT_KINDS))
        return (
            f"{file.name!r} is not a valid name. Use drop/KIND/FILE, where KIND is one of {kinds}."
        )
    key_bytes = len(context.import_files.key(file.name).encode())
    if key_bytes > _MAX_KEY_BYTES:
        return f"The name of the file has {key_bytes} bytes; at most {_MAX_KEY_BYTES} are allowed."
    if file.size > MAX_FILE_BYTES:
        return f"The file has {file.size} bytes; at most {MAX_FILE_BYTES} are allowed."
    if file.size == 0:
        return "The file is empty."
    try:
        ensure_acceptable(None, safe_file_name(file.name))
    except ServiceError as error:
        return error.message
    return tenant_refusal(context.tenant, kind)


def _move_to_rejected(context: ImportContext, name: str, reason: str) -> None:
    """Move a file to the rejected files and write the reason next to it; may be repeated."""
    files = context.import_files
    target = f"{_REJECTED}/{name.removeprefix(_DROPS + '/')}"
    if len(files.key(target).encode()) > _MAX_KEY_BYTES:
        target = f"{_REJECTED}/{name[-_SHORTENED_CHARACTERS:].replace('/', '_')}"
    files.put(target + REASON_SUFFIX, f"{reason}\n".encode(), "text/plain; charset=utf-8")
    try:
        files.copy(name, target)
    except FileMissing:
        return  # an earlier attempt has moved it
    files.delete(name)

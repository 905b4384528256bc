"""Validates the row groups of a file in chunks. Each chunk can be repeated without harm."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from shared.integration.imports.context import ImportContext
from shared.integration.imports.files.reader import ParsedFile, read_file
from shared.integration.imports.files.row_groups import RowGroup, RowGrouper, count_characters
from shared.integration.imports.kinds.importer import ApplyOptions, Skipped
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.models import DocumentCounts, PartFile, RowCounts, StoredImport
from shared.integration.imports.part_files import (
    rejected_rows,
    skipped_rows,
    write_groups,
    write_rejected,
)
from shared.integration.imports.report.error_report import write_error_report
from shared.integration.imports.repository import (
    IMPORTS,
    contents_alias_key,
    find_by_alias,
    put_alias,
)
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem
from shared.kernel.queued_work import progress
from shared.kernel.spreadsheets.table import UnreadableFile
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import check, problems_of

FILE_GONE = "The file was deleted or replaced in storage. Upload it again."

MAX_GROUP_CHARACTERS = 800_000
"""Characters of a row group: a transaction is limited to 4 MB. A single request is limited to about
as much."""
_CHUNK_ROWS = 1000
_TIME_FOR_CHUNK = 3.0
"""Seconds that must remain for another chunk."""


def validate(context: ImportContext, import_id: int) -> Record[StoredImport]:
    """Validate an import until the end or until the deadline.

    Another call resumes after the last complete chunk. Concurrent calls do no harm.
    """
    record = IMPORTS.get(context.store, import_id)
    stored = record.entity
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        files = context.files_of(stored.source)
        try:
            files.download(stored.source.name, path, etag=stored.source.etag)
        except FileMissing:
            return _end(context, import_id, "failed", [FILE_GONE])
        if stored.digest is None:
            _record_digest(context, import_id, _digest(path))
        try:
            file = read_file(
                path,
                stored.file or "",
                stored.kind,
                max_rows=context.tenant.limits["rows_per_import"],
            )
        except UnreadableFile as error:
            return _end(context, import_id, "invalid", [str(error)])
    if file.structure_errors:
        return _end(context, import_id, "invalid", file.structure_errors)
    return _validate_rows(context, record, file)


def _record_digest(context: ImportContext, import_id: int, digest: str) -> None:
    """Store the digest of the file, and a warning if the same content was uploaded before."""

    def use_case(tx: Transaction) -> None:
        record = IMPORTS.get(tx.store, import_id)
        if record.entity.digest is not None:
            return  # another worker has recorded it
        update = {"digest": digest, "warning": duplicate_file_warning(tx, digest)}
        IMPORTS.replace(tx, record, record.entity.model_copy(update=update))
        put_alias(tx, contents_alias_key(digest), import_id)

    run_transaction(context.store, use_case)


def duplicate_file_warning(tx: Transaction, digest: str) -> str | None:
    """Return the warning that a file with this digest was uploaded before, or None."""
    earlier = find_by_alias(tx.store, contents_alias_key(digest))
    if earlier is None:
        return None
    return f"The same file was uploaded before, as import {earlier}."


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _end(
    context: ImportContext, import_id: int, status: str, structure_errors: Sequence[str]
) -> Record[StoredImport]:
    def end(stored: StoredImport) -> Mapping[str, object] | None:
        if stored.status != "validating":
            return None
        return {"status": status, "structure_errors": list(structure_errors), "busy_until": 0}

    return context.update(import_id, end)


def _validate_rows(
    context: ImportContext, record: Record[StoredImport], file: ParsedFile
) -> Record[StoredImport]:
    stored = record.entity
    grouper = RowGrouper(file, stored.kind, context.tenant.timezone)
    group_count = grouper.count()
    # The first chunk is validated whatever time is left: otherwise a file that takes long to read
    # would never make progress.
    first = True
    for chunk in chunks(islice(grouper.groups(), stored.checked, None)):
        if not first and context.deadline.remaining < _TIME_FOR_CHUNK:
            return record
        first = False
        context = context.renewed()
        validate_groups(context, stored, grouper, chunk)
        after = _save_chunk(context, record, file, group_count, chunk)
        if after.entity.checked != record.entity.checked + len(chunk):
            return after  # another worker has saved this chunk, or the import was cancelled
        record = after
    if not first and context.deadline.remaining < _TIME_FOR_CHUNK:
        return record
    return _finish(context, record)


def chunks(groups: Iterator[RowGroup]) -> Iterator[list[RowGroup]]:
    """Yield the row groups in chunks of about 1000 rows."""
    chunk: list[RowGroup] = []
    rows = 0
    for group in groups:
        chunk.append(group)
        rows += len(group.rows)
        if rows >= _CHUNK_ROWS:
            yield chunk
            chunk, rows = [], 0
    if chunk:
        yield chunk


def validate_groups(
    context: ImportContext, stored: StoredImport, grouper: RowGrouper, chunk: Sequence[RowGroup]
) -> None:
    """Validate row groups with the rules of a single request, and add their problems to them.

    The items that the rules need are read for all groups together.
    """
    importer = importer_of(stored.kind)
    options = ApplyOptions(stored.id, stored.on_duplicate)
    unresolved = importer.resolve(context.store, [group.body for group in chunk])
    for group, found in zip(chunk, unresolved, strict=True):
        grouper.reject(group, found)
    drafts = [check(importer.model, group.body) for group in chunk]

    findings = run_transaction(context.store, lambda tx: importer.validate_all(tx, drafts, options))
    for group, draft, finding in zip(chunk, drafts, findings, strict=True):
        if problems := [*problems_of(draft), *_size_problems(group), *finding.problems]:
            grouper.reject(group, problems, chunk)
    skipped = {
        finding.existing: (group, draft)
        for group, draft, finding in zip(chunk, drafts, findings, strict=True)
        if finding.existing is not None and not group.problems
    }
    differences = importer.differences(
        context.store, {number: draft for number, (_, draft) in skipped.items()}
    )
    for number, differing in differences.items():
        group, _ = skipped[number]
        grouper.skip(group, Skipped(number, differing).problems)


def _size_problems(group: RowGroup) -> Iterator[Problem]:
    characters = count_characters(group.rows)
    if characters > MAX_GROUP_CHARACTERS:
        message = f"{characters} characters in all rows, at most {MAX_GROUP_CHARACTERS} allowed"
        yield Problem("lines", message)


def _save_chunk(
    context: ImportContext,
    record: Record[StoredImport],
    file: ParsedFile,
    group_count: int,
    chunk: Sequence[RowGroup],
) -> Record[StoredImport]:
    """Save the result of a chunk, unless another worker has saved it."""
    before = record.entity
    valid = [group for group in chunk if not group.problems]
    rejected = [row for group in chunk if group.problems for row in rejected_rows(group)]
    valid_part = (
        PartFile(name=write_groups(context.work_files, before.id, valid), units=len(valid))
        if valid
        else None
    )
    rejected_part = write_rejected(context.work_files, before.id, rejected) if rejected else None
    differing = [group for group in valid if group.differing]
    skipped = [row for group in differing for row in skipped_rows(group.rows, group.differing)]
    skipped_part = write_rejected(context.work_files, before.id, skipped) if skipped else None

    def add_chunk(stored: StoredImport) -> Mapping[str, object] | None:
        if stored.status != "validating" or stored.checked != before.checked:
            return None
        rows, groups = stored.rows, stored.documents
        return {
            "checked": stored.checked + len(chunk),
            "language": file.language,
            "header": list(file.header),
            "rows": RowCounts(
                total=len(file.rows),
                valid=(rows.valid or 0) + sum(len(group.rows) for group in valid),
                error=(rows.error or 0) + len(rejected),
            ).in_place_of(rows),
            "documents": DocumentCounts(
                total=group_count,
                valid=(groups.valid or 0) + len(valid),
                committed=0,
                skipped=(groups.skipped or 0) + len(differing),
            ).in_place_of(groups),
            "parts": [*stored.parts, valid_part] if valid_part else stored.parts,
            "rejected": [*stored.rejected, rejected_part] if rejected_part else stored.rejected,
            "skipped": [*stored.skipped, skipped_part] if skipped_part else stored.skipped,
            **progress(),
        }

    return context.update(before.id, add_chunk)


def _finish(context: ImportContext, record: Record[StoredImport]) -> Record[StoredImport]:
    before = record.entity
    try:
        report = write_error_report(context, before)
    except FileMissing:
        return _end(context, before.id, "failed", [FILE_GONE])

    def finish(stored: StoredImport) -> Mapping[str, object] | None:
        if stored.status != "validating" or stored.checked != before.checked:
            return None
        return {
            "status": "validated" if stored.documents.valid else "invalid",
            "readable": bool(stored.documents.valid),
            "report": report,
            "busy_until": 0,
        }

    return context.update(before.id, finish)

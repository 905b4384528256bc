"""Applies the valid row groups of an import, many in a transaction, each exactly once.

The transaction that applies row groups also increases the count of applied groups in the import
record, on the condition that the record is unchanged. A worker that repeats or resumes a commit
therefore continues with the first group that is not applied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.integration.imports.context import ImportContext, caller_of
from shared.integration.imports.files.columns import find_columns, indexes_of
from shared.integration.imports.files.row_groups import RowGroup, add_problem, count_characters
from shared.integration.imports.kinds.importer import ApplyOptions, Importer, Skipped
from shared.integration.imports.kinds.reads_ahead import ReadsAhead
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.models import StoredImport
from shared.integration.imports.part_files import (
    ValidGroup,
    read_groups,
    rejected_rows,
    skipped_rows,
    write_rejected,
)
from shared.integration.imports.report.error_report import write_error_report
from shared.integration.imports.repository import IMPORTS
from shared.integration.imports.validation import FILE_GONE, MAX_GROUP_CHARACTERS
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem
from shared.kernel.fields import Input
from shared.kernel.queued_work import progress
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import Checked, check

_MAX_STEP_ROWS = 500
_MAX_STEP_CHARACTERS = MAX_GROUP_CHARACTERS
_TIME_FOR_STEP = 3.0
"""Seconds that must remain for another step."""


def commit(context: ImportContext, import_id: int) -> Record[StoredImport]:
    """Apply the row groups of an import until the end or until the deadline."""
    record = IMPORTS.get(context.store, import_id)
    first_version = record.version
    try:
        for index, part in enumerate(record.entity.parts):
            preceding = sum(other.units for other in record.entity.parts[:index])
            if record.entity.applied >= preceding + part.units:
                continue
            groups = read_groups(context.work_files, import_id, part.name)
            record = _apply_part(context, record, groups, preceding, first_version)
            if record.entity.applied < preceding + part.units:
                return record
        if record.entity.auto_allocate and not _allocate(context, import_id):
            return IMPORTS.get(context.store, import_id)
        if _must_stop(context, record, first_version):
            return record
        return _finish(context, IMPORTS.get(context.store, import_id))
    except FileMissing:
        return fail(context, import_id, FILE_GONE)


def _allocate(context: ImportContext, import_id: int) -> bool:
    # Imported here because few imports need the picking modules.
    from shared.integration.imports.allocation import allocate_documents  # noqa: PLC0415

    return allocate_documents(context, import_id)


def fail(context: ImportContext, import_id: int, message: str) -> Record[StoredImport]:
    """Set an import to `failed`, unless it has ended. A failed commit can be repeated."""

    def set_failed(stored: StoredImport) -> Mapping[str, object] | None:
        if stored.status not in {"uploaded", "validating", "committing"}:
            return None
        return {"status": "failed", "structure_errors": [message], "busy_until": 0}

    return context.update(import_id, set_failed)


def _apply_part(
    context: ImportContext,
    record: Record[StoredImport],
    groups: Sequence[ValidGroup],
    preceding: int,
    first_version: int,
) -> Record[StoredImport]:
    """Apply the row groups of one part file; return the import after the last step.

    `preceding` is the number of row groups in the part files before it, `first_version` the version
    of the import at the start of the invocation.
    """
    importer = importer_of(record.entity.kind)
    ahead = importer.reads_ahead(context.store, [group.body for group in groups])
    while (start := record.entity.applied - preceding) < len(groups):
        if _must_stop(context, record, first_version) or record.entity.status != "committing":
            return record
        context = context.renewed()
        step = _CommitStep(context, importer, record, groups[start:], ahead)
        record = run_transaction(
            context.store,
            step,
            caller=caller_of(record.entity, context.tenant.slug),
            prefetched=ahead.for_step(start) if ahead else None,
        )
        if ahead and step.tx:
            ahead.end_step(step.tx, retried=step.attempts > 1)
    return record


def _must_stop(context: ImportContext, record: Record[StoredImport], first_version: int) -> bool:
    """Return whether the time is up. The first step runs in any case, so that there is progress."""
    return record.version != first_version and context.deadline.remaining < _TIME_FOR_STEP


@dataclass(slots=True)
class _CommitStep:
    """One transaction with as many of the next row groups as it has room for."""

    context: ImportContext
    importer: Importer
    record: Record[StoredImport]
    groups: Sequence[ValidGroup]
    ahead: ReadsAhead | None
    """What is read for the first attempt; a retry reads current items."""
    attempts: int = 0
    tx: Transaction | None = None

    def __call__(self, tx: Transaction) -> Record[StoredImport]:
        is_retry = self.attempts > 0
        self.attempts += 1
        self.tx = tx
        record = IMPORTS.get(tx.store, self.record.id) if is_retry else self.record
        stored = record.entity
        if stored.status != "committing" or stored.applied != self.record.entity.applied:
            return record
        requester = stored.requested_by
        may_approve = requester is not None and requester.may_approve
        ahead = None if is_retry else self.ahead
        options = ApplyOptions(stored.id, stored.on_duplicate, may_approve, ahead)
        results = self.importer.apply_leading(tx, self._candidates(), options)
        changed = 0
        rejected: list[RowGroup] = []
        skipped: list[RowGroup] = []
        for group, result in zip(self.groups, results, strict=False):
            if isinstance(result, bool):
                changed += result
            elif isinstance(result, Skipped):
                skipped.append(_reported_group(stored, group, result.problems))
            else:
                rejected.append(_reported_group(stored, group, result))
        after = self._after(stored, len(results), changed, rejected, skipped)
        return IMPORTS.replace(tx, record, after)

    def _candidates(self) -> list[Checked[Input]]:
        """Return the drafts of the next row groups, at most as many as a transaction can hold."""
        drafts: list[Checked[Input]] = []
        rows = characters = 0
        for group in self.groups[: self.importer.most_groups]:
            rows += len(group.rows)
            characters += count_characters(group.rows)
            if drafts and (rows > _MAX_STEP_ROWS or characters > _MAX_STEP_CHARACTERS):
                break
            drafts.append(check(self.importer.model, group.body))
        return drafts

    def _after(
        self,
        stored: StoredImport,
        done: int,
        changed: int,
        rejected: Sequence[RowGroup],
        skipped: Sequence[RowGroup],
    ) -> StoredImport:
        """Return the import after `done` row groups."""
        rejected_count = sum(len(group.rows) for group in rejected)
        groups = stored.documents
        names, skipped_names = list(stored.rejected), list(stored.skipped)
        if rejected:
            rows = (row for group in rejected for row in rejected_rows(group))
            names.append(write_rejected(self.context.work_files, stored.id, rows))
        if skipped:
            rows = (row for group in skipped for row in skipped_rows(group.rows, group.problems))
            skipped_names.append(write_rejected(self.context.work_files, stored.id, rows))
        return stored.model_copy(
            update={
                "applied": stored.applied + done,
                "rows": stored.rows.model_copy(
                    update={
                        "valid": (stored.rows.valid or 0) - rejected_count,
                        "error": (stored.rows.error or 0) + rejected_count,
                    }
                ),
                "documents": groups.model_copy(
                    update={
                        "valid": (groups.valid or 0) - len(rejected),
                        "committed": (groups.committed or 0) + changed,
                        "skipped": (groups.skipped or 0) + len(skipped),
                    }
                ),
                "rejected": names,
                "skipped": skipped_names,
                **progress(),
            }
        )


def _reported_group(
    stored: StoredImport, group: ValidGroup, problems: Sequence[Problem]
) -> RowGroup:
    """Return a row group that the commit refuses or skips, with its problems."""
    reported = RowGroup(group.rows, group.body)
    indexes = indexes_of(find_columns(stored.header, importer_of(stored.kind).layout).columns)
    for problem in problems:
        add_problem(reported, problem, indexes)
    return reported


def _finish(context: ImportContext, record: Record[StoredImport]) -> Record[StoredImport]:
    before = record.entity
    if before.status != "committing":
        return record
    try:
        report = write_error_report(context, before)
    except FileMissing:
        # All valid rows are applied; missing files of rejected rows are no reason to fail.
        report = before.report

    def finish(stored: StoredImport) -> Mapping[str, object] | None:
        if stored.status != "committing":
            return None
        return {"status": "committed", "report": report, "busy_until": 0}

    return context.update(before.id, finish)

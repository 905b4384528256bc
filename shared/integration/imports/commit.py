"""Applies the valid row groups of an import, many in a transaction, each exactly once.

The transaction that applies row groups also increases the count of applied groups in the import
record, on the condition that the record is unchanged. A worker that repeats or resumes a commit
therefore continues with the first group that is not applied.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from shared.integration.imports.context import LEASE_MS, ImportContext, caller_of
from shared.integration.imports.files.columns import find_columns, indexes_of
from shared.integration.imports.files.row_groups import RowGroup, add_problem, count_characters
from shared.integration.imports.kinds.importer import ApplyOptions, Importer, Skipped
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
from shared.kernel.clock import now_ms
from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.db.items import Item, Key
from shared.kernel.db.records import Record
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched, run_transaction
from shared.kernel.errors import Problem, ServiceError
from shared.kernel.fields import Input
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import Checked, InvalidBody, check

_IMPORT_ACTIONS = 2
"""Actions of each transaction for the import record and for the counters of imports."""
_MAX_STEP_ROWS = 500
_SAMPLE_GROUPS = 100
"""Groups whose items show whether the others are probably new; DynamoDB reads them in one call."""
_MAX_STEP_CHARACTERS = MAX_GROUP_CHARACTERS
_TIME_FOR_STEP = 3.0
"""Seconds that must remain for another step."""
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500


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
    prefetch = _Prefetch(context.store, importer, groups) if importer.prefetch_groups else None
    while (start := record.entity.applied - preceding) < len(groups):
        if _must_stop(context, record, first_version) or record.entity.status != "committing":
            return record
        context = context.renewed()
        step = _CommitStep(context, importer, record, groups[start:], prefetch)
        record = run_transaction(
            context.store,
            step,
            caller=caller_of(record.entity, context.tenant.slug),
            prefetched=prefetch.for_step(start) if prefetch else None,
        )
        if prefetch:
            prefetch.end_step(step)
    return record


def _must_stop(context: ImportContext, record: Record[StoredImport], first_version: int) -> bool:
    """Return whether the time is up. The first step runs in any case, so that there is progress."""
    return record.version != first_version and context.deadline.remaining < _TIME_FOR_STEP


@dataclass(slots=True)
class _Prefetch:
    """Items and ids that several steps need, read together: for all groups before `end`.

    It reads the items of a few groups first. While none of them exists (`is_all_new`), it takes the
    others as new without a read: the transactions are conditioned on that.
    """

    store: Store
    importer: Importer
    groups: Sequence[ValidGroup]
    end: int = 0
    found: dict[Key, Item | None] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    spare_ids: int = 0
    """How many of `ids` are for no group before `end`."""
    is_all_new: bool = False

    def for_step(self, start: int) -> Prefetched:
        """Return what the step from the group `start` on may need."""
        last = min(len(self.groups), start + _most_groups(self.importer))
        self.end = max(self.end, start)
        while self.end < last:
            self._read(self.importer.prefetch_groups if self.found else _SAMPLE_GROUPS)
        return Prefetched(self.found, {self.importer.id_sequence: list(self.ids)})

    def _read(self, size: int) -> None:
        groups = self.groups[self.end : self.end + size]
        drafts = _valid(check(self.importer.model, group.body) for group in groups)
        keys = [key for draft in drafts for key in self.importer.keys(draft)]
        existing = {} if self.is_all_new else self.store.get_many(keys)
        dependent = [
            key for draft in drafts for key in self.importer.dependent_keys(draft, existing)
        ]
        self.found |= dict.fromkeys([*keys, *dependent])
        self.found |= {**existing, **self.store.get_many(dependent)}
        self.is_all_new = not existing
        self.end += len(groups)
        missing = len(keys) - len(existing) - self.spare_ids
        self.spare_ids = max(0, -missing)
        if missing > 0:
            first = allocate_ids(self.store, self.importer.id_sequence, missing)
            self.ids += range(first, first + missing)

    def end_step(self, step: "_CommitStep") -> None:
        """Take note of a step that was committed."""
        del self.ids[: step.used_ids]
        if step.attempts > 1:  # probably something exists that was taken as new
            self.end, self.is_all_new = 0, False
            self.found.clear()
            self.spare_ids = len(self.ids)


def _most_groups(importer: Importer) -> int:
    """Return for how many row groups a transaction may have room."""
    room = MAX_PLANNED_ACTIONS + importer.further_actions - _IMPORT_ACTIONS
    return room // importer.max_actions


def _valid(drafts: Iterable[Checked[Input]]) -> list[Input]:
    return [draft for draft in drafts if not isinstance(draft, InvalidBody)]


@dataclass(slots=True)
class _CommitStep:
    """One transaction with as many of the next row groups as it has room for."""

    context: ImportContext
    importer: Importer
    record: Record[StoredImport]
    groups: Sequence[ValidGroup]
    prefetch: _Prefetch | None
    """Used in the first attempt only: a retry reads current items."""
    used_ids: int = 0
    attempts: int = 0

    def __call__(self, tx: Transaction) -> Record[StoredImport]:
        is_retry = self.attempts > 0
        self.attempts += 1
        record = IMPORTS.get(tx.store, self.record.id) if is_retry else self.record
        reads = self.prefetch is None or is_retry
        self.used_ids = 0
        stored = record.entity
        if stored.status != "committing" or stored.applied != self.record.entity.applied:
            return record
        options = ApplyOptions(stored.id, stored.on_duplicate)
        drafts = self._candidates()
        self.importer.add_fence(tx)
        if reads:
            self._read(tx, _valid(drafts))
        done = changed = 0
        rejected: list[RowGroup] = []
        skipped: list[RowGroup] = []
        for group, draft in zip(self.groups, drafts, strict=False):
            free = tx.free_actions + self.importer.further_actions - _IMPORT_ACTIONS
            if not isinstance(draft, InvalidBody) and free < self.importer.actions(tx, draft):
                break
            done += 1
            result = self._apply(tx, draft, options)
            if isinstance(result, bool):
                changed += result
            elif isinstance(result, Skipped):
                skipped.append(_reported_group(stored, group, result.problems))
            else:
                rejected.append(_reported_group(stored, group, result))
        self.used_ids = tx.ids_taken(self.importer.id_sequence)
        return IMPORTS.replace(tx, record, self._after(stored, done, changed, rejected, skipped))

    def _candidates(self) -> list[Checked[Input]]:
        """Return the drafts of the next row groups, at most as many as a transaction can hold."""
        drafts: list[Checked[Input]] = []
        rows = characters = 0
        for group in self.groups[: _most_groups(self.importer)]:
            rows += len(group.rows)
            characters += count_characters(group.rows)
            if drafts and (rows > _MAX_STEP_ROWS or characters > _MAX_STEP_CHARACTERS):
                break
            drafts.append(check(self.importer.model, group.body))
        return drafts

    def _read(self, tx: Transaction, drafts: Sequence[Input]) -> None:
        """Read the items for all drafts together, into the cache of the transaction."""
        keys = chain.from_iterable(map(self.importer.keys, drafts))
        self.importer.read(tx.store, drafts, keys)
        tx.reserve_ids(self.importer.id_sequence, len(drafts))
        for sequence, count in self.importer.more_ids(drafts).items():
            tx.reserve_ids(sequence, count)

    def _apply(
        self, tx: Transaction, draft: Checked[Input], options: ApplyOptions
    ) -> bool | Skipped | Sequence[Problem]:
        """Add a row group; return whether it changes anything, or why it is refused."""
        if isinstance(draft, InvalidBody):
            return draft.problems
        try:
            return self.importer.apply(tx, draft, options)
        except ServiceError as error:
            if error.status == _TOO_MANY_REQUESTS or error.status >= _SERVER_ERROR:
                raise  # temporary, and not caused by this row
            return error.problems or [Problem("", error.message)]

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
                "busy_until": now_ms() + LEASE_MS,
                "stalled": 0,
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

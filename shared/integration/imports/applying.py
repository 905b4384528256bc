"""Commit: the valid units of an import applied, each exactly once, many to a transaction.

The transaction that applies units also moves the import's own count of them, conditioned on
the record being as it was read. So whoever repeats, overtakes or follows a worker that died
goes on with the first unit that has not been applied.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from shared.integration.imports.columns import header_key
from shared.integration.imports.handling import Choice, Handling, handling_of
from shared.integration.imports.layouts import LAYOUTS
from shared.integration.imports.models import DocumentCounts, RowCounts, StoredImport
from shared.integration.imports.parts import CheckedUnit, read_units, rejected_rows, write_rejected
from shared.integration.imports.repository import IMPORTS
from shared.integration.imports.units import Unit, characters, reject
from shared.integration.imports.validating import FILE_GONE, LEASE_MS, MOST_CHARACTERS, make_report
from shared.integration.imports.workspace import Workspace, caller_of
from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item, Key
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import MAX_ACTIONS, Transaction, allocate_ids
from shared.kernel.db.unit_of_work import Prefetched, run_transaction
from shared.kernel.errors import Problem, ServiceError
from shared.kernel.fields import Input
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import Checked, InvalidBody, check

_OWN_ACTIONS = 2
"""Of each transaction: the import itself, and the totals of imports."""
_LINES_PER_STEP = 500
_CHARACTERS_PER_STEP = MOST_CHARACTERS
_MARGIN_SECONDS = 3.0
_SERVER_ERROR = 500


def commit(space: Workspace, number: int) -> Record[StoredImport]:
    """Go on with applying an import, to its end or until the time is up."""
    record = IMPORTS.get(space.store, number)
    began = record.version
    try:
        for at, part in enumerate(record.entity.parts):
            before = sum(other.units for other in record.entity.parts[:at])
            if record.entity.applied >= before + part.units:
                continue
            units = read_units(space.work, number, part.name)
            record = _apply_part(space, record, units, before, began)
            if record.entity.applied < before + part.units:
                return record
        if record.entity.auto_allocate and not _allocate(space, number):
            return IMPORTS.get(space.store, number)
        if _is_late(space, record, began):
            return record
        return _conclude(space, IMPORTS.get(space.store, number))
    except FileMissing:
        return fail(space, number, FILE_GONE)


def _allocate(space: Workspace, number: int) -> bool:
    # Lazily: only few imports need the work of picking.
    from shared.integration.imports.allocating import allocate_documents  # noqa: PLC0415

    return allocate_documents(space, number)


def fail(space: Workspace, number: int, message: str) -> Record[StoredImport]:
    """End an import that cannot go on for reasons of its own; it can be committed again."""

    def decide(one: StoredImport, _now: Instant) -> StoredImport | None:
        if one.status not in {"uploaded", "validating", "committing"}:
            return None
        update = {"status": "failed", "structure_errors": [message], "busy_until": 0}
        return one.model_copy(update=update)

    return space.change(number, decide)


def _apply_part(
    space: Workspace,
    record: Record[StoredImport],
    units: Sequence[CheckedUnit],
    before: int,
    began: int,
) -> Record[StoredImport]:
    """Apply the units of a part, of which `before` units come before; the record after that."""
    handling = handling_of(record.entity.kind)
    ahead: _Ahead | None = None
    while (at := record.entity.applied - before) < len(units):
        if _is_late(space, record, began) or record.entity.status != "committing":
            return record
        if handling.prepares and (ahead is None or at >= ahead.end):
            ahead = _Ahead.of(space.store, handling, units, at)
        # `shared.kernel.db.steps` does not fit: reads are prefetched for several steps, the import
        # counts what is applied, and the worker stops between two steps when its time is up.
        step = _Step(space, handling, record, units[at:], ahead)
        after = run_transaction(
            space.store,
            step,
            caller=caller_of(record.entity, space.tenant.slug),
            prefetched=ahead.prepared if ahead else None,
        )
        if ahead:
            ahead.ids[handling.sequence] = ahead.ids[handling.sequence][step.taken :]
        record = after
    return record


def _is_late(space: Workspace, record: Record[StoredImport], began: int) -> bool:
    """Tell whether the time is up; after a first step, or who is late would never get ahead."""
    return record.version != began and space.deadline.remaining < _MARGIN_SECONDS


@dataclass(slots=True)
class _Ahead:
    """What several steps need, got for all of them at once."""

    end: int
    found: Mapping[Key, Item | None]
    ids: dict[str, list[int]]

    @property
    def prepared(self) -> Prefetched:
        """Return it as a use case takes it."""
        return Prefetched(self.found, {name: list(ids) for name, ids in self.ids.items()})

    @classmethod
    def of(
        cls, store: Store, handling: Handling, units: Sequence[CheckedUnit], at: int
    ) -> "_Ahead":
        """Read and draw what the next units need."""
        end = min(len(units), at + handling.prepares)
        drafts = _valid(check(handling.model, unit.body) for unit in units[at:end])
        choice = Choice(0, None)
        keys = [key for draft in drafts for key in handling.keys(draft, choice, applying=True)]
        found: dict[Key, Item | None] = {**dict.fromkeys(keys), **store.get_many(keys)}
        there = {key: item for key, item in found.items() if item}
        further = [key for draft in drafts for key in handling.further_keys(draft, there)]
        found |= {**dict.fromkeys(further), **store.get_many(further)}
        missing = len(keys) - len(there)
        first = allocate_ids(store, handling.sequence, missing) if missing else 0
        return cls(end, found, {handling.sequence: list(range(first, first + missing))})


def _valid(drafts: Iterable[Checked[Input]]) -> list[Input]:
    return [draft for draft in drafts if not isinstance(draft, InvalidBody)]


@dataclass(slots=True)
class _Step:
    """One transaction: as many of the next units as it holds."""

    space: Workspace
    handling: Handling
    record: Record[StoredImport]
    units: Sequence[CheckedUnit]
    ahead: _Ahead | None
    """What was got before; of use the first time only."""
    taken: int = 0
    """Ids that the step used up."""
    overtaken: bool = False

    def __call__(self, tx: Transaction) -> Record[StoredImport]:
        record = IMPORTS.get(tx.store, self.record.id) if self.overtaken else self.record
        reads = self.ahead is None or self.overtaken
        self.overtaken = True  # unless this time is the last
        self.taken = 0
        one = record.entity
        if one.status != "committing" or one.applied != self.record.entity.applied:
            return record
        choice = Choice(one.id, one.on_duplicate)
        drafts = self._candidates()
        self.handling.bind(tx)
        if reads:
            self._read_ahead(tx, _valid(drafts), choice)
        done = made = 0
        rejected: list[Unit] = []
        for unit, draft in zip(self.units, drafts, strict=False):
            if tx.free_actions < self.handling.actions + _OWN_ACTIONS:
                break
            done += 1
            found = self._refusal(tx, draft, choice)
            if isinstance(found, bool):
                made += found
            else:
                rejected.append(_rejected(one, unit, found))
        self.taken = tx.ids_taken(self.handling.sequence)
        return IMPORTS.replace(tx, record, self._after(one, done, made, rejected))

    def _candidates(self) -> list[Checked[Input]]:
        """Return the next units as drafts, at most as many as one transaction can hold."""
        most = (MAX_ACTIONS - _OWN_ACTIONS) // self.handling.actions
        drafts: list[Checked[Input]] = []
        lines = size = 0
        for unit in self.units[:most]:
            lines += len(unit.rows)
            size += characters(unit.rows)
            if drafts and (lines > _LINES_PER_STEP or size > _CHARACTERS_PER_STEP):
                break
            drafts.append(check(self.handling.model, unit.body))
        return drafts

    def _read_ahead(self, tx: Transaction, drafts: Sequence[Input], choice: Choice) -> None:
        found = tx.store.get_many(
            chain.from_iterable(
                self.handling.keys(draft, choice, applying=True) for draft in drafts
            )
        )
        tx.store.get_many(
            chain.from_iterable(self.handling.further_keys(draft, found) for draft in drafts)
        )
        tx.reserve_ids(self.handling.sequence, len(drafts))

    def _refusal(
        self, tx: Transaction, draft: Checked[Input], choice: Choice
    ) -> bool | Sequence[Problem]:
        """Stage a unit; return whether anything changed, or the problems that refuse it."""
        if isinstance(draft, InvalidBody):
            return draft.problems
        try:
            return self.handling.apply(tx, draft, choice)
        except ServiceError as error:
            if error.status >= _SERVER_ERROR:
                raise
            return error.problems or [Problem("", error.message)]

    def _after(
        self, one: StoredImport, done: int, made: int, rejected: Sequence[Unit]
    ) -> StoredImport:
        rows = sum(len(unit.rows) for unit in rejected)
        units = one.documents
        names = list(one.rejected)
        if rejected:
            bad = (row for unit in rejected for row in rejected_rows(unit))
            names.append(write_rejected(self.space.work, one.id, bad))
        return one.model_copy(
            update={
                "applied": one.applied + done,
                "rows": RowCounts(
                    total=one.rows.total,
                    valid=(one.rows.valid or 0) - rows,
                    error=(one.rows.error or 0) + rows,
                ),
                "documents": DocumentCounts(
                    total=units.total,
                    valid=(units.valid or 0) - len(rejected),
                    committed=(units.committed or 0) + made,
                ),
                "rejected": names,
                "busy_until": now_ms() + LEASE_MS,
                "stalled": 0,
            }
        )


def _rejected(one: StoredImport, unit: CheckedUnit, found: Sequence[Problem]) -> Unit:
    """Return a unit that is refused only now, with what stands against it."""
    after = Unit(unit.rows, unit.body)
    by_name = LAYOUTS[one.kind].by_name
    places = {
        by_name[name].field: place
        for place, header in enumerate(one.header)
        if (name := header_key(header)) in by_name
    }
    for problem in found:
        reject(after, problem, places)
    return after


def _conclude(space: Workspace, record: Record[StoredImport]) -> Record[StoredImport]:
    seen = record.entity
    if seen.status != "committing":
        return record
    try:
        report = make_report(space, seen)
    except FileMissing:
        report = seen.report  # everything is applied: that the rows rejected are gone is no failure

    def decide(one: StoredImport, now: Instant) -> StoredImport | None:
        if one.status != "committing":
            return None
        update = {"status": "committed", "committed_at": now, "report": report, "busy_until": 0}
        return one.model_copy(update=update)

    return space.change(seen.id, decide)

"""Validation: every unit of a file held against all rules, in chunks that can be repeated."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from shared.integration.imports.handling import Choice, handling_of
from shared.integration.imports.models import DocumentCounts, Part, RowCounts, StoredImport
from shared.integration.imports.parts import (
    folder_of,
    read_rejected,
    rejected_rows,
    write_rejected,
    write_units,
)
from shared.integration.imports.reading import FileRows, read_file
from shared.integration.imports.report import RejectedRow
from shared.integration.imports.repository import IMPORTS, contents_key, found_import, lead_to
from shared.integration.imports.units import Unit, Units, characters
from shared.integration.imports.workspace import Workspace
from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.collection import Record
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem
from shared.kernel.spreadsheets.table import Unreadable
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import check, problems_of

LEASE_MS = 30_000
"""How long nobody else takes up an import after somebody did something to it."""
REPORT_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FILE_GONE = "The file is no longer in storage, or was replaced; upload it again."

MOST_CHARACTERS = 800_000
"""Of a document: a transaction holds 4 MB. What a single request may have is about as much."""
_CHUNK_ROWS = 1000
_PARTS_AT_ONCE = 8
_MARGIN_SECONDS = 3.0


def validate(space: Workspace, number: int) -> Record[StoredImport]:
    """Go on with the validation of an import, to its end or until the time is up.

    Whatever ends it half way, calling it again goes on; two at once do no harm.
    """
    record = IMPORTS.get(space.store, number)
    one = record.entity
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        try:
            space.folder(one.source).download(one.source.name, path, etag=one.source.etag)
        except FileMissing:
            return _end(space, number, "failed", [FILE_GONE])
        if one.digest is None:
            recognise(space, number, _digest(path))
        try:
            file = read_file(
                path,
                one.file or "",
                one.kind,
                most_rows=space.tenant.limits["rows_per_import"],
            )
        except Unreadable as error:
            return _end(space, number, "invalid", [str(error)])
    if file.flaws:
        return _end(space, number, "invalid", file.flaws)
    return _check_all(space, record, file)


def recognise(space: Workspace, number: int, digest: str) -> None:
    """Note the contents of a file, and whether they were uploaded before."""

    def use_case(tx: Transaction) -> None:
        record = IMPORTS.get(tx.store, number)
        if record.entity.digest is not None:
            return  # somebody else was faster
        before = warning(tx, digest)
        IMPORTS.replace(
            tx, record, record.entity.model_copy(update={"digest": digest, "warning": before})
        )
        lead_to(tx, contents_key(digest), number)

    run_transaction(space.store, use_case)


def warning(tx: Transaction, digest: str) -> str | None:
    """Return the warning that the same contents were uploaded before, if they were."""
    before = found_import(tx.store, contents_key(digest))
    if before is None:
        return None
    return f"The same file was uploaded before, as import {before}."


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _end(
    space: Workspace, number: int, status: str, structure_errors: Sequence[str]
) -> Record[StoredImport]:
    def decide(one: StoredImport, _now: Instant) -> StoredImport | None:
        if one.status != "validating":
            return None
        update = {"status": status, "structure_errors": list(structure_errors), "busy_until": 0}
        return one.model_copy(update=update)

    return space.change(number, decide)


def _check_all(
    space: Workspace, record: Record[StoredImport], file: FileRows
) -> Record[StoredImport]:
    one = record.entity
    units = Units(file, one.kind, space.tenant.timezone)
    documents = units.count()
    # The first step in any case: what takes long to read would never get ahead otherwise.
    first = True
    for chunk in chunks(islice(units.all(), one.checked, None)):
        if not first and space.deadline.remaining < _MARGIN_SECONDS:
            return record
        first = False
        examine(space, one, units, chunk)
        after = _keep(space, record, file, documents, chunk)
        if after.entity.checked != record.entity.checked + len(chunk):
            return after  # somebody else has gone on with it, or it was cancelled
        record = after
    if not first and space.deadline.remaining < _MARGIN_SECONDS:
        return record
    return _conclude(space, record)


def chunks(units: Iterator[Unit]) -> Iterator[list[Unit]]:
    """Yield units in the portions that are examined and written down at once."""
    chunk: list[Unit] = []
    rows = 0
    for unit in units:
        chunk.append(unit)
        rows += len(unit.rows)
        if rows >= _CHUNK_ROWS:
            yield chunk
            chunk, rows = [], 0
    if chunk:
        yield chunk


def examine(space: Workspace, one: StoredImport, units: Units, chunk: Sequence[Unit]) -> None:
    """Hold units against the rules of a single request, with look-ups for all at once."""
    handling = handling_of(one.kind)
    choice = Choice(one.id, one.on_duplicate)
    drafts = [check(handling.model, unit.body) for unit in chunk]

    def look_up(tx: Transaction) -> list[Sequence[Problem]]:
        keys = chain.from_iterable(handling.keys(draft, choice, applying=False) for draft in drafts)
        found = tx.store.get_many(keys)
        tx.store.get_many(
            chain.from_iterable(handling.further_keys(draft, found) for draft in drafts)
        )
        return [handling.examine(tx, draft, choice) for draft in drafts]

    examined = run_transaction(space.store, look_up)
    for unit, draft, found in zip(chunk, drafts, examined, strict=True):
        if problems := [*problems_of(draft), *_size_problems(unit), *found]:
            units.reject(unit, problems)


def _size_problems(unit: Unit) -> Iterator[Problem]:
    if characters(unit.rows) > MOST_CHARACTERS:
        message = f"has more than {MOST_CHARACTERS} characters in all its rows"
        yield Problem("lines", message)


def _keep(
    space: Workspace,
    record: Record[StoredImport],
    file: FileRows,
    documents: int,
    chunk: Sequence[Unit],
) -> Record[StoredImport]:
    """Write down what was found of a chunk; nothing when somebody else did before."""
    seen = record.entity
    good = [unit for unit in chunk if not unit.problems]
    bad = [row for unit in chunk if unit.problems for row in rejected_rows(unit)]
    part = Part(name=write_units(space.work, seen.id, good), units=len(good)) if good else None
    rejected = write_rejected(space.work, seen.id, bad) if bad else None

    def decide(one: StoredImport, _now: Instant) -> StoredImport | None:
        if one.status != "validating" or one.checked != seen.checked:
            return None
        rows, units = one.rows, one.documents
        update = {
            "checked": one.checked + len(chunk),
            "language": file.language,
            "header": list(file.header),
            "rows": RowCounts(
                total=len(file.rows),
                valid=(rows.valid or 0) + sum(len(unit.rows) for unit in good),
                error=(rows.error or 0) + len(bad),
            ),
            "documents": DocumentCounts(
                total=documents, valid=(units.valid or 0) + len(good), committed=0
            ),
            "parts": [*one.parts, part] if part else one.parts,
            "rejected": [*one.rejected, rejected] if rejected else one.rejected,
            "busy_until": now_ms() + LEASE_MS,
            "stalled": 0,
        }
        return one.model_copy(update=update)

    return space.change(seen.id, decide)


def _conclude(space: Workspace, record: Record[StoredImport]) -> Record[StoredImport]:
    seen = record.entity
    try:
        report = make_report(space, seen)
    except FileMissing:
        return _end(space, seen.id, "failed", [FILE_GONE])

    def decide(one: StoredImport, _now: Instant) -> StoredImport | None:
        if one.status != "validating" or one.checked != seen.checked:
            return None
        update = {
            "status": "validated" if one.documents.valid else "invalid",
            "readable": bool(one.documents.valid),
            "report": report,
            "busy_until": 0,
        }
        return one.model_copy(update=update)

    return space.change(seen.id, decide)


def make_report(space: Workspace, one: StoredImport) -> str | None:
    """Write the report of all rejected rows; its name, None when no row was rejected."""
    if not one.rejected:
        return None
    from shared.integration.imports.report_sheet import (  # noqa: PLC0415  openpyxl takes 100 ms
        write_report,
    )

    name = f"{folder_of(one.id)}/report-{secrets.token_hex(4)}.xlsx"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.xlsx"
        write_report(_rejected(space, one), one.header, one.language, path)
        space.work.put(name, path, REPORT_MEDIA)
    return name


def _rejected(space: Workspace, one: StoredImport) -> Iterator[RejectedRow]:
    """Read all rejected rows, several parts at once: those of a commit are small and many."""

    def part(name: str) -> list[RejectedRow]:
        return list(read_rejected(space.work, one.id, name))

    for at in range(0, len(one.rejected), _PARTS_AT_ONCE):
        yield from chain.from_iterable(
            map_concurrently(part, one.rejected[at : at + _PARTS_AT_ONCE])
        )

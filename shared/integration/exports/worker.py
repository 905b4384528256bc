"""Makes an export in steps. Each step writes a file; what a killed step has written is not used."""

import secrets
from collections.abc import Mapping
from typing import Any

from shared.identity.auth import clients
from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.integration.changes.service import feed_head
from shared.integration.exports import ids
from shared.integration.exports.actions import IN_PROGRESS
from shared.integration.exports.client_rows import client_rows
from shared.integration.exports.context import ExportContext, ended
from shared.integration.exports.models import StoredExport, StoredFile, rows_of
from shared.integration.exports.row_file import MEDIA, RowFile
from shared.kernel.clock import now_ms
from shared.kernel.db.outbox_item import ResourceId
from shared.kernel.db.records import Record
from shared.kernel.observability import logger
from shared.kernel.queued_work import QueuedWork, progress

_PLACES = 500
_FIRST_PLACES = 100
"""Places that are read at once, and at the beginning of a step or where rows are large: 500 orders
of 1,000 lines do not fit into the memory of the worker."""
_SMALL_ROW = 20_000
"""Most characters of a row that is not large; of several, on average."""
_RETRY = 2
"""How often a worker has taken up an export whose step is repeated: perhaps the rows behind small
ones were too large for the memory."""
_MOST_ROWS = 20_000
_MOST_CHARACTERS = 32_000_000
_STEP_MS = 10_000
"""Most rows, characters and milliseconds of a step, and so of a file."""
_TIME_FOR_STEP = 15.0
"""Seconds that must remain for another step."""


def process_export(context: ExportContext, export_id: int, *, last_delivery: bool) -> None:
    """Make an export, if it exists; see `QueuedWork.take_up`."""
    work = QueuedWork(
        IN_PROGRESS,
        context.update,
        context.enqueue,
        lambda record: _process(context, record),
        lambda record, reason: context.fail(record, f"{reason} Start another export."),
    )
    record = work.take_up(export_id, last_delivery=last_delivery)
    if record:
        stored = record.entity
        logger.info(
            "export progress",
            export_id=stored.id,
            status=stored.status,
            rows=rows_of(stored),
            invocations=stored.invocations,
        )


def _process(context: ExportContext, record: Record[StoredExport]) -> Record[StoredExport]:
    first = True
    while record.entity.status in IN_PROGRESS:
        if record.entity.done == len(record.entity.objects):
            return _finish(context, record)
        if not first and context.remaining < _TIME_FOR_STEP:
            return record
        first = False
        place, file = _write_file(context, record.entity)
        after = _save(context, record, place, file)
        if after.entity.place != place:
            return after  # another worker has taken it further, or it was cancelled
        record = after
    return record


def _write_file(
    context: ExportContext, stored: StoredExport
) -> tuple[tuple[int, int], StoredFile | None]:
    """Write the next file; return the place behind its rows, and the file if it has any."""
    reader, until_ms = context.reader(stored.author), now_ms() + _STEP_MS
    name, place = stored.objects[stored.done], stored.next
    end = ids.places(name, stored.last_ids)
    rows = RowFile(stored.format, stored.language)
    most = _FIRST_PLACES
    while place < end:
        following = min(place + ids.places_at_once(name, stored.last_ids, most), end)
        rows.add(_rows_at(reader, stored, place, following).values())
        place = following
        is_small = rows.size <= rows.rows * _SMALL_ROW and stored.stalled < _RETRY
        most = _PLACES if is_small else _FIRST_PLACES
        if rows.rows >= _MOST_ROWS or rows.size >= _MOST_CHARACTERS or now_ms() >= until_ms:
            break
    behind = (stored.done, place) if place < end else (stored.done + 1, 0)
    if not rows.rows:
        return behind, None
    content, digest = rows.content()
    path = f"exports/{stored.id}/{secrets.token_hex(16)}"
    context.files.put(path, content, MEDIA)
    return behind, StoredFile(
        object=name, name=path, rows=rows.rows, bytes=len(content), sha256=digest
    )


def _rows_at(
    reader: Reader, stored: StoredExport, first: int, end: int
) -> Mapping[ResourceId, dict[str, Any]]:
    """Return the rows at places of the object that is next, from `first` up to before `end`."""
    name = stored.objects[stored.done]
    if name == clients.LISTED_AS:
        return client_rows(reader)
    wanted = ids.ids_at(reader.store, name, stored.last_ids, first, end)
    return LISTED_OBJECTS[name].rows(reader, wanted)


def _save(
    context: ExportContext,
    record: Record[StoredExport],
    place: tuple[int, int],
    file: StoredFile | None,
) -> Record[StoredExport]:
    """Add a file and go on behind it, unless another worker has done so."""
    before = record.entity.place

    def advance(stored: StoredExport) -> dict[str, object] | None:
        if stored.status not in IN_PROGRESS or stored.place != before:
            return None
        done, following = place
        files = [*stored.files, file] if file else stored.files
        return {
            "status": "running", "done": done, "next": following, "files": files, **progress(),
        }  # fmt: skip

    return context.update(record.id, advance)


def _finish(context: ExportContext, record: Record[StoredExport]) -> Record[StoredExport]:
    """End an export, as failed if nobody can follow from its position any more."""
    if feed_head(context.store).epoch != record.entity.epoch:
        return context.fail(
            record, "The feed of changes has begun again meanwhile. Start another export."
        )
    return context.update(record.id, lambda stored: ended(stored, "completed"))

"""How exports are shown in responses."""

from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.integration.exports.actions import ACTIONS
from shared.integration.exports.context import ExportContext
from shared.integration.exports.models import (
    Export,
    ExportDetail,
    ExportFile,
    StoredExport,
    export_code,
    rows_of,
)
from shared.kernel.caller import Caller
from shared.kernel.clock import milliseconds_of, now_ms
from shared.kernel.db.records import Record
from shared.kernel.events.feed import read_head

LINK_SECONDS = 900
"""Lifetime of the link of a file."""


def export_in_list(record: Record[StoredExport]) -> Export:
    """Return an export in a list, without its files."""
    stored = record.entity
    return Export.from_stored(stored, code=export_code(stored.id), rows=rows_of(stored))


def export_in_detail(
    context: ExportContext, caller: Caller, record: Record[StoredExport]
) -> ExportDetail:
    """Return one export; its files are shown when it is completed."""
    stored = record.entity
    files = stored.files if stored.status == "completed" else []
    is_linked = bool(files) and _may_download(context, caller, stored)
    numbers: dict[str, int] = {}
    shown: list[ExportFile] = []
    for file in files:
        number = numbers[file.object] = numbers.get(file.object, 0) + 1
        name = f"{export_code(stored.id)}-{file.object}-{number}.{stored.format}.gz"
        url = None
        if is_linked:
            url = context.files.presigned_url(file.name, seconds=LINK_SECONDS, download_as=name)
        shown.append(ExportFile.from_stored(file, url=url))
    return ExportDetail.from_stored(
        export_in_list(record), files=shown, actions=ACTIONS.admitted(stored)
    )


def _may_download(context: ExportContext, caller: Caller, stored: StoredExport) -> bool:
    """Return whether a caller gets the files, as far as a copy can be made of them.

    Rows of some objects depend on who reads them: they are for who has started the export.
    """
    objects = [LISTED_OBJECTS[name] for name in stored.objects]
    is_author = (stored.author.kind, stored.author.subject) == (caller.kind, caller.subject)
    if not is_author and any(one.depends_on_reader for one in objects):
        return False
    reader = Reader(context.store, context.tenant, caller)
    if not all(one.may_read(reader) for one in objects):
        return False
    if milliseconds_of(stored.expires_at) <= now_ms():
        return False
    head = read_head(context.store)
    return head is not None and head.epoch == stored.epoch

"""What is left beside a dropped file: how its import stands, and its rejected rows."""

from shared.integration.imports.context import Workspace
from shared.integration.imports.models import StoredImport
from shared.integration.imports.validation import REPORT_MEDIA
from shared.integration.imports.views import import_view
from shared.kernel.db.collection import Record
from shared.kernel.json_text import dumps
from shared.kernel.tenant_files import FileMissing

RESULT = ".result.json"
ERRORS = ".errors.xlsx"
REASON = ".reason.txt"

_SETTLED = frozenset({"validated", "invalid", "committed", "failed", "cancelled"})


def leave_results(space: Workspace, record: Record[StoredImport]) -> None:
    """Write the results beside the file that was dropped; nothing for files that came otherwise.

    May be repeated: the same import leaves the same results.
    """
    one = record.entity
    if one.way != "drop" or one.status not in _SETTLED:
        return
    if one.report:
        try:
            content = space.work.read(one.report)
        except FileMissing:
            pass  # reports are not kept for ever; the counts still tell
        else:
            space.arrivals.put(one.source.name + ERRORS, content, REPORT_MEDIA)
    shown = import_view(one, space.tenant.base_url)
    space.arrivals.put(
        one.source.name + RESULT, dumps(shown.model_dump()).encode(), "application/json"
    )

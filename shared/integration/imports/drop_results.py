"""Writes the results of a dropped file next to it: the import as JSON, and the error report."""

from shared.integration.imports.context import ImportContext
from shared.integration.imports.models import StoredImport
from shared.integration.imports.report.rejected_rows import REPORT_MEDIA
from shared.integration.imports.views import import_in_detail, import_warning
from shared.kernel.db.records import Record
from shared.kernel.json_text import dumps
from shared.kernel.tenant_files import FileMissing

RESULT_SUFFIX = ".result.json"
ERRORS_SUFFIX = ".errors.xlsx"
REASON_SUFFIX = ".reason.txt"

_STATES_WITH_RESULT = frozenset({"validated", "invalid", "committed", "failed", "cancelled"})


def write_drop_results(context: ImportContext, record: Record[StoredImport]) -> None:
    """Write the results of an import if its file was dropped into the bucket.

    May be repeated: the results of an unchanged import are the same. Results of a later file of the
    same name are kept.
    """
    stored = record.entity
    if stored.way != "drop" or stored.status not in _STATES_WITH_RESULT:
        return
    files, name = context.import_files, stored.source.name
    if files.is_replaced(name, stored.source.etag):
        return
    if stored.report:
        try:
            report = context.work_files.read(stored.report)
        except FileMissing:
            pass  # reports expire; the result still has the counts
        else:
            files.put(name + ERRORS_SUFFIX, report, REPORT_MEDIA)
    else:
        files.delete(name + ERRORS_SUFFIX)  # of an earlier file of the same name
    result = import_in_detail(stored, context.tenant).model_dump()
    if warning := import_warning(stored):
        result["warning"] = warning
    files.put(name + RESULT_SUFFIX, dumps(result).encode(), "application/json")

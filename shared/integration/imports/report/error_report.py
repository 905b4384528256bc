"""Creates the error report of an import from its part files."""

import secrets
from collections.abc import Iterator, Sequence
from itertools import batched, chain
from pathlib import Path
from tempfile import TemporaryDirectory

from shared.integration.imports.context import ImportContext
from shared.integration.imports.models import StoredImport
from shared.integration.imports.part_files import folder_of, read_rejected
from shared.integration.imports.report.rejected_rows import REPORT_MEDIA, RejectedRow
from shared.kernel.db.parallel import map_concurrently

_CONCURRENT_READS = 8


def write_error_report(context: ImportContext, stored: StoredImport) -> str | None:
    """Write the report of all rejected and skipped rows, and return its name; None without any.

    Raises:
        FileMissing: A part file does not exist.
    """
    if not (stored.rejected or stored.skipped):
        return None
    # Imported here because openpyxl takes 100 ms.
    from shared.integration.imports.report.workbook import write_report  # noqa: PLC0415

    name = f"{folder_of(stored.id)}/report-{secrets.token_hex(4)}.xlsx"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.xlsx"
        rejected, skipped = (
            _rows_of(context, stored, names) for names in (stored.rejected, stored.skipped)
        )
        write_report(
            rejected,
            stored.header,
            stored.language,
            path,
            skipped=skipped if stored.skipped else None,
        )
        context.work_files.put(name, path, REPORT_MEDIA)
    return name


def _rows_of(
    context: ImportContext, stored: StoredImport, part_files: Sequence[str]
) -> Iterator[RejectedRow]:
    """Yield the rows of part files.

    Several part files are read concurrently, because those of a commit are many and small.
    """

    def read(name: str) -> list[RejectedRow]:
        return list(read_rejected(context.work_files, stored.id, name))

    for names in batched(part_files, _CONCURRENT_READS, strict=False):
        yield from chain.from_iterable(map_concurrently(read, list(names)))

"""Saving a workbook so that the same contents give the same bytes."""

from datetime import datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.writer.excel import ExcelWriter

_SAVED = datetime(2026, 1, 1)  # noqa: DTZ001  spreadsheets know no time zones


def workbook_bytes(book: Workbook) -> bytes:
    """Return a workbook as .xlsx, whenever it is made."""
    book.properties.created = book.properties.modified = _SAVED
    book.properties.creator = "Stowage"
    saved, steady = BytesIO(), BytesIO()
    # Workbook.save() would write the time.
    ExcelWriter(book, ZipFile(saved, "w")).save()
    with ZipFile(saved) as parts, ZipFile(steady, "w") as archive:
        for name in parts.namelist():
            info = ZipInfo(name, _SAVED.timetuple()[:6])
            archive.writestr(info, parts.read(name), ZIP_DEFLATED)
    return steady.getvalue()

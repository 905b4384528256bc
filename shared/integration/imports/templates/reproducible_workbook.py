"""Saves a workbook so that the same contents result in the same bytes."""

from datetime import datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.writer.excel import ExcelWriter

_SAVED_AT = datetime(2026, 1, 1)  # noqa: DTZ001  spreadsheets have no time zones


def workbook_bytes(book: Workbook) -> bytes:
    """Return a workbook as .xlsx, with a fixed time of creation."""
    book.properties.created = book.properties.modified = _SAVED_AT
    book.properties.creator = "Stowage"
    saved, reproducible = BytesIO(), BytesIO()
    # Workbook.save() would write the current time.
    ExcelWriter(book, ZipFile(saved, "w")).save()
    with ZipFile(saved) as parts, ZipFile(reproducible, "w") as archive:
        for name in parts.namelist():
            info = ZipInfo(name, _SAVED_AT.timetuple()[:6])
            archive.writestr(info, parts.read(name), ZIP_DEFLATED)
    return reproducible.getvalue()

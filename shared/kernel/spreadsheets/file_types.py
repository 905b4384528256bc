"""What a file is, by its name and by its first bytes: people rename files."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import PurePath
from typing import Literal

from shared.kernel.spreadsheets.table import Unreadable

type Kind = Literal["xlsx", "csv"]

HEAD = 4096
"""Bytes from the start that tell what a file is."""

_ZIP, _OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_EVIDENT = 0.7
"""Share of zero bytes in every second place that shows UTF-16: text that is mostly Latin."""

_SAVE_AS = "Save the table as .xlsx or .csv and upload that."
_NAMES = {
    "xls": "is an old Excel workbook (.xls)",
    "xlsm": "is a workbook with macros (.xlsm)",
    "xlsb": "is a binary workbook (.xlsb)",
    "xltx": "is a template (.xltx)",
    "ods": "is an OpenDocument spreadsheet (.ods)",
    "numbers": "is a Numbers spreadsheet",
    "pdf": "is a PDF document",
    "zip": "is a zip archive",
}
_CONTENTS = (
    (re.compile(rb"%PDF-"), "is a PDF document"),
    (re.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|RIFF"), "is an image or a recording"),
    (re.compile(rb"\{\\rtf"), "is a text document (RTF)"),
    (re.compile(rb"Rar!|7z\xbc\xaf|\x1f\x8b|BZh|\xfd7zXZ"), "is a compressed archive"),
    (re.compile(rb"PK"), "is a damaged or empty zip archive"),
    (
        re.compile(rb"\s*<(!doctype\s+html|html|head|body|table|meta)\b", re.IGNORECASE),
        "is a web page",
    ),
    (re.compile(rb"\s*<(\?xml|!doctype)\b", re.IGNORECASE), "is an XML document"),
)


def kind_of(name: str, head: bytes) -> Kind:
    """Tell how to read the file.

    Args:
        name: Of the file; case does not matter.
        head: The first `HEAD` bytes of it.

    Raises:
        Unreadable: It is no spreadsheet, or not the one that its name says.
    """
    ending = PurePath(name).suffix.lower().removeprefix(".")
    if ending not in {"xlsx", "csv"}:
        what = _NAMES.get(ending, "has a name that ends neither in .xlsx nor in .csv")
        raise Unreadable(f"The file {what}. {_SAVE_AS}")
    if not head:
        raise Unreadable("The file is empty.")
    if head.startswith(_OLD_OFFICE):
        raise Unreadable(
            "The file is protected by a password, or is an old Excel workbook (.xls). Remove the"
            " password, or save it as .xlsx, and upload that."
        )
    bare = head.removeprefix(BOM_UTF8)
    if head.startswith(_ZIP):
        if ending == "csv":
            raise Unreadable(
                "The name ends in .csv, but the content is that of a workbook or another zip"
                " archive. Give it the ending .xlsx if it is a workbook."
            )
        return "xlsx"
    for pattern, what in _CONTENTS:
        if pattern.match(bare):
            raise Unreadable(f"The file {what}, not a spreadsheet. {_SAVE_AS}")
    if ending == "xlsx":
        what = "no workbook" if b"\0" in head and not utf16_of(head) else "plain text"
        raise Unreadable(
            f"The name ends in .xlsx, but the content is {what}. Save it as .xlsx in Excel, or give"
            " it the ending .csv if it is a list of values separated by commas or semicolons."
        )
    if b"\0" in head and not utf16_of(head):
        raise Unreadable(
            "The file holds zero bytes: it is no text, or a damaged one. Save it as .csv again."
        )
    return "csv"


def utf16_of(head: bytes) -> Literal["utf-16-le", "utf-16-be"] | None:
    """Tell in which UTF-16 a text is, by its byte order mark or evidently; None: it is not."""
    first, second = head[::2], head[1::2]
    if head.startswith(BOM_UTF16_LE) or _is_half_zero(second, first):
        return "utf-16-le"
    if head.startswith(BOM_UTF16_BE) or _is_half_zero(first, second):
        return "utf-16-be"
    return None


def _is_half_zero(high: bytes, low: bytes) -> bool:
    return 0 < _EVIDENT * len(high) <= high.count(0) and not low.count(0)

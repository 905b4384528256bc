"""The bytes of a file, and its type by its name and its first bytes: users rename files."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePath
from typing import IO, BinaryIO, Literal

from shared.kernel.spreadsheets.table import UnreadableFile

type FileSource = Path | bytes

BLOCK_BYTES = 1 << 18
"""Bytes that are read, decompressed and decoded at a time."""


def open_source(source: FileSource) -> BinaryIO:
    """Open a source for reading; the caller closes it."""
    return BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def read_blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the rest of `file` in blocks."""
    while block := file.read(BLOCK_BYTES):
        yield block


type FileType = Literal["xlsx", "csv"]

HEAD_BYTES = 4096
"""Bytes at the start that determine the type."""

_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_UTF16_ZERO_SHARE = 0.7
"""Share of zero bytes in every second byte above which Latin text is taken for UTF-16."""

_SAVE_AS = "Save the table as .xlsx or .csv and upload that file."
_OTHER_SUFFIXES = {
    "xls": "is an old Excel workbook (.xls)",
    "xlsm": "is a workbook with macros (.xlsm)",
    "xlsb": "is a binary workbook (.xlsb)",
    "xltx": "is a template (.xltx)",
    "ods": "is an OpenDocument spreadsheet (.ods)",
    "numbers": "is a Numbers spreadsheet",
    "pdf": "is a PDF document",
    "zip": "is a zip archive",
}
_OTHER_CONTENTS = (
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


def detect_file_type(name: str, head: bytes) -> FileType:
    """Return the type of a file by its name and its `head`, the first `HEAD_BYTES` bytes."""
    suffix = PurePath(name).suffix.lower().removeprefix(".")
    if suffix not in {"xlsx", "csv"}:
        description = _OTHER_SUFFIXES.get(
            suffix, "has a name that ends neither in .xlsx nor in .csv"
        )
        raise UnreadableFile(f"The file {description}. {_SAVE_AS}")
    if not head:
        raise UnreadableFile("The file is empty.")
    if head.startswith(_OLE):
        raise UnreadableFile(
            "The file is protected by a password, or is an old Excel workbook (.xls). Remove the"
            " password or save the file as .xlsx, and upload that file."
        )
    without_mark = head.removeprefix(BOM_UTF8)
    if head.startswith(_ZIP):
        if suffix == "csv":
            raise UnreadableFile(
                "The name ends in .csv, but the content is a workbook or another zip archive. If it"
                " is a workbook, rename it to .xlsx."
            )
        return "xlsx"
    for pattern, description in _OTHER_CONTENTS:
        if pattern.match(without_mark):
            raise UnreadableFile(f"The file {description}, not a spreadsheet. {_SAVE_AS}")
    if suffix == "xlsx":
        description = "not a workbook" if b"\0" in head and not detect_utf16(head) else "plain text"
        raise UnreadableFile(
            f"The name ends in .xlsx, but the content is {description}. Save it as .xlsx in Excel."
            " If it is text with separators, rename it to .csv."
        )
    if b"\0" in head and not detect_utf16(head):
        raise UnreadableFile(
            "The file contains zero bytes: it is damaged or not a text file. Save it as .csv again."
        )
    return "csv"


def detect_utf16(head: bytes) -> Literal["utf-16-le", "utf-16-be"] | None:
    """Return the UTF-16 encoding of a text by its byte order mark or its zero bytes, or None."""
    first, second = head[::2], head[1::2]
    if head.startswith(BOM_UTF16_LE) or _has_zero_high_bytes(second, first):
        return "utf-16-le"
    if head.startswith(BOM_UTF16_BE) or _has_zero_high_bytes(first, second):
        return "utf-16-be"
    return None


def _has_zero_high_bytes(high: bytes, low: bytes) -> bool:
    return 0 < _UTF16_ZERO_SHARE * len(high) <= high.count(0) and not low.count(0)

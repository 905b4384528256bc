"""The zip archive that an .xlsx is: checked before anybody believes it, and inflated under limits.

What the headers say is not relied on: bytes are counted as they come out, a block at a time, and
inflating ends as soon as they are too many.
"""

import re
import struct
import zlib
from collections.abc import Collection, Iterator
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from shared.kernel.spreadsheets.file_source import BLOCK, blocks
from shared.kernel.spreadsheets.table import Unreadable

MOST_MEMBERS = 1_000
"""Excel writes about a dozen, and one or two per sheet, picture and chart."""
MOST_INFLATED = 288 << 20
"""Bytes of all members together. 100 000 rows of 11 columns are about 66 MB."""
MOST_OF_MEMBER = 192 << 20
"""Bytes of one member. The largest may lie in the temporary folder as a copy, where a Lambda
function has 512 MB."""
MOST_RATIO = 200
"""Inflated to deflated bytes of a member above `_RATIO_MATTERS`. Rows that are all the same reach
about 50; bombs begin where deflate ends, at about 1000."""
_RATIO_MATTERS = 1 << 20

_ENTRY = b"PK\x01\x02"
_BAD_NAME = re.compile(r"[\x00-\x1f\\:]|^/|(^|/)\.\.?(/|$)|//")
_UNREADABLE_ZIP = (
    BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""Whatever `zipfile` raises for archives that are damaged, or made to look so."""

_TOO_LARGE = (
    "The workbook is too large when unpacked, or built to look small. Split it into several files,"
    " or save the table as .csv."
)
_DAMAGED = "The file is damaged: it cannot be unpacked. Save it in Excel again and upload that."
_DOCTYPE = (b"<!DOCTYPE", b"<!ENTITY")
_KEPT = max(map(len, _DOCTYPE)) - 1
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']""")


class Container:
    """The members of an archive.

    Args:
        file: The archive, open for as long as this is used.

    Raises:
        Unreadable: Here and whenever a member is read.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._inflated = 0
        # Counted in the bytes, because the number in the header may be any.
        if _occurrences(file, _ENTRY) > MOST_MEMBERS:
            raise Unreadable(f"The workbook has more than {MOST_MEMBERS:,} parts.")
        try:
            self._zip = ZipFile(file)
            members = self._zip.infolist()
        except _UNREADABLE_ZIP as error:
            raise Unreadable(_DAMAGED) from error
        for member in members:
            _check(member)
        self._members = {member.filename.lower(): member for member in members}
        if len(self._members) < len(members):
            raise Unreadable("The workbook holds two parts of the same name; it is damaged.")

    @property
    def paths(self) -> Collection[str]:
        """Paths of all members, in lower case: Excel tells none apart by case."""
        return self._members.keys()

    def read(self, path: str, most: int) -> bytes:
        """Inflate a small member.

        Args:
            path: Of the member, in any case.
            most: Bytes it may have.
        """
        content = bytearray()
        for block in self.blocks(path):
            content += block
            if len(content) > most:
                raise Unreadable(_TOO_LARGE)
        return bytes(content)

    def blocks(self, path: str) -> Iterator[bytes]:
        """Inflate a member block by block.

        XML that comes out is UTF-8, of whatever names it has, and declares no document type and
        no entities.
        """
        member = self._members[path.lower()]
        guard: _XmlGuard | None = None
        size = 0
        for block in self._inflate(member):
            if not size:
                if block.startswith(b"PK\x03\x04"):
                    raise Unreadable(
                        "The workbook holds another archive or document. Remove embedded objects"
                        " and save it again."
                    )
                guard = _XmlGuard(block) if _is_xml(member, block) else None
            size += len(block)
            self._inflated += len(block)
            deceptive = size > _RATIO_MATTERS and size > MOST_RATIO * member.compress_size
            if deceptive or size > MOST_OF_MEMBER or self._inflated > MOST_INFLATED:
                raise Unreadable(_TOO_LARGE)
            if guard:
                guard.check(block)
            yield block

    def _inflate(self, member: ZipInfo) -> Iterator[bytes]:
        try:
            with self._zip.open(member) as content:
                while block := content.read(BLOCK):
                    yield block
        except _UNREADABLE_ZIP as error:
            raise Unreadable(_DAMAGED) from error


class _XmlGuard:
    """Looks out for what no spreadsheet program writes into XML, and what parsers differ about."""

    def __init__(self, start: bytes) -> None:
        declared = _ENCODING.match(start.removeprefix(b"\xef\xbb\xbf"))
        encoding = declared[1].lower() if declared else b"utf-8"
        if b"\0" in start[:4] or start[:2] in {b"\xff\xfe", b"\xfe\xff"} or encoding not in {
            b"utf-8", b"utf8", b"us-ascii",
        }:  # fmt: skip
            raise Unreadable(
                "The workbook is not written in UTF-8, as Excel writes it. Save it in Excel again."
            )
        self._end = b""

    def check(self, block: bytes) -> None:
        """Look at the next block."""
        seam = self._end + block[:_KEPT]
        if any(word in text for text in (seam, block) if b"!" in text for word in _DOCTYPE):
            raise Unreadable(
                "The workbook declares XML entities, which no spreadsheet program does. Save it in"
                " Excel again."
            )
        self._end = block[-_KEPT:]


def _is_xml(member: ZipInfo, start: bytes) -> bool:
    return member.filename.lower().endswith((".xml", ".rels", ".vml")) or start.removeprefix(
        b"\xef\xbb\xbf"
    ).lstrip().startswith(b"<")


def _check(member: ZipInfo) -> None:
    if member.flag_bits & 0x41:
        raise Unreadable("The file is protected by a password. Remove it and save the file again.")
    if member.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise Unreadable(
            "The file is packed in a way that Excel does not use. Save it in Excel again."
        )
    # The name as it is in the archive: `zipfile` cuts it off at a zero byte.
    if not member.orig_filename or _BAD_NAME.search(member.orig_filename):
        raise Unreadable("The workbook holds a part with an unsafe name; it is no Excel file.")


def _occurrences(file: BinaryIO, word: bytes) -> int:
    """Count a word in a file, which then stands at its start again."""
    count, end = 0, b""
    for block in blocks(file):
        count += (end + block).count(word)
        end = block[-len(word) + 1 :]
    file.seek(0)
    return count

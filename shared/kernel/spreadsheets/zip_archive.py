"""The zip archive of an .xlsx, which is checked and decompressed under limits.

The sizes in its headers are not trusted: bytes are counted as they are decompressed, and
decompression ends at a limit.
"""

import re
import struct
import zlib
from collections.abc import Collection, Iterator
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from shared.kernel.spreadsheets.file_types import read_blocks
from shared.kernel.spreadsheets.table import UnreadableFile

MAX_MEMBERS = 1_000
"""Excel writes about a dozen, and one or two per sheet, picture and chart."""
MAX_TOTAL_BYTES = 288 << 20
"""Decompressed size of all members together. 100 000 rows of 11 columns have about 66 MB."""
MAX_MEMBER_BYTES = 192 << 20
"""Decompressed size of one member. The temporary folder, which has 512 MB in Lambda, may have to
store a copy of the largest one."""
MAX_COMPRESSION_RATIO = 200
"""Decompressed to compressed bytes of a member larger than `_RATIO_MIN_BYTES`. Identical rows reach
about 50; zip bombs begin at about 1000."""
_RATIO_MIN_BYTES = 1 << 20

_DIRECTORY_ENTRY = b"PK\x01\x02"
_UNSAFE_NAME = re.compile(r"[\x00-\x1f\\:]|^/|(^|/)\.\.?(/|$)|//")
_ZIP_ERRORS = (
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
"""The exceptions that `zipfile` raises for damaged or manipulated archives."""

_TOO_LARGE = (
    "The workbook is too large when decompressed, or is compressed suspiciously well. Split it into"
    " several files, or save the table as .csv."
)
_DAMAGED = (
    "The file is damaged and cannot be decompressed. Save it in Excel again and upload that file."
)
_DECLARATIONS = (b"<!DOCTYPE", b"<!ENTITY")
_OVERLAP_BYTES = max(map(len, _DECLARATIONS)) - 1
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']""")


class ZipArchive:
    """The members of an archive; its file must remain open while this object is used."""

    def __init__(self, file: BinaryIO) -> None:
        self._total_bytes = 0
        # The entries are counted in the bytes, because the number in the header may be wrong.
        if _count_occurrences(file, _DIRECTORY_ENTRY) > MAX_MEMBERS:
            raise UnreadableFile(f"The workbook has more than {MAX_MEMBERS:,} parts.")
        try:
            self._zip = ZipFile(file)
            members = self._zip.infolist()
        except _ZIP_ERRORS as error:
            raise UnreadableFile(_DAMAGED) from error
        for member in members:
            _check_member(member)
        self._members = {member.filename.lower(): member for member in members}
        if len(self._members) < len(members):
            raise UnreadableFile("The workbook is damaged: two of its parts have the same name.")

    @property
    def paths(self) -> Collection[str]:
        """Paths of all members in lower case, because Excel ignores case."""
        return self._members.keys()

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return a member of at most `max_bytes`; its path may be in any case."""
        content = bytearray()
        for block in self.blocks(path):
            content += block
            if len(content) > max_bytes:
                raise UnreadableFile(_TOO_LARGE)
        return bytes(content)

    def blocks(self, path: str) -> Iterator[bytes]:
        """Yield a member in blocks.

        XML is guaranteed to be UTF-8 (including its names) and to declare no document type and no
        entities.
        """
        member = self._members[path.lower()]
        check: _XmlCheck | None = None
        size = 0
        for block in self._decompress(member):
            if not size:
                if block.startswith(b"PK\x03\x04"):
                    raise UnreadableFile(
                        "The workbook contains another archive or document. Remove embedded objects"
                        " and save it again."
                    )
                check = _XmlCheck(block) if _is_xml(member, block) else None
            size += len(block)
            self._total_bytes += len(block)
            is_bomb = (
                size > _RATIO_MIN_BYTES and size > MAX_COMPRESSION_RATIO * member.compress_size
            )
            if is_bomb or size > MAX_MEMBER_BYTES or self._total_bytes > MAX_TOTAL_BYTES:
                raise UnreadableFile(_TOO_LARGE)
            if check:
                check.feed(block)
            yield block

    def _decompress(self, member: ZipInfo) -> Iterator[bytes]:
        try:
            with self._zip.open(member) as content:
                yield from read_blocks(content)
        except _ZIP_ERRORS as error:
            raise UnreadableFile(_DAMAGED) from error


class _XmlCheck:
    """Refuses XML that no spreadsheet program writes and that parsers interpret differently."""

    def __init__(self, start: bytes) -> None:
        declared = _ENCODING.match(start.removeprefix(b"\xef\xbb\xbf"))
        encoding = declared[1].lower() if declared else b"utf-8"
        if b"\0" in start[:4] or start[:2] in {b"\xff\xfe", b"\xfe\xff"} or encoding not in {
            b"utf-8", b"utf8", b"us-ascii",
        }:  # fmt: skip
            raise UnreadableFile(
                "The workbook is not encoded in UTF-8 as Excel does. Save it in Excel again."
            )
        self._end = b""

    def feed(self, block: bytes) -> None:
        """Check the next block."""
        seam = self._end + block[:_OVERLAP_BYTES]
        if any(word in text for text in (seam, block) if b"!" in text for word in _DECLARATIONS):
            raise UnreadableFile(
                "The workbook declares XML entities, which no spreadsheet program does. Save it in"
                " Excel again."
            )
        self._end = block[-_OVERLAP_BYTES:]


def _is_xml(member: ZipInfo, start: bytes) -> bool:
    return member.filename.lower().endswith((".xml", ".rels", ".vml")) or start.removeprefix(
        b"\xef\xbb\xbf"
    ).lstrip().startswith(b"<")


def _check_member(member: ZipInfo) -> None:
    if member.flag_bits & 0x41:
        raise UnreadableFile(
            "The file is protected by a password. Remove it and save the file again."
        )
    if member.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise UnreadableFile(
            "The file is compressed in a way that Excel does not use. Save it in Excel again."
        )
    # The original name: `zipfile` cuts `filename` off at a zero byte.
    if not member.orig_filename or _UNSAFE_NAME.search(member.orig_filename):
        raise UnreadableFile(
            "A part of the workbook has an unsafe name. Save the workbook in Excel again."
        )


def _count_occurrences(file: BinaryIO, word: bytes) -> int:
    """Return how often `word` occurs in `file`, and rewind the file."""
    count, end = 0, b""
    for block in read_blocks(file):
        count += (end + block).count(word)
        end = block[-len(word) + 1 :]
    file.seek(0)
    return count

"""Detects the encoding of a .csv and decodes its lines."""

import codecs
from collections.abc import Callable, Iterator
from io import StringIO
from typing import BinaryIO

from shared.kernel.spreadsheets.file_source import BLOCK_BYTES, read_blocks
from shared.kernel.spreadsheets.file_types import HEAD_BYTES, detect_utf16
from shared.kernel.spreadsheets.table import UnreadableFile

_MAX_BLOCKS_OF_RECORD = 4
"""Blocks that one record may fill. After an unclosed quote, the rest of the file is one record."""
_ENCODING_NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}
_BYTE_ORDER_MARK = "\ufeff"


def detect_encoding(file: BinaryIO) -> str:
    """Return the encoding: UTF-16 or UTF-8 if recognized, otherwise Windows-1252.

    The whole file is read, because its only non-ASCII character may be the last one. A file that
    has valid UTF-8 sequences before invalid bytes is treated as damaged UTF-8.
    """
    head = file.read(HEAD_BYTES)
    if utf16 := detect_utf16(head):
        return utf16
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8"
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_ascii = True
    try:
        for block in read_blocks(file):
            is_ascii = decoder.decode(block).isascii() and is_ascii
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return "cp1252" if is_ascii and error.object[: error.start].isascii() else "utf-8"
    return "utf-8"


def decode_sample(file: BinaryIO, encoding: str) -> str:
    """Return the first lines of the file, without bytes that cannot be decoded."""
    block = file.read(BLOCK_BYTES)
    decoder = codecs.getincrementaldecoder(encoding)("ignore")
    text = decoder.decode(block).removeprefix(_BYTE_ORDER_MARK)
    return text if len(block) < BLOCK_BYTES else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def decode_blocks(file: BinaryIO, encoding: str, records: Callable[[], int]) -> Iterator[StringIO]:
    """Decode the file in blocks of whole lines, which keep their line ends.

    Args:
        file: The file, at its start.
        encoding: The encoding of the text.
        records: Returns the number of records that the caller has parsed so far.

    Raises:
        UnreadableFile: A row has bytes that are invalid in this encoding, has zero bytes, or is too
            long. The message names the row.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    held, seen, idle = "", -1, 0
    while True:
        block = file.read(BLOCK_BYTES)
        problem = None
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            text = codecs.decode(error.object[: error.start], encoding)
            problem = f"contains bytes that are not {_ENCODING_NAMES.get(encoding, 'UTF-16')}"
        text = held + (text.removeprefix(_BYTE_ORDER_MARK) if seen < 0 else text)
        if "\0" in text:
            text = text[: text.index("\0")]
            problem = "contains zero bytes"
        if problem or block:
            # A carriage return at the end may be the first half of a line end.
            end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1
            text, held = text[:end], text[end:]
        if text:
            yield StringIO(text, newline="")
        # The caller has parsed all records of these lines by now.
        row = records() + 1
        if problem:
            raise UnreadableFile(f"Row {row} {problem}. Save the file as CSV in UTF-8 again.")
        if not block:
            return
        seen, idle = row, idle + 1 if row == seen else 0
        if idle > _MAX_BLOCKS_OF_RECORD:
            raise UnreadableFile(f"Row {row} is too long, or opens a quote that is never closed.")

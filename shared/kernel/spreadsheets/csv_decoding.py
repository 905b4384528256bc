"""The text of a .csv: its encoding, its lines."""

import codecs
from collections.abc import Callable, Iterator
from io import StringIO
from typing import BinaryIO

from shared.kernel.spreadsheets.file_source import BLOCK, blocks
from shared.kernel.spreadsheets.file_types import HEAD, utf16_of
from shared.kernel.spreadsheets.table import Unreadable

_MOST_BLOCKS_OF_RECORD = 4
"""Blocks that one record may fill. A quote that is not closed makes the rest of the file one."""
_NAMES = {"utf-8": "UTF-8", "cp1252": "Windows-1252"}
_MARK = "\ufeff"


def encoding_of(file: BinaryIO) -> str:
    """Tell the encoding: UTF-16 or UTF-8 by its mark or evidently, else Windows-1252.

    The whole file is read, because the first letter that is not English may be its last. A file
    in which some letters are those of UTF-8 before others are not is a damaged file in UTF-8.
    """
    head = file.read(HEAD)
    if utf16 := utf16_of(head):
        return utf16
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8"
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_english = True
    try:
        for block in blocks(file):
            is_english = decoder.decode(block).isascii() and is_english
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return "cp1252" if is_english and error.object[: error.start].isascii() else "utf-8"
    return "utf-8"


def sample(file: BinaryIO, encoding: str) -> str:
    """Decode the first lines of the file, as well as possible."""
    block = file.read(BLOCK)
    text = codecs.getincrementaldecoder(encoding)("ignore").decode(block).removeprefix(_MARK)
    return text if len(block) < BLOCK else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def lines(file: BinaryIO, encoding: str, records: Callable[[], int]) -> Iterator[StringIO]:
    """Decode the file, a block of whole lines at a time; they keep their line ends.

    Args:
        file: At its start.
        encoding: Of the text.
        records: Tells how many records have been made of the lines so far.

    Raises:
        Unreadable: The row is named: it holds bytes that mean nothing in this encoding, zero
            bytes, or is too long.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    held, seen, idle = "", -1, 0
    while True:
        block = file.read(BLOCK)
        problem = None
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            text = codecs.decode(error.object[: error.start], encoding)
            problem = f"holds bytes that are not {_NAMES.get(encoding, 'UTF-16')}"
        text = held + (text.removeprefix(_MARK) if seen < 0 else text)
        if "\0" in text:
            text = text[: text.index("\0")]
            problem = "holds zero bytes"
        if problem or block:
            # A carriage return at the end may be the first half of a line end.
            end = max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1
            text, held = text[:end], text[end:]
        if text:
            yield StringIO(text, newline="")
        # By now all records of these lines have been made.
        row = records() + 1
        if problem:
            raise Unreadable(f"Row {row} {problem}. Save the file as CSV in UTF-8 again.")
        if not block:
            return
        seen, idle = row, idle + 1 if row == seen else 0
        if idle > _MOST_BLOCKS_OF_RECORD:
            raise Unreadable(f"Row {row} is too long, or opens a quote that is never closed.")

"""Copies the strings that the cells of a workbook share, and measures them."""

import re
from collections.abc import Callable

from shared.kernel.spreadsheets.part_normalizer import (
    ODD,
    Attributes,
    Ends,
    PartCopy,
    Starts,
    escaped,
    text_up_to,
)
from shared.kernel.spreadsheets.table import MOST_CHARACTERS, Unreadable

MOST_STRINGS = 2_000_000
"""The reader keeps all of them: about 60 bytes each, and their text."""
MOST_BYTES = 64 << 20
"""Bytes of all strings together, as XML."""
_USUAL_BYTES = 4_096
"""Most bytes of a string of the usual form."""

_STRINGS = re.compile(
    rb"""(?:\s*+<si>(?:<t(?:\ xml:space="preserve")?+(?:\ ?/>|>TEXT</t>)
    (?:<phoneticPr[^<>/]*+/>)?+)?+</si>)++""".replace(b"TEXT", text_up_to(_USUAL_BYTES)),
    re.VERBOSE,
)
"""Strings without formats inside, as spreadsheet programs write them."""


class StringsCopy(PartCopy):
    """Takes the XML of the shared strings, block by block.

    Args:
        write: Takes the copy, piece by piece.
    """

    longest = _USUAL_BYTES
    """Most bytes that one of them has."""
    has_odd = False
    """Whether one of them says what is wrong with it, after `ODD`."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        super().__init__("", "si")
        self._write = write
        self._count = self._size = 0
        self._value: list[str] = []
        self._length = 0
        self._takes_text = False
        write(b"<sst>")

    def close(self) -> None:
        """End the part."""
        super().close()
        self._write(b"</sst>")

    def copy_usual(self, buffer: bytes, start: int) -> int:
        """Copy the strings of the usual form that begin at `start`; tell where they end."""
        match = _STRINGS.match(buffer, start)
        if match is None:
            return start
        self._add(match[0], match[0].count(b"<si>"))
        return match.end()

    def handlers(self) -> tuple[Starts, Ends]:
        """Tell what to do where elements start and end."""
        texts = ("si/t", "si/r/t")
        starts: Starts = {"si": self._start_string, **dict.fromkeys(texts, self._start_text)}
        return starts, {"si": self._end_string, **dict.fromkeys(texts, self._end_text)}

    def text(self, text: str) -> None:
        """Take text of such an element."""
        if self._takes_text:
            self._length += len(text)
            if self._length <= MOST_CHARACTERS:
                self._value.append(text)

    def _start_string(self, _attributes: Attributes) -> None:
        self._value, self._length = [], 0

    def _start_text(self, _attributes: Attributes) -> None:
        self._takes_text = True

    def _end_text(self) -> None:
        self._takes_text = False

    def _end_string(self) -> None:
        text = "".join(self._value)
        if self._length > MOST_CHARACTERS:
            text = f"{ODD}a text of {self._length:,} characters"
            self.has_odd = True
        string = escaped(text)
        self.longest = max(self.longest, len(string))
        self._add(b'<si><t xml:space="preserve">%b</t></si>' % string, 1)

    def _add(self, strings: bytes, count: int) -> None:
        self._count += count
        self._size += len(strings)
        if self._count > MOST_STRINGS or self._size > MOST_BYTES:
            raise Unreadable(
                "The workbook holds too much text. Split it into several files, or save the table"
                " as .csv."
            )
        self._write(strings)

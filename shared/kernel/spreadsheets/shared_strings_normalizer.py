"""Normalizes the shared strings of a workbook, and measures them."""

import re
from collections.abc import Callable

from shared.kernel.spreadsheets.part_normalizer import (
    INVALID_MARKER,
    Ends,
    PartNormalizer,
    Starts,
    XmlAttributes,
    escape_text,
    text_pattern,
)
from shared.kernel.spreadsheets.table import MAX_CELL_CHARACTERS, UnreadableFile

MAX_STRINGS = 2_000_000
"""Number of strings. The reader needs about 60 bytes for each, and its text."""
MAX_STRINGS_BYTES = 64 << 20
"""Size of all strings together, as XML."""
_REGULAR_STRING_BYTES = 4_096
"""Size up to which a string is copied unchanged."""

_STRINGS = re.compile(
    rb"""(?:\s*+<si>(?:<t(?:\ xml:space="preserve")?+(?:\ ?/>|>TEXT</t>)
    (?:<phoneticPr[^<>/]*+/>)?+)?+</si>)++""".replace(b"TEXT", text_pattern(_REGULAR_STRING_BYTES)),
    re.VERBOSE,
)
"""Strings without inner formatting, as spreadsheet programs usually write them."""


class SharedStringsNormalizer(PartNormalizer):
    """Normalizes the XML of the shared strings.

    Args:
        write: Takes the normalized XML in pieces.
    """

    max_string_bytes = _REGULAR_STRING_BYTES
    """Upper limit of the size of a single string."""
    has_invalid_cells = False
    """Whether a string begins with `INVALID_MARKER`."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        super().__init__("", "si")
        self._write = write
        self._count = self._size = 0
        write(b"<sst>")

    def close(self) -> None:
        """End the shared strings."""
        super().close()
        self._write(b"</sst>")

    def copy_regular_items(self, buffer: bytes, start: int) -> int:
        """See PartNormalizer."""
        match = _STRINGS.match(buffer, start)
        if match is None:
            return start
        self._add(match[0], match[0].count(b"<si>"))
        return match.end()

    def handlers(self) -> tuple[Starts, Ends]:
        """See PartNormalizer."""
        texts = ("si/t", "si/r/t")
        starts: Starts = {"si": self._start_string, **dict.fromkeys(texts, self._start_text)}
        return starts, {"si": self._end_string, **dict.fromkeys(texts, self._end_text)}

    def _start_string(self, _attributes: XmlAttributes) -> None:
        self._value, self._length = [], 0

    def _end_string(self) -> None:
        text = "".join(self._value)
        if self._length > MAX_CELL_CHARACTERS:
            text = f"{INVALID_MARKER}a text of {self._length:,} characters"
            self.has_invalid_cells = True
        string = escape_text(text)
        self.max_string_bytes = max(self.max_string_bytes, len(string))
        self._add(b'<si><t xml:space="preserve">%b</t></si>' % string, 1)

    def _add(self, strings: bytes, count: int) -> None:
        self._count += count
        self._size += len(strings)
        if self._count > MAX_STRINGS or self._size > MAX_STRINGS_BYTES:
            raise UnreadableFile(
                "The workbook contains too much text. Split it into several files, or save the"
                " table as .csv."
            )
        self._write(strings)

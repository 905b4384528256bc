"""Copies a large XML part in a form that is known to the last character.

The reader of workbooks is fast, and believes what it reads: a cell that says it is in row 1048576
and column XFD makes it reserve seventeen billion cells, and a process that runs out of memory is
gone. So it never sees what was uploaded, only a copy made here.

Items (rows of a sheet, shared strings) that have the form which spreadsheet programs write are
copied as they stand, after one regular expression has matched the whole of them. Everything else
(other forms, and what surrounds the items) goes through a real XML parser, item by item, and is
written anew in that form.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from html import escape
from xml.parsers import expat

from shared.kernel.spreadsheets.table import Unreadable

ODD = "\uffff"
"""Begins the text of a cell that has no value but an error. No text in a file means to begin so:
XML knows no such character."""

_MOST_HELD = 4 << 20
"""Bytes that are held back until an item is complete."""
_MOST_UNUSUAL = 6_000_000
"""Elements that go through the parser: 100 000 rows of 20 columns, some seconds."""
_DEEPEST = 100
"""Elements within one another."""
_TOO_COMPLEX = "The workbook is too complex. Save the table as .csv and upload that."


type Attributes = dict[str, str]
type Starts = Mapping[str, Callable[[Attributes], None]]
type Ends = Mapping[str, Callable[[], None]]
"""What to do with elements that have no usual form. The keys are the names from below the root to
the element, without prefixes: sheetData/row/c."""


class PartCopy(ABC):
    """Takes a part block by block.

    Args:
        items: Key of the element that holds the items; "" for the root.
        item: Name of one item.

    Raises:
        Unreadable: Here and from every method: it is not well-formed, or beyond a limit.
    """

    def __init__(self, items: str, item: str) -> None:
        self._items = items
        self._end_of_item = b"</" + item.encode() + b">"
        self._starts, self._ends = self.handlers()
        self._held = b""
        self._elements = self._parsed = 0
        self._open: list[str] = []
        self._has_ended = False
        # Whether nothing but items has been parsed, so that the parser may skip some of them.
        self._plain = True
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._started
        parser.EndElementHandler = self._ended
        parser.CharacterDataHandler = self.text

    def feed(self, block: bytes) -> None:
        """Take the next block."""
        self._held = self._copy(self._held + block)

    def close(self) -> None:
        """End the part."""
        self._parse(self._held, final=True)
        if not self._has_ended:
            raise Unreadable("The workbook is damaged: a part of it has no content.")

    @abstractmethod
    def copy_usual(self, buffer: bytes, start: int) -> int:
        """Copy the items of the usual form that begin at `start`; tell where they end."""

    @abstractmethod
    def handlers(self) -> tuple[Starts, Ends]:
        """Tell what to do where elements start and end; all others are passed over."""

    @abstractmethod
    def text(self, text: str) -> None:
        """Take text, of whatever element."""

    def _copy(self, buffer: bytes) -> bytes:
        """Copy what can be copied; the rest is held back until there is more."""
        start = 0
        while start < len(buffer):
            if self._is_between_items():
                start = self.copy_usual(buffer, start)
            end = self._end_of_unusual(buffer, start)
            if end is None:
                if len(buffer) - start < _MOST_HELD:
                    return buffer[start:]
                # An item without end, or one that ends in another way than all others.
                self._plain, end = False, len(buffer)
            unusual = buffer[start:end]
            # Ends of items in a comment are none: from here on only the parser knows.
            if self._open and (b"<!" in unusual or b"<?" in unusual):
                self._plain = False
            self._parse(unusual)
            start = end
        return b""

    def _is_between_items(self) -> bool:
        return self._plain and self._open[-1:] == [self._items]

    def _end_of_unusual(self, buffer: bytes, start: int) -> int | None:
        """Where the parser should stop reading; None: further on than the buffer reaches."""
        if not self._plain or self._has_ended:
            return len(buffer)
        if self._items in self._open:
            end = buffer.find(self._end_of_item, start)
            return None if end < 0 else end + len(self._end_of_item)
        # The element that holds the items is the next, or one of the next.
        end = buffer.find(b">", start)
        return None if end < 0 else end + 1

    def _parse(self, content: bytes, *, final: bool = False) -> None:
        try:
            self._parser.Parse(content, final)
        except expat.ExpatError as error:
            raise Unreadable(
                "The workbook is damaged: its XML is not well-formed. Save it in Excel again."
            ) from error
        self._parsed += len(content)
        # What has been read and not understood yet is one tag that does not end.
        if self._parsed - self._parser.CurrentByteIndex > _MOST_HELD:
            raise Unreadable(_TOO_COMPLEX)

    def _started(self, name: str, attributes: Attributes) -> None:
        self._elements += 1
        if self._elements > _MOST_UNUSUAL or len(self._open) > _DEEPEST:
            raise Unreadable(_TOO_COMPLEX)
        tag = name.rpartition(":")[2] if ":" in name else name
        inside = self._open
        # The root is "", what is in it has no name before its own.
        key = f"{inside[-1]}/{tag}" if len(inside) > 1 else tag if inside else ""
        inside.append(key)
        if take := self._starts.get(key):
            take(attributes)

    def _ended(self, _name: str) -> None:
        key = self._open.pop()
        if take := self._ends.get(key):
            take()
        if key == self._items:
            self._has_ended = True


def text_up_to(most_bytes: int) -> bytes:
    """Write a regular expression that matches text in XML."""
    return rb"[^<\x00-\x08\x0b\x0c\x0e-\x1f]{0,%d}+" % most_bytes


def escaped(text: str) -> bytes:
    """Write text so that XML gives it back, carriage returns included."""
    return escape(text, quote=False).replace("\r", "&#13;").encode()

"""Rewrites a large XML part of a workbook in a normalized form.

python-calamine, which reads the workbook, is fast but trusts its input: for a cell that says to
be in row 1048576 and column XFD, it allocates 17 billion cells, and the process runs out of memory.
Therefore it never reads an uploaded file, only the normalized copy that is written here.

Items (rows of a sheet, or shared strings) in the form that spreadsheet programs usually write are
copied unchanged after a regular expression has matched them completely. All other items, and the
XML around the items, go through an XML parser and are written again in that form.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from html import escape
from xml.parsers import expat

from shared.kernel.spreadsheets.table import MAX_CELL_CHARACTERS, UnreadableFile
from shared.kernel.spreadsheets.xlsx_package import MAX_DEPTH, parse_xml

INVALID_MARKER = "\uffff"
"""Begins the text of a cell without a usable value. XML does not allow this character, so that no
text of a file can begin with it."""
NUMBER_MARKER = "\ufffe"
"""Begins the text of a number with a number format: the style and the number, such as 7;123."""

_MAX_BUFFER_BYTES = 4 << 20
"""Bytes that are buffered until an item is complete."""
_MAX_PARSED_ELEMENTS = 6_000_000
"""Elements that go through the parser: 100 000 rows of 20 columns, which take some seconds."""
_TOO_COMPLEX = "The workbook is too complex. Save the table as .csv and upload that file."


type XmlAttributes = dict[str, str]
type Starts = Mapping[str, Callable[[XmlAttributes], None]]
type Ends = Mapping[str, Callable[[], None]]
"""Handlers of elements that the parser reads. The keys are the paths of names from below the root
to the element, without prefixes: sheetData/row/c."""


class PartNormalizer(ABC):
    """Normalizes a part, which is fed in blocks.

    Args:
        items: Path of the element that contains the items; "" for the root.
        item: Name of the items.

    Raises:
        UnreadableFile: The part is not well-formed or exceeds a limit; from every method.
    """

    def __init__(self, items: str, item: str) -> None:
        self._items = items
        self._end_of_item = b"</" + item.encode() + b">"
        self._starts, self._ends = self.handlers()
        self._buffer = b""
        self._elements = self._parsed = 0
        self._open: list[str] = []
        self._items_ended = False
        # The text of the present string or cell, of which only the first characters are kept.
        self._value: list[str] = []
        self._length = 0
        self._takes_text = False
        # Whether the parser has read only whole items so far, so that it can skip others.
        self._can_skip = True
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._started
        parser.EndElementHandler = self._ended
        parser.CharacterDataHandler = self._add_text

    def feed(self, block: bytes) -> None:
        """Normalize the next block."""
        self._buffer = self._copy(self._buffer + block)

    def close(self) -> None:
        """End the part, and check that it is complete."""
        self._parse(self._buffer, final=True)
        if not self._items_ended:
            raise UnreadableFile("The workbook is damaged: one of its parts is empty.")

    @abstractmethod
    def copy_regular_items(self, buffer: bytes, start: int) -> int:
        """Copy the items in the usual form from `start`, and return where they end."""

    @abstractmethod
    def handlers(self) -> tuple[Starts, Ends]:
        """Return the handlers of the starts and ends of elements; other elements are ignored."""

    def _start_text(self, _attributes: XmlAttributes) -> None:
        self._takes_text = True

    def _end_text(self) -> None:
        self._takes_text = False

    def _add_text(self, text: str) -> None:
        if self._takes_text:
            self._length += len(text)
            if self._length <= MAX_CELL_CHARACTERS:
                self._value.append(text)

    def _copy(self, buffer: bytes) -> bytes:
        """Normalize the complete items of `buffer`, and return the rest."""
        start = 0
        while start < len(buffer):
            if self._is_between_items():
                start = self.copy_regular_items(buffer, start)
            end = self._end_of_irregular(buffer, start)
            if end is None:
                if len(buffer) - start < _MAX_BUFFER_BYTES:
                    return buffer[start:]
                # The item has no end tag, or an end tag in an unusual form.
                self._can_skip, end = False, len(buffer)
            irregular = buffer[start:end]
            # An end tag may be within a comment: from here on only the parser can find the ends.
            if self._open and (b"<!" in irregular or b"<?" in irregular):
                self._can_skip = False
            self._parse(irregular)
            start = end
        return b""

    def _is_between_items(self) -> bool:
        return self._can_skip and self._open[-1:] == [self._items]

    def _end_of_irregular(self, buffer: bytes, start: int) -> int | None:
        """Return where the parser must stop; None if that is beyond the buffer."""
        if not self._can_skip or self._items_ended:
            return len(buffer)
        if self._items in self._open:
            end = buffer.find(self._end_of_item, start)
            return None if end < 0 else end + len(self._end_of_item)
        # The element that contains the items comes next, or soon.
        end = buffer.find(b">", start)
        return None if end < 0 else end + 1

    def _parse(self, content: bytes, *, final: bool = False) -> None:
        parse_xml(self._parser, content, final=final)
        self._parsed += len(content)
        # The parser holds back a tag until it is complete.
        if self._parsed - self._parser.CurrentByteIndex > _MAX_BUFFER_BYTES:
            raise UnreadableFile(_TOO_COMPLEX)

    def _started(self, name: str, attributes: XmlAttributes) -> None:
        self._elements += 1
        if self._elements > _MAX_PARSED_ELEMENTS or len(self._open) > MAX_DEPTH:
            raise UnreadableFile(_TOO_COMPLEX)
        tag = name.rpartition(":")[2] if ":" in name else name
        inside = self._open
        # The path of the root is "". The paths of its children are their names.
        key = f"{inside[-1]}/{tag}" if len(inside) > 1 else tag if inside else ""
        inside.append(key)
        if handle := self._starts.get(key):
            handle(attributes)

    def _ended(self, _name: str) -> None:
        key = self._open.pop()
        if handle := self._ends.get(key):
            handle()
        if key == self._items:
            self._items_ended = True


def text_pattern(max_bytes: int) -> bytes:
    """Return a regular expression that matches the text of an XML element."""
    return rb"[^<\x00-\x08\x0b\x0c\x0e-\x1f]{0,%d}+" % max_bytes


def escape_text(text: str) -> bytes:
    """Return text as XML that a parser reads back unchanged, including carriage returns."""
    return escape(text, quote=False).replace("\r", "&#13;").encode()

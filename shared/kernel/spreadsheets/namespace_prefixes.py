"""Leaves out the prefix that some programs write before every name: <x:row> is <row>."""

import re
from collections.abc import Iterable, Iterator

from shared.kernel.spreadsheets.table import Unreadable

_ROOT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?<([A-Za-z_][\w.-]{0,30}):")
_LONGEST = 40
"""Bytes by which it is clear what a tag is."""


def without_prefix(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Rewrite the XML of a part so that the names of its elements have no prefix.

    Only the prefix of the outermost element is left out, wherever it occurs. A part without
    prefix passes as it is.

    Raises:
        Unreadable: Such a part has text in which tags are mere text.
    """
    opening, held, is_first = b"", b"", True
    for block in blocks:
        if is_first and (root := _ROOT.match(block)):
            opening = b"<" + root[1] + b":"
        is_first = False
        if not opening:
            yield block
            continue
        whole = held + block
        if b"<![CDATA[" in whole:
            raise Unreadable("The workbook is written in an unusual way. Save it in Excel again.")
        # The start of a tag may be cut off.
        end = whole.rfind(b"<", -_LONGEST)
        end = len(whole) if end < 0 else end
        held = whole[end:]
        yield _replaced(whole[:end], opening)
    yield _replaced(held, opening)


def _replaced(xml: bytes, opening: bytes) -> bytes:
    return xml.replace(opening, b"<").replace(b"</" + opening[1:], b"</") if opening else xml

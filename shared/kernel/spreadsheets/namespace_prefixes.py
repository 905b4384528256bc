"""Removes the namespace prefix that some programs write before every element: <x:row> is <row>."""

import re
from collections.abc import Iterable, Iterator

from shared.kernel.spreadsheets.table import UnreadableFile

_PREFIXED_ROOT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?<([A-Za-z_][\w.-]{0,30}):")
_MAX_TAG_START_BYTES = 40
"""Bytes at the end of a block that may be the start of a prefixed tag."""


def strip_namespace_prefix(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the XML of a part without the prefix of its root element, wherever it occurs.

    A part whose root has no prefix is unchanged.

    Raises:
        UnreadableFile: A part with prefix has CDATA sections, in which tags are text.
    """
    opening, held, is_first = b"", b"", True
    for block in blocks:
        if is_first and (root := _PREFIXED_ROOT.match(block)):
            opening = b"<" + root[1] + b":"
        is_first = False
        if not opening:
            yield block
            continue
        whole = held + block
        if b"<![CDATA[" in whole:
            raise UnreadableFile(
                "The workbook is written in an unusual way. Save it in Excel again."
            )
        # The block may end within a tag.
        end = whole.rfind(b"<", -_MAX_TAG_START_BYTES)
        end = len(whole) if end < 0 else end
        held = whole[end:]
        yield _without_prefix(whole[:end], opening)
    yield _without_prefix(held, opening)


def _without_prefix(xml: bytes, opening: bytes) -> bytes:
    return xml.replace(opening, b"<").replace(b"</" + opening[1:], b"</") if opening else xml

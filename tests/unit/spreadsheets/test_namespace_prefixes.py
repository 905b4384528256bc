"""Names of XML elements with and without prefix."""

import pytest

from shared.kernel.spreadsheets.namespace_prefixes import without_prefix
from shared.kernel.spreadsheets.table import UnreadableFile

_PLAIN = b'<sst xmlns:x="u"><si a:b="x:"><t>x: /x: &lt;x:</t></si></sst>'
_PREFIXED = b'<x:sst xmlns:x="u"><x:si a:b="x:"><x:t>x: /x: &lt;x:</x:t></x:si></x:sst>'


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b'<?xml version="1.0"?>\r\n'])
def test_a_prefix_is_left_out_wherever_blocks_end(start: bytes) -> None:
    for size in range(1, len(_PREFIXED) + 1):
        # The first block holds the start: those of the container are larger than any prefix.
        first = start + _PREFIXED[:8]
        blocks = [first, *(_PREFIXED[at : at + size] for at in range(8, len(_PREFIXED), size))]
        assert b"".join(without_prefix(blocks)) == start + _PLAIN, size


def test_what_has_no_prefix_passes() -> None:
    blocks = [b"<sst>", b"<x:si/><![CDATA[<x:y>]]>", b"</sst>"]

    assert b"".join(without_prefix(blocks)) == b"".join(blocks)


def test_tags_that_are_text_are_not_touched() -> None:
    with pytest.raises(UnreadableFile):
        list(without_prefix([b"<x:sst><x:t><![CDATA[<x:y>]]></x:t></x:sst>"]))

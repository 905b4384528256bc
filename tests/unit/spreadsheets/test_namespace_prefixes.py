"""Namespace prefixes of XML elements are removed."""

import pytest

from shared.kernel.spreadsheets.normalized_workbook import strip_namespace_prefix
from shared.kernel.spreadsheets.table import UnreadableFile

_PLAIN = b'<sst xmlns:x="u"><si a:b="x:"><t>x: /x: &lt;x:</t></si></sst>'
_PREFIXED = b'<x:sst xmlns:x="u"><x:si a:b="x:"><x:t>x: /x: &lt;x:</x:t></x:si></x:sst>'


@pytest.mark.parametrize("prolog", [b"", b"\xef\xbb\xbf", b'<?xml version="1.0"?>\r\n'])
def test_the_prefix_is_removed_wherever_blocks_end(prolog: bytes) -> None:
    for size in range(1, len(_PREFIXED) + 1):
        # The first block contains the prefix, because blocks are larger than any prefix.
        first = prolog + _PREFIXED[:8]
        blocks = [
            first,
            *(_PREFIXED[start : start + size] for start in range(8, len(_PREFIXED), size)),
        ]
        assert b"".join(strip_namespace_prefix(blocks)) == prolog + _PLAIN, size


def test_cdata_in_prefixed_xml_is_refused() -> None:
    with pytest.raises(UnreadableFile):
        list(strip_namespace_prefix([b"<x:sst><x:t><![CDATA[<x:y>]]></x:t></x:sst>"]))

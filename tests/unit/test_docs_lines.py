"""Lines of prose in the pages are short enough to be read and compared."""

import re
from collections.abc import Iterator

from tests.cases import each_case
from tests.page_commands import PAGES, ROOT

_WIDTH = 100
_GENERATED = {
    "docs/internals/performance.md", "docs/reference/errors.md",
    "docs/reference/interface-operations.md",
}  # fmt: skip
_PARTS = re.compile(r"^<!-- generated: (.+) -->\n[\s\S]*?^<!-- end: \1 -->$", re.MULTILINE)
_BLOCKS = re.compile(r"^( *)```[\s\S]*?^\1```$", re.MULTILINE)
_NO_PROSE = re.compile(r" *(\||#|<|!\[)")
_CODE = re.compile(r"`[^`]+`")


def long_lines(text: str) -> Iterator[str]:
    """Yield lines that are too long, and that could be broken before their last word."""
    for line in _BLOCKS.sub("", _PARTS.sub("", text)).splitlines():
        words = _CODE.sub("code", line).split()
        if len(line) > _WIDTH and len(words) > 1 and not _NO_PROSE.match(line):
            yield line


@each_case("page", sorted({*PAGES, "CHANGELOG.md", "SECURITY.md"} - _GENERATED))
def test_lines_of_prose_are_wrapped(page: str) -> None:
    assert list(long_lines((ROOT / page).read_text(encoding="utf-8"))) == []

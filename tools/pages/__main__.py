"""Write the generated parts of the pages, or check that they are current."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.generated import ROOT, write_or_check
from tools.pages.llms import llms
from tools.pages.markers import names, replaced
from tools.pages.parts import PARTS

_PAGES = ("template.yaml", "*.md", "docs/**/*.md", "examples/**/*.md")


def _pages() -> Iterator[Path]:
    for pattern in _PAGES:
        yield from ROOT.glob(pattern)


def texts() -> dict[str, str]:
    """Return the content of each page by its path.

    Raises:
        ValueError: A marker is wrong, or no page has a part.
    """
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(_pages())}
    if unused := PARTS.keys() - {name for text in pages.values() for name in names(text)}:
        raise ValueError(f"No page has the parts {sorted(unused)}.")
    written = {str(path.relative_to(ROOT)): replaced(text, PARTS) for path, text in pages.items()}
    return {**written, "functions/reference/page/llms.txt": llms(written["docs/README.md"])}


if __name__ == "__main__":
    sys.exit(write_or_check("pages", texts))

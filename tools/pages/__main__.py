"""Write the generated parts of the pages, or check that they are current."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.pages.markers import names, replaced
from tools.pages.parts import PARTS

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = ("template.yaml", "*.md", "docs/**/*.md", "examples/**/*.md")


def _pages() -> Iterator[Path]:
    for pattern in _PAGES:
        yield from _ROOT.glob(pattern)


def main() -> int:
    """Write the parts, or compare them with --check; return 1 when one is old or has no page."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    wrong, used = [], set[str]()
    for path in sorted(_pages()):
        text = path.read_text(encoding="utf-8")
        used.update(names(text))
        if (current := replaced(text, PARTS)) == text:
            continue
        if check:
            wrong.append(f"{path.relative_to(_ROOT)} is out of date; run python -m tools.pages")
        else:
            path.write_text(current, encoding="utf-8")
    wrong += [f"{name}: no page has this part" for name in PARTS if name not in used]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

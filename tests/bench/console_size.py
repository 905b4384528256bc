"""What a browser downloads of the web console, compressed."""

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path

from functions.console import content
from tests.bench.report import Row, Table

TITLE = "Size of the console"
CONSOLE = Path(__file__).parents[2] / "console"


def first_visit() -> int:
    """Return the bytes of a first visit in English, until the sign-in can be shown."""
    page = gzip.compress((CONSOLE / "index.html").read_bytes())
    files = ["icon.svg", "style.css", *content.loaded_with(CONSOLE), "words/en.js"]
    return len(page) + _sum(files)


def screens() -> Mapping[str, int]:
    """Return each screen that is loaded when it is first shown → the bytes that it adds."""
    first = set(content.loaded_with(CONSOLE))
    return {
        name: _sum(one for one in content.loaded_with(CONSOLE, name) if one not in first)
        for name in content.read(CONSOLE).files
        if name.startswith("screens/") and name not in first
    }


def compared(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure the downloads in kB of 1 000 bytes."""
    table = Table(TITLE, ["download", "kB"], "Compressed files that a browser downloads.")
    for name, size in {"first visit": first_visit(), **screens()}.items():
        kilobytes = round(size / 1000, 1)
        table.rows.append(Row([name, f"{kilobytes}"], {"kB": kilobytes}))
    return [table]


def _sum(names: Iterable[str]) -> int:
    return sum(len(content.compressed(CONSOLE, name)) for name in names)

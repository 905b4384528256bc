"""What a browser downloads of the web console, compressed."""

import gzip
from collections.abc import Iterable, Mapping
from pathlib import Path

from functions.console import content
from tests.bench.report import Table

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


def compared() -> list[Table]:
    """Measure the downloads in kB of 1 000 bytes."""
    columns = {"download": "", "kB": ".1f"}
    table = Table(TITLE, columns, "Compressed files that a browser downloads.")
    for name, size in {"first visit": first_visit(), **screens()}.items():
        kilobytes = round(size / 1000, 1)
        table.add(name, kilobytes, figures={"kB": kilobytes})
    return [table]


def _sum(names: Iterable[str]) -> int:
    return sum(len(content.compressed(CONSOLE, name)) for name in names)

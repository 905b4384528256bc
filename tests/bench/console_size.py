"""What a browser downloads of the web console, compressed."""

import gzip
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from functions.console import content
from tests.bench.report import Table

TITLE = "Size of the console"
CONSOLE = Path(__file__).parents[2] / "console"
_ENTRY = re.compile(r"^  \{$", re.MULTILINE)
_NAME = re.compile(r"^    name: '([a-z-]+)'", re.MULTILINE)
_PARENT = re.compile(r"^    parent: '([a-z-]+)'", re.MULTILINE)
_WRITES = re.compile(r"'(?:POST|PUT|PATCH|DELETE) /([a-z-]+)")
_NEW = re.compile(r"^    (?:create|more): .*", re.MULTILINE)
_PANELS = re.compile(r"panels: \[(.*?)\]")
_FILES = "    files: ["


def first_visit() -> int:
    """Return the bytes until the sign-in and then Home are shown, in the longest language."""
    page = gzip.compress((CONSOLE / "index.html").read_bytes())
    words = max(_sum([f"words/{language}.js"]) for language in ("en", "es"))
    return len(page) + words + _sum(["icon.svg", "style.css", *_first()])


def first_visit_of_floor() -> int:
    """Return the bytes until the floor asks for the PIN, in the longest language."""
    page = gzip.compress((CONSOLE / "floor/index.html").read_bytes())
    languages = ("en", "es")
    words = max(_sum([f"words/{one}.js", f"words/floor_{one}.js"]) for one in languages)
    own = {"icon.svg", "style.css", "floor/floor.css", *_loaded("floor/main.js")}
    return len(page) + words + _sum(own)


def screens_of_floor() -> Mapping[str, int]:
    """Return each screen of the floor → the bytes that it adds; the list of tasks comes first."""
    first = _loaded("floor/main.js")
    tasks = _loaded("floor/screens/tasks.js") - first
    names = sorted(path.stem for path in (CONSOLE / "floor/screens").glob("*.js"))
    own = {one: {f"floor/screens/{one}.js"} for one in names if one != "tasks"}
    own["decisions"] |= {"floor/sender.js", "floor/clock.js"}  # loaded with the first scan
    others = {
        name: {one for start in starts for one in _loaded(start)} - first - tasks
        for name, starts in own.items()
    }
    return {name: _sum(modules) for name, modules in {"tasks": tasks, **others}.items()}


def reader_of_camera() -> int:
    """Return the bytes of the library that reads codes where the browser reads none."""
    return _sum({*_loaded("vendor/zxing-reader.js"), "vendor/zxing-reader.wasm"})


def screens() -> Mapping[str, int]:
    """Return each screen after the first ones → the bytes that it adds to them.

    Those of a subject have its part of the interface and those of its writes, the form of something
    new only that of what it makes; details have their panels.
    """
    first = _first()
    found: dict[str, int] = {}
    for entry in _ENTRY.split((CONSOLE / "subjects.js").read_text())[1:]:
        name, *_ = _NAME.findall(entry)
        own = {*_PARENT.findall(entry)} or {name}
        written = own | {*_WRITES.findall(entry)}
        made = {*_WRITES.findall(" ".join(_NEW.findall(entry)))} or own
        starts = {
            "list": ["screens/list.js"],
            "new": ["screens/new.js"],
            "detail": ["screens/detail.js", "screens/panels/history.js", *_panels(entry)],
        }
        for kind, modules in starts.items():
            loaded = {one for start in modules for one in _loaded(start)}
            interface = made if kind == "new" else written
            parts = {f"interface/{one}.js" for one in interface}
            found[f"{name}, {kind}"] = _sum((loaded | parts) - first)
    for name in ("account", "map", "settings", "upload"):
        found[name] = _sum({*_loaded(f"screens/{name}.js")} - first)
    found["search of the header"] = _sum(
        {*_loaded("components/find.js"), *_loaded("components/found.js"), "found.css"} - first
    )
    return found


def _first() -> set[str]:
    starts = ("main.js", "screens/sign_in.js", "screens/home.js")
    return {one for start in starts for one in _loaded(start)}


def _panels(entry: str) -> list[str]:
    names = _PANELS.search(entry)
    found = re.findall(r"[a-z_]+", names[1] if names else "")
    return [f"screens/panels/{one}.js" for one in [*found, *(["files"] if _FILES in entry else [])]]


def compared() -> list[Table]:
    """Measure the downloads in kB of 1 000 bytes."""
    columns = {"download": "", "kB": ".1f"}
    table = Table(TITLE, columns, "Compressed files that a browser downloads.")
    sizes = {
        "first visit": first_visit(),
        "first visit of the floor": first_visit_of_floor(),
        "largest screen after it": max(screens().values()),
        "largest screen of the floor": max(screens_of_floor().values()),
    }
    for name, size in sizes.items():
        kilobytes = round(size / 1000, 1)
        table.add(name, kilobytes, figures={"kB": kilobytes})
    return [table]


@cache
def _loaded(start: str) -> frozenset[str]:
    return frozenset(content.loaded_with(CONSOLE, start))


@cache
def _size(name: str) -> int:
    return len(content.compressed(CONSOLE, name))


def _sum(names: Iterable[str]) -> int:
    return sum(map(_size, names))

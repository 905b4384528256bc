"""What the console consists of: files below one hash of all of them; the pages load them.

There are two pages: the console, and the floor with screens for people in the aisles, which a
worker of the browser opens without a network.

The folder is `console/` of the repository. The build replaces it by what `pack` writes, so that
nothing is read, hashed or compressed while a request waits; tests have no build.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
}
"""Suffix of the files that are served → media type. Types and settings of the checker are not."""

FLOOR, WORKER = "floor", "floor/worker.js"
"""First part of the addresses of the floor, and the path of its worker below the console."""

_START, _SUBJECTS = "main.js", "subjects.js"
_PAGES = {"": ("index.html", _START), FLOOR: ("floor/index.html", "floor/main.js")}
"""First part of the addresses that a page has → its file, and the module that it loads."""
_OF_FLOOR = ("floor/", "words/", "icon.svg", "style.css")
"""Beginnings of the files that the floor needs beside the modules that these import."""
_OWN_SCREENS = ("account", "map", "replenishments", "settings")
_PACKED = "packed.json"

_STATIC_IMPORT = re.compile(
    r"""(?:\bfrom ?|^import )['"](\.[^'"]+)['"]""",  # not import('…'), which loads later
    re.MULTILINE,
)
_COMMENTS = re.compile(
    rb"^[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)[ \t]*$",  # with whole lines, not beside code
    re.MULTILINE,
)
_SUBJECT = re.compile(r"^ {4}name: '([a-z-]+)',$", re.MULTILINE)
_LINK = re.compile(r'(src|href)="')


class Console(NamedTuple):
    """The console of one release.

    `version` is a hash of all its content, `files` are the names below it. `screens` has the first
    parts of the addresses that show a screen. `pages` has the head and the rest of each page,
    between which its base address is missing, by the first part of its addresses; all others have
    the page of "". `worker` is the program with which browsers keep the floor.
    """

    version: str
    files: tuple[str, ...]
    screens: tuple[str, ...]
    pages: Mapping[str, tuple[str, str]]
    worker: str


def read(folder: Path) -> Console:
    """Return the console in a folder, packed or not."""
    packed = folder / _PACKED
    return Console(**json.loads(packed.read_bytes())) if packed.exists() else _described(folder)


def compressed(folder: Path, name: str) -> bytes:
    """Return a file of the console, compressed."""
    packed = folder / f"{name}.gz"
    if packed.exists():
        return packed.read_bytes()
    return gzip.compress(_served(name, (folder / name).read_bytes()), mtime=0)


def _served(name: str, data: bytes) -> bytes:
    """Return what browsers get of a file: empty lines in place of comments.

    So lines keep their numbers. Files of others stay as they are.
    """
    if name.startswith("vendor/") or not name.endswith((".js", ".css")):
        return data
    return _COMMENTS.sub(lambda found: b"\n" * found[0].count(b"\n"), data)


def pack(folder: Path) -> None:
    """Compress the files of the console, and remove all others. Idempotent."""
    if (folder / _PACKED).exists():
        return
    console = _described(folder)
    content = {f"{name}.gz": compressed(folder, name) for name in console.files}
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (folder / _PACKED).write_text(json.dumps(console._asdict()))


def loaded_with(folder: Path, start: str = _START) -> list[str]:
    """Return a module and all that must be loaded before it runs; by default for the first page."""
    found = [start]
    for name in found:  # grows
        found += [one for one in _imports(folder, name) if one not in found]
    return found


def _imports(folder: Path, name: str) -> Iterator[str]:
    """Yield the modules that a module imports at its start."""
    for target in _STATIC_IMPORT.findall((folder / name).read_text()):
        parts: list[str] = []
        for part in (*PurePosixPath(name).parent.parts, *target.split("/")):
            if part == "..":
                parts.pop()
            elif part != ".":
                parts.append(part)
        yield "/".join(parts)


def _described(folder: Path) -> Console:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in MEDIA_TYPES)
    files = [path.relative_to(folder).as_posix() for path in paths]
    files.remove(WORKER)  # its address has no hash
    pages = {first: _page(folder, *names) for first, names in _PAGES.items()}
    program = (folder / WORKER).read_text()
    total = sha256("".join([*pages.values(), program]).encode())
    for name in files:
        content = (folder / name).read_bytes()
        total.update(f"{name} {len(content)}\n".encode() + content)
    version = total.hexdigest()[:16]
    subjects = _SUBJECT.findall((folder / _SUBJECTS).read_text())
    kept = {name for name in files if name.startswith(_OF_FLOOR)}
    for name in [one for one in kept if one.endswith(".js")]:
        kept |= {*loaded_with(folder, name)}
    known = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(sorted(kept))};\n"
    return Console(
        version=version,
        files=tuple(files),
        screens=(*_OWN_SCREENS, FLOOR, *subjects),
        pages={first: _divided(page, version) for first, page in pages.items()},
        worker=known + program,
    )


def _page(folder: Path, name: str, start: str) -> str:
    """Return a page that asks for the modules of its start at once."""
    modules = loaded_with(folder, start)[1:]  # the page itself names the first one
    links = [f'    <link rel="modulepreload" href="{one}" />\n' for one in modules]
    return (folder / name).read_text().replace("  </head>", "".join([*links, "  </head>"]))


def _divided(page: str, version: str) -> tuple[str, str]:
    head, _, rest = page.partition('<base href="./" />')
    return head, _LINK.sub(rf'\1="{version}/', rest)

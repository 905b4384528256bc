"""The libraries of the console, as browsers load them: without a build step.

They are copies of the modules in npm packages that tools/node/package-lock.json pins. Browsers know
no package names, so imports name the file beside instead.
"""

import json
import re
from collections.abc import Mapping

from tools.openapi.declared import ROOT

LIBRARIES: Mapping[str, tuple[str, str]] = {
    "preact.js": ("preact", "dist/preact.mjs"),
    "hooks.js": ("preact", "hooks/dist/hooks.mjs"),
    "signals-core.js": ("@preact/signals-core", "dist/signals-core.mjs"),
    "signals.js": ("@preact/signals", "dist/signals.mjs"),
    "idb.js": ("idb", "build/index.js"),
    "lean-qr.js": ("lean-qr", "index.mjs"),
    "zxing-reader.js": ("zxing-wasm", "dist/es/reader/index.js"),
    "zxing-share.js": ("zxing-wasm", "dist/es/share.js"),
}
"""File in console/vendor → npm package, and file in it."""

_PROGRAMS: Mapping[str, tuple[str, str]] = {
    "zxing-reader.wasm": ("zxing-wasm", "dist/reader/zxing_reader.wasm"),
}
"""File in console/vendor → npm package, and file in it, which is copied byte by byte."""

_FILES: Mapping[str, str] = {
    "preact": "preact.js",
    "preact/hooks": "hooks.js",
    "@preact/signals-core": "signals-core.js",
    "@preact/signals": "signals.js",
    "idb": "idb.js",
    "lean-qr": "lean-qr.js",
    "zxing-wasm/dist/es/reader/index.js": "zxing-reader.js",
}
"""Name in an import → file in console/vendor."""

_PARTS: Mapping[str, str] = {"../share.js": "zxing-share.js"}
"""Path in an import of a package → file in console/vendor."""

_PINNED = ROOT / "tools" / "node" / "package-lock.json"
_INSTALLED = ROOT / ".local" / "node" / "node_modules"
_IMPORT = re.compile(r'from ?"([^"]+)"')
_SOURCE_MAP = re.compile(r"\n?//# sourceMappingURL=.*\n?")


def libraries() -> dict[str, str | bytes]:
    """Return the content of each file in console/vendor.

    Each begins with name, version, license and integrity (SHA-512 of the package) as npm has them.
    A file of types leads the checker to those of the package. The licenses are beside.
    """
    pinned = json.loads(_PINNED.read_text())["packages"]
    found: dict[str, str | bytes] = {}
    for name, (package, path) in LIBRARIES.items():
        entry = pinned[f"node_modules/{package}"]
        origin = f"{package} {entry['version']}, {entry['license']}, {entry['integrity']}"
        head = f"// @ts-nocheck: {origin}\n"
        source = _SOURCE_MAP.sub("", (_INSTALLED / package / path).read_text())
        found[name] = head + _IMPORT.sub(_beside, source) + "\n"
        found[f"{package.rpartition('/')[2]}.LICENSE"] = (
            _INSTALLED / package / "LICENSE"
        ).read_text()
    for package, name in _FILES.items():
        found[name.replace(".js", ".d.ts")] = f"export * from '{package}';\n"
    for name, (package, path) in _PROGRAMS.items():
        found[name] = (_INSTALLED / package / path).read_bytes()
    return found


def _beside(match: re.Match[str]) -> str:
    """Return an import of the file beside."""
    name = _FILES.get(match[1]) or _PARTS[match[1]]
    return f'from"./{name}"'

"""Write the generated files of the console, or check that they are current. Needs npm.

The types of the interface are only for the checker and for editors. They are written to `.local`,
also when the files are compared, and not committed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.console.interface import document, modules, operations
from tools.console.vendor import libraries
from tools.openapi.declared import ROOT

_TYPES = ROOT / ".local" / "console" / "types"
_GENERATOR = ROOT / ".local" / "node" / "node_modules" / ".bin" / "openapi-ts"


def write_types() -> None:
    """Write the types of all bodies, as @hey-api/openapi-ts has them, and those of the calls."""
    _TYPES.mkdir(parents=True, exist_ok=True)
    (_TYPES / "operations.d.ts").write_text(operations())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bodies = {**document(), "paths": {}, "webhooks": {}}
        (folder / "bodies.json").write_text(json.dumps(bodies))
        subprocess.run(
            [_GENERATOR, "-i", "bodies.json", "-o", "types", "-p", "@hey-api/typescript"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
        )
        shutil.copy(folder / "types" / "types.gen.ts", _TYPES / "interface.ts")


def _files() -> Iterator[tuple[str, str]]:
    for folder, texts in (("vendor", libraries()), ("interface", modules())):
        for name, text in texts.items():
            yield f"{folder}/{name}", text


def main() -> int:
    """Write the files; with --check, compare them and return 1 when one differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.console", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    subprocess.run([ROOT / "tools" / "node" / "install.sh"], check=True)
    write_types()
    console, stale = ROOT / "console", []
    files = dict(_files())
    for name, text in files.items():
        path = console / name
        if check and (not path.exists() or path.read_text() != text):
            stale.append(name)
        elif not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    for folder in ("vendor", "interface"):
        for path in (console / folder).iterdir():
            if (name := f"{folder}/{path.name}") not in files:
                stale.append(name) if check else path.unlink()
    for name in stale:
        print(f"console/{name} is out of date; run python -m tools.console")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

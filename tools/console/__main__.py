"""Write the generated files of the console, or check that they are current. Needs npm.

The types of the interface are only for the checker and for editors. They are written to `.local`,
also when the files are compared, and not committed.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.console.interface import document, modules, operations
from tools.console.vendor import libraries
from tools.generated import ROOT, write_or_check

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


def texts() -> dict[str, str | bytes]:
    """Write the types; return the content of each other file by its path."""
    subprocess.run([ROOT / "tools" / "node" / "install.sh"], check=True)
    write_types()
    return {
        **{f"console/vendor/{name}": content for name, content in libraries().items()},
        **{f"console/interface/{name}": text for name, text in modules().items()},
    }


if __name__ == "__main__":
    folders = ("console/vendor", "console/interface")
    sys.exit(write_or_check("console", texts, folders=folders))

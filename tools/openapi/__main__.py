"""Write openapi.json and interface-operations.md of docs/reference/, or check them."""

import argparse
import sys
import tomllib

from tools.json_lines import json_lines
from tools.openapi.declared import ROOT
from tools.openapi.document import build
from tools.openapi.table import table


def texts() -> dict[str, str]:
    """Return the name of each generated file in docs/reference/ and its content."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    document = json_lines(build(project["version"]))
    return {"openapi.json": document + "\n", "interface-operations.md": table()}


def main() -> int:
    """Write the files; with --check, compare them and return 1 when one differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    stale = []
    for name, text in texts().items():
        path = ROOT / "docs" / "reference" / name
        if check and (not path.exists() or path.read_text() != text):
            stale.append(name)
        elif not check:
            path.write_text(text)
    for name in stale:
        print(f"docs/reference/{name} is out of date; run python -m tools.openapi")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

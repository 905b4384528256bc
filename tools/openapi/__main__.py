"""Write openapi.json and interface-operations.md of docs/reference/, or check them."""

import sys
import tomllib

from tools.generated import ROOT, write_or_check
from tools.json_lines import json_lines
from tools.openapi.document import build
from tools.openapi.table import table


def texts() -> dict[str, str]:
    """Return the content of each generated file by its path."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    document = json_lines(build(project["version"]))
    return {
        "docs/reference/openapi.json": document + "\n",
        "docs/reference/interface-operations.md": table(),
    }


if __name__ == "__main__":
    sys.exit(write_or_check("openapi", texts))

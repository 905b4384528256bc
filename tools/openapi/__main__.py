"""Write what docs/reference/ has of the interface, or check it."""

import sys
import tomllib

from tools.generated import ROOT, write_or_check
from tools.json_lines import json_lines
from tools.openapi.document import build
from tools.openapi.postman import collection
from tools.openapi.table import table


def texts() -> dict[str, str]:
    """Return the content of each generated file by its path."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    document = build(project["version"])
    return {
        "docs/reference/openapi.json": json_lines(document) + "\n",
        "docs/reference/postman.json": json_lines(collection(document), depth=4) + "\n",
        "docs/reference/interface-operations.md": table(),
    }


if __name__ == "__main__":
    sys.exit(write_or_check("openapi", texts))

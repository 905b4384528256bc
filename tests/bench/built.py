"""What `make build` made, laid out as Lambda would have it."""

import sys
from pathlib import Path
from typing import Any

from tests.template import Template
from tools.finish_build import EXTRA_LAYERS

ROOT = Path(__file__).parents[2]
BUILD = ROOT / ".aws-sam" / "build"
DEPENDENCIES = BUILD / "DependenciesLayer" / "python"


def functions() -> dict[str, str]:
    """Logical id → handler of every function that is built, in the template's order.

    Raises SystemExit when there is no complete build.
    """
    declared: dict[str, Any] = dict(Template({}).resources("AWS::Serverless::Function"))
    missing = [name for name in declared if not (BUILD / name).is_dir()]
    if missing or not DEPENDENCIES.is_dir():
        sys.exit(f"not built: {', '.join(missing) or 'the layers'}; run `make build` first")
    return {name: function["Handler"] for name, function in declared.items()}


def layers(function: str) -> list[Path]:
    """Folders of a function's layers."""
    own = [name for name, functions in EXTRA_LAYERS.items() if function not in functions]
    return [path for path in sorted(BUILD.glob("*Layer")) if path.name not in own]


def search_path(function: str) -> list[str]:
    """Where Lambda looks for the modules of a function: its code, then the layers."""
    return [str(BUILD / function), *(str(layer / "python") for layer in layers(function))]

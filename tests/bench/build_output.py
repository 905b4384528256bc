"""The output of `make build` in the layout of Lambda."""

import sys
from pathlib import Path
from typing import Any

from tests.template import Template
from tools.finish_build import EXTRA_LAYERS

ROOT = Path(__file__).parents[2]
BUILD_DIRECTORY = ROOT / ".aws-sam" / "build"
DEPENDENCIES = BUILD_DIRECTORY / "DependenciesLayer" / "python"


def functions() -> dict[str, str]:
    """Return logical id → handler of every function, in the order of the template.

    Raises:
        SystemExit: The build is missing or incomplete.
    """
    declared: dict[str, Any] = dict(Template({}).resources("AWS::Serverless::Function"))
    missing = [name for name in declared if not (BUILD_DIRECTORY / name).is_dir()]
    if missing or not DEPENDENCIES.is_dir():
        sys.exit(f"Not built: {', '.join(missing) or 'the layers'}. Run `make build` first.")
    return {name: function["Handler"] for name, function in declared.items()}


def layers(function: str) -> list[Path]:
    """Return the folders of the layers of a function."""
    own = [name for name, functions in EXTRA_LAYERS.items() if function not in functions]
    return [path for path in sorted(BUILD_DIRECTORY.glob("*Layer")) if path.name not in own]


def search_path(function: str) -> list[str]:
    """Return the module search path of a function: its code, then its layers."""
    return [str(BUILD_DIRECTORY / function), *(str(layer / "python") for layer in layers(function))]

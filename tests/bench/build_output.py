"""The output of `make build` in the layout of Lambda."""

import sys
from pathlib import Path
from typing import Any

from tests.bench.state import reason_against_build
from tests.template import Template
from tools.finish_build import uses

ROOT = Path(__file__).parents[2]
BUILD_DIRECTORY = ROOT / ".aws-sam" / "build"
"""What `make build` writes for this machine."""
PACKAGE_DIRECTORY = ROOT / ".aws-sam" / "prod"
"""What `make package` writes for AWS."""
_STAMPS = {
    BUILD_DIRECTORY: ROOT / ".aws-sam" / "build.stamp",
    PACKAGE_DIRECTORY: PACKAGE_DIRECTORY / "template.yaml",
}
DEPENDENCIES = BUILD_DIRECTORY / "DependenciesLayer" / "python"


def functions(build: Path = BUILD_DIRECTORY) -> dict[str, str]:
    """Return logical id → handler of every function, in the order of the template.

    Raises:
        SystemExit: The build is missing, incomplete or older than the sources.
    """
    target = "build" if build == BUILD_DIRECTORY else "package"
    reason = reason_against_build(_STAMPS[build], target)
    if reason:
        sys.exit(reason)
    declared: dict[str, Any] = dict(Template({}).resources("AWS::Serverless::Function"))
    missing = [name for name in declared if not (build / name).is_dir()]
    if missing or not (build / "DependenciesLayer").is_dir():
        sys.exit(f"Not built: {', '.join(missing) or 'the layers'}. Run `make {target}` first.")
    return {name: function["Handler"] for name, function in declared.items()}


def layers(function: str, build: Path = BUILD_DIRECTORY) -> list[Path]:
    """Return the folders of the layers of a function."""
    return [path for path in sorted(build.glob("*Layer")) if uses(function, path.name)]


def search_path(function: str) -> list[str]:
    """Return the module search path of a function: its code, then its layers."""
    return [str(BUILD_DIRECTORY / function), *(str(layer / "python") for layer in layers(function))]

"""Generates `stowage_client.interface` from the OpenAPI document when a wheel is built."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedInterface(BuildHookInterface):
    """Adds the generated package to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate the package, unless a source distribution or an editable wheel is built."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        packed = root / "openapi.json"  # of a source distribution
        document = packed if packed.exists() else root.parents[1] / "docs/reference/openapi.json"
        self._folder = TemporaryDirectory()
        package = Path(self._folder.name) / "interface"
        subprocess.run(
            [
                *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"),
                *("--path", document, "--output-path", package, "--fail-on-warning"),
                *("--config", root / "openapi-python-client.yaml"),
            ],
            check=True,
        )
        build_data["force_include"][str(package)] = "stowage_client/interface"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the folder of the generated package."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()

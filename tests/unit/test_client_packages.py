"""The packages in `clients/` have the version of the interface and the pinned libraries."""

import json
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "clients"
VERSION = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())["info"]["version"]


def test_python_package_has_the_version_of_the_interface() -> None:
    package = tomllib.loads((CLIENTS / "python" / "pyproject.toml").read_text())
    assert package["project"]["version"] == VERSION


def test_typescript_package_has_the_version_of_the_interface_and_pinned_libraries() -> None:
    package = json.loads((CLIENTS / "typescript" / "package.json").read_text())
    pinned = json.loads((ROOT / "tools" / "node" / "package.json").read_text())["dependencies"]
    assert package["version"] == VERSION
    needed = {**package["dependencies"], **package["devDependencies"]}
    assert needed == {name: pinned[name] for name in needed}

"""The packages in `clients/` have the version of the interface and the pinned libraries."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_typescript_package_has_the_version_of_the_interface_and_pinned_libraries() -> None:
    version = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())["info"][
        "version"
    ]
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text())
    pinned = json.loads((ROOT / "tools" / "node" / "package.json").read_text())["dependencies"]
    assert package["version"] == version
    needed = {**package["dependencies"], **package["devDependencies"]}
    assert needed == {name: pinned[name] for name in needed}

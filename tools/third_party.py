"""Write THIRD-PARTY.md: the third-party software that a deployment contains, with its licenses.

The Python packages come from `layers/*/requirements.txt`, their licenses from the metadata of the
installed packages, and the libraries that are compiled into a package from the software bill of
materials (SBOM) in its wheel.
"""

import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from tools.generated import write_or_check

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "THIRD-PARTY.md"

SPDX_OF_TEXT: Mapping[str, str] = {
    "Apache-2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "MIT": "MIT",
    "MIT OR AFL-2.1": "MIT OR AFL-2.1",
}
"""SPDX expression of each text that packages without a License-Expression have as License."""

SPDX_OF_NAME: Mapping[str, str] = {
    "aws-lambda-powertools": "MIT-0",  # the metadata says MIT, the license file MIT-0
    "et-xmlfile": "MIT AND PSF-2.0",  # contains code of the standard library
    "multipart": "MIT",  # stated by a classifier only
    "openssl": "Apache-2.0",  # the SBOM of cryptography has no license for it
    "pydyf": "BSD-3-Clause",  # stated by a classifier only
    "pylopdf-fonts-zh-cn": "OFL-1.1",  # the metadata has the text of the license
    "python-dateutil": "BSD-3-Clause",  # covers all code; part of it is also under Apache-2.0
}
"""SPDX expression of packages and components whose metadata is incomplete."""

EMBEDDED: Mapping[str, tuple[str, ...]] = {
    "botocore": (
        "CA certificates of Mozilla (MPL-2.0)",
        "parts of requests (Apache-2.0)",
        "parts of urllib3 (MIT)",
        "six (MIT)",
    ),
    "cffi": ("libffi (MIT)",),
    "uharfbuzz": ("HarfBuzz (MIT-Modern-Variant)",),
}
"""Components that a package contains and lists in no SBOM."""

_HEAD = """# Third-party software

Stowage is licensed under the [Apache License 2.0](LICENSE). A deployment also contains the software
below, each under its own license. Licenses are SPDX expressions.

`python -m tools.third_party` generates this page; `make check` fails if it is out of date.

`make build` removes the license files of the packages from the layers. Before you pass built
layers on to others, add these files again: `.venv` has them in the `*.dist-info` directory of each
package.
"""

_LAYER_HEAD = """
## Layer `{layer}`

| Package | Version | Range in `pyproject.toml` | License | Source |
|---|---|---|---|---|
"""

_COMPONENTS_HEAD = """
## Components inside those packages

The lists come from the SBOM of each wheel and include components that only its build uses.
"""

_FILES = """
## Files in this repository

| Files | Software | Version | License |
|---|---|---|---|
| `swagger-ui*` in `functions/reference/page/` | Swagger UI | {swagger_ui} | Apache-2.0 |
{console}| `zxing-reader.wasm` in `console/vendor/` | ZXing-C++ | | Apache-2.0 AND MIT |

`functions/reference/page/` has the license and the notice of Swagger UI and the licenses of the
libraries in its bundle, `console/vendor/` the licenses of its files.
"""


class MetadataError(Exception):
    """The license of a package cannot be determined."""


@dataclass(frozen=True, slots=True)
class Component:
    """A library that is part of a package."""

    name: str
    version: str
    license: str


def required(layer: Path) -> Mapping[str, str]:
    """Return the version of each package in the requirements file of a layer."""
    text = (layer / "requirements.txt").read_text()
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))


def declared_ranges() -> Mapping[str, str]:
    """Return the version range of each package that pyproject.toml declares for a layer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = {path.name for path in (ROOT / "layers").iterdir()}
    groups = project["dependency-groups"]
    declared = [*project["project"]["dependencies"]]
    declared += [entry for name in groups.keys() & layers for entry in groups[name]]
    matches = (re.fullmatch(r"([\w.-]+)(?:\[.*\])?(.*)", entry) for entry in declared)
    return {match[1].lower(): match[2] for match in matches if match}


def installed(name: str, version: str) -> Distribution:
    """Return the installed package.

    Raises:
        MetadataError: The package is not installed, or in another version.
    """
    try:
        package = distribution(name)
    except PackageNotFoundError:
        raise MetadataError(f"{name} {version} is not installed; run 'make setup'.") from None
    if _normalized(package.version) != _normalized(version):
        raise MetadataError(
            f"{name}: {package.version} is installed, {version} is required; run 'make setup'."
        )
    return package


def _normalized(version: str) -> str:
    """Return a version without leading zeros, as uv.lock has it."""
    return ".".join(part.lstrip("0") or "0" for part in version.split("."))


def package_license(name: str, package: Distribution) -> str:
    """Return the license of a package as an SPDX expression.

    Raises:
        MetadataError: The metadata has no license that this tool can interpret.
    """
    metadata = package.metadata
    found = (
        SPDX_OF_NAME.get(name)
        or metadata.get("License-Expression")
        or SPDX_OF_TEXT.get(metadata.get("License", ""))
    )
    if found is None:
        raise MetadataError(
            f"{name}: the license is unknown; read its license file and add it to SPDX_OF_NAME."
        )
    return found


def source(package: Distribution) -> str:
    """Return the address of a package's repository, or of its home page."""
    links = (link.split(", ", 1) for link in package.metadata.get_all("Project-URL", failobj=[]))
    by_label = {label.lower(): address for label, address in links}
    labels = ("source", "source code", "code", "repository", "homepage")
    address = next((by_label[label] for label in labels if label in by_label), None)
    return address or package.metadata.get("Home-page") or ""


def components(package: Distribution) -> Iterator[Component]:
    """Return the components that the SBOMs of a package list.

    Raises:
        MetadataError: A component has no license.
    """
    for path in package.files or ():
        if "sboms" in path.parts and path.suffix == ".json":
            for entry in json.loads(path.read_text()).get("components", []):
                yield Component(entry["name"], entry["version"], _component_license(entry))


def _component_license(entry: Mapping[str, Any]) -> str:
    stated = [
        one.get("expression") or one["license"].get("id") or one["license"]["name"]
        for one in entry.get("licenses", [])
    ]
    expression = " AND ".join(stated) or SPDX_OF_NAME.get(entry["name"])
    if expression is None:
        raise MetadataError(
            f"{entry['name']}: the SBOM has no license; find it and add it to SPDX_OF_NAME."
        )
    if " AND " in expression:
        return expression
    return " OR ".join(sorted(part.strip() for part in expression.split(" OR ")))


def page() -> str:
    """Return the text of the page."""
    ranges = declared_ranges()
    parts = [_HEAD]
    packages: dict[str, Distribution] = {}
    for layer in sorted((ROOT / "layers").iterdir()):
        parts.append(_LAYER_HEAD.format(layer=layer.name))
        for name, version in required(layer).items():
            package = packages[name] = installed(name, version)
            parts.append(
                f"| {name} | {version} | {ranges.get(name, 'indirect')} "
                f"| {package_license(name, package)} | {source(package)} |\n"
            )
    parts.append(_COMPONENTS_HEAD)
    parts.extend(_components_section(name, packages[name]) for name in sorted(packages))
    parts.append(_FILES.format(swagger_ui=_swagger_ui_version(), console=_console_libraries()))
    return "".join(parts)


def _components_section(name: str, package: Distribution) -> str:
    by_license: dict[str, list[str]] = defaultdict(list)
    for component in components(package):
        by_license[component.license].append(f"{component.name} {component.version}")
    lines = [f"- {text}: {', '.join(names)}\n" for text, names in sorted(by_license.items())]
    lines += [f"- {embedded}\n" for embedded in EMBEDDED.get(name, ())]
    return f"\n### {name}\n\n{''.join(lines)}" if lines else ""


def _console_libraries() -> str:
    """Return a row for each library of the console, from the head of its file."""
    rows = []
    for path in sorted((ROOT / "console" / "vendor").glob("*.js")):
        head = path.read_text().partition("\n")[0]
        match = re.fullmatch(r"// @ts-nocheck: (\S+) (\S+), (\S+), sha512-\S+", head)
        if match is None:
            raise MetadataError(f"{path} does not begin with name, version and license.")
        name, version, license_ = match.groups()
        rows.append(f"| `{path.name}` in `console/vendor/` | {name} | {version} | {license_} |\n")
    return "".join(rows)


def _swagger_ui_version() -> str:
    script = (ROOT / "tools" / "renderer.sh").read_text()
    match = re.search(r"^version=(\S+)$", script, re.MULTILINE)
    if match is None:
        raise MetadataError("tools/renderer.sh does not name the version of Swagger UI.")
    return match[1]


def texts() -> dict[str, str]:
    """Return the page by its path; exit with the reason if a license is unknown."""
    try:
        return {PAGE.name: page()}
    except MetadataError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(write_or_check("third_party", texts))

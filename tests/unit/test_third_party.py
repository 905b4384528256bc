"""The list of third-party software: which packages it names, and which licenses it accepts."""

from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tools import third_party
from tools.third_party import MetadataError


class _Package(Distribution):
    """A package with the given metadata and no files."""

    def __init__(self, metadata: str) -> None:
        self._metadata = f"Metadata-Version: 2.4\nName: example\nVersion: 1.0\n{metadata}\n"

    def read_text(self, filename: str) -> str | None:
        return self._metadata if filename == "METADATA" else None

    def locate_file(self, path: object) -> Path:
        return Path(str(path))


def test_libraries_of_the_console_are_listed_with_their_licenses() -> None:
    page = third_party.PAGE.read_text()
    folder = third_party.ROOT / "console" / "vendor"
    for path in folder.glob("*.js"):
        origin, license_, *_ = path.read_text().split(",", 2)
        package, version = origin.split()[-2:]
        row = f"| `{path.name}` in `console/vendor/` | {package} | {version} |{license_} |"
        assert row in page
        assert (folder / f"{package.rpartition('/')[2]}.LICENSE").exists()


def test_every_package_of_every_layer_is_listed_with_its_version() -> None:
    page = third_party.PAGE.read_text()

    for layer in (third_party.ROOT / "layers").iterdir():
        for name, version in third_party.required(layer).items():
            assert f"| {name} | {version} |" in page


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("License-Expression: BSD-3-Clause", "BSD-3-Clause"),
        ("License: Apache License 2.0", "Apache-2.0"),
    ],
)
def test_license_is_an_spdx_expression(metadata: str, expected: str) -> None:
    assert third_party.package_license("example", _Package(metadata)) == expected


@pytest.mark.parametrize("metadata", ["License: Ask the author", ""])
def test_package_without_an_interpretable_license_is_refused(metadata: str) -> None:
    with pytest.raises(MetadataError, match="example: the license is unknown"):
        third_party.package_license("example", _Package(metadata))


def test_package_that_is_installed_in_another_version_is_refused() -> None:
    with pytest.raises(MetadataError, match=r"pytest: .* is installed, 0\.1 is required"):
        third_party.installed("pytest", "0.1")


def test_package_that_is_not_installed_is_refused() -> None:
    with pytest.raises(MetadataError, match=r"no-such-package 1\.0 is not installed"):
        third_party.installed("no-such-package", "1.0")

"""The packages of the layers: they run on Amazon Linux 2023, and bring the time zones."""

import re
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.import_graph import reached_from
from tests.subprocesses import output_of
from tests.template import Template
from tools import third_party
from tools.finish_build import EXTRA_LAYERS

_LOCKED = {
    package["name"]: package
    for package in tomllib.loads((third_party.ROOT / "uv.lock").read_text())["package"]
}
_LAYERS = tuple((third_party.ROOT / "layers").iterdir())
_UV_REQUIREMENTS = "tools/uv-requirements.txt"
_PACKAGES = {
    name: version for layer in _LAYERS for name, version in third_party.required(layer).items()
}
_GLIBC = (2, 34)
"""Of Amazon Linux 2023, the system of the runtime."""

_TIME_ZONES = """
from shared.kernel.calendar_days import time_zone, time_zones
print(time_zone("Europe/Madrid"), len(time_zones()) > 400)
"""


def _runs_on(wheel: str, python: str, machine: str) -> bool:
    """Whether the runtime can import a wheel with compiled modules."""
    *_, versions, abi, platforms = wheel.removesuffix(".whl").split("-")
    number = int(python.removeprefix("cp3"))
    fits = versions == abi == python or (
        abi == "abi3" and int(versions.removeprefix("cp3")) <= number
    )
    glibc = [
        tuple(map(int, found))
        for found in re.findall(rf"manylinux_(\d+)_(\d+)_{machine}\b", platforms)
    ]
    return fits and (f"manylinux2014_{machine}" in platforms or any(v <= _GLIBC for v in glibc))


@each_case("machine", ["x86_64", "aarch64"])
@each_case("name", sorted(_PACKAGES))
def test_a_package_has_a_wheel_for_the_runtime(name: str, machine: str) -> None:
    """Compiled for it, if the package has compiled modules; otherwise the build has to compile."""
    runtime = Template({}).text({"Ref": "Runtime"})
    python = runtime.replace("python", "cp").replace(".", "")
    assert _LOCKED[name]["version"] == _PACKAGES[name]
    wheels = [one["url"].rpartition("/")[2] for one in _LOCKED[name]["wheels"]]
    compiled = [wheel for wheel in wheels if not wheel.endswith("-none-any.whl")]
    assert wheels
    if compiled:
        assert [wheel for wheel in compiled if _runs_on(wheel, python, machine)], compiled


_EXTRA_PACKAGES = {
    "CryptographyLayer": {"cryptography", "jwt"},
    "ImportsLayer": {"openpyxl", "python_calamine"},
    "LabelsLayer": {"barcode", "pydyf", "uharfbuzz"},
}
"""Layer → what the code imports from it. The handler of every function can read a form with
`multipart`, and only imports have forms."""


@pytest.mark.parametrize("layer", sorted(_EXTRA_PACKAGES))
def test_a_function_has_an_extra_layer_if_it_imports_its_packages(layer: str) -> None:
    functions = Template({}).resources("AWS::Serverless::Function")
    importing = {
        name
        for name, function in functions.items()
        for module in reached_from(function["Handler"].rpartition(".")[0], third_party.ROOT)
        if module.partition(".")[0] in _EXTRA_PACKAGES[layer]
    }
    added = {
        name for name, function in functions.items() if {"Ref": layer} in function.get("Layers", ())
    }
    assert importing == added == set(EXTRA_LAYERS[layer])


def test_every_extra_layer_is_checked() -> None:
    assert _EXTRA_PACKAGES.keys() == EXTRA_LAYERS.keys()


def test_json_is_written_by_compiled_code() -> None:
    """The wheel of simplejson in pure Python, which is there too, takes several times as long."""
    assert callable(import_module("simplejson._speedups").make_encoder)


def test_time_zones_need_no_database_of_the_system() -> None:
    assert "tzdata" in _PACKAGES
    assert output_of("-c", _TIME_ZONES, PYTHONTZPATH="") == "Europe/Madrid True\n"


def _hashes(path: Path) -> dict[str, set[str]]:
    """Return package → hashes of a requirements file; a line without a hash has none."""
    blocks = re.split(r"^(?=[\w.-]+==)", path.read_text(), flags=re.MULTILINE)[1:]
    return {
        block.partition("==")[0]: set(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block))
        for block in blocks
    }


@each_case(
    "name", [*sorted(f"layers/{one.name}/requirements.txt" for one in _LAYERS), _UV_REQUIREMENTS]
)
def test_every_downloaded_package_has_the_hashes_of_the_lock(name: str) -> None:
    found = _hashes(third_party.ROOT / name)
    assert found
    for package, hashes in found.items():
        locked = _LOCKED[package]
        files = [*locked["wheels"], *([locked["sdist"]] if "sdist" in locked else [])]
        assert hashes == {one["hash"] for one in files}, package


def test_uv_is_installed_by_its_hashes_only() -> None:
    setup = (third_party.ROOT / "tools/setup.sh").read_text().replace("\\\n", "")
    (install,) = re.findall(r"bin/pip install (.*)", setup)
    assert "--require-hashes" in install
    assert f"--requirement {_UV_REQUIREMENTS}" in install
    assert "==" not in install, "nothing is named beside the file"


@each_case("target", ["package", ".aws-sam/build.stamp"])
def test_packages_for_another_processor_are_compared_with_the_hashes(target: str) -> None:
    """SAM downloads them by name and version, without the requirements file."""
    shown = subprocess.run(  # noqa: S603 - of this repository
        ["make", "--print-data-base", "--dry-run", "--always-make", target],  # noqa: S607
        cwd=third_party.ROOT, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    (constraints,) = re.findall(
        rf"^(?:# )?{re.escape(target)}: PIP_CONSTRAINT := (.*)$", shown, re.MULTILINE
    )
    assert {Path(one) for one in constraints.split()} == {
        layer / "requirements.txt" for layer in _LAYERS
    }

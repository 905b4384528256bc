"""The packages of the layers: they run on Amazon Linux 2023, and bring the time zones."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from tests.cases import each_case
from tests.import_graph import reached_from
from tests.template import Template
from tools import third_party
from tools.finish_build import EXTRA_LAYERS

_LOCKED = {
    package["name"]: package
    for package in tomllib.loads((third_party.ROOT / "uv.lock").read_text())["package"]
}
_PACKAGES = {
    name: version
    for layer in (third_party.ROOT / "layers").iterdir()
    for name, version in third_party.required(layer).items()
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
    shown = subprocess.run(  # noqa: S603 - a constant program
        [sys.executable, "-c", _TIME_ZONES],
        env={"PYTHONTZPATH": "", "PYTHONPATH": str(third_party.ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "Europe/Madrid True\n"

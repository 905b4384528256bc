"""The build keeps what the functions use, for the processor on which they run."""

import gzip
import json
import re
import runpy
import shutil
from pathlib import Path

import botocore
import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel

from functions.mcp.app import lambda_handler
from shared.http.routes import DeferredRoutes
from tests.unit.test_aws_page import called
from tools.finish_build import (
    BINARY_MODULES,
    ELF_MACHINES,
    KEPT_SERVICES,
    TOOL_PACKAGES,
    omit_docstrings,
    omit_documentation,
    wrong_binaries,
)

_ACCESS = {
    "region_name": "eu-west-1",
    "aws_access_key_id": "key",
    "aws_secret_access_key": "secret",
}


def test_the_build_keeps_the_description_of_every_service_that_the_functions_call() -> None:
    assert called("shared", "functions") == KEPT_SERVICES


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build for arm64 that has the headers of the binary modules."""
    for layer, names in BINARY_MODULES.items():
        for name in names:
            _write(
                tmp_path / layer / "python" / f"{name}.cpython-313-aarch64-linux-gnu.so", "arm64"
            )
    return tmp_path


def _write(module: Path, architecture: str) -> None:
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_bytes(b"\x7fELF" + bytes(14) + ELF_MACHINES[architecture].to_bytes(2, "little"))


def test_binary_modules_for_the_processor_are_accepted(build: Path) -> None:
    assert list(wrong_binaries(build, "arm64")) == []


def test_binary_modules_for_another_processor_are_refused(build: Path) -> None:
    module = build / "CryptographyLayer/python/_cffi_backend.cpython-313-aarch64-linux-gnu.so"
    _write(module, "x86_64")
    assert list(wrong_binaries(build, "arm64")) == [
        f"{module}: not a binary module for arm64 (machine 62)"
    ]


def test_a_package_in_pure_python_in_place_of_a_binary_one_is_refused(build: Path) -> None:
    (speedups,) = build.rglob("_speedups*")
    speedups.unlink()
    assert list(wrong_binaries(build, "arm64")) == [
        "DependenciesLayer: simplejson/_speedups has no binary module"
    ]


def test_a_new_binary_module_must_be_listed(build: Path) -> None:
    _write(build / "ImportsLayer/python/new/_native.abi3.so", "arm64")
    assert list(wrong_binaries(build, "arm64")) == [
        "ImportsLayer: new/_native is not in BINARY_MODULES"
    ]


def test_what_botocore_imports_of_its_docstrings_is_there(tmp_path: Path) -> None:
    sources = "\n".join(path.read_text() for path in Path(botocore.__path__[0]).glob("*.py"))
    modules = re.findall(r"^(?:from|import) (botocore\.docs\S*)", sources, re.MULTILINE)
    assert set(modules) == {"botocore.docs.docstring", "botocore.docs.utils"}
    imported = re.findall(r"^from botocore\.docs\.docstring import (.+)", sources, re.MULTILINE)

    docs = tmp_path / "botocore" / "docs"
    (docs / "bcdoc").mkdir(parents=True)
    for name in ("__init__.py", "docstring.py", "service.py", "utils.py"):
        (docs / name).write_text("import botocore.docs.bcdoc")
    for _ in range(2):  # a build may be finished again
        omit_docstrings(tmp_path)

    assert {path.name for path in docs.iterdir()} == {"__init__.py", "docstring.py", "utils.py"}
    found = runpy.run_path(str(docs / "docstring.py"))
    assert {found[name](x=1) for names in imported for name in names.split(", ")} == {None}


def test_descriptions_of_services_have_their_shapes_without_texts(tmp_path: Path) -> None:
    installed = Path(botocore.__path__[0]).parent
    for service in KEPT_SERVICES:
        name = f"botocore/data/{service}"
        shutil.copytree(installed / name, tmp_path / name)
    # A member of a shape may have the name of the texts.
    [file] = tmp_path.glob("botocore/data/kms/*/service-2.json.gz")
    before = json.loads(gzip.decompress(file.read_bytes()))
    before["shapes"]["KeyMetadata"]["members"]["documentation"] = {"shape": "BooleanType"}
    file.write_bytes(gzip.compress(json.dumps(before).encode()))
    for _ in range(2):  # a build may be finished again
        omit_documentation(tmp_path)

    after = json.loads(gzip.decompress(file.read_bytes()))
    assert after["operations"].keys() == before["operations"].keys()
    for name, shape in before["shapes"].items():
        kept = after["shapes"][name]
        assert kept.keys() == shape.keys() - {"documentation"}
        assert kept.get("members", {}).keys() == shape.get("members", {}).keys()
    loader = Loader([str(tmp_path / "botocore/data")], include_default_search_paths=False)
    for service in KEPT_SERVICES:
        model = ServiceModel(loader.load_service_model(service, "service-2"))
        assert not any(model.operation_model(one).documentation for one in model.operation_names)
        # A client needs those of its own parameters when it finds an address.
        assert all(one.documentation for one in model.client_context_parameters)


def test_the_function_of_tools_keeps_the_packages_that_it_imports() -> None:
    modules = {
        group.module for group in lambda_handler._groups if isinstance(group, DeferredRoutes)
    }
    assert {one.split(".")[1] for one in modules} | {"mcp"} == TOOL_PACKAGES

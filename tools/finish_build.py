"""Reduce the size and the start-up time of the output of `sam build`.

`sam build` installs complete packages: descriptions of every AWS service, type stubs, and no
compiled modules. This tool removes files that no function uses, compiles the rest, checks that
the binary modules are those of the processor, writes what a cold start would compile into a file
(`tools/precompile.py`), compresses the files of the web console, and prints the sizes. Running it
again changes nothing.

The compiled files are of the kind unchecked-hash: Lambda changes the modification times of files,
so Python would otherwise compile every module again at each cold start.
"""

import argparse
import compileall
import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from functions.console import content
from shared.kernel import precompiled

KEPT_SERVICES = frozenset({"dynamodb", "kms", "s3", "scheduler", "sqs", "sts"})
"""AWS services that the functions call; the descriptions of all others are removed."""

LIMIT_MB = 40
"""Maximum unzipped size of a function with its layers. They have 38: a library that comes in
unnoticed is larger than the rest."""
EXTRA_LAYERS = {
    "CryptographyLayer": (
        "AuthorizerFunction",
        "OauthFunction",
        "SettingsFunction",
        "FallbackFunction",
    ),
    "ImportsLayer": ("ImportsFunction", "ImportWorkerFunction"),
    "LabelsLayer": ("LabelsFunction",),
}
"""Layer → the functions that use it; the other layers are used by all but WITHOUT_LAYERS."""

WITHOUT_LAYERS = frozenset({"ConsoleFunction"})

TOOL_PACKAGES = frozenset({"catalog", "documents", "mcp", "stock", "work"})
"""Packages of functions that McpFunction needs: its own, and those whose routes its tools call."""

PYTHON = (3, 13)
"""Version of the functions; compiled files can only be read by the same minor version."""

BINARY_MODULES: Mapping[str, frozenset[str]] = {
    "DependenciesLayer": frozenset(
        {
            "pydantic_core/_pydantic_core",
            "simplejson/_speedups",
        }
    ),
    "CryptographyLayer": frozenset({"_cffi_backend", "cryptography/hazmat/bindings/_rust"}),
    "ImportsLayer": frozenset({"python_calamine/_python_calamine"}),
    "LabelsLayer": frozenset({"uharfbuzz/_harfbuzz"}),
}
"""Layer → its binary modules. pip installs a slow package in Python if no binary one fits."""

ELF_MACHINES: Mapping[str, int] = {"arm64": 183, "x86_64": 62}
"""Architecture of Lambda → the field `e_machine` in the header of a binary module."""

UNUSED_PATHS = (
    "annotated_types/test_cases.py",
    "aws_lambda_powertools/event_handler",  # `ApiHandler` routes the requests
    "aws_lambda_powertools/logging/formatters/datadog.py",
    "aws_lambda_powertools/metrics/provider/datadog",
    "aws_lambda_powertools/utilities/auth_alpha",
    "aws_lambda_powertools/utilities/circuit_breaker",
    "aws_lambda_powertools/utilities/data_classes/active_mq_event.py",
    "aws_lambda_powertools/utilities/data_classes/api_gateway_authorizer_event.py",
    "aws_lambda_powertools/utilities/data_classes/appsync_authorizer_event.py",
    "aws_lambda_powertools/utilities/data_classes/cognito_user_pool_event.py",
    "aws_lambda_powertools/utilities/data_classes/iot_registry_event.py",
    "aws_lambda_powertools/utilities/data_classes/rabbit_mq_event.py",
    "aws_lambda_powertools/utilities/data_classes/s3_object_event.py",
    "aws_lambda_powertools/utilities/data_masking",
    "aws_lambda_powertools/utilities/feature_flags",
    "aws_lambda_powertools/utilities/idempotency",  # the service stores its own records
    "aws_lambda_powertools/utilities/kafka",
    "aws_lambda_powertools/utilities/metadata",
    "aws_lambda_powertools/utilities/parameters",
    "aws_lambda_powertools/utilities/parser",
    "aws_lambda_powertools/utilities/streaming",
    "aws_lambda_powertools/utilities/validation",
    "barcode/fonts",  # labels draw no text with it
    "bin",
    "botocore/crt/auth.py",  # the AWS common runtime is not bundled
    "botocore/data/*/*/waiters-2.json",
    "botocore/data/*/*/examples-1.json",
    "botocore/stub.py",
    "cffi",  # cryptography needs only the compiled _cffi_backend
    "cryptography/fernet.py",
    "cryptography/hazmat/asn1",
    "cryptography/hazmat/primitives/serialization/pkcs7.py",
    "cryptography/hazmat/primitives/serialization/pkcs12.py",
    "cryptography/hazmat/primitives/twofactor",
    "cryptography/x509/ocsp.py",
    "dateutil/easter.py",
    "dateutil/rrule.py",
    "dateutil/tz/win.py",
    "dateutil/zoneinfo",  # time zones come from the standard library
    "docs",  # of pydyf
    "fontpkg_noto_sans/files/NotoSans-Italic*",
    "jmespath-*.data",
    "jwt/help.py",
    "pycparser",
    "pydantic/color.py",
    "pydantic/deprecated/class_validators.py",
    "pydantic/deprecated/decorator.py",
    "pydantic/experimental",
    "pydantic/mypy.py",
    "pydantic/networks.py",
    "pydantic/v1",
    "pylopdf_fonts_zh_cn/NotoSerif*",
    "simplejson/tool.py",
    "tzdata/zoneinfo/*.tab",  # zoneinfo reads the compiled zones only
    "tzdata/zoneinfo/leapseconds",
    "tzdata/zoneinfo/tzdata.zi",
    "uharfbuzz/_harfbuzz_test*",
    "urllib3/contrib/emscripten",
    "urllib3/contrib/pyopenssl.py",
    "urllib3/contrib/socks.py",
    "urllib3/http2/connection.py",
    "*.dist-info",  # no package reads importlib.metadata
)
"""Patterns of paths that no function uses."""

_NO_DOCSTRINGS = """\
def _nothing(**_):
    return None


ClientMethodDocstring = PaginatorDocstring = WaiterDocstring = _nothing
"""
"""What botocore imports of its module `docs.docstring`."""

UNUSED_FILES = ("*.pyi", "*.pyx", "*.pxd", "*.h", "*.c")


def unused_files(packages: Path) -> Iterator[Path]:
    """Yield the paths that no function needs at run time."""
    for entry in (packages / "botocore" / "data").glob("*/"):
        if entry.name not in KEPT_SERVICES:
            yield entry
    for pattern in UNUSED_PATHS:
        yield from packages.glob(pattern)
    for pattern in ("tests", "__pycache__"):
        yield from (path for path in packages.rglob(pattern) if path.is_dir())
    for pattern in UNUSED_FILES:
        yield from packages.rglob(pattern)


def trim_endpoints(packages: Path) -> None:
    """Remove the endpoints of unused services; the first client of a process reads the file."""
    path = packages / "botocore" / "data" / "endpoints.json"
    document = json.loads(path.read_text())
    for partition in document["partitions"]:
        services = partition["services"]
        partition["services"] = {name: services[name] for name in services.keys() & KEPT_SERVICES}
    path.write_text(json.dumps(document, sort_keys=True))


def omit_documentation(packages: Path) -> None:
    """Remove the texts of the descriptions of AWS services, four fifths of what a client parses."""
    for path in (packages / "botocore" / "data").glob("*/*/service-2.json.gz"):
        described = json.loads(gzip.decompress(path.read_bytes()))
        for part in ("operations", "shapes"):  # clients read the texts of others
            described[part] = _without_documentation(described[part])
        text = json.dumps(described, separators=(",", ":"))
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _without_documentation(described: Any) -> Any:
    """Return a description without its texts; a member of a shape may have their name."""
    if isinstance(described, list):
        return [_without_documentation(one) for one in described]
    if not isinstance(described, dict):
        return described
    return {
        name: _without_documentation(one)
        for name, one in described.items()
        if name != "documentation" or not isinstance(one, str)
    }


def omit_docstrings(packages: Path) -> None:
    """Let botocore's clients have no docstrings, which only a reader needs.

    To import what composes them, with a parser of HTML, takes 1.7 % of a cold start.
    """
    docs = packages / "botocore" / "docs"
    remove_paths(path for path in docs.iterdir() if path.name != "utils.py")
    (docs / "__init__.py").touch()
    (docs / "docstring.py").write_text(_NO_DOCSTRINGS)


def remove_paths(paths: Iterator[Path]) -> None:
    """Remove files and folders; a path may be inside a folder that was removed before."""
    for path in list(paths):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def compile_tree(root: Path) -> None:
    """Compile every module below `root`; exit if one does not compile."""
    # `stripdir` makes tracebacks show the paths inside Lambda, not those of the build machine.
    done = compileall.compile_dir(
        root,
        quiet=1,
        force=True,
        stripdir=str(root),
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )
    if not done:
        sys.exit(f"{root}: some modules do not compile; see the errors above")


def wrong_binaries(build: Path, architecture: str) -> Iterator[str]:
    """Yield what is wrong with the binary modules of the layers."""
    for layer, expected in BINARY_MODULES.items():
        packages = build / layer / "python"
        modules = {path: path.read_bytes()[:20] for path in packages.rglob("*.so*")}
        names = {str(path.relative_to(packages)).partition(".")[0] for path in modules}
        yield from (f"{layer}: {name} has no binary module" for name in sorted(expected - names))
        yield from (
            f"{layer}: {name} is not in BINARY_MODULES" for name in sorted(names - expected)
        )
        for path, header in modules.items():
            machine = int.from_bytes(header[18:20], "little")
            if header[:4] != b"\x7fELF" or machine != ELF_MACHINES[architecture]:
                yield f"{path}: not a binary module for {architecture} (machine {machine})"


def size_mb(root: Path) -> float:
    """Return the sum of the file sizes below `root` in MB (10^6 bytes)."""
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    """Process the build directory and print the sizes; exit with 1 if it cannot be deployed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("build", type=Path, help="the directory that `sam build` wrote")
    parser.add_argument("architecture", choices=ELF_MACHINES)
    options = parser.parse_args()
    build: Path = options.build
    if sys.version_info[:2] != PYTHON:
        sys.exit(f"Run this with Python {PYTHON[0]}.{PYTHON[1]}, not {sys.version.split()[0]}.")

    trim_endpoints(build / "DependenciesLayer" / "python")
    omit_docstrings(build / "DependenciesLayer" / "python")
    for layer in ("DependenciesLayer", *EXTRA_LAYERS):
        remove_paths(unused_files(build / layer / "python"))
    omit_documentation(build / "DependenciesLayer" / "python")
    if wrong := list(wrong_binaries(build, options.architecture)):
        sys.exit("\n".join(wrong))
    code = build / "SharedLayer/python/shared/kernel" / precompiled.FILE.name
    subprocess.run([sys.executable, "-m", "tools.precompile", str(code)], check=True)
    pages = build / "ReferenceFunction" / "functions" / "reference"
    remove_paths(path for path in pages.glob("guides/*") if path.is_dir())  # pictures
    packages = (build / "McpFunction" / "functions").glob("*/")
    remove_paths(path for path in packages if path.name not in TOOL_PACKAGES)
    content.pack(build / "ConsoleFunction" / "functions" / "console" / "files")
    parts = sorted(path for path in build.iterdir() if path.is_dir())
    for part in parts:
        compile_tree(part)

    sizes = {part.name: size_mb(part) for part in parts}
    for name, size in sizes.items():
        print(f"  {name:24} {size:6.2f} MB")
    function, largest = max(_function_sizes(sizes), key=lambda pair: pair[1])
    print(f"  {'largest with its layers':24} {largest:6.2f} MB (limit {LIMIT_MB} MB): {function}")
    if largest > LIMIT_MB:
        sys.exit(f"{function} with its layers has {largest:.2f} MB; the limit is {LIMIT_MB} MB.")


def _function_sizes(sizes: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield every function with its size, including its layers, in MB."""
    for name in (name for name in sizes if name.endswith("Function")):
        layers = [each for each in sizes if each.endswith("Layer")]
        yield name, sizes[name] + sum(sizes[each] for each in layers if uses(name, each))


def uses(function: str, layer: str) -> bool:
    """Return whether a function has a layer."""
    return function not in WITHOUT_LAYERS and function in EXTRA_LAYERS.get(layer, (function,))


if __name__ == "__main__":
    main()

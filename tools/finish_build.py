"""Make what `sam build` made smaller and quicker to start.

`sam build` ships packages as they come: descriptions of every AWS service, type stubs, and no
compiled modules. This leaves out what no function of ours can reach, compiles the rest, and
prints what is left. Running it again changes nothing.

The compiled files carry the hash of their source, unchecked: Lambda sets file times of its own,
which would otherwise make Python compile everything again at each cold start.
"""

import argparse
import compileall
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from py_compile import PycInvalidationMode

KEPT_SERVICES = frozenset({"dynamodb", "kms", "s3", "sqs", "sts"})
"""What the functions call; botocore keeps the descriptions of these alone."""

LIMIT_MB = 40
"""What one function and its layers may weigh unzipped."""

EXTRA_LAYERS = {"ImportsLayer": ("ImportsFunction", "ImportWorkerFunction")}
"""Layers that some functions have besides those that all have."""

PYTHON = (3, 13)
"""Compiled files are read by the same minor version only."""


UNUSED_PATHS = (
    "aws_lambda_powertools/event_handler",  # the doors route by themselves
    "aws_lambda_powertools/metrics/provider/datadog",
    "aws_lambda_powertools/utilities/auth_alpha",
    "aws_lambda_powertools/utilities/circuit_breaker",
    "aws_lambda_powertools/utilities/data_masking",
    "aws_lambda_powertools/utilities/feature_flags",
    "aws_lambda_powertools/utilities/idempotency",  # ours is in the transaction
    "aws_lambda_powertools/utilities/kafka",
    "aws_lambda_powertools/utilities/parameters",
    "aws_lambda_powertools/utilities/parser",
    "aws_lambda_powertools/utilities/streaming",
    "aws_lambda_powertools/utilities/validation",
    "bin",
    "botocore/stub.py",
    "cffi",  # cryptography needs the compiled _cffi_backend alone
    "cryptography/fernet.py",
    "dateutil/easter.py",
    "dateutil/rrule.py",
    "dateutil/tz/win.py",
    "dateutil/zoneinfo",  # time zones come from the standard library
    "pycparser",
    "pydantic/color.py",
    "pydantic/experimental",
    "pydantic/mypy.py",
    "pydantic/v1",
    "urllib3/contrib/emscripten",
    "*.dist-info",  # nothing here asks importlib.metadata
)
"""What no function can reach, as patterns below the packages."""

UNUSED_FILES = ("*.pyi", "*.pyx", "*.pxd", "*.h", "*.c")


def unused_files(packages: Path) -> Iterator[Path]:
    """What no function needs at run time."""
    for entry in (packages / "botocore" / "data").glob("*/"):
        if entry.name not in KEPT_SERVICES:
            yield entry
    for pattern in UNUSED_PATHS:
        yield from packages.glob(pattern)
    for pattern in ("tests", "__pycache__"):
        yield from (path for path in packages.rglob(pattern) if path.is_dir())
    for pattern in UNUSED_FILES:
        yield from packages.rglob(pattern)


def remove_paths(paths: Iterator[Path]) -> None:
    """Remove files and whole folders; some may lie inside others already removed."""
    for path in list(paths):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def compile_tree(root: Path) -> None:
    """Compile every module below `root`; raises SystemExit when one does not compile."""
    # Paths in tracebacks are those inside Lambda, not those of the machine that built.
    done = compileall.compile_dir(
        root,
        quiet=1,
        force=True,
        stripdir=str(root),
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )
    if not done:
        sys.exit(f"{root}: not everything compiles")


def size_mb(root: Path) -> float:
    """Sum of the file sizes below `root`, in MB of 10^6 bytes."""
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    """Finish the build directory and print the sizes; exit 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("build", type=Path, nargs="?", default=Path(".aws-sam/build"))
    build: Path = parser.parse_args().build
    if sys.version_info[:2] != PYTHON:
        sys.exit(f"compile with Python {PYTHON[0]}.{PYTHON[1]}, not {sys.version.split()[0]}")

    for layer in ("DependenciesLayer", *EXTRA_LAYERS):
        remove_paths(unused_files(build / layer / "python"))
    parts = sorted(path for path in build.iterdir() if path.is_dir())
    for part in parts:
        compile_tree(part)

    sizes = {part.name: size_mb(part) for part in parts}
    for name, size in sizes.items():
        print(f"  {name:24} {size:6.2f} MB")
    function, largest = max(_function_sizes(sizes), key=lambda pair: pair[1])
    print(f"  {'largest with its layers':24} {largest:6.2f} MB (at most {LIMIT_MB}): {function}")
    if largest > LIMIT_MB:
        sys.exit("too large")


def _function_sizes(sizes: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Every function with what it and its layers weigh."""
    for name in (name for name in sizes if name.endswith("Function")):
        layers = [each for each in sizes if each.endswith("Layer")]
        own = [each for each in layers if name in EXTRA_LAYERS.get(each, (name,))]
        yield name, sizes[name] + sum(sizes[layer] for layer in own)


if __name__ == "__main__":
    main()

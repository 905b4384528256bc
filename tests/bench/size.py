"""Unzipped size of each function: its code and its layers."""

from pathlib import Path

from tests.bench.build_output import PACKAGE_DIRECTORY, functions, layers
from tests.bench.report import Row, Table, at_most

LAYERS_LIMIT_MB = 37


def measure(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure the size of every function."""
    table = Table(
        "Unzipped size",
        ["function", "code MB", "layers MB", "total MB"],
        "Code and layers in the output of `make package` (arm64), in MB of 10^6 bytes. The bound"
        " applies to the layers.",
    )
    for name in functions(PACKAGE_DIRECTORY):
        own = _megabytes(PACKAGE_DIRECTORY / name)
        shared = sum(_megabytes(layer) for layer in layers(name, PACKAGE_DIRECTORY))
        cells = [name, f"{own:.2f}", f"{shared:.2f}", f"{own + shared:.2f}"]
        # Rounded: the size of a compiled module may differ by some bytes between patches of Python.
        figures = {"code MB": round(own, 2), "layers MB": round(shared, 1)}
        table.rows.append(Row(cells, *at_most(shared, LAYERS_LIMIT_MB), figures))
    return [table]


def compared(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure the sizes if `make package` has run."""
    return measure(quick) if PACKAGE_DIRECTORY.is_dir() else []


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6

"""Unzipped size of each function: its code and its layers, in MB of 10^6 bytes."""

from pathlib import Path

from tests.bench.build_output import PACKAGE_DIRECTORY, functions, layers
from tests.bench.report import Table

TITLE = "Unzipped size"


def compared() -> list[Table]:
    """Measure the size of every function if `make package` has run."""
    if not PACKAGE_DIRECTORY.is_dir():
        return []
    table = Table(TITLE, {"function": "", "code MB": ".2f", "layers MB": ".2f"})
    for name in functions(PACKAGE_DIRECTORY):
        own = _megabytes(PACKAGE_DIRECTORY / name)
        shared = sum(_megabytes(layer) for layer in layers(name, PACKAGE_DIRECTORY))
        # Rounded: the size of a compiled module may differ by some bytes between patches of Python.
        figures = {"code MB": round(own, 2), "layers MB": round(shared, 1)}
        table.add(name, own, shared, figures=figures)
    return [table]


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6

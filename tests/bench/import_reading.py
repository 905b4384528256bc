"""The cost of reading an import file with all checks, compared with plain readers."""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl

from shared.kernel.spreadsheets.open_table import open_table
from tests.bench.report import Row, Table, at_most

ROWS, QUICK_ROWS = 100_000, 10_000
XLSX_BOUND, CSV_BOUND = 1 / 9, 2.0
"""Limits of the ratio to the time of the plain reader."""
MEMORY_BOUND_MB = 512

_ROOT = Path(__file__).parents[2]
_RUNS = 6
_HEADER = [
    "item_code", "name", "barcode", "type", "image_url", "man_btch_num", "man_ser_num",
    "sales_unit", "purchase_unit", "inventory_item", "category",
]  # fmt: skip


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Read products in both formats."""
    rows = QUICK_ROWS if quick else ROWS
    table = Table(
        "Reading an import file",
        ["file", "plain reader ms", "Stowage ms", "ratio", "peak MB"],
        f"A file of {rows:,} products with {len(_HEADER)} columns, written by openpyxl and csv. The"
        " plain readers (openpyxl's read-only loop over values, csv.reader over the open file)"
        " check nothing and discard the rows. Stowage checks the archive, finds formulas, detects"
        " encoding and separator, and yields typed cells with row numbers. CPU time of one run of"
        f" openpyxl, and the best of {_RUNS} runs of the others. Peak is the memory of a new"
        " process that reads the file.",
    )
    with TemporaryDirectory() as folder:
        xlsx, csv_file = Path(folder) / "products.xlsx", Path(folder) / "products.csv"
        write_xlsx(xlsx, rows)
        _write_csv(csv_file, rows)
        table.rows = [
            _row(xlsx, lambda: openpyxl_loop(xlsx), runs=1, bound=XLSX_BOUND),
            _row(csv_file, lambda: _csv_reader(csv_file), runs=_RUNS, bound=CSV_BOUND),
        ]
    return [table]


def _row(path: Path, plain_reader: Callable[[], None], *, runs: int, bound: float) -> Row:
    # Alternating, so that other load on the machine affects both.
    times = [_elapsed(lambda: _read(path)) for _ in range(_RUNS - runs)]
    plain_times = []
    for _ in range(runs):
        plain_times.append(_elapsed(plain_reader))
        times.append(_elapsed(lambda: _read(path)))
    own, plain = min(times), min(plain_times)
    peak = peak_of("tests.unit.spreadsheets.memory_probe", path)
    text, holds = at_most(own / plain, bound, "{:.3g}")
    cells = [
        path.suffix,
        f"{plain * 1000:,.0f}",
        f"{own * 1000:,.0f}",
        f"{own / plain:.3f}",
        f"{peak}",
    ]
    return Row(cells, f"{text}, {MEMORY_BOUND_MB} MB", holds and peak <= MEMORY_BOUND_MB)


def _elapsed(task: Callable[[], None]) -> float:
    """Return the CPU time of a task in seconds, which excludes other processes."""
    began = time.process_time()
    task()
    return time.process_time() - began


def _read(path: Path) -> None:
    for _ in open_table(path, path.name, max_rows=ROWS + 1).rows():
        pass


def openpyxl_loop(path: Path) -> None:
    """Read a workbook with openpyxl, without any checks."""
    book = openpyxl.load_workbook(path, read_only=True)
    for _ in book.worksheets[0].iter_rows(values_only=True):
        pass
    book.close()


def _csv_reader(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        for _ in csv.reader(file):
            pass


def peak_of(module: str, path: Path) -> int:
    """Return the peak memory, in MB, of a process that runs a module with a file."""
    command = [sys.executable, "-m", module, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, cwd=_ROOT).stdout  # noqa: S603
    peak: int = json.loads(output)[2]
    return peak


def write_xlsx(path: Path, rows: int) -> None:
    """Write a workbook of `rows` products."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Products")
    for row in _products(rows):
        sheet.append(row)
    book.save(path)


def _write_csv(path: Path, rows: int) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_products(rows))


def _products(rows: int) -> Iterator[list[str]]:
    yield _HEADER
    for number in range(rows):
        yield [
            f"SKU-{number:06}",
            f"Hammer drill {number}, {number % 17} mm, with case",
            f"84{number:011}",
            "goods",
            f"https://cdn.example.com/images/{number:06}.jpg",
            "no" if number % 3 else "yes",
            "no",
            "piece",
            f"box of {number % 5 * 6}" if number % 5 else "",
            "yes",
            f"Category {number % 40}",
        ]

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
from tests.bench.import_work import validate
from tests.bench.report import Row, Table

ROWS, QUICK_ROWS = 100_000, 1_000

_ROOT = Path(__file__).parents[2]
_RUNS = 3
_HEADER = [
    "item_code", "name", "barcode", "type", "image_url", "man_btch_num", "man_ser_num",
    "sales_unit", "purchase_unit", "inventory_item", "category",
]  # fmt: skip


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Read and validate products in both formats."""
    table = Table(
        "Reading and validating an import file",
        [
            "file",
            "rows",
            "plain reader ms",
            "read ms",
            "read, ratio",
            "validate ms",
            "validate, ratio",
            "rows per second, validated",
            "peak MB, read",
            "peak MB, validated",
        ],
        f"Products with {len(_HEADER)} columns, written by openpyxl and csv. The plain readers"
        " (openpyxl's read-only loop over values, csv.reader over the open file) check nothing and"
        " discard the rows. Reading checks the archive, finds formulas, detects encoding and"
        " separator, and yields typed cells with row numbers. Validating reads and does what the"
        " worker does, without writing the results. CPU time of one run of openpyxl, and the best"
        f" of {_RUNS} runs of the others. Peak is the memory of a new process.",
    )
    rows = QUICK_ROWS if quick else ROWS
    with TemporaryDirectory() as folder:
        xlsx, csv_file = Path(folder) / "products.xlsx", Path(folder) / "products.csv"
        _write_xlsx(xlsx, rows)
        _write_csv(csv_file, rows)
        table.rows = [_row(xlsx, rows, _openpyxl_loop, 1), _row(csv_file, rows, _csv_reader, _RUNS)]
    return [table]


def _row(path: Path, rows: int, plain_reader: Callable[[Path], None], plain_runs: int) -> Row:
    # Alternating, so that other load on the machine affects all of them.
    times: list[list[float]] = [[], [], []]
    for run in range(_RUNS):
        if run < plain_runs:
            times[0].append(_elapsed(lambda: plain_reader(path)))
        times[1].append(_elapsed(lambda: _read(path)))
        times[2].append(_elapsed(lambda: _validate(path)))
    plain, read, validated = map(min, times)
    peaks = [
        _peak_of(f"tests.{module}", path)
        for module in ("unit.spreadsheets.memory_probe", "bench.import_memory_probe")
    ]
    return Row(
        [
            path.suffix,
            f"{rows:,}",
            f"{plain * 1000:,.0f}",
            f"{read * 1000:,.0f}",
            f"{read / plain:.3f}",
            f"{validated * 1000:,.0f}",
            f"{validated / plain:.3f}",
            f"{rows / validated:,.0f}",
            *map(str, peaks),
        ]
    )


def _validate(path: Path) -> None:
    validate(path)


def _elapsed(task: Callable[[], None]) -> float:
    """Return the CPU time of a task in seconds, which excludes other processes."""
    began = time.process_time()
    task()
    return time.process_time() - began


def _read(path: Path) -> None:
    for _ in open_table(path, path.name, max_rows=ROWS + 1).rows():
        pass


def _openpyxl_loop(path: Path) -> None:
    """Read a workbook with openpyxl, without any checks."""
    book = openpyxl.load_workbook(path, read_only=True)
    for _ in book.worksheets[0].iter_rows(values_only=True):
        pass
    book.close()


def _csv_reader(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        for _ in csv.reader(file):
            pass


def _peak_of(module: str, path: Path) -> int:
    """Return the peak memory, in MB, of a process that runs a module with a file."""
    command = [sys.executable, "-m", module, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, cwd=_ROOT).stdout  # noqa: S603
    peak: int = json.loads(output)[2]
    return peak


def _write_xlsx(path: Path, rows: int) -> None:
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

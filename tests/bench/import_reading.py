"""What it costs to read an import file, with all checks, against the plain readers."""

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
"""What reading may take of the time of the plain reader. Validation may take as much again."""
MEMORY_BOUND_MB = 512

_ROOT = Path(__file__).parents[2]
_TURNS = 6
_HEADER = [
    "item_code", "name", "barcode", "type", "image_url", "man_btch_num", "man_ser_num",
    "sales_unit", "purchase_unit", "inventory_item", "category",
]  # fmt: skip


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Read products in both formats."""
    rows = QUICK_ROWS if quick else ROWS
    table = Table(
        "Reading an import file",
        ["file", "plain reader ms", "ours ms", "ratio", "peak MB"],
        f"A file of {rows:,} products with {len(_HEADER)} columns, written by openpyxl and csv. The"
        " plain readers check nothing and do nothing with the rows: openpyxl's read-only loop over"
        " values, csv.reader over the open file. Ours checks the container, finds formulas,"
        " encoding and separator, and gives typed cells under the numbers of the sheet. CPU time"
        f" of one run of openpyxl, the best of {_TURNS} of the others. Peak is all memory of"
        " a fresh process that reads the file.",
    )
    with TemporaryDirectory() as folder:
        xlsx, comma = Path(folder) / "products.xlsx", Path(folder) / "products.csv"
        write_xlsx(xlsx, rows)
        _write_csv(comma, rows)
        table.rows = [
            _row(xlsx, lambda: openpyxl_loop(xlsx), turns=1, bound=XLSX_BOUND),
            _row(comma, lambda: _csv_reader(comma), turns=_TURNS, bound=CSV_BOUND),
        ]
    return [table]


def _row(path: Path, plain_reader: Callable[[], None], *, turns: int, bound: float) -> Row:
    # In turn: whatever else the machine does must not hit one of them alone.
    times = [_elapsed(lambda: _read(path)) for _ in range(_TURNS - turns)]
    plain_times = []
    for _ in range(turns):
        plain_times.append(_elapsed(plain_reader))
        times.append(_elapsed(lambda: _read(path)))
    ours, plain = min(times), min(plain_times)
    peak = peak_of("tests.unit.spreadsheets.memory_probe", path)
    text, holds = at_most(ours / plain, bound, "{:.3g}")
    cells = [
        path.suffix,
        f"{plain * 1000:,.0f}",
        f"{ours * 1000:,.0f}",
        f"{ours / plain:.3f}",
        f"{peak}",
    ]
    return Row(cells, f"{text}, {MEMORY_BOUND_MB} MB", holds and peak <= MEMORY_BOUND_MB)


def _elapsed(task: Callable[[], None]) -> float:
    """Seconds of CPU: the files lie in memory, and other processes must not count."""
    began = time.process_time()
    task()
    return time.process_time() - began


def _read(path: Path) -> None:
    for _ in open_table(path, path.name, most_rows=ROWS + 1).rows():
        pass


def openpyxl_loop(path: Path) -> None:
    """Read a workbook as plainly as openpyxl can."""
    book = openpyxl.load_workbook(path, read_only=True)
    for _ in book.worksheets[0].iter_rows(values_only=True):
        pass
    book.close()


def _csv_reader(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        for _ in csv.reader(file):
            pass


def peak_of(module: str, path: Path) -> int:
    """Most memory, in MB, of a process that runs a module with a file."""
    command = [sys.executable, "-m", module, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, cwd=_ROOT).stdout  # noqa: S603
    peak: int = json.loads(output)[2]
    return peak


def write_xlsx(path: Path, rows: int) -> None:
    """Write a catalogue of so many products."""
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

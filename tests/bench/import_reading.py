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
from tests.bench import charts
from tests.bench.import_work import validate
from tests.bench.report import Row, Table, at_most

SIZES, QUICK_SIZES = (1_000, 10_000, 100_000), (1_000,)
XLSX_BOUND, CSV_BOUND, VALIDATION_BOUND = 1 / 9, 2.0, 1 / 5
"""Limits of the ratio to the time of the plain reader."""
MEMORY_BOUND_MB = 512

_ROOT = Path(__file__).parents[2]
_RUNS = 3
_HEADER = [
    "item_code", "name", "barcode", "type", "image_url", "man_btch_num", "man_ser_num",
    "sales_unit", "purchase_unit", "inventory_item", "category",
]  # fmt: skip


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Read and validate products in both formats and several sizes."""
    table = Table(
        "Reading and validating an import file",
        [
            "file",
            "rows",
            "plain reader ms",
            "read ms",
            "ratio",
            "validate ms",
            "ratio",
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
    with TemporaryDirectory() as folder:
        for rows in QUICK_SIZES if quick else SIZES:
            xlsx, csv_file = Path(folder) / f"{rows}.xlsx", Path(folder) / f"{rows}.csv"
            write_xlsx(xlsx, rows)
            _write_csv(csv_file, rows)
            table.rows += [
                _row(xlsx, rows, openpyxl_loop, (XLSX_BOUND, VALIDATION_BOUND)),
                _row(csv_file, rows, _csv_reader, (CSV_BOUND, None)),
            ]
    title = "Imports: rows per second"
    table.charts.append(charts.lines("imports", title, _speeds(table), across="rows of the file"))
    return [table]


def _speeds(table: Table) -> dict[str, dict[float, float]]:
    lines: dict[str, dict[float, float]] = {}
    for row in table.rows:
        rows, plain, speed = (float(row.cells[at].replace(",", "")) for at in (1, 2, 7))
        reader = "openpyxl, reading only" if row.cells[0] == ".xlsx" else "csv, reading only"
        lines.setdefault(f"Stowage, {row.cells[0]}", {})[rows] = speed
        lines.setdefault(reader, {})[rows] = rows / max(plain, 1) * 1000
    return lines


def _row(
    path: Path, rows: int, plain_reader: Callable[[Path], None], bounds: tuple[float, float | None]
) -> Row:
    plain_runs = 1 if path.suffix == ".xlsx" else _RUNS
    # Alternating, so that other load on the machine affects all of them.
    times: list[list[float]] = [[], [], []]
    for run in range(_RUNS):
        if run < plain_runs:
            times[0].append(_elapsed(lambda: plain_reader(path)))
        times[1].append(_elapsed(lambda: _read(path)))
        times[2].append(_elapsed(lambda: _validate(path)))
    plain, read, validated = map(min, times)
    peaks = [
        peak_of(f"tests.{module}", path)
        for module in ("unit.spreadsheets.memory_probe", "bench.import_memory_probe")
    ]
    cells = [
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
    holds = max(peaks) <= MEMORY_BOUND_MB
    if rows < max(SIZES):  # the ratios are bounded for large files
        return Row(cells, f"{MEMORY_BOUND_MB} MB", holds)
    texts = []
    for ratio, bound in zip((read / plain, validated / plain), bounds, strict=True):
        if bound is not None:
            text, fits = at_most(ratio, bound, "{:.3g}")
            texts.append(text)
            holds = holds and fits
    return Row(cells, f"{', '.join(texts)}, {MEMORY_BOUND_MB} MB", holds)


def _validate(path: Path) -> None:
    validate(path)


def _elapsed(task: Callable[[], None]) -> float:
    """Return the CPU time of a task in seconds, which excludes other processes."""
    began = time.process_time()
    task()
    return time.process_time() - began


def _read(path: Path) -> None:
    for _ in open_table(path, path.name, max_rows=max(SIZES) + 1).rows():
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

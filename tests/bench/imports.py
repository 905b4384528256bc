"""How long the validation of an import file takes; the day shows what an import costs."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl

from tests.bench.report import Table
from tests.bench.state import ROOT

TITLE, ROWS = "Validating an import file", 100_000


def measure() -> list[Table]:
    """Validate the largest files, each in a new process."""
    table = Table(
        TITLE,
        {"file": "", "rows": ",", "seconds": ".1f", "rows per second": ",.0f", "peak MB": ","},
        "Products with 11 columns. Validating checks the archive, finds"
        " formulas, detects encoding and separator, reads typed cells, and does what the worker"
        " does with each row, without writing the results. Processor time, and peak memory of a"
        " process of its own.",
    )
    with TemporaryDirectory() as folder:
        for kind in (".xlsx", ".csv"):
            path = Path(folder) / f"products{kind}"
            _write(path, ROWS)
            command = [sys.executable, "-m", "tests.bench.import_validation", str(path)]
            done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)  # noqa: S603
            valid, seconds, peak = json.loads(done.stdout)
            assert valid == ROWS
            table.add(kind, ROWS, seconds, ROWS / seconds, peak)
    return [table]


def _write(path: Path, rows: int) -> None:
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(_products(rows))
        return
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Products")
    for row in _products(rows):
        sheet.append(row)
    book.save(path)


def _products(rows: int) -> Iterator[list[str]]:
    yield [
        "item_code", "name", "barcode", "type", "sales_unit", "image_url", "man_btch_num",
        "man_ser_num", "purchase_unit", "inventory_item", "category",
    ]  # fmt: skip
    for number in range(rows):
        name = f"Hammer drill {number}, {number % 17} mm, with case"
        image = f"https://cdn.example.com/images/{number:06}.jpg"
        batches, box = "no" if number % 3 else "yes", f"box of {number % 5 * 6}"
        yield [
            f"SKU-{number:06}", name, f"84{number:011}", "goods", "piece", image, batches,
            "no", box, "yes", f"Category {number % 40}",
        ]  # fmt: skip
